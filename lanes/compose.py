"""Composing: when all intents have ended, the shards of a shared path are folded into it by one commit.

Shards keep the cost of a landing small where one file would be written anew by each; the commit that folds them has a
run and a compose trailer and no intent. What was composed stands on main, so a run that is killed here and resumed
composes once.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass

from qodebase import events
from qodebase.change import EXECUTABLE, REGULAR
from qodebase.collision import Declined, Entry
from qodebase.composition import Composition, write_composition
from qodebase.errors import QodebaseError
from qodebase.journal import Journal
from qodebase.paths import RepoPath
from qodebase.ports import Clock, SharedPath
from qodebase.trailers import COMPOSE, RUN
from qodebase.trunk.batch import Edit, Landed, Landing, Person
from qodebase.trunk.landing import Trunk
from replay_rules.folding import fold

_TRIES = 20


class NotComposed(QodebaseError):
    """Shards that cannot be folded; they stay on main as they are."""

    exit_code = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Composer:
    """Fold shards; see `compose_all`."""

    run: str
    trunk: Trunk
    journal: Journal
    clock: Clock
    author: Person
    sign: Callable[[bytes], bytes] | None = None

    def compose_all(self, shared: Sequence[SharedPath], landed: Container[RepoPath]) -> None:
        """Compose every path of whose shards one is among ``landed``, each in one commit.

        Raises:
            NotComposed: a rule cannot fold what main holds, or somebody moves it all the time.
        """
        for path, shards in shards_of(shared).items():
            if any(shard.path in landed for shard in shards):
                self._compose(path, shards)

    def _compose(self, path: RepoPath, shards: Sequence[SharedPath]) -> None:
        for _ in range(_TRIES):
            there = {shard.path: entry for shard in shards if (entry := self.trunk.entry(shard.path)) is not None}
            if not there:
                return
            landing = self._landing(path, there, shards[0].rule)
            (outcome,) = self.trunk.land([landing], lambda edit, content: Declined(why="nothing is shared here"))
            if isinstance(outcome, Landed):
                commit, parent = outcome.commit, outcome.parent
                self.journal.write(
                    events.Composed, actor="trunk", commit=commit, parent=parent, path=path, shards=tuple(there)
                )
                return
            self.trunk.refresh()
        raise NotComposed(f"{path.text} or its shards are moved all the time", hint="Who else pushes to main? Resume.")

    def _landing(self, path: RepoPath, there: Mapping[RepoPath, Entry], rule: str) -> Landing:
        before = self.trunk.entry(path)
        content = self._folded(path, [*([before] if before else []), *there.values()], rule)

        def note(landed: Landed) -> bytes:
            return write_composition(
                Composition(
                    run=self.run,
                    composes=path,
                    shards=tuple(there),
                    rule=rule,
                    parent=landed.parent,
                    at=self.clock.now(),
                    simulated=self.clock.simulated,
                )
            )

        return Landing(
            message=f"Compose {path.text} of {len(there)} shards\n",
            trailers=((RUN, self.run), (COMPOSE, path.text)),
            author=self.author,
            committer=self.author,
            edits={path: Edit(mode=before.mode if before else REGULAR, content=content), **dict.fromkeys(there)},
            expects={path: before, **there},
            note=note,
            sign=self.sign,
        )

    def _folded(self, path: RepoPath, entries: Sequence[Entry], rule: str) -> bytes:
        hint = "Mend that file on the run's main, then `qodebase resume` the run: nothing is lost."
        if any(entry.mode not in (REGULAR, EXECUTABLE) for entry in entries):
            raise NotComposed(f"{path.text} cannot be composed: it or a shard is no file", hint=hint)
        content = fold(path, [self.trunk.blob(entry.id) for entry in entries], rule)
        if isinstance(content, Declined):
            raise NotComposed(f"{path.text} cannot be composed of its shards: {content.why}", hint=hint)
        return content


def shards_of(shared: Sequence[SharedPath]) -> dict[RepoPath, list[SharedPath]]:
    """Return the shards of each path that is composed, in their order."""
    found: dict[RepoPath, list[SharedPath]] = {}
    for one in shared:
        if one.compose_into is not None:
            found.setdefault(one.compose_into, []).append(one)
    return found
