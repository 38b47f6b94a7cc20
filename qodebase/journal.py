"""The journal of a run: one JSON line an event, appended as things happen, readable by anyone at any time.

A line reaches the operating system before `Journal.write` returns, so a killed process loses none; a journal that
gathers writes the lines of one turn of the event loop together, and a kill loses that turn at most. Kinds marked
durable, and `Journal.sync`, also force all lines so far to the disk. A torn last line (a kill or a full disk in the
middle of a write), and all from a hole on that a power cut left, is cut off when the journal is next opened for
writing, and is not seen by readers.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from qodebase.codec import JSON, BadData, convert, json_decoder
from qodebase.errors import QodebaseError
from qodebase.events import AnyEvent, Event, Unknown
from qodebase.ports import Clock

E = TypeVar("E", bound=Event)

_KNOWN: msgspec.json.Decoder[AnyEvent] = json_decoder(AnyEvent)
_ANY = msgspec.json.Decoder(dict[str, Any])
_HEADER = frozenset(Event.__struct_fields__)
_HOLE = b"\0"
"""Never stands in JSON."""
_DAMAGED = "Take the journal back from a copy, or from an archive of the run; what landed stands in its repository."


class JournalFailed(QodebaseError):
    """The journal could not be written, so the run must not go on."""

    exit_code = 3


def _nothing() -> None:
    """Do nothing."""


class Journal:
    """Append events; one writer at a time, guarded by the run's lock. Listeners hear each event once it is written.

    Args:
        later: calls a function at the end of the loop's turn; with it lines are gathered, and listeners hear of events
            that are still with this process. Once such lines could not be written, nothing more is. None: each line is
            written at once.
        first: is called before gathered lines are written: what they refer to must not come later than they do.
    """

    def __init__(
        self,
        path: Path,
        *,
        run: str,
        clock: Clock,
        listeners: Sequence[Callable[[Event], None]] = (),
        later: Callable[[Callable[[], None]], object] | None = None,
        first: Callable[[], None] = _nothing,
    ) -> None:
        self._listeners = listeners
        self._run = run
        self._clock = clock
        self._later = later
        self._first = first
        self._gathered: list[bytes] = []
        self._failed: QodebaseError | None = None
        self._lock = threading.Lock()
        self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            self._size, self.seq = _mend(self._descriptor, path.name)
        except BaseException:
            os.close(self._descriptor)
            raise

    def write(self, kind: type[E], /, **fields: Any) -> E:
        """Append an event of a kind and return it.

        Raises:
            JournalFailed: the disk is full or gone; what was written before is whole.
        """
        event = kind(seq=self.seq + 1, at=self._clock.now(), run=self._run, simulated=self._clock.simulated, **fields)
        line = JSON.encode(event) + b"\n"
        if self._later is None or kind.durable:
            self.flush()
            with self._lock:
                self._append(line, durable=kind.durable)
        else:
            self._gather(line, self._later)
        self.seq += 1
        for listener in self._listeners:
            listener(event)
        return event

    def _gather(self, line: bytes, later: Callable[[Callable[[], None]], object]) -> None:
        if self._failed is not None:
            raise self._failed
        with self._lock:
            self._gathered.append(line)
            alone = len(self._gathered) == 1
        if alone:
            later(self._flush_or_remember)

    def _flush_or_remember(self) -> None:
        """Flush where nobody could take an error; whoever writes or syncs next gets it."""
        with contextlib.suppress(QodebaseError):
            self.flush()

    def flush(self) -> None:
        """Hand gathered lines to the operating system; any thread may.

        Raises:
            JournalFailed: the disk is full or gone, now or at an earlier flush.
            QodebaseError: what the lines refer to could not be written.
        """
        with self._lock:
            if self._failed is None and self._gathered:
                lines, self._gathered = b"".join(self._gathered), []
                try:
                    self._first()
                    self._append(lines)
                except QodebaseError as error:
                    self._failed = error
                except BaseException as error:
                    self._failed = _failed(error)
                    raise
        if self._failed is not None:
            raise self._failed

    def _append(self, lines: bytes, *, durable: bool = False) -> None:
        try:
            written = os.write(self._descriptor, lines)
            if written != len(lines):
                raise OSError(f"the disk is full: {written} of {len(lines)} bytes were written")
            if durable:
                os.fsync(self._descriptor)
        except OSError as error:
            # What listeners have not heard must not stay: the next event would get the same seq.
            try:
                os.ftruncate(self._descriptor, self._size)
            except OSError as stays:
                self._failed = _failed(stays)
            raise _failed(error) from None
        self._size += len(lines)

    def sync(self) -> None:
        """Force everything written so far to the disk.

        Raises:
            JournalFailed: the disk did not take it.
        """
        self.flush()
        try:
            os.fsync(self._descriptor)
        except OSError as error:
            raise _failed(error) from None

    def close(self) -> None:
        """Sync and close."""
        try:
            self.sync()
        finally:
            os.close(self._descriptor)


def _failed(error: BaseException) -> JournalFailed:
    return JournalFailed(
        f"the journal cannot be written: {str(error) or type(error).__name__}",
        hint="Make room on the disk, then `qodebase resume` the run: nothing that was journalled is lost.",
    )


def read_events(path: Path, *, since: int = 0) -> Iterator[AnyEvent | Unknown]:
    """Yield the events after ``since`` in order; a torn last line, and all from a hole on, is left out.

    A power cut may leave a hole, which reads as zeros, where what was written later has reached the disk. No durable
    event lies behind one, for a sync takes all that stands before it; where one does, the disk has lost something.

    Raises:
        BadData: a line before the last is no event; the message names file, line and field.
    """
    with path.open("rb") as lines:
        for number, line in enumerate(lines, 1):
            if not line.endswith(b"\n") or (_HOLE in line and _never_synced(lines)):
                return
            event = decode_event(line, f"{path} line {number}")
            if event.seq > since:
                yield event


def decode_event(line: bytes, source: str) -> AnyEvent | Unknown:
    """Return the event that a line of a journal holds; raises `BadData` naming ``source`` and the field."""
    try:
        return _KNOWN.decode(line)
    except msgspec.ValidationError as error:
        return _decode_unknown(line, source, error)
    except msgspec.DecodeError as error:
        raise BadData(f"{source} is not JSON: {error}", hint=_DAMAGED) from None


def _decode_unknown(line: bytes, source: str, error: msgspec.ValidationError) -> Unknown:
    if "Invalid value" not in str(error) or not str(error).endswith("`$.kind`"):
        raise BadData(f"{source}: {error}", hint=_DAMAGED) from None
    known = {name: value for name, value in _ANY.decode(line).items() if name in _HEADER}
    return convert(known | {"kind": "unknown"}, Unknown, source=source)


def _mend(descriptor: int, name: str) -> tuple[int, int]:
    """Cut off a torn last line, or all from a hole on; return the size in bytes and the last event's seq.

    Raises:
        BadData: the last whole line is no event, or a durable event lies behind a hole.
    """
    size = _hole(descriptor, name)
    tail = b""
    at = size
    while at > 0 and tail.count(b"\n") < 2:
        step = min(at, 1 << 16)
        at -= step
        tail = os.pread(descriptor, step, at) + tail
    whole = tail.rfind(b"\n") + 1
    if at + whole != os.fstat(descriptor).st_size:
        size = at + whole
        os.ftruncate(descriptor, size)
        os.fsync(descriptor)
    lines = tail[:whole].splitlines()
    return size, decode_event(lines[-1], f"{name}, last line").seq if lines else 0


def _hole(descriptor: int, name: str) -> int:
    """Return where a hole begins; the size where there is none."""
    at, size = 0, os.fstat(descriptor).st_size
    while at < size and (chunk := os.pread(descriptor, 1 << 20, at)):
        found = chunk.find(_HOLE)
        if found >= 0:
            with open(os.dup(descriptor), "rb") as lines:
                lines.seek(at + found)
                lines.readline()
                if not _never_synced(lines):
                    raise BadData(
                        f"{name}: zeros stand before durable events: the disk has lost a part of it", hint=_DAMAGED
                    )
            return at + found
        at += len(chunk)
    return at


def _never_synced(lines: Iterable[bytes]) -> bool:
    """Return whether no line may be a durable event."""
    for line in lines:
        if _HOLE not in line and line.endswith(b"\n"):
            try:
                event = _KNOWN.decode(line)
            except msgspec.DecodeError:
                return False
            if event.durable:
                return False
    return True
