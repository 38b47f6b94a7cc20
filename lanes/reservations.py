"""Paths that a model's replay holds, and the changes that wait for them.

While a model redoes a change, whatever else lands on its paths makes its work worthless. So a replay holds all paths
that its change may touch, from its first question to its landing; others that touch one of them wait and are merged
on what it left. A replay takes all its paths at once or waits itself, so two can never wait for each other.
"""

from __future__ import annotations

from lanes.submission import Submission
from qodebase.paths import RepoPath


class Reservations:
    """Who holds which path, and who waits."""

    def __init__(self) -> None:
        self._holders: dict[RepoPath, Submission] = {}
        self._waiting: list[Submission] = []

    def hold(self, submission: Submission) -> bool:
        """Take all paths of a change; return False, and take none, where another one holds some of them."""
        if self.blocked(submission):
            return False
        self._holders.update(dict.fromkeys(_paths(submission), submission))
        return True

    def blocked(self, submission: Submission) -> bool:
        """Return whether another change holds a path of this one."""
        return any(self._holders.get(path, submission) is not submission for path in _paths(submission))

    def wait(self, submission: Submission) -> None:
        """Let a change wait until what blocks it is released."""
        self._waiting.append(submission)

    def release(self, submission: Submission) -> list[Submission]:
        """Give back what a change holds, and hand it on.

        Returns:
            Those that wait for nothing any more, in the order of their coming; each holds its paths now, so of several
            that wait for one path only the first goes on.
        """
        if all(holder is not submission for holder in self._holders.values()):
            return []
        self._holders = {path: holder for path, holder in self._holders.items() if holder is not submission}
        freed: list[Submission] = []
        waiting: list[Submission] = []
        for other in self._waiting:
            (freed if self.hold(other) else waiting).append(other)
        self._waiting = waiting
        return freed


def _paths(submission: Submission) -> set[RepoPath]:
    moved = (collided.moved_to for collided in submission.stuck_at if collided.moved_to is not None)
    return {*submission.intent.scope, *submission.change.paths, *moved} - submission.shared
