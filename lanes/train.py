"""Trains: changes of one lane merged one behind the other on the newest main."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from lanes.fork import Main
from lanes.read_sets import Touched, all_touched, touched
from lanes.submission import Submission
from qodebase.collision import Collided, Entry, Kind, Resolved, Step
from qodebase.edits import Edit, materialise
from qodebase.paths import CommitId, RepoPath
from qodebase.ports import SharedPath
from replay_rules.conflict import clashes
from replay_rules.ladder import Climbed, climb, kind_of
from replay_rules.placing import Laid, Place, follow, placed
from replay_rules.renames import Moves

NAMED = 8
"""How many movers of a path a collision names; the rest are counted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """One change as the train takes it.

    Attributes:
        submission: whose change it is.
        edits: its own paths on the state before it, merged where they had moved.
        expects: what main must hold at each of its own paths.
        touched: what it touches of the state before it.
        collided: the collisions of its own paths and how they were redone.
    """

    submission: Submission
    edits: Mapping[RepoPath, Edit | None]
    expects: Mapping[RepoPath, Entry | None]
    touched: Touched
    collided: tuple[Collided, ...] = ()

    def takes(self, path: RepoPath) -> bool:
        """Return whether the change takes away what main has at a path."""
        return path in self.edits and self.edits[path] is None and self.expects[path] is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class Stuck:
    """A change that merge and rules could not redo: what collided.

    ``ahead`` says that it collided with a member of its own train, which is not on main yet: a model could not see
    what that one did.
    """

    submission: Submission
    collided: tuple[Collided, ...]
    ahead: bool = False

    @property
    def for_author(self) -> bool:
        """Return whether a rename stands against it that no newer text would settle, so that no model is asked."""
        steps = [step for met in self.collided for step in met.steps if step.by == "follow"]
        return any(step.declined.endswith(": author") for step in steps)


@dataclass(slots=True, kw_only=True)
class Train:
    """Changes that are tested together.

    Attributes:
        base, position: the tip that they were merged on, and its position (`lanes.fork.Main`).
        before: the train that was at the gate when they were merged, and that has not landed yet.
    """

    name: str
    lane: str
    base: CommitId
    position: int = 0
    members: list[Member] = field(default_factory=list)
    before: tuple[Member, ...] = ()

    @property
    def edits(self) -> dict[RepoPath, Edit | None]:
        """Return what the whole train does to paths that are not shared."""
        return edits_of(self.members)

    @property
    def touched(self) -> Touched:
        """Return what the whole train touches."""
        return all_touched(member.touched for member in self.members)

    def fits(self, main: Main) -> bool:
        """Return whether main holds what every member expects to find, those ahead of it landed."""
        laid: dict[RepoPath, Entry | None] = {}
        for member in self.members:
            if any((laid[path] if path in laid else main.entry(path)) != one for path, one in member.expects.items()):
                return False
            laid |= {path: None if edit is None else edit.entry for path, edit in member.edits.items()}
        return True

    @property
    def retires(self) -> frozenset[str]:
        """Return the checks that members end."""
        return frozenset().union(*(member.submission.intent.retires for member in self.members))

    @property
    def checks(self) -> tuple[str, ...]:
        """Return the names of all members' checks."""
        return tuple(sorted({check for member in self.members for check in member.submission.intent.checks}))


def edits_of(members: Iterable[Member]) -> dict[RepoPath, Edit | None]:
    """Return what members do one behind the other."""
    return {path: edit for member in members for path, edit in member.edits.items()}


