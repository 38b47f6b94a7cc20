"""What `--land-on` and `--push-to` name, looked at before a run starts."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from qodebase.errors import QodebaseError
from qodebase.git_environment import users_environment

if TYPE_CHECKING:
    from qodebase.source import Source


class BadTarget(QodebaseError):
    """A branch or repository that a run cannot push to."""


def branch_to_start_from(repository: Path, land_on: str, push_to: str) -> str | None:
    """Return the branch to land on where the run's own repository has it; None where it is to start elsewhere."""
    if not land_on or push_to:
        return None
    name = land_on.removeprefix("refs/heads/")
    return name if _ask(repository, "show-ref", "--verify", "--hash", f"refs/heads/{name}") else None


def checked_target(source: Source, land_on: str, push_to: str) -> str:
    """Return the path or address of the repository to push to, or nothing where the run does not push.

    Raises:
        BadTarget: a repository without a branch, one that git does not reach, or a branch that does not hold what the
            run starts from.
        BadBranchName, CheckedOut, NotARepository: the branch cannot be landed on.
    """
    from qodebase.trunk.remote import NotReached, Remote

    if not land_on:
        if push_to:
            raise BadTarget("--push-to says where to, and not which branch", hint="Add --land-on BRANCH.")
        return ""
    place = _place(source, push_to)
    if "://" in place and urlsplit(place).password:
        raise BadTarget(
            f"the address of {urlsplit(place).hostname} holds a password, which the run would keep in its folder",
            hint="Leave it out of the address, and let git ask a credential helper (`git help credentials`).",
        )
    remote = Remote(source.git, place, land_on)
    remote.check_name()
    remote.check_free()
    try:
        there = remote.look().branch
    except NotReached as error:
        hint = f"Give a repository that git can push to with --push-to; `git ls-remote {place}` says the same."
        raise BadTarget(error.message, hint=hint) from None
    if there is not None and _is_commit(source, there) and not _related(source, there):
        raise BadTarget(
            f"{remote.name} does not hold {source.commit[:12]}, the newest commit of {source.branch}, to start from",
            hint=f"Start from it (leave --branch out), merge {source.branch} into it, or name a new branch.",
        )
    return place


def _place(source: Source, push_to: str) -> str:
    """Return a path from the root, or an address, for what a person named."""
    if not push_to:
        return str(source.path)
    if Path(push_to).expanduser().is_dir():
        return str(Path(push_to).expanduser().resolve())
    address = _ask(source.path, "remote", "get-url", "--push", push_to) or push_to
    below = source.path / address
    return str(below.resolve()) if below.is_dir() else address


def _is_commit(source: Source, commit: str) -> bool:
    return _ask(source.git, "cat-file", "-t", commit) == "commit"


def _related(source: Source, commit: str) -> bool:
    """Return whether the run's base is below a commit, or the other way round, so that nothing would be lost."""
    return _ask(source.git, "merge-base", commit, source.commit) in (commit, source.commit)


def _ask(repository: Path, *words: str) -> str:
    command = ["git", "-C", str(repository), *words]
    done = subprocess.run(command, capture_output=True, check=False, env=users_environment())
    return done.stdout.decode(errors="replace").strip() if done.returncode == 0 else ""
