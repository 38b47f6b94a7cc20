"""What a check writes, and what it uses: counted, and kept within bounds."""

from __future__ import annotations

import contextlib
import mmap
import os

CHUNK = 64 << 10
_MARK_BYTES = 64 << 10
_PAGE = os.sysconf("SC_PAGE_SIZE")


class Tally:
    """The bytes that come out of a pipe: all are counted, the first and the last are kept.

    Args:
        source: file descriptor to read from.
        kept: how many bytes to keep at most, half of them from the start.
    """

    def __init__(self, source: int, kept: int) -> None:
        self.source = source
        self.total = 0
        self._half = kept // 2
        self._head = b""
        self._tail = b""

    def take(self) -> int:
        """Read once, no more than `CHUNK`; return how many bytes came, none at the end."""
        chunk = os.read(self.source, CHUNK)
        self.total += len(chunk)
        room = self._half - len(self._head)
        self._head += chunk[:room]
        self._tail = (self._tail + chunk[room:])[-self._half :]
        return len(chunk)

    def __bytes__(self) -> bytes:
        left_out = self.total - len(self._head) - len(self._tail)
        gap = b"\n... %d bytes left out ...\n" % left_out if left_out else b""
        return self._head + gap + self._tail


class Mark:
    """One line that a process and those forked from it share; nobody is woken by a change."""

    def __init__(self) -> None:
        self._memory = mmap.mmap(-1, _MARK_BYTES)

    def set(self, line: bytes) -> None:
        """Put a line in the place of the one before; one that is too long is none."""
        text = line + b"\n" if len(line) < _MARK_BYTES else b"\n"
        self._memory[: len(text)] = text

    def __bytes__(self) -> bytes:
        """Return the line with its end, or nothing."""
        line = self._memory[: self._memory.find(b"\n") + 1]
        return line if len(line) > 1 else b""


def memory_in_use() -> int:
    """Return the bytes that all processes hold which this one can see, but for itself; shared pages count for each."""
    pages = 0
    for name in os.listdir("/proc"):
        if name.isdigit() and int(name) != os.getpid():
            with contextlib.suppress(OSError), open(f"/proc/{name}/statm") as counts:
                _, resident, shared = counts.read().split()[:3]
                pages += int(resident) - int(shared)
    return pages * _PAGE
