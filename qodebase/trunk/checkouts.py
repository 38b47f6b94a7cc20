"""Find who has a branch checked out: landing on it would leave that working tree behind its branch."""

from __future__ import annotations

import os
from pathlib import Path

from qodebase.errors import QodebaseError
from qodebase.trunk.refs import head_of


class CheckedOut(QodebaseError):
    """A branch that a working tree stands on."""


def refuse_checked_out(git: Path, ref: str, *, bare: bool) -> None:
    """Refuse a branch that a working tree of the repository has checked out, rebases or bisects.

    Args:
        git: the folder that all working trees share.
        ref: the branch's full name.
        bare: the repository has no working tree of its own.

    Raises:
        CheckedOut: with the working tree's path.
    """
    places = [] if bare else [(git, git.parent)]
    for folder in sorted((git / "worktrees").glob("*")):
        link = folder / _text(folder / "gitdir")
        if link.is_file():
            places.append((folder, link.parent))
    for folder, tree in places:
        if ref in _stands_on(folder, git):
            short = ref.removeprefix("refs/heads/")
            raise CheckedOut(
                f"{short} is checked out in {tree}: its files would fall behind the branch",
                hint=f"Land on another branch, or check out another one there (`git -C {tree} switch --detach`).",
            )


def _stands_on(folder: Path, git: Path) -> list[str]:
    rebased = [_text(folder / name / "head-name") for name in ("rebase-merge", "rebase-apply")]
    bisected = _text(folder / "BISECT_START")
    return [head_of(folder, git), *rebased, f"refs/heads/{bisected}" if bisected else ""]


def _text(path: Path) -> str:
    try:
        return os.fsdecode(path.read_bytes()).strip()
    except (FileNotFoundError, NotADirectoryError):
        return ""
