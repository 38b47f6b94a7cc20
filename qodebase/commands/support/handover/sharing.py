"""Replay what landings did to shared paths, by the rule of each; one pass over many landings where that is possible."""

from __future__ import annotations

import itertools
from collections.abc import Container, Iterator, Sequence
from typing import NamedTuple

from qodebase.collision import Collision, Declined, Entry, Resolved
from qodebase.commands.support.handover.landed import Work
from qodebase.commands.support.handover.replaying import Edits, Onto
from qodebase.edits import Edit
from qodebase.paths import RepoPath
from qodebase.ports import SharedPath
from replay_rules.folding import fold
from replay_rules.ladder import climb_shared
from replay_rules.placing import Laid
from replay_rules.renames import side_of


class _Stretch(NamedTuple):
    """Landings one behind the other that moved a path from ``before`` to ``after``; nothing else moved it between."""

    works: list[Work]
    before: Entry | None
    after: Entry | None


class Sharing:
    """Shared paths as they become, landing by landing.

    Args:
        shared: the paths with their rules.
        composed: paths that the run folded of their shards in the end; the shards are folded here as well.
    """

    def __init__(self, onto: Onto, shared: Sequence[SharedPath], composed: Container[RepoPath]) -> None:
        self.edits: Edits = {}
        self.declined: dict[str, str] = {}
        """Intents of which the lines have no place, and why."""
        self._onto = onto
        self._rules = {one.path: one.rule for one in shared}
        self._shards = {
            into: [one for one in shared if one.compose_into == into]
            for into in {one.compose_into for one in shared}
            if into is not None and into in composed
        }
        self._now = Laid(onto.tree, self.edits)

    def take(self, works: Sequence[Work]) -> None:
        """Take landings, in their order."""
        for path in dict.fromkeys(path for work in works for path in work.shared):
            for stretch in _stretches(path, works):
                if self._laid(path, stretch) is None:
                    continue
                for work in stretch.works:
                    differs = work.shared[path]
                    why = self._laid(path, _Stretch([work], differs.before, differs.after))
                    if why is not None:
                        self.declined[work.intent] = f"{path.text}: {why}"
        for into, shards in self._shards.items():
            self._compose(into, shards)

    def _laid(self, path: RepoPath, stretch: _Stretch) -> str | None:
        """Lay a stretch on what is there; return why its rule declines."""
        now = self._now.entry(path)
        if now == stretch.after:
            return None
        after = self._onto.code({path: stretch.after})
        if now == stretch.before:
            self.edits[path] = None if stretch.after is None else Edit(stretch.after.mode, after.read(path))
            return None
        collision = Collision(
            path=path,
            base=side_of(self._onto.code({path: stretch.before}), path),
            main=side_of(self._now, path),
            change=side_of(after, path),
            idempotent=True,
        )
        climbed = climb_shared(collision, self._rules[path])
        if climbed.resolved is None:
            return climbed.steps[-1].declined
        edit = _edit(climbed.resolved, now)
        if edit.entry != now:
            self.edits[path] = edit
        return None

    def _compose(self, into: RepoPath, shards: Sequence[SharedPath]) -> None:
        there = [one for one in shards if self._now.entry(one.path) is not None]
        paths = [*([into] if self._now.entry(into) is not None else []), *(one.path for one in there)]
        if not there:
            return
        content = fold(into, [self._now.read(path) for path in paths], there[0].rule)
        if isinstance(content, Declined):
            return
        self.edits[into] = _edit(Resolved(content=content), self._now.entry(into))
        for one in there:
            if self._onto.tree.entry(one.path) is None:
                del self.edits[one.path]
            else:
                self.edits[one.path] = None


def _edit(resolved: Resolved, now: Entry | None) -> Edit:
    return Edit(resolved.mode if now is None else now.mode, resolved.content)


def _stretches(path: RepoPath, works: Sequence[Work]) -> Iterator[_Stretch]:
    """Yield the landings that touch a path in stretches as long as each begins where the one before it ended."""
    touching = [(work, work.shared[path]) for work in works if path in work.shared]
    number = 0
    numbers = [0]
    for (_, one), (_, other) in itertools.pairwise(touching):
        number += one.after != other.before
        numbers.append(number)
    for _, found in itertools.groupby(zip(numbers, touching, strict=False), key=lambda pair: pair[0]):
        pairs = [pair for _, pair in found]
        yield _Stretch([work for work, _ in pairs], pairs[0][1].before, pairs[-1][1].after)
