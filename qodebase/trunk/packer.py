"""Gather objects in a process of its own: what a trunk's `Beside` starts, tells and hears.

Told are frames of calls, marshalled, each the number of a verb and what it is called with. A frame begins with its
length, and behind it come the contents whose lengths it tells: marshalling them would copy them once more. Nothing is
said before `FINISH`: then the pack up to its checksum, the checksum, and the index, each with its length.
At the end of its input the process ends.
"""

from __future__ import annotations

import gc
import marshal
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO, Generic, TypeVar

from qodebase.trunk.deltas import Splice
from qodebase.trunk.gathering import Gathered
from qodebase.trunk.grown import Grown
from qodebase.trunk.kept import Roots
from qodebase.trunk.objects import BLOB, sha1
from qodebase.trunk.wholes import Wholes

BEGIN, ADD, ADD_PATCHED, ADD_GROWING, ADD_BLOB, ADD_SPLICED, FINISH, REMEMBER, FORGET = range(9)
"""The verbs of calls."""

LENGTH = 8
"""Bytes of a frame's length, the highest first."""

FORM = 2
"""Marshal's form; later ones look for each object among those before it, which takes longer than sending it again."""

LARGE = 1 << 16
"""Contents of so many bytes are sent once, and then what the step changes in them."""

_MOST_KEPT = 64 << 20

Call = tuple[int, tuple[Any, ...]]
T = TypeVar("T")


class Newest(Generic[T]):
    """What is known of the newest contents, each in place of what it replaced, of at most so many bytes in all.

    Both sides of the pipe put the same ids and sizes into one, so that each knows which contents the other has.
    """

    def __init__(self) -> None:
        self._kept: dict[bytes, tuple[T, int]] = {}
        self._size = 0

    def __contains__(self, id: bytes | None) -> bool:
        return id in self._kept

    def __getitem__(self, id: bytes) -> T:
        return self._kept[id][0]

    def put(self, id: bytes, base: bytes | None, known: T, size: int) -> None:
        """Keep what is known of a content of ``size`` bytes that replaces ``base``."""
        kept = self._kept
        replaced = kept.pop(base, None) if base is not None else None
        if replaced is not None:
            self._size -= replaced[1]
        kept[id] = known, size
        self._size += size
        while self._size > _MOST_KEPT:
            self._size -= kept.pop(next(iter(kept)))[1]


class Packer:
    """What gathers the objects of one step after the other.

    Args:
        objects: the repository's folder of objects.
        level: zlib's.
        hear: reads so many bytes of what follows a frame.
        say: writes bytes to who asks.
    """

    def __init__(self, objects: Path, level: int, hear: Callable[[int], bytes], say: Callable[[bytes], object]) -> None:
        self._level = level
        self._hear = hear
        self._say = say
        self._wholes = Wholes(objects)
        self._roots = Roots()
        self._grown = Grown()
        self._begin()

    def _begin(self) -> None:
        self._pack = Gathered(level=self._level, wholes=self._wholes, roots=self._roots, grown=self._grown)
        self._newest: Newest[bytes] = Newest()
        self._verbs: dict[int, Callable[..., object]] = {
            BEGIN: self._begin,
            ADD: self._add,
            ADD_PATCHED: self._pack.add_patched,
            ADD_GROWING: self._add_growing,
            ADD_BLOB: self._add_blob,
            ADD_SPLICED: self._add_spliced,
            FINISH: self._finish,
            REMEMBER: self._remember,
            FORGET: self._wholes.close,
        }

    def do(self, calls: Sequence[Call]) -> None:
        """Do what one frame tells."""
        for verb, given in calls:
            self._verbs[verb](*given)

    def _add(self, kind: int, id: bytes, size: int, base: bytes | None, splices: Sequence[Splice]) -> None:
        self._pack.add(kind, id, self._hear(size), base, splices)

    def _add_growing(self, kind: int, id: bytes, size: int, base: bytes | None, splices: Sequence[Splice]) -> None:
        self._pack.add_growing(kind, id, self._hear(size), base, splices)

    def _add_blob(self, id: bytes, size: int, base: bytes | None, known: int | None, seen: bool) -> None:
        content = self._hear(size)
        was = None if known is None else self._hear(known)
        self._pack.add_blob(id, content, base, *((was, None) if seen else (None, was)))
        if size >= LARGE:
            self._newest.put(id, base, content, size)

    def _add_spliced(self, id: bytes, base: bytes, splice: Splice) -> None:
        start, end, text = splice
        old = self._newest[base]
        content = b"".join((old[:start], text, old[end:]))
        self._pack.add(BLOB, id, content, base, [splice])
        self._newest.put(id, base, content, len(content))

    def _finish(self) -> None:
        pack, say = self._pack, self._say
        digest = sha1(b"")
        say(pack.size.to_bytes(LENGTH))
        for piece in pack.pieces():
            say(piece)
            digest.update(piece)
        for part in (digest.digest(), pack.index(digest.digest())):
            say(len(part).to_bytes(LENGTH))
            say(part)

    def _remember(self) -> None:
        self._pack.remember()
        self._begin()  # Nothing of the step's pack is held until there is another step.


def frames(source: BinaryIO) -> Iterator[bytes]:
    """Yield the frames of a stream, to its end."""
    while length := source.read(LENGTH):
        yield source.read(int.from_bytes(length))


def _serve(objects: str, level: str) -> None:
    gc.disable()  # What a step gathers lives to its end and makes no cycles.
    with os.fdopen(0, "rb", buffering=1 << 20) as source, os.fdopen(1, "wb", buffering=0) as out:

        def say(part: bytes) -> None:
            view = memoryview(part)
            while view:
                view = view[out.write(view) :]

        packer = Packer(Path(os.fsdecode(objects)), int(level), source.read, say)
        for frame in frames(source):
            packer.do(marshal.loads(frame))


if __name__ == "__main__":
    _serve(*sys.argv[1:])
