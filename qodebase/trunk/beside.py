"""Gather the objects of large batches in a process beside this one: deltas and checksums take half of a landing's time.

The process only computes: what it makes comes back as bytes and is written here. One that dies, stands still or answers
nonsense costs the step that it was at, which is taken again without it.
"""

from __future__ import annotations

import fcntl
import functools
import marshal
import os
import select
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from weakref import WeakSet

from qodebase.children import command, environment
from qodebase.trunk import packer
from qodebase.trunk.deltas import Splice, splice_between
from qodebase.trunk.files import Files
from qodebase.trunk.pack import LEAST_PATCHED, SIGNATURE, STEPS
from qodebase.trunk.packer import FORM, LARGE, LENGTH, Call, Newest
from qodebase.trunk.placing import Packed, place_pack

_PIPE = 1 << 20
_MANY_CALLS = 64
_MANY_BYTES = 1 << 20
"""Calls with so many bytes of content are sent: both sides hold a frame twice."""
_MOST_PARTS = 512
"""POSIX lets a system take no more than 1024 at once."""
_STILL_S = 60.0
"""Seconds without one byte; no content takes that long, and one that does costs no more than a step taken again."""
_UNKNOWN = 1 << 16
"""More steps than a chain has: only the process knows how many there are."""


class Gone(ConnectionError):
    """The process beside this one has ended before it was told to, or is of no use any more."""


class Beside:
    """A process that gathers the objects of one step after the other; used from one thread.

    Args:
        objects: the repository's folder of objects.
        level: zlib's.
    """

    def __init__(self, objects: Path, *, level: int) -> None:
        words = (*command(packer.__name__), str(objects), str(level))
        # A session of its own: Ctrl-C is for this process, which ends that one itself.
        self._process = subprocess.Popen(
            words, bufsize=0, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            env=environment(), start_new_session=True,
        )  # fmt: skip
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._in, self._out = self._process.stdin.fileno(), self._process.stdout.fileno()
        _all.add(self)
        for end in (self._in, self._out):
            os.set_blocking(end, False)
            with suppress(AttributeError, OSError):  # Smaller ones do, where a system has no others or no more.
                fcntl.fcntl(end, fcntl.F_SETPIPE_SZ, _PIPE)
        self._unheard = 0
        self._torn = False

    def begin(self) -> Elsewhere:
        """Return what gathers one step's objects; the one before it is done with."""
        while self._unheard:
            self.hear()
        self.send([(packer.BEGIN, ())])
        return Elsewhere(self)

    def forget(self) -> None:
        """Have packs looked up again: some were removed."""
        self.send([(packer.FORGET, ())])

    def send(self, calls: list[Call], contents: Sequence[bytes] = ()) -> None:
        """Send calls, and the contents whose lengths they tell.

        Raises:
            Gone: nobody takes them.
        """
        try:
            said = marshal.dumps(calls, FORM)
        except (ValueError, MemoryError) as error:
            raise Gone(f"more than a frame holds: {error}") from None
        with self._whole():
            self._write([len(said).to_bytes(LENGTH), said, *contents])

    def finish(self, calls: list[Call], contents: Sequence[bytes]) -> None:
        """Send a step's last calls, which ask for what was gathered; three times `hear` then tells it."""
        self._unheard = 3
        self.send(calls, contents)

    def hear(self) -> bytearray:
        """Return the next part of an answer.

        Raises:
            Gone: there is none.
        """
        self._unheard -= 1
        with self._whole():
            size = int.from_bytes(self._read(LENGTH))
            try:
                return self._read(size)
            except (MemoryError, OverflowError):
                raise Gone(f"there is no room for an answer of {size} bytes") from None

    @contextmanager
    def _whole(self) -> Iterator[None]:
        """Say or hear something to its end; what comes after something that was broken off cannot be understood."""
        if self._torn:
            raise Gone("it was broken off")
        self._torn = True
        yield
        self._torn = False

    def _write(self, parts: list[bytes | memoryview]) -> None:
        while parts:
            try:
                parts = _behind(os.writev(self._in, parts[:_MOST_PARTS]), parts)
            except BlockingIOError:
                _wait(self._in, select.POLLOUT)
            except BrokenPipeError as error:
                raise Gone(str(error)) from None

    def _read(self, size: int) -> bytearray:
        read = bytearray(size)
        view = memoryview(read)
        while view:
            try:
                got = os.readv(self._out, [view])
            except BlockingIOError:
                _wait(self._out, select.POLLIN)
                continue
            if not got:
                raise Gone("it has ended")
            view = view[got:]
        return read

    def close(self) -> None:
        """End the process, whatever it is at."""
        self._process.kill()
        self.let_go()
        self._process.wait()

    def let_go(self) -> None:
        """Close the pipes; the process ends once nobody holds them."""
        for end in (self._process.stdin, self._process.stdout):
            if end is not None:
                end.close()


