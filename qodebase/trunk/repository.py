"""Find a repository's folders and refuse the kinds that the trunk cannot write."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import NamedTuple

from qodebase.errors import QodebaseError
from qodebase.trunk.configuration import UnsupportedRepository, read_config, value

_KNOWN_EXTENSIONS = frozenset({b"noop", b"partialclone", b"preciousobjects", b"worktreeconfig", b"relativeworktrees"})

_LONGEST_LINK = 8192


class NotARepository(QodebaseError):
    """A path that is no git repository."""


class Folders(NamedTuple):
    """Where a repository keeps its refs and objects: the folder that all its worktrees share."""

    git: Path
    objects: Path
    packs: Path
    own: Path


def find_folders(path: Path) -> Folders:
    """Return the folders of a bare repository, a ``.git`` folder, or a working tree.

    Raises:
        NotARepository: the path is none of these.
        UnsupportedRepository: its objects are named by SHA-256, or it has an extension that is not known here.
    """
    git = _git_folder(path)
    if not (git / "objects").is_dir() or not os.path.lexists(git / "HEAD"):
        raise NotARepository(f"{path} is not a git repository", hint="Give the path of a repository, bare or not.")
    _refuse_unknown_format(git)
    return Folders(git, git / "objects", git / "objects" / "pack", git / "qodebase")


def _git_folder(path: Path) -> Path:
    if not path.exists():
        raise NotARepository(f"{path} does not exist", hint="Give the path of a repository, bare or not.")
    git = path / ".git" if (path / ".git").exists() else path
    if git.is_file():
        with git.open("rb") as file:
            text = os.fsdecode(file.read(_LONGEST_LINK))
        if text.startswith("gitdir:"):
            git = (git.parent / text.removeprefix("gitdir:").strip()).resolve()
    shared = git / "commondir"
    if shared.is_file():
        git = (git / shared.read_text(errors="surrogateescape").strip()).resolve()
    return git.absolute()


def _refuse_unknown_format(git: Path) -> None:
    config = read_config(git)
    version = value(config, b"core", b"repositoryformatversion") or b"0"
    if not re.fullmatch(rb"[01]", version):
        raise UnsupportedRepository(
            f"{git} has repository format {version.decode(errors='replace')}; 0 and 1 are known"
        )
    if version == b"0":
        return
    for name in config.sections():
        if name[0].lower() != b"extensions":
            continue
        for key, word in config.items(name):
            key, word = key.lower(), word.lower()
            if key == b"objectformat" and word != b"sha1":
                raise UnsupportedRepository(
                    f"{git} names its objects by {word.decode(errors='replace').upper()}; qodebase writes SHA-1 only",
                    hint="Convert it, or start from a clone with `git init --object-format=sha1`.",
                )
            if key == b"refstorage" and word != b"files":
                raise UnsupportedRepository(
                    f"{git} keeps its refs as {word.decode(errors='replace')}; qodebase moves plain ref files only",
                    hint="Convert a copy with `git refs migrate --ref-format=files`.",
                )
            if key not in _KNOWN_EXTENSIONS | {b"objectformat", b"refstorage"}:
                raise UnsupportedRepository(f"{git} has the unknown extension {key.decode(errors='replace')}")
