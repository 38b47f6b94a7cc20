"""The audit of undoings: each is the inverse of the landing that it names, and shared paths lack its lines alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Set

from fleet.given.audit import GivenAudit
from fleet.jobs.revert.lines import Lines, undone_lines
from qodebase.intent import Intent, Undone
from qodebase.paths import CommitId, RepoPath
from qodebase.ports import Landing, Tree

_NAMED = 20


class RevertAudit(GivenAudit):
    """See `qodebase.ports.JobAudit`.

    Args:
        shared: the shared paths.
        shards: the shared path that each file was folded into.
    """

    def __init__(
        self,
        open_tree: Callable[[CommitId], Tree],
        differing: Callable[[CommitId, CommitId], Iterable[RepoPath]],
        *,
        parent: Callable[[CommitId], CommitId],
        shared: Set[RepoPath],
        shards: Mapping[RepoPath, RepoPath],
    ) -> None:
        super().__init__(open_tree, differing)
        self._parent = parent
        self._shared = shared
        self._shards = shards
        self._account: dict[str, int] = {}

    def is_shared(self, path: RepoPath) -> bool:
        """Return whether a path is proved line by line."""
        return path in self._shared

    def proof(self, landing: Landing, before: Tree, after: Tree, *, full: bool) -> str:
        """Prove that the change is what its commits say, and that these lead from the landing back to its parent."""
        given, undone = landing.intent.given, _undone(landing.intent)
        if given is None or undone is None:
            return "the intent names no landing that it undoes"
        fault = super().proof(landing, before, after, full=full)
        if fault or landing.change.base != given.base:
            return fault
        parent = self._parent(undone.commit)
        sides = [(given.base, undone.commit), (given.tip, parent)]
        trees = [(self._open_tree(one), self._open_tree(other)) for one, other in sides]
        for path in {*self._differing(undone.commit, parent), *self._differing(given.base, given.tip)}:
            if self.is_shared(path) or path in self._shards:
                continue
            if any(one.entry(path) != other.entry(path) for one, other in trees):
                return f"{path.text}: the change is not the inverse of {undone.commit[:12]}"
        return ""

    def shared_edit(self, landing: Landing, path: RepoPath, before: Tree, after: Tree) -> str:
        """Compare a commit's shared path with its parent's without the lines that the landing had added."""
        lines = self._lines(landing.intent, path)
        was, now = (tree.read(path) if tree.entry(path) is not None else b"" for tree in (before, after))
        if Counter(now.splitlines(keepends=True)) != lines.of(was):
            return f"{path.text}: the commit does more or less than taking back the lines of the landing"
        kept = [line for line in was.splitlines(keepends=True) if line not in lines.away]
        if kept != [line for line in now.splitlines(keepends=True) if line not in lines.back]:
            return f"{path.text}: the other lines are in another order"
        return ""

    def shared_whole(
        self, path: RepoPath, base: bytes | None, final: bytes | None, landed: Iterable[Landing]
    ) -> list[str]:
        """Compare a shared path with the base's, without the lines of all that was undone."""
        due = Counter((base or b"").splitlines(keepends=True))
        for landing in landed:
            lines = self._lines(landing.intent, path)
            due = (due - lines.away) | lines.back
        there = Counter((final or b"").splitlines(keepends=True))
        self._account = {"lines expected": due.total(), "lines there": there.total()}
        wrong = [*_told("missing", due - there), *_told("not taken back, or of nobody", there - due)]
        return wrong[:_NAMED] + ([f"and {len(wrong) - _NAMED} more"] if len(wrong) > _NAMED else [])

    def account(self, path: RepoPath) -> Mapping[str, int]:
        """Return how many lines were expected and found."""
        return self._account

    def _lines(self, intent: Intent, path: RepoPath) -> Lines:
        undone = _undone(intent)
        if undone is None:
            return Lines(Counter(), Counter())
        paths = [path, *(shard for shard, into in self._shards.items() if into == path)]
        return undone_lines(self._open_tree(undone.commit), self._open_tree(self._parent(undone.commit)), paths)


def _undone(intent: Intent) -> Undone | None:
    return intent.given.undoes if intent.given is not None else None


def _told(word: str, lines: Counter[bytes]) -> Iterator[str]:
    for line, count in lines.items():
        yield f"{word}: {line.decode(errors='replace').strip()}" + (f" ({count} times)" if count > 1 else "")
