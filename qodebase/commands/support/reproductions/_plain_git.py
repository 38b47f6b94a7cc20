"""An oracle: what main's trees are where C git alone merges the same branches in the same order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from qodebase.commands.bench.support.workload import GitFailed, git


def equal_landings(ours: Path, base: str, landed: Iterable[tuple[str, str]], scratch: Path) -> Iterator[bool]:
    """Yield of each landing whether its tree is the one that C git merges.

    ``git merge-tree`` merges a branch with what it made of those before; the result is one commit on that. Where git
    finds a conflict its answer is no tree, and it goes on from what landed.

    Args:
        ours: the repository that was landed on; only read.
        base: the commit that the first one landed on.
        landed: commits on main in its order, each with the tip of the branch that it holds.
        scratch: a folder that is not there yet, for the oracle's own repository.
    """
    scratch.mkdir(parents=True)
    git(scratch, "init", "-q", "--bare", ".")
    (scratch / "objects" / "info" / "alternates").write_text(f"{ours.resolve() / 'objects'}\n")
    state = base
    for commit, tip in landed:
        try:
            tree = _asked(scratch, "merge-tree", "--write-tree", state, tip)
        except GitFailed:
            state = commit
            yield False
            continue
        state = _asked(scratch, "commit-tree", tree, "-p", state, "-m", tip)
        yield tree == _asked(scratch, "rev-parse", f"{commit}^{{tree}}")


def _asked(repository: Path, *words: str) -> str:
    return git(repository, *words).split(b"\n", 1)[0].decode()