class Builder:
    """Put submissions on the newest state, one behind the other.

    Args:
        named: whether there are checks, so that it is worth a look which names a change gives another meaning.
    """

    def __init__(
        self,
        main: Main,
        shared: Iterable[SharedPath],
        rules: Callable[[RepoPath], Sequence[str]],
        idempotent: Callable[[RepoPath], bool],
        *,
        named: bool = False,
    ) -> None:
        self._main = main
        self._named = named
        self._shared = frozenset(shared.path for shared in shared)
        self._rules = rules
        self._idempotent = idempotent

    def couple(self, train: Train, submission: Submission) -> Stuck | None:
        """Merge a submission behind the train's members; one that needs a model is returned and not coupled."""
        ahead = _Ahead(self._main, train, self._shared)
        edits: dict[RepoPath, Edit | None] = {}
        expects: dict[RepoPath, Entry | None] = {}
        collided: list[Collided] = []
        for place in self._places(submission, ahead):
            expects |= {path: ahead.entry(path) for path in place.touched}
            edit = place.edit
            if place.collision is not None or place.why:
                met, resolved = self._met(place, submission, ahead)
                collided.append(met)
                edit = None if resolved is None else Edit(resolved.mode, resolved.content)
            edits |= place.edits(edit, ahead)
        if any(not met.resolved_by for met in collided):
            behind = any(path in ahead.own for path in expects)
            return Stuck(submission=submission, collided=tuple(collided), ahead=behind)
        touches = touched(edits, ahead, named=self._named)
        train.members.append(
            Member(submission=submission, edits=edits, expects=expects, touched=touches, collided=tuple(collided))
        )
        return None

    def _places(self, submission: Submission, ahead: _Ahead) -> list[Place]:
        change, fork = submission.change, submission.fork
        return placed(
            change,
            materialise(change, fork, lambda path: path not in self._shared),
            fork,
            ahead,
            lambda path: follow(path, fork.position, ahead),
            shared=self._shared,
            idempotent=self._idempotent,
        )

    def _met(self, place: Place, submission: Submission, ahead: _Ahead) -> tuple[Collided, Resolved | None]:
        """Climb the ladder where main moved under a path; a path that has no place is not climbed."""
        collision, path, since = place.collision, place.path, submission.fork.position
        if collision is None:
            climbed = Climbed(None, (Step(by="follow", declined=place.why),))
        else:
            climbed = climb(collision, self._rules(collision.path))
        told = collision if climbed.resolved is None and not ahead.own.keys() & set(place.touched) else None
        intents = [*self._main.movers(path, since, *place.touched[1:]), *ahead.movers(place.touched)]
        met = Collided(
            path=path,
            kind=Kind.MOVED if collision is None or place.target != path else kind_of(collision),
            intents=tuple(intents[-NAMED:]),
            count=len(intents),
            foreign=tuple(self._main.foreign(path, since, *place.touched[1:])[-NAMED:]),
            steps=climbed.steps,
            clashes=() if told is None else clashes(told),
            moved_to=None if place.target == path else place.target,
        )
        return met, climbed.resolved


class _Ahead(Laid):
    """Main with members laid on it, one behind the other; each is a commit behind main's last one.

    These are the train's own, which did ``own``, behind those of the train before it.
    """

    def __init__(self, main: Main, train: Train, shared: frozenset[RepoPath]) -> None:
        self.own = train.edits
        super().__init__(main, edits_of(train.before) | self.own if train.before else self.own)
        self._main = main
        self._members = [*train.before, *train.members]
        self._shared = shared

    def movers(self, paths: Iterable[RepoPath]) -> list[str]:
        """Return the members that edit one of the paths."""
        return [member.submission.intent.id for member in self._members if any(path in member.edits for path in paths)]

    def removal(self, path: RepoPath, after: int) -> tuple[int, Moves] | None:
        """Return the first landing, or member, after a position that took a path away, and what moved in it."""
        landed = self._main.removal(path, after)
        if landed is not None:
            return landed
        for number, member in enumerate(self._members):
            position = self._main.position + 1 + number
            if position > after and member.takes(path):
                return position, self._moves(number)
        return None

    def _moves(self, number: int) -> Moves:
        before = edits_of(self._members[:number])
        member = self._members[number]
        return Moves(
            Laid(self._main, before), Laid(self._main, before | dict(member.edits)), member.edits, self._shared
        )
