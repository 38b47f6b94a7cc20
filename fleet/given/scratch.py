"""Git as jobs ask it: a scratch repository that borrows the user's objects and writes nothing there."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from qodebase.change import SUBMODULE
from qodebase.errors import QodebaseError
from qodebase.git_environment import git_environment
from qodebase.paths import CommitId, RepoPath

REFS = "refs/qodebase/given"
"""Where the run's own repository keeps what its intents were given."""


class GitFailed(QodebaseError):
    """Git ended with another code than 0; ``said`` is what it said of it."""

    def __init__(self, said: str, words: str, hint: str = "") -> None:
        super().__init__(said or f"git {words} failed", hint=hint)
        self.said = said


class Differs(NamedTuple):
    """A path at which two commits differ; modes and objects are 0 where the side has none."""

    path: RepoPath
    old_mode: int
    mode: int
    old_id: str
    id: str

    @property
    def is_submodule(self) -> bool:
        """Return whether one of the sides is a submodule."""
        return SUBMODULE in (self.old_mode, self.mode)


class Scratch:
    """A bare repository in a folder of its own that reads another one's objects.

    Args:
        folder: an empty folder; the caller removes it.
        git: the other repository's git folder.
    """

    def __init__(self, folder: Path, git: Path) -> None:
        self._folder = folder
        self._git = git
        self._indexes = 0
        self._environment = {
            **git_environment(),
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_OPTIONAL_LOCKS": "0",
        }
        self.ask("init", "--quiet", "--bare", str(folder), here=False)
        objects, shallow = (
            self.ask("rev-parse", "--git-path", name, of=git).strip() for name in ("objects", "shallow")
        )
        (folder / "objects" / "info" / "alternates").write_bytes(objects + b"\n")
        if Path(os.fsdecode(shallow)).exists():
            shutil.copyfile(os.fsdecode(shallow), folder / "shallow")

    def ask(
        self,
        *words: str,
        stdin: bytes = b"",
        of: Path | None = None,
        here: bool = True,
        environment: Mapping[str, str] | None = None,
    ) -> bytes:
        """Return what git prints.

        Args:
            of: another repository than this one.
            here: in a repository at all.

        Raises:
            GitFailed: it ends with another code than 0; the message is git's own.
        """
        where = ["--git-dir", os.fspath(of or self._folder)] if here else []
        try:
            done = subprocess.run(
                ["git", *where, *words],
                input=stdin,
                cwd=self._folder,
                env={**self._environment, **(environment or {})},
                capture_output=True,
                check=False,
            )
        except OSError as error:
            raise GitFailed(f"git could not be started: {error}", words[0], hint="Install git.") from None
        if done.returncode:
            raise GitFailed(done.stderr.decode(errors="replace").strip(), words[0])
        return done.stdout

    def refs(self) -> list[tuple[str, CommitId]]:
        """Return the other repository's branches with their tips, the oldest first."""
        form = "--format=%(refname) %(refname:strip=2) %(objectname) %(symref)"
        lines = self.ask(
            "for-each-ref", "--sort=committerdate", form, "refs/heads", "refs/remotes", of=self._git
        ).decode(errors="replace")
        rows = [line.split(" ") for line in lines.splitlines()]
        return [(name, CommitId(tip)) for _, name, tip, symbolic in rows if not symbolic]

    def merge_base(self, one: CommitId, other: CommitId) -> CommitId | None:
        """Return the best common ancestor of two commits, or None where there is none."""
        try:
            return CommitId(self.ask("merge-base", one, other).decode().strip())
        except GitFailed as error:
            if error.said:
                raise
            return None

    def has(self, commit: str) -> bool:
        """Return whether there is such a commit."""
        try:
            self.ask("cat-file", "-e", f"{commit}^{{commit}}")
        except GitFailed:
            return False
        return True

    def holds(self, commit: str, wanted: Mapping[bytes, str]) -> bool:
        """Return whether a commit has these contents: the beginning of each one's id, by path."""
        there = {}
        for line in self.ask("ls-tree", "-r", "-z", commit, "--", *map(os.fsdecode, wanted)).split(b"\0")[:-1]:
            told, _, path = line.partition(b"\t")
            there[path] = told.split(b" ")[2].decode()
        return all(there.get(path, "").startswith(id) for path, id in wanted.items())

    def new_index(self) -> Path:
        """Return where an index of its own can be."""
        self._indexes += 1
        return self._folder / f"index-{self._indexes}"

    def differences(self, one: str, other: str) -> list[Differs]:
        """Return where two commits, or trees, differ; a rename counts as two paths."""
        fields = self.ask("diff-tree", "-r", "-z", "--raw", "--no-renames", one, other).split(b"\0")
        found = []
        for told, path in zip(fields[::2], fields[1::2], strict=False):
            old_mode, mode, old_id, id, _ = told.lstrip(b":").split(b" ")
            found.append(Differs(RepoPath(path), int(old_mode, 8), int(mode, 8), old_id.decode(), id.decode()))
        return found

    def hand_over(self, commits: Mapping[str, CommitId], git: Path) -> None:
        """Put commits into another repository, under `REFS` with their names."""
        lines = "".join(f"create refs/given/{name} {commit}\n" for name, commit in commits.items())
        self.ask("update-ref", "--stdin", stdin=lines.encode())
        refs = f"refs/given/*:{REFS}/*"
        flags = ("--quiet", "--no-tags", "--no-write-fetch-head", "--update-shallow")
        self.ask("fetch", *flags, str(self._folder), refs, of=git.resolve())
