"""Write what moved a ref into its reflog, where the repository keeps one (gitrepository-layout(5), "logs")."""

from __future__ import annotations

from pathlib import Path

from qodebase.trunk.files import Files
from qodebase.trunk.refs import head_of

_NOTHING = "0" * 40


def log_move(
    files: Files, git: Path, ref: str, *, old: str | None, new: str, person: bytes, why: str, begin: bool
) -> None:
    """Add a line to the reflog of a ref, and to HEAD's where HEAD leads to it.

    Args:
        person: who moved it, as a commit writes a person.
        begin: a reflog that is not there is begun; else only one that is there is written on.

    Raises:
        OSError: the disk did not take it; what was there is as it was.
    """
    line = f"{old or _NOTHING} {new} ".encode() + person + b"\t" + why.encode() + b"\n"
    for name in (ref, "HEAD") if head_of(git, git) == ref else (ref,):
        path = git / "logs" / name
        if path.is_file() or begin:
            files.make_folder(path.parent)
            files.append(path, line)
