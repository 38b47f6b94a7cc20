"""What a model's replay holds of its paths, and the changes that wait for that.

While a model redoes a change, whatever else lands where it works makes its work worthless. So from its first question
to its landing a replay holds what it claims (see `lanes.claims`); others that claim some of it wait and are merged on
what it left. A replay takes all that it claims at once, and whoever waits holds nothing, so two can never wait for each
other.

Whoever has waited holds its claims too when it goes on, but no model is at work for it: it bars only those that come
behind it in a queue.
"""

from __future__ import annotations

from collections.abc import Iterable

from lanes.claims import Claims, Parts, claimed, meet, paths_of
from lanes.submission import Submission
from qodebase.paths import RepoPath


class Reservations:
    """Who holds what of which path, and who waits: one change of an intent at a time."""

    def __init__(self) -> None:
        self._held: dict[RepoPath, list[tuple[Submission, Parts]]] = {}
        self._paths: dict[str, set[RepoPath]] = {}
        self._waiting: dict[str, tuple[Submission, Claims]] = {}
        self._waiting_at: dict[RepoPath, set[str]] = {}
        self._replays: set[str] = set()

    def hold(self, submission: Submission) -> bool:
        """Take all that a change claims for its replay; return False, and take nothing, where that is held."""
        taken = self._take(submission, claimed(submission, paths_of(submission)))
        if taken:
            self._replays.add(submission.intent.id)
        return taken

    def rest(self, submission: Submission) -> list[Submission]:
        """Take in that a replay came to nothing: its change holds what it holds as one that has waited.

        Returns:
            Those that wait for nothing any more.
        """
        self._replays.discard(submission.intent.id)
        return self._hand_on(self._paths.get(submission.intent.id, ()))

    def blocked(self, submission: Submission) -> bool:
        """Return whether another change holds something that this one claims."""
        paths = [path for path in paths_of(submission) if self._others(submission, path)] if self._held else []
        return bool(paths) and self._taken(submission, claimed(submission, paths))

    def wait(self, submission: Submission) -> list[Submission]:
        """Let a change wait until what blocks it is released.

        Returns:
            Those that waited for what it holds itself; see `release`.
        """
        freed = self.release(submission)
        claims = claimed(submission, paths_of(submission))
        self._waiting[submission.intent.id] = submission, claims
        for path in claims:
            self._waiting_at.setdefault(path, set()).add(submission.intent.id)
        return freed

    def holders(self, submission: Submission) -> list[Submission]:
        """Return those that a change waits for."""
        _, claims = self._waiting.get(submission.intent.id, (submission, {}))
        found = [
            holder
            for path, parts in claims.items()
            for holder, held in self._held.get(path, ())
            if self._bars(holder, submission) and meet(parts, held)
        ]
        return list({id(holder): holder for holder in found}.values())

    def release(self, submission: Submission) -> list[Submission]:
        """Give back what a change holds, and hand it on.

        Returns:
            Those that wait for nothing any more, in the order of a queue; each holds its claims now, so of several that
            wait for one thing only the first goes on.
        """
        self._replays.discard(submission.intent.id)
        return self._hand_on(self._drop(submission))

    def _hand_on(self, paths: Iterable[RepoPath]) -> list[Submission]:
        """Let those go on that nothing bars any more, now that it changed who bars whom at some paths."""
        waiting = {intent for path in paths for intent in self._waiting_at.get(path, ())}
        freed: list[Submission] = []
        for other, claims in sorted((self._waiting[intent] for intent in waiting), key=lambda one: one[0].rank):
            if self._take(other, claims):
                self._leave(other)
                freed.append(other)
        return freed

    def _leave(self, submission: Submission) -> None:
        _, claims = self._waiting.pop(submission.intent.id)
        for path in claims:
            self._waiting_at[path].discard(submission.intent.id)
            if not self._waiting_at[path]:
                del self._waiting_at[path]

    def _take(self, submission: Submission, claims: Claims) -> bool:
        if self._taken(submission, claims):
            return False
        # What it holds already stays held: others may wait for that.
        for path, parts in claims.items():
            self._held.setdefault(path, []).append((submission, parts))
        self._paths.setdefault(submission.intent.id, set()).update(claims)
        return True

    def _taken(self, submission: Submission, claims: Claims) -> bool:
        return any(meet(parts, held) for path, parts in claims.items() for held in self._others(submission, path))

    def _others(self, submission: Submission, path: RepoPath) -> list[Parts]:
        return [parts for holder, parts in self._held.get(path, ()) if self._bars(holder, submission)]

    def _bars(self, holder: Submission, submission: Submission) -> bool:
        replays = holder.intent.id in self._replays
        return holder is not submission and (replays or holder.rank <= submission.rank)

    def _drop(self, submission: Submission) -> set[RepoPath]:
        """Give back what a change holds and return at which paths it held something."""
        paths = self._paths.pop(submission.intent.id, set())
        for path in paths:
            self._held[path] = [one for one in self._held[path] if one[0] is not submission]
            if not self._held[path]:
                del self._held[path]
        return paths
