"""What undoing would do, found out by doing it on trees that nobody keeps."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

from lanes.fork import Fork, Main
from qodebase.collision import Collision, Side
from qodebase.edits import Edit, materialise
from qodebase.intent import Ending, Intent
from qodebase.paths import RepoPath
from qodebase.ports import Job, Unusable
from replay_rules.ladder import climb, climb_shared
from replay_rules.placing import Laid, Place, placed


@dataclass(frozen=True, slots=True, kw_only=True)
class Foreseen:
    """What would become of one intent, before any check.

    Attributes:
        edits: its own paths and shared ones, each with what it would hold; empty where it would not land.
        redone: the paths that others changed since, each with what would redo it.
        collides: the paths at which merge and rules would decline, each with why.
        unusable: why there is no change at all; else empty.
    """

    intent: Intent
    edits: dict[RepoPath, Edit | None]
    redone: dict[RepoPath, str]
    collides: dict[RepoPath, str]
    unusable: str = ""

    @property
    def lands(self) -> bool:
        """Return whether it would land, were its checks green."""
        return not self.collides and not self.unusable


def foresee(
    job: Job, intents: Sequence[Intent], main: Main, rules: Callable[[RepoPath], Sequence[str]]
) -> Iterator[Foreseen]:
    """Yield what would become of each pending intent, one behind the other, in their order."""
    shared = {one.path: one.rule for one in job.shared}
    edits: dict[RepoPath, Edit | None] = {}
    for intent in intents:
        given = intent.given
        if intent.ending is not Ending.PENDING or given is None:
            continue
        fork = main.fork_at(given.base, (*intent.scope, *shared))
        accepted = job.accept(intent, given.name, fork)
        if isinstance(accepted, Unusable):
            yield Foreseen(intent=intent, edits={}, redone={}, collides={}, unusable=accepted.why)
            continue
        trying = _Trying(fork, Laid(main, edits), {}, {}, {})
        wanted = materialise(accepted.change, fork)
        for place in placed(
            accepted.change,
            {path: edit for path, edit in wanted.items() if path not in shared},
            fork,
            trying.now,
            partial(main.where, since=fork.position),
            shared=shared,
            idempotent=job.idempotent,
        ):
            trying.own(place, rules)
        for path in sorted(wanted.keys() & shared.keys()):
            trying.shared(path, wanted[path], shared[path])
        found = Foreseen(
            intent=intent,
            edits={} if trying.collides else trying.edits,
            redone=trying.redone,
            collides=trying.collides,
        )
        edits |= found.edits
        yield found


class _Trying(NamedTuple):
    """One intent's change, laid path by path on the code that is there by then."""

    fork: Fork
    now: Laid
    edits: dict[RepoPath, Edit | None]
    redone: dict[RepoPath, str]
    collides: dict[RepoPath, str]

    def own(self, place: Place, rules: Callable[[RepoPath], Sequence[str]]) -> None:
        """Lay one of its own paths."""
        edit = place.edit
        if place.why:
            self.collides[place.path] = place.why
            return
        if place.collision is not None:
            climbed = climb(place.collision, rules(place.collision.path))
            if climbed.resolved is None:
                self.collides[place.path] = "; ".join(f"{step.by}: {step.declined}" for step in climbed.steps)
                return
            self.redone[place.path] = climbed.steps[-1].by
            edit = Edit(climbed.resolved.mode, climbed.resolved.content)
        self.edits.update(place.edits(edit, self.now))

    def shared(self, path: RepoPath, wanted: Edit | None, rule: str) -> None:
        """Lay a shared path."""
        entry = self.now.entry(path)
        base, main = (tree.read(path) if tree.entry(path) is not None else None for tree in (self.fork, self.now))
        change = Side(content=None) if wanted is None else Side(content=wanted.content, mode=wanted.mode)
        collision = Collision(
            path=path, base=Side(content=base), main=Side(content=main), change=change, idempotent=True
        )
        climbed = climb_shared(collision, rule)
        if climbed.resolved is None:
            self.collides[path] = climbed.steps[-1].declined
            return
        if entry != self.fork.entry(path):
            self.redone[path] = climbed.steps[-1].by
        mode = entry.mode if entry is not None else climbed.resolved.mode
        self.edits[path] = Edit(mode, climbed.resolved.content)
