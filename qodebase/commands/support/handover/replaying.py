"""Replay landings onto another commit, a group at a time: their own paths, then the shared ones.

A path that the other commit holds as the run's main did takes what the landing made of it; any other is a collision,
and climbs the ladder (merge, rules). Nothing is written, and no check is run.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from qodebase.change import SUBMODULE, Change, Delete
from qodebase.code import CommitTree
from qodebase.collision import Declined, Entry
from qodebase.commands.support.handover.groups import Group
from qodebase.commands.support.handover.landed import Work
from qodebase.edits import Edit
from qodebase.paths import RepoPath
from qodebase.trunk.reader import Reader
from replay_rules.ladder import climb
from replay_rules.placing import Laid, Place, placed
from replay_rules.renames import Moves, moves_between

Edits = dict[RepoPath, Edit | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    """A landing that is not in any branch, and why."""

    work: Work
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Replayed:
    """A landing as it stands in a branch.

    Attributes:
        edits: its own paths there; ``expects`` is what they were before it.
        redone: the paths that had moved, with what redid each.
    """

    work: Work
    edits: Edits
    expects: dict[RepoPath, Entry | None]
    redone: dict[RepoPath, str]


@dataclass(slots=True, kw_only=True)
class Branch:
    """A group on its way to a branch.

    Attributes:
        there: landings of which the commit below holds everything already.
        shared: what paths hold that a rule redid, for the last branch alone.
    """

    name: str
    replayed: list[Replayed] = field(default_factory=list)
    left_out: list[LeftOut] = field(default_factory=list)
    there: list[Work] = field(default_factory=list)
    shared: Edits = field(default_factory=dict)

    @property
    def edits(self) -> Edits:
        """Return what the branch holds other than the commit below it."""
        return {path: edit for one in self.replayed for path, edit in one.edits.items()} | self.shared


class Onto:
    """Where landings are replayed, and how.

    Args:
        tree: the commit that every branch begins on.
        base: the code that the run began on.
        reader: of the run's repository.
        shared: paths that a rule redoes.
        rules: the rules for a path.
        idempotent: whether what two intents make alike in a path is meant once.
    """

    def __init__(
        self,
        tree: CommitTree,
        base: CommitTree,
        reader: Reader,
        *,
        shared: frozenset[RepoPath],
        rules: Callable[[RepoPath], Sequence[str]],
        idempotent: Callable[[RepoPath], bool],
    ) -> None:
        self.tree = tree
        self.shared = shared
        self.rules = rules
        self.idempotent = idempotent
        self._base = base
        self._reader = reader

    def code(self, entries: Mapping[RepoPath, Entry | None]) -> Entries:
        """Return some paths of one of the run's trees."""
        return Entries(entries, self._reader)

    def where(self, path: RepoPath) -> RepoPath | Declined | None:
        """Return where a file went that the run's base had; see `replay_rules.placing.Follow`."""
        return self._moves.target(path) if self._base.entry(path) is not None else None

    @cached_property
    def _moves(self) -> Moves:
        return moves_between(self._base, self.tree, self.shared)


class Entries:
    """Some paths of a tree (a `replay_rules.renames.Code`)."""

    def __init__(self, entries: Mapping[RepoPath, Entry | None], reader: Reader) -> None:
        self._entries = entries
        self._reader = reader

    def entry(self, path: RepoPath) -> Entry | None:
        """Return what the tree holds at one of the paths."""
        return self._entries.get(path)

    def read(self, path: RepoPath) -> bytes:
        """Return a content; raises `KeyError` where there is none."""
        entry = self._entries.get(path)
        if entry is None:
            raise KeyError(path)
        return self._reader.blob(entry.id)


def replay_groups(
    groups: Iterable[Group], onto: Onto, without: Mapping[str, str], there: Container[str]
) -> list[Branch]:
    """Replay each group on the same commit.

    Args:
        without: intents that are to be left out, and why.
        there: intents that are known to be on that commit.
    """
    groups = list(groups)
    owner = {path: group.name for group in groups for path in group.paths}
    branches = []
    for group in groups:
        branch = Branch(name=group.name)
        laid: Edits = {}
        now = Laid(onto.tree, laid)
        for work in group.works:
            outcome = _outcome(work, now, onto, without, there)
            if isinstance(outcome, Replayed):
                outcome = _within(group.name, outcome, owner)
            if isinstance(outcome, LeftOut):
                branch.left_out.append(outcome)
            elif outcome is None or (work.own and not outcome.edits):
                branch.there.append(work)
            else:
                branch.replayed.append(outcome)
                laid |= outcome.edits
        branches.append(branch)
    return branches


def _outcome(
    work: Work, now: Laid, onto: Onto, without: Mapping[str, str], there: Container[str]
) -> Replayed | LeftOut | None:
    if work.intent in without:
        return LeftOut(work=work, why=without[work.intent])
    return None if work.intent in there else _replay(work, now, onto)


def _replay(work: Work, now: Laid, onto: Onto) -> Replayed | LeftOut:
    """Replay one landing's own paths on what is there by then."""
    before = onto.code({path: differs.before for path, differs in work.own.items()})
    after = onto.code({path: differs.after for path, differs in work.own.items()})
    if any(entry and entry.mode == SUBMODULE for differs in work.own.values() for entry in differs):
        return LeftOut(work=work, why="it changes a submodule")
    wanted: Edits = {}
    for path, differs in work.own.items():
        if now.entry(path) != differs.after:
            wanted[path] = None if differs.after is None else Edit(differs.after.mode, after.read(path))
    found = Replayed(work=work, edits={}, expects={}, redone={})
    # Which paths the landing touches counts here, the shared ones too; what it does to them stands in ``wanted``.
    change = Change(base=work.record.base, operations=tuple(Delete(path=path) for path in (*wanted, *work.shared)))
    why = []
    for place in placed(change, wanted, before, now, onto.where, shared=onto.shared, idempotent=onto.idempotent):
        declined = _take(place, now, onto, found)
        why += [f"{place.path.text}: {declined}"] if declined else []
    return LeftOut(work=work, why="; ".join(why)) if why else found


def _take(place: Place, now: Laid, onto: Onto, into: Replayed) -> str:
    """Lay one path; return why it cannot be laid, or the empty text."""
    if place.why:
        return place.why
    edit = place.edit
    if place.collision is not None:
        climbed = climb(place.collision, onto.rules(place.collision.path))
        if climbed.resolved is None:
            return "; ".join(f"{step.by}: {step.declined}" for step in climbed.steps)
        edit = Edit(climbed.resolved.mode, climbed.resolved.content)
        if place.target == place.path and edit.entry == now.entry(place.path):
            return ""
        into.redone[place.path] = climbed.steps[-1].by
    into.expects.update({path: now.entry(path) for path in place.touched})
    into.edits.update(place.edits(edit, now))
    return ""


def _within(name: str, replayed: Replayed, owner: dict[RepoPath, str]) -> Replayed | LeftOut:
    """Refuse a landing that a rename takes into the paths of another group; else take its paths."""
    theirs = next((path for path in replayed.edits if owner.setdefault(path, name) != name), None)
    if theirs is None:
        return replayed
    return LeftOut(
        work=replayed.work, why=f"it belongs into {theirs.text} by now, which the branch {owner[theirs]} changes"
    )
