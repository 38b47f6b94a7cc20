"""Real merges, read from any repository: files that both sides of a merge commit changed, in their four versions."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from qodebase.collision import Collision, Side
from qodebase.commands.bench.support.merge_renames import NOTHING, Blob, Renamed, Renames
from qodebase.errors import QodebaseError
from qodebase.paths import RepoPath

_REGULAR = (0o100644, 0o100755)


class NotRead(QodebaseError):
    """A repository whose history git cannot read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Merged:
    """One file that both sides changed, and what people committed; None where they deleted it.

    Where one side renamed it, or both did, ``renamed`` says how and what git makes of it.
    """

    commit: str
    collision: Collision
    committed: Side
    renamed: Renamed | None = None


class History:
    """A repository's merge commits; several merge bases or more than two parents are left out and counted."""

    def __init__(self, folder: Path, *, idempotent: bool = False) -> None:
        self._git = ["git", "-C", str(folder), "-c", "core.quotePath=false", "--no-replace-objects"]
        self._idempotent = idempotent
        self.merges = 0
        self.left_out = 0

    def files(self, limit: int = 0) -> Iterator[Merged]:
        """Yield files from the newest merge to the oldest, of at most so many merges, 0 for all.

        Raises:
            NotRead: the folder is no repository, or its objects are not there.
        """
        listed = self._run("rev-list", "--merges", "--parents", *([f"-n{limit}"] if limit else []), "HEAD")
        words = [*self._git, "cat-file", "--batch"]
        with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as blobs:
            for line in listed.decode().splitlines():
                commit, *parents = line.split()
                yield from self._merge(commit, parents, blobs)

    def _merge(self, commit: str, parents: list[str], blobs: subprocess.Popen[bytes]) -> Iterator[Merged]:
        bases = self._run("merge-base", "--all", *parents, fails=True).decode().split() if len(parents) == 2 else []
        if len(bases) != 1:
            self.left_out += 1
            return
        self.merges += 1
        ours, theirs = (self._changed(bases[0], parent) for parent in parents)
        both = sorted(ours.keys() & theirs.keys())
        if not both:
            return
        after = self._changed(parents[0], commit)
        renames = Renames(
            base=bases[0],
            parents=(parents[0], parents[1]),
            sides=(ours, theirs),
            git=lambda *words: self._run(*words, fails=True),
            read_blob=lambda blob: self._side(blob, blobs),
        )
        renamed = {one.old: one for one in renames}
        placed = {one.new for one in renamed.values()}
        for path in (path for path in both if path not in placed):
            moved = renamed.get(RepoPath(path))
            base, main, change = moved.blobs if moved else (*ours[path], theirs[path][1])
            where = moved.new if moved else path
            if main == change or not all(blob.mode in (*_REGULAR, 0) for blob in (base, main, change)):
                continue
            result = after[where][1] if where in after else ours[where][1] if where in ours else Blob(0, NOTHING)
            sides = [self._side(blob, blobs) for blob in (base, main, change, result)]
            collision = Collision(
                path=RepoPath(where), base=sides[0], main=sides[1], change=sides[2], idempotent=self._idempotent
            )
            yield Merged(commit=commit, collision=collision, committed=sides[3], renamed=moved)

    def _changed(self, one: str, other: str) -> dict[bytes, tuple[Blob, Blob]]:
        """Return what differs between two commits: the old and the new blob by path."""
        words = self._run("diff-tree", "-r", "-z", "--no-renames", "--no-abbrev", one, other).split(b"\0")
        found: dict[bytes, tuple[Blob, Blob]] = {}
        for about, path in zip(words[::2], words[1::2], strict=False):
            old_mode, mode, old, new, _ = about.decode()[1:].split()
            found[path] = Blob(int(old_mode, 8), old), Blob(int(mode, 8), new)
        return found

    def _side(self, blob: Blob, blobs: subprocess.Popen[bytes]) -> Side:
        if blob.id == NOTHING or blob.mode not in _REGULAR or blobs.stdin is None or blobs.stdout is None:
            return Side(content=None)
        blobs.stdin.write(blob.id.encode() + b"\n")
        blobs.stdin.flush()
        header = blobs.stdout.readline().split()
        if len(header) != 3:
            raise NotRead(f"the object {blob.id} is not in the repository", hint="Fetch the whole history.")
        content = blobs.stdout.read(int(header[2]))
        blobs.stdout.read(1)
        return Side(content=content, mode=blob.mode)

    def _run(self, *words: str | bytes, fails: bool = False) -> bytes:
        ran = subprocess.run([*self._git, *words], capture_output=True, stdin=subprocess.DEVNULL)
        if ran.returncode and not fails:
            said = ran.stderr.decode(errors="replace").strip()
            raise NotRead(f"git {words[0]!s}: {said}", hint="Name a git repository with its history.")
        return ran.stdout
