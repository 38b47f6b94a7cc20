"""Trains: changes of one lane merged one behind the other on the newest main."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from lanes.fork import Main
from lanes.submission import Submission
from qodebase.change import SUBMODULE
from qodebase.collision import Collided, Collision, Entry, Side
from qodebase.edits import Edit, materialise
from qodebase.paths import CommitId, RepoPath
from qodebase.ports import SharedPath
from replay_rules.conflict import clashes
from replay_rules.ladder import climb, kind_of

NAMED = 8
"""How many movers of a path a collision names; the rest are counted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """One change as the train takes it.

    Attributes:
        submission: whose change it is.
        edits: its own paths on the state before it, merged where they had moved.
        expects: what main must hold at each of its own paths.
        collided: the collisions of its own paths and how they were redone.
    """

    submission: Submission
    edits: Mapping[RepoPath, Edit | None]
    expects: Mapping[RepoPath, Entry | None]
    collided: tuple[Collided, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Stuck:
    """A change that merge and rules could not redo: what collided.

    ``ahead`` says that it collided with a member of its own train, which is not on main yet: a model could not see
    what that one did.
    """

    submission: Submission
    collided: tuple[Collided, ...]
    ahead: bool = False


@dataclass(slots=True, kw_only=True)
class Train:
    """Changes that are tested together; ``base`` is the tip that they were merged on."""

    name: str
    lane: str
    base: CommitId
    members: list[Member] = field(default_factory=list)

    @property
    def edits(self) -> dict[RepoPath, Edit | None]:
        """Return what the whole train does to paths that are not shared."""
        return {path: edit for member in self.members for path, edit in member.edits.items()}

    @property
    def checks(self) -> tuple[str, ...]:
        """Return the names of all members' checks."""
        return tuple(sorted({check for member in self.members for check in member.submission.intent.checks}))


class Builder:
    """Put submissions on the newest state, one behind the other."""

    def __init__(
        self,
        main: Main,
        shared: Iterable[SharedPath],
        rules: Callable[[RepoPath], Sequence[str]],
        idempotent: Callable[[RepoPath], bool],
    ) -> None:
        self._main = main
        self._shared = {shared.path for shared in shared}
        self._rules = rules
        self._idempotent = idempotent

    def couple(self, train: Train, submission: Submission) -> Stuck | None:
        """Merge a submission behind the train's members; one that needs a model is returned and not coupled."""
        ahead = train.edits
        edits: dict[RepoPath, Edit | None] = {}
        expects: dict[RepoPath, Entry | None] = {}
        collided: list[Collided] = []
        stuck = False
        for path, edit in materialise(submission.change, submission.fork, self._is_own).items():
            before = submission.fork.entry(path)
            now = self._entry(path, ahead)
            expects[path] = now
            if now == before:
                edits[path] = edit
                continue
            collision = self._collision(submission, path, edit, ahead)
            climbed = climb(collision, self._rules(path))
            intents = self._movers(path, submission, train)
            collided.append(
                Collided(
                    path=path,
                    kind=kind_of(collision),
                    intents=tuple(intents[-NAMED:]),
                    count=len(intents),
                    foreign=tuple(self._main.foreign(path, submission.fork.position)[-NAMED:]),
                    steps=climbed.steps,
                    clashes=clashes(collision) if climbed.resolved is None and path not in ahead else (),
                )
            )
            if climbed.resolved is None:
                stuck = True
            else:
                edits[path] = Edit(climbed.resolved.mode, climbed.resolved.content)
        if stuck:
            return Stuck(submission=submission, collided=tuple(collided), ahead=any(path in ahead for path in expects))
        train.members.append(Member(submission=submission, edits=edits, expects=expects, collided=tuple(collided)))
        return None

    def _is_own(self, path: RepoPath) -> bool:
        return path not in self._shared

    def _entry(self, path: RepoPath, ahead: Mapping[RepoPath, Edit | None]) -> Entry | None:
        if path in ahead:
            edit = ahead[path]
            return None if edit is None else edit.entry
        return self._main.entry(path)

    def _movers(self, path: RepoPath, submission: Submission, train: Train) -> list[str]:
        landed = self._main.movers(path, submission.fork.position)
        return landed + [member.submission.intent.id for member in train.members if path in member.edits]

    def _collision(
        self, submission: Submission, path: RepoPath, edit: Edit | None, ahead: Mapping[RepoPath, Edit | None]
    ) -> Collision:
        fork = submission.fork
        before = fork.entry(path)
        now = self._entry(path, ahead)
        if path in ahead:
            moved = ahead[path]
            main = Side(content=None) if moved is None else Side(content=moved.content, mode=moved.mode)
        else:
            readable = now is not None and now.mode != SUBMODULE
            main = Side(content=self._main.read(path), mode=now.mode) if now and readable else Side(content=None)
        return Collision(
            path=path,
            base=Side(content=None) if before is None else Side(content=fork.read(path), mode=before.mode),
            main=main,
            change=Side(content=None) if edit is None else Side(content=edit.content, mode=edit.mode),
            idempotent=self._idempotent(path),
        )
