"""What every git program that is started here finds in its environment."""

from __future__ import annotations

import os
from pathlib import Path

FORMATS = {"GIT_DEFAULT_REF_FORMAT": "files", "GIT_DEFAULT_HASH": "sha1"}
"""Has git make repositories that qodebase can write, whatever is usual here; variables win over configuration."""

_OF_A_REPOSITORY = frozenset(
    {
        "GIT_ALTERNATE_OBJECT_DIRECTORIES",
        "GIT_COMMON_DIR",
        "GIT_DIR",
        "GIT_INDEX_FILE",
        "GIT_NAMESPACE",
        "GIT_OBJECT_DIRECTORY",
        "GIT_WORK_TREE",
    }
)
"""What git's hooks and aliases set; the first of them would win over ``-C``."""


def users_environment() -> dict[str, str]:
    """Return the caller's environment, in which git finds the repository by its arguments only."""
    return {name: value for name, value in os.environ.items() if name not in _OF_A_REPOSITORY}


def git_environment() -> dict[str, str]:
    """Return the same without any other of git's variables, in which git speaks English."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return kept | FORMATS | {"LC_ALL": "C"}


def unconfigured_environment() -> dict[str, str]:
    """Return the same for a git without anybody's configuration but the repository's."""
    return git_environment() | {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull}


def git_in(repository: Path) -> list[str]:
    """Return ``git`` with words that name a repository, for commands that only read it.

    A git folder is named as such: where git has to look for one, it refuses one that belongs to another user.
    """
    is_git = (repository / "objects").is_dir() and (repository / "HEAD").is_file()
    return ["git", f"--git-dir={repository}"] if is_git else ["git", "-C", str(repository)]
