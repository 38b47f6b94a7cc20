"""The change that leads from one commit to another, as operations."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator

from qodebase.change import SUBMODULE, SYMLINK, AnyOperation, Change, Delete, Hunk, Patch, SetMode, Symlink, Write
from qodebase.collision import Entry
from qodebase.paths import RepoPath
from qodebase.ports import Tree


class NoSuchChange(ValueError):
    """A difference that no change can express."""


def change_between(base: Tree, tip: Tree, paths: Iterable[RepoPath]) -> Change:
    """Return the change against ``base`` that gives each of ``paths`` what ``tip`` holds there, to the bit.

    Raises:
        NoSuchChange: a path is a submodule on one of the sides.
    """
    operations = (one for path in sorted(paths) for one in _operations(base, tip, path))
    # A file must go before another one can stand in a folder of its name.
    return Change(base=base.commit, operations=tuple(sorted(operations, key=lambda one: not isinstance(one, Delete))))


def _operations(base: Tree, tip: Tree, path: RepoPath) -> Iterator[AnyOperation]:
    before, after = base.entry(path), tip.entry(path)
    if SUBMODULE in (_mode(before), _mode(after)):
        raise NoSuchChange(f"{path.text} is a submodule")
    if before == after:
        return
    if after is None:
        yield Delete(path=path)
    elif after.mode == SYMLINK:
        yield Symlink(path=path, target=tip.read(path))
    elif before is None or before.mode == SYMLINK:
        yield Write(path=path, content=tip.read(path), mode=after.mode)
    else:
        if after.id != before.id:
            yield Patch(path=path, hunks=hunks_between(base.read(path), tip.read(path)))
        if after.mode != before.mode:
            yield SetMode(path=path, mode=after.mode)


def hunks_between(before: bytes, after: bytes) -> tuple[Hunk, ...]:
    r"""Return hunks that make ``after`` of ``before``.

    Where one only has lines more than the other they are hunks of their own, found in one pass; else all between the
    common head and the common tail is one hunk.

    >>> hunks_between(b"a\nb\nc\n", b"a\nc\n")
    (Hunk(offset=2, length=2, text=b''),)
    """
    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    removed = _apart(old, new)
    if removed is not None:
        return tuple(Hunk(offset=at, length=len(text), text=b"") for at, text, _ in removed)
    added = _apart(new, old)
    if added is not None:
        return tuple(Hunk(offset=there, text=text) for _, text, there in added)
    return _one_hunk(before, after)


def _apart(longer: list[bytes], shorter: list[bytes]) -> list[tuple[int, bytes, int]] | None:
    """Return the lines that ``longer`` has beside those of ``shorter``, in runs; None where it lacks one of those.

    Each run comes with its offset in ``longer`` and the offset in ``shorter`` at which it is missing.
    """
    runs: list[tuple[int, bytes, int]] = []
    at = here = there = 0
    for line in longer:
        if at < len(shorter) and line == shorter[at]:
            at += 1
            there += len(line)
        elif runs and runs[-1][0] + len(runs[-1][1]) == here:
            runs[-1] = (runs[-1][0], runs[-1][1] + line, there)
        else:
            runs.append((here, line, there))
        here += len(line)
    return runs if at == len(shorter) else None


def _one_hunk(before: bytes, after: bytes) -> tuple[Hunk, ...]:
    head = _alike(min(len(before), len(after)), lambda size: before[:size] == after[:size])
    head = before.rfind(b"\n", 0, head) + 1
    most = min(len(before), len(after)) - head
    tail = _alike(most, lambda size: before[len(before) - size :] == after[len(after) - size :])
    return (Hunk(offset=head, length=len(before) - head - tail, text=after[head : len(after) - tail]),)


def _alike(most: int, same: Callable[[int], bool]) -> int:
    """Return the greatest size up to ``most`` for which ``same`` holds, by bisection."""
    return bisect_left(range(1, most + 1), True, key=lambda size: not same(size))


def _mode(entry: Entry | None) -> int:
    return 0 if entry is None else entry.mode
