"""Put a pack among those of a repository, so that no reader finds half of it and no git removes it too early."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import NamedTuple

from qodebase.trunk.files import Files

TEMPORARY = "tmp_qodebase_"
HALF = ".part"
"""Ends the name of a file that is not whole: git and dulwich take every pair of ``.pack`` and ``.idx`` for a pack."""
KEEP = ".keep"
"""Ends the name of a file that keeps git from removing a pack (git-repack(1)); ours is the pack under a second name."""

_TRIES = 3


class Packed(NamedTuple):
    """A pack in memory: its bytes up to the checksum at its end, that one, and what makes its index."""

    pieces: Sequence[bytes | bytearray]
    checksum: bytes | bytearray
    make_index: Callable[[], bytes | bytearray]


def place_pack(files: Files, folder: Path, packed: Packed) -> Path:
    """Write pack and index into a folder of packs, synced, and return the pack's path.

    The index gets its name last, so that no reader finds a pack that is not whole; its temporary file carries the
    pack's name, so that a pack left without index by a crash is known as ours. Until `let_go` the pack is kept: a
    ``git repack -ad`` that begins before a ref leads to it would remove it.
    """
    name = f"pack-{packed.checksum.hex()}"
    pack, index = folder / f"{name}.pack", folder / f"{name}.idx"
    if index.exists():
        _keep(files, pack, pack)
        files.sync_folder(folder)
        return pack
    for left in reversed(range(_TRIES)):
        try:
            _place(files, pack, packed)
            break
        except FileNotFoundError:
            # A git that prunes everything removes unfinished packs of others too.
            if not left:
                raise
    files.sync_folder(folder)
    return pack


def _place(files: Files, pack: Path, packed: Packed) -> None:
    index = pack.with_suffix(".idx")
    half_pack, half_index = (path.with_name(f"{TEMPORARY}{path.name}{HALF}") for path in (pack, index))
    try:
        with ThreadPoolExecutor(1, "pack") as beside:
            # The disk takes the pack while the index is made.
            write = partial(files.write_new, half_pack, [*packed.pieces, packed.checksum], mode=0o444)
            end = _begun(beside, write)
            content = packed.make_index()
            end()
        files.write_new(half_index, [content], mode=0o444)
        _keep(files, half_pack, pack)
        files.rename(half_pack, pack)
        files.rename(half_index, index)
    except BaseException:
        for path in (half_pack, half_index, *(() if index.exists() else (pack,))):
            files.unlink(path)
        let_go(files, pack)
        raise


def _begun(beside: Executor, work: Callable[[], None]) -> Callable[[], None]:
    """Begin some work and return what waits for its end; where there is no room for another thread that does it."""
    try:
        return beside.submit(work).result
    except RuntimeError:
        return work


def _keep(files: Files, written: Path, pack: Path) -> None:
    with suppress(FileExistsError):
        files.link(written, pack.with_suffix(KEEP))


def let_go(files: Files, pack: Path) -> None:
    """Leave a pack that `place_pack` wrote to git; a ref leads to it now, or nothing shall.

    Where the disk does not take that, whoever opens the repository next does it.
    """
    with suppress(OSError):
        files.unlink(pack.with_suffix(KEEP))
