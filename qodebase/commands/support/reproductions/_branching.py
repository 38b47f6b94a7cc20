"""Branches that agents could have pushed: made-up edits of real files, many of them in the same ones."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from qodebase.change import EXECUTABLE, REGULAR
from qodebase.commands.bench.support.workload import PERSON, TIME, git
from qodebase.errors import QodebaseError

_HOT = 3
_LINES_APART = 6
_BINARY = bytes(range(256))


class TooSmall(QodebaseError):
    """A codebase without room for the branches."""


class Folder(NamedTuple):
    """A folder at the top of a codebase: files that all its branches edit, with the lines where, and other files."""

    name: str
    hot: Mapping[str, Sequence[int]]
    cold: Sequence[str]


def make_branches(repository: Path, files: Mapping[str, bytes], *, folders: int, each: int, seed: int) -> list[str]:
    """Put so many branches for each of some folders onto the repository's main, and return the folders.

    All branches of a folder insert a line into the same files, far from each other; one of them renames such a file.
    Besides, a branch adds, deletes, renames or replaces a file of its own, or makes it executable.

    Args:
        files: what main holds, by path.

    Raises:
        TooSmall: there are not so many folders with files of that length.
    """
    chance = random.Random(seed)
    chosen = list(_folders(files, each))[:folders]
    if len(chosen) < folders:
        raise TooSmall(
            f"{len(chosen)} of {folders} folders have {_HOT} files that {each} branches can edit apart",
            hint="Take a smaller --scale.",
        )
    stream = b"".join(_branch(number, folder, files, each, chance) for folder in chosen for number in range(each))
    git(repository, "fast-import", "--quiet", input=stream)
    return [folder.name for folder in chosen]


def _folders(files: Mapping[str, bytes], each: int) -> Iterator[Folder]:
    """Yield the folders that have room for so many branches, those with most files first."""
    within: dict[str, list[str]] = {}
    for path in files:
        name, slash, _ = path.partition("/")
        if slash:
            within.setdefault(name, []).append(path)
    for name, paths in sorted(within.items(), key=lambda one: (-len(one[1]), one[0])):
        places = {path: places for path in sorted(paths) if (places := _places(files[path], each))}
        hot = dict(sorted(places.items(), key=lambda one: (-len(files[one[0]]), one[0]))[:_HOT])
        cold = [path for path in paths if path not in hot]
        if len(hot) == _HOT and len(cold) >= each:
            yield Folder(name, hot, cold)


def _places(content: bytes, count: int) -> list[int]:
    """Return the numbers of so many lines that follow an empty one and stand apart; none: there are fewer."""
    lines = content.split(b"\n")
    free = [number for number in range(1, len(lines)) if not lines[number - 1] and lines[number]]
    apart = free[:: max(1, len(free) // count)][:count]
    near = any(after - before < _LINES_APART for before, after in pairwise(apart))
    return [] if near or len(apart) < count else apart


def _branch(number: int, folder: Folder, files: Mapping[str, bytes], each: int, chance: random.Random) -> bytes:
    name, mail = PERSON
    branch = f"trains/{folder.name}/{number:02}"
    said = f"Change {branch}".encode()
    out = [
        f"commit refs/heads/{branch}\ncommitter {name} <{mail}> {TIME} +0000\n".encode(),
        b"data %d\n%s\nfrom refs/heads/main^0\n" % (len(said), said),
    ]
    moves = number == each // 2
    for at, (path, places) in enumerate(folder.hot.items()):
        content = _inserted(files[path], places[number], branch)
        if moves and not at:
            out += [_deleted(path), _written(_renamed(path), content)]
        else:
            out.append(_written(path, content))
    own = folder.cold[number]
    edited = _inserted(files[own], 0, branch)
    match number % 5:
        case 0:
            out.append(_written(f"{folder.name}/added_{number:02}.py", b"ADDED = %d\n" % chance.randrange(1000)))
        case 1:
            out.append(_deleted(own))
        case 2:
            out += [_deleted(own), _written(_renamed(own), edited)]
        case 3:
            out.append(_written(own, files[own], EXECUTABLE))
        case _:
            out.append(_written(own, _BINARY + edited))
    return b"".join(out)


def _inserted(content: bytes, line: int, branch: str) -> bytes:
    lines = content.split(b"\n")
    return b"\n".join([*lines[:line], f"# {branch} was here".encode(), *lines[line:]])


def _renamed(path: str) -> str:
    return f"{path.removesuffix('.py')}_renamed.py"


def _written(path: str, content: bytes, mode: int = REGULAR) -> bytes:
    return b'M %o inline "%s"\ndata %d\n%s\n' % (mode, path.encode(), len(content), content)


def _deleted(path: str) -> bytes:
    return b'D "%s"\n' % path.encode()