def _behind(written: int, parts: list[bytes | memoryview]) -> list[bytes | memoryview]:
    """Return what of some parts stands behind so many bytes."""
    for at, part in enumerate(parts):
        if written < len(part):
            return [memoryview(part)[written:], *parts[at + 1 :]]
        written -= len(part)
    return []


def _wait(end: int, event: int) -> None:
    poll = select.poll()
    poll.register(end, event)
    if not poll.poll(_STILL_S * 1000):
        raise Gone(f"it stood still for {_STILL_S:g} seconds")


_all: WeakSet[Beside] = WeakSet()


def _leave_to_parent() -> None:
    """Close what a fork inherits; a process beside would outlive its own parent otherwise."""
    for beside in _all:
        beside.let_go()


os.register_at_fork(after_in_child=_leave_to_parent)


class Elsewhere:
    """The objects of one step, gathered by the process beside this one; a `Gathering`."""

    def __init__(self, beside: Beside) -> None:
        self._beside = beside
        self._steps: dict[bytes, int] = {}
        self._newest: Newest[None] = Newest()
        self._calls: list[Call] = []
        self._tell = self._calls.append
        self._contents: list[bytes] = []
        self._bytes = 0

    def __contains__(self, id: bytes | None) -> bool:
        return id in self._steps

    def _send(self) -> None:
        self._beside.send(self._calls, self._contents)
        self._calls.clear()
        self._contents.clear()
        self._bytes = 0

    def _count(self, size: int) -> None:
        self._bytes += size
        if self._bytes >= _MANY_BYTES or len(self._calls) >= _MANY_CALLS:
            self._send()

    def add(
        self, kind: int, id: bytes, content: bytes, base: bytes | None = None, splices: Sequence[Splice] = ()
    ) -> None:
        """Do as `Pack.add`."""
        if id not in self._steps:
            # On nothing, and on a chain that is at its end, an object begins anew; else that hangs on the delta's size.
            begins = base is None or self._steps.get(base, STEPS) == STEPS
            self._steps[id] = 0 if begins else _UNKNOWN
            size = len(content)
            self._tell((packer.ADD, (kind, id, size, base, splices)))
            self._contents.append(content)
            self._count(size)

    def add_patched(self, id: bytes, size: int, base: bytes, place: int, patch: bytes) -> bool:
        """Do as `Pack.add_patched`."""
        if id in self._steps:
            return True
        steps = self._steps.get(base, _UNKNOWN)
        if steps >= STEPS or size < LEAST_PATCHED:
            return False
        self._steps[id] = steps + 1
        self._tell((packer.ADD_PATCHED, (id, size, base, place, patch)))
        return True

    def add_growing(
        self, kind: int, id: bytes, content: bytes, base: bytes | None = None, splices: Sequence[Splice] = ()
    ) -> None:
        """Do as `Gathering.add_growing`."""
        if id not in self._steps:
            self._steps[id] = _UNKNOWN
            self._tell((packer.ADD_GROWING, (kind, id, len(content), base, splices)))
            self._contents.append(content)
            self._count(len(content))

    def add_blob(self, id: bytes, content: bytes, base: bytes | None, old: bytes | None, told: bytes | None) -> None:
        """Do as `Gathering.add_blob`."""
        if id in self._steps:
            return
        self._steps[id] = _UNKNOWN
        if old is not None and base in self._newest:
            splice = splice_between(old, content)
            self._tell((packer.ADD_SPLICED, (id, base, splice)))
            self._newest.put(id, base, None, len(content))
            self._count(len(splice[2]))
        else:
            size = len(content)
            was = told if old is None else old
            known = None if was is None else len(was)
            self._tell((packer.ADD_BLOB, (id, size, base, known, old is not None)))
            self._contents += (content,) if was is None else (content, was)
            if size >= LARGE:
                self._newest.put(id, base, None, size)
            self._count(size + (known or 0))

    def write(self, files: Files, folder: Path) -> Path:
        """Do as `Pack.write`."""
        self._tell((packer.FINISH, ()))
        self._beside.finish(self._calls, self._contents)
        self._calls.clear()
        self._contents.clear()
        content, checksum = self._beside.hear(), self._beside.hear()
        if not content.startswith(SIGNATURE) or int.from_bytes(content[8:12]) < len(self._steps):
            raise Gone("what it tells is no pack of what was gathered")
        return place_pack(files, folder, Packed([content], checksum, functools.cache(lambda: self._index(checksum))))

    def _index(self, checksum: bytearray) -> bytearray:
        index = self._beside.hear()
        if index[-40:-20] != checksum:
            raise Gone("what it tells is no index of its pack")
        return index

    def remember(self) -> None:
        """Do as `Gathering.remember`."""
        self._tell((packer.REMEMBER, ()))
        with suppress(Gone):  # The step is taken; the next one finds out.
            self._send()
