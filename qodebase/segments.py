"""Append-only segments: prompts, answers and changes of a run, kept for good and read by reference.

A segment is a file of frames: magic, length, CRC-32, then the zlib-compressed payload. Each sitting writes a segment of
its own, so a frame torn by a kill harms nothing that is written later, and no event points at it.
"""

from __future__ import annotations

import contextlib
import os
import struct
import threading
import zlib
from pathlib import Path
from typing import NamedTuple

from qodebase.errors import QodebaseError
from qodebase.private_files import make_private, private

_HEAD = struct.Struct("<4sII")
_MAGIC = b"qseg"
_SHORT = 4096


class BadSegment(QodebaseError):
    """A segment whose bytes are not what was written."""

    exit_code = 1


class SegmentFailed(QodebaseError):
    """A segment could not be written, so the run must not go on."""

    exit_code = 3


class Ref(NamedTuple):
    """Where a payload is kept: the segment's number and the frame's offset in bytes."""

    segment: int
    offset: int

    @property
    def text(self) -> str:
        """Return the reference as it stands in events."""
        return f"{self.segment}:{self.offset}"

    @classmethod
    def parse(cls, text: str) -> Ref:
        """Read a reference back."""
        segment, _, offset = text.partition(":")
        return cls(int(segment), int(offset))


class SegmentWriter:
    """Append payloads to a new segment of a folder; one writer at a time (the run's lock).

    Args:
        gathers: what is put reaches the operating system at `flush` only. Once that has failed nothing more is taken:
            references into what is lost were handed out.
    """

    def __init__(self, folder: Path, *, gathers: bool = False) -> None:
        make_private(folder)
        taken = [int(path.stem) for path in folder.glob("*.seg")]
        self.number = max(taken, default=0) + 1
        self._file = open(folder / f"{self.number:06d}.seg", "xb", buffering=0, opener=private)  # noqa: SIM115
        self._offset = 0
        self._gathers = gathers
        self._gathered: list[bytes] = []
        self._lost: SegmentFailed | None = None
        self._lock = threading.Lock()

    def put(self, payload: bytes) -> Ref:
        """Keep a payload; it has reached the operating system when this returns or at `flush`, the disk at `sync`.

        Raises:
            SegmentFailed: the disk is full or gone; what was kept before is whole.
        """
        return self.put_packed(packed(payload))

    def put_packed(self, content: bytes) -> Ref:
        """Keep what `packed` made of a payload, as `put` does."""
        if self._lost is not None:
            raise self._lost
        frame = _HEAD.pack(_MAGIC, len(content), zlib.crc32(content)) + content
        with self._lock:
            ref = Ref(self.number, self._offset)
            if self._gathers:
                self._gathered.append(frame)
            else:
                self._append(frame, ref.offset)
            self._offset += len(frame)
        return ref

    def flush(self) -> None:
        """Hand what was gathered to the operating system; any thread may.

        Raises:
            SegmentFailed: the disk is full or gone, now or at an earlier flush.
        """
        with self._lock:
            if self._gathered and self._lost is None:
                frames, self._gathered = b"".join(self._gathered), []
                try:
                    self._append(frames, self._offset - len(frames))
                except SegmentFailed as error:
                    self._lost = error
                except BaseException as error:
                    self._lost = _failed(error)
                    raise
        if self._lost is not None:
            raise self._lost

    def _append(self, frames: bytes, offset: int) -> None:
        try:
            rest = memoryview(frames)
            while rest:
                rest = rest[self._file.write(rest) :]
        except OSError as error:
            with contextlib.suppress(OSError):
                self._file.truncate(offset)
                self._file.seek(offset)
            raise _failed(error) from None

    def sync(self) -> None:
        """Force what was kept to the disk.

        Raises:
            SegmentFailed: the disk did not take it.
        """
        self.flush()
        try:
            os.fsync(self._file.fileno())
        except OSError as error:
            raise _failed(error) from None

    def close(self) -> None:
        """Sync and close; an empty segment is removed."""
        try:
            self.sync()
        finally:
            self._file.close()
        if self._offset == 0:
            Path(self._file.name).unlink()


def packed(payload: bytes) -> bytes:
    """Return a payload compressed, as segments hold it."""
    # Setting up zlib's usual tables takes several times as long as compressing an answer with them.
    window, memory = (12, 5) if len(payload) <= _SHORT else (14, 6)
    stream = zlib.compressobj(1, zlib.DEFLATED, window, memory)
    return stream.compress(payload) + stream.flush()


def _failed(error: BaseException) -> SegmentFailed:
    return SegmentFailed(
        f"the attempts cannot be written: {str(error) or type(error).__name__}",
        hint="Make room on the disk, then `qodebase resume` the run: nothing that was kept is lost.",
    )


class SegmentReader:
    """Read payloads by reference, also while they are being written."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._files: dict[int, int] = {}

    def get(self, ref: str) -> bytes:
        """Return a payload.

        Raises:
            BadSegment: the segment is missing, cut or changed.
        """
        try:
            segment, offset = Ref.parse(ref)
        except ValueError:
            raise BadSegment(f"{ref!r} points into no attempts segment") from None
        try:
            descriptor = self._files.get(segment)
            if descriptor is None:
                descriptor = os.open(self._folder / f"{segment:06d}.seg", os.O_RDONLY)
                self._files[segment] = descriptor
            magic, length, crc = _HEAD.unpack(os.pread(descriptor, _HEAD.size, offset))
            packed = os.pread(descriptor, length, offset + _HEAD.size) if magic == _MAGIC else b""
        except (OSError, struct.error) as error:
            raise BadSegment(f"attempts segment {segment}, offset {offset}: {error}") from None
        if magic != _MAGIC or zlib.crc32(packed) != crc:
            raise BadSegment(f"attempts segment {segment}, offset {offset}: the bytes are not what was written")
        return zlib.decompress(packed)

    def close(self) -> None:
        """Close the files."""
        for descriptor in self._files.values():
            os.close(descriptor)
        self._files.clear()
