"""Landings on shards that were folded into one file since: commits in which their lines stand in that file.

What such a landing added to its shard stands in the one file now, which its commit did not have. So two commits stand
for it: on its own code the file as it is now, and on its parent's code the same file without its lines.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from fleet.given.scratch import Scratch
from fleet.jobs.revert.lines import undone_lines
from qodebase.change import REGULAR
from qodebase.intent import Given
from qodebase.paths import CommitId, RepoPath
from qodebase.ports import Tree

_WHO = b"qodebase <qodebase@qodebase.invalid> 0 +0000"


class Unfolding:
    """Makes the commits that stand for landings on shards.

    Args:
        open_tree, differing: the code at a commit, and the paths at which two differ.
        main: the newest code.
        shards: the path that each shard was folded into.
    """

    def __init__(
        self,
        open_tree: Callable[[CommitId], Tree],
        differing: Callable[[CommitId, CommitId], Iterable[RepoPath]],
        main: Tree,
        shards: Mapping[RepoPath, RepoPath],
    ) -> None:
        self._open_tree = open_tree
        self._differing = differing
        self._main = main
        self._shards = shards

    def concerns(self, given: Given) -> bool:
        """Return whether a landing wrote a shard that main does not hold any more."""
        return bool(self._shards and self._folded(given))

    def made(self, givens: Sequence[Given], scratch: Scratch) -> list[Given]:
        """Make the commits, and return what the intents are given instead."""
        stream = b"".join(part for number, given in enumerate(givens) for part in self._stream(number, given))
        scratch.ask("fast-import", "--quiet", "--force", stdin=stream)
        names = scratch.ask("for-each-ref", "--format=%(refname:strip=2) %(objectname)", "refs/unfolded").decode()
        commits = dict(line.split(" ") for line in names.splitlines())
        return [
            Given(
                base=CommitId(commits[f"{number}-base"]),
                tip=CommitId(commits[f"{number}-tip"]),
                author=given.author,
                others=given.others,
                undoes=given.undoes,
            )
            for number, given in enumerate(givens)
        ]

    def _folded(self, given: Given) -> list[RepoPath]:
        return [
            path
            for path in self._differing(given.base, given.tip)
            if path in self._shards and self._main.entry(path) is None
        ]

    def _stream(self, number: int, given: Given) -> Iterator[bytes]:
        """Yield the two commits in the language of ``git fast-import``."""
        landed, before = self._open_tree(given.base), self._open_tree(given.tip)
        folded = self._folded(given)
        into = {self._shards[path] for path in folded}
        yield b"commit refs/unfolded/%d-base\n" % number + _head(given.base)
        for path in into:
            yield _file(path, self._read(path))
        yield b"\ncommit refs/unfolded/%d-tip\n" % number + _head(f"refs/unfolded/{number}-base")
        for path in self._differing(given.base, given.tip):
            if path in self._shards:
                continue
            entry = before.entry(path)
            name = _quoted(path)
            yield b"D %s\n" % name if entry is None else b"M %o %s %s\n" % (entry.mode, entry.id.encode(), name)
        for path in into:
            lines = undone_lines(landed, before, [shard for shard in folded if self._shards[shard] == path])
            kept = [line for line in self._read(path).splitlines(keepends=True) if line not in lines.away]
            yield _file(path, b"".join(kept))
        yield b"\n"

    def _read(self, path: RepoPath) -> bytes:
        return self._main.read(path) if self._main.entry(path) is not None else b""


def _head(start: str) -> bytes:
    return b"committer %s\ndata 0\nfrom %s\n" % (_WHO, start.encode())


def _file(path: RepoPath, content: bytes) -> bytes:
    return b"M %o inline %s\ndata %d\n%s\n" % (REGULAR, _quoted(path), len(content), content)


def _quoted(path: RepoPath) -> bytes:
    """Return a path as fast-import reads any: in C quotes."""
    escaped = b"".join(b"\\%03o" % byte if byte < 32 or byte in b'"\\' else bytes([byte]) for byte in path)
    return b'"' + escaped + b'"'
