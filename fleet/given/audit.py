"""The audit of given changes: what was handed in is what the two commits say, and nothing else."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from fleet.given.difference import NoSuchChange, change_between
from fleet.unshared import Unshared
from qodebase.paths import CommitId, RepoPath
from qodebase.ports import Landing, Tree


class GivenAudit(Unshared):
    """See `qodebase.ports.JobAudit`; what a model redid is another change, and nothing is promised of it.

    The first attempt hands in what was given; a later one, on whatever base, may be a model's.

    Args:
        open_tree: gives the code at a commit.
        differing: gives the paths at which two commits differ.
    """

    def __init__(
        self,
        open_tree: Callable[[CommitId], Tree],
        differing: Callable[[CommitId, CommitId], Iterable[RepoPath]],
    ) -> None:
        self._open_tree = open_tree
        self._differing = differing

    def proof(self, landing: Landing, before: Tree, after: Tree, *, full: bool) -> str:
        """Make the change again from its two commits, and compare."""
        given = landing.intent.given
        if given is None:
            return "the intent names no change that was made before the run"
        if landing.change.base != given.base or landing.attempt > 1:
            return ""
        base, tip = self._open_tree(given.base), self._open_tree(given.tip)
        try:
            due = change_between(base, tip, self._differing(given.base, given.tip))
        except NoSuchChange as error:
            return str(error)
        own = [one for one in landing.change.operations if not self.is_shared(one.path)]
        if own != [one for one in due.operations if not self.is_shared(one.path)]:
            return f"the change is not what {given.tip[:12]} has other than {given.base[:12]}"
        return ""

    def is_shared(self, path: RepoPath) -> bool:
        """Return whether a path is proved by `shared_edit` and `shared_whole`; here none is."""
        return False
