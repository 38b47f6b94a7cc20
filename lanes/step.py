"""One step of the trunk as the lanes see it: members in, redone shared paths and notes made, outcomes back.

All of it runs in the trunk's thread (in the loop in simulated time); the loop looks at it again when it is over.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from lanes.fork import Fork, Main
from lanes.submission import Submission
from lanes.train import NAMED, Member, Stuck, Train
from qodebase.change import AnyOperation, Hunk, Patch, Write
from qodebase.collision import Collided, Collision, Declined, Kind, Side, Step
from qodebase.edits import Edit, materialise
from qodebase.intent import Given
from qodebase.paths import RepoPath
from qodebase.ports import Judgement, SharedPath
from qodebase.record import Record, Times, write_note
from qodebase.trailers import ATTEMPT, CO_AUTHOR, INTENT, LANE, REPLAY, RUN, TRAIN, UNDOES
from qodebase.trunk import batch as trunk_batch
from qodebase.trunk.landing import Trunk
from replay_rules.ladder import climb_shared

Outcome = trunk_batch.Landed | trunk_batch.Moved


@dataclass(slots=True, kw_only=True)
class Place:
    """One member in a step: where it stands, and what the step found out about its shared paths."""

    member: Member
    train: Train
    judgement: Judgement
    collided: dict[RepoPath, Collided] = field(default_factory=dict)

    def stuck_at(self, moved: trunk_batch.Moved) -> Stuck | None:
        """Return what the member is stuck at, or None where it may be coupled again.

        That is where main only holds something else at its own paths, or where one ahead of it has not landed.
        """
        if all(path in self.member.expects for path in moved.paths):
            return None
        declined = [collided for collided in self.collided.values() if not collided.resolved_by]
        declined = declined or [
            Collided(path=path, kind=Kind.SHARED, steps=(Step(by="trunk", declined=moved.why),)) for path in moved.paths
        ]
        return Stuck(submission=self.member.submission, collided=tuple(declined))


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """What all steps of a run have in common.

    Attributes:
        run: its id.
        shared: the shared paths with their rules.
        author: who a submission's commit says wrote it.
        committer: who it says committed it; None: the author.
        sign: gives a commit's signature, or None.
        simulated: the clock is simulated.
    """

    run: str
    shared: Sequence[SharedPath]
    author: Callable[[Submission], trunk_batch.Person]
    committer: Callable[[Submission], trunk_batch.Person] | None = None
    sign: Callable[[bytes], bytes] | None = None
    simulated: bool = False


class LandingStep:
    """Land places on the trunk; ``latest`` holds the contents that rules gave shared paths."""

    def __init__(self, terms: Terms, main: Main, places: Sequence[Place], now: float) -> None:
        self.latest: dict[RepoPath, bytes] = {}
        self._terms = terms
        self._rules = {shared.path: shared.rule for shared in terms.shared}
        self._main = main
        self._places = places
        self._now = now
        self._made_by: dict[int, Place] = {}
        self._passed: dict[RepoPath, dict[str, None]] = {}

    def take(self, trunk: Trunk) -> list[Outcome]:
        """Take the step; durable on return."""
        landings = [self._landing(place) for place in self._places]
        return trunk.land(landings, self._redo, self._forget)

    def _forget(self) -> None:
        """Forget what a try of the step found out that did not move main."""
        self.latest.clear()
        self._passed.clear()
        for place in self._places:
            place.collided.clear()

    def _landing(self, place: Place) -> trunk_batch.Landing:
        member, submission = place.member, place.member.submission
        shared = [
            _shared_edit(operation, submission.fork)
            for operation in submission.change.operations
            if operation.path in self._rules
        ]
        self._made_by.update((id(edit), place) for edit in shared)

        def note(landed: trunk_batch.Landed) -> bytes:
            for edit in shared:
                self._passed.setdefault(edit.path, {})[submission.intent.id] = None
            return write_note(self._record(place, landed))

        author = self._terms.author(submission)
        committer = author if self._terms.committer is None else self._terms.committer(submission)
        return trunk_batch.Landing(
            message=f"{submission.intent.asked}\n",
            trailers=(
                (RUN, self._terms.run),
                (INTENT, submission.intent.id),
                (ATTEMPT, str(submission.attempt)),
                (LANE, place.train.lane),
                (TRAIN, place.train.name),
                (REPLAY, str(submission.replay)),
                *_of_given(submission.intent.given),
            ),
            author=author,
            committer=committer,
            edits={path: to_trunk(edit, _before(member, path)) for path, edit in member.edits.items()},
            expects=member.expects,
            shared=tuple(shared),
            note=note,
            sign=self._terms.sign,
            behind=place.train.name if place.judgement.checks else "",
        )

    def _redo(self, edit: trunk_batch.SharedEdit, content: bytes | None) -> bytes | Declined:
        place = self._made_by[id(edit)]
        submission = place.member.submission
        path = edit.path
        wanted = materialise(submission.change, submission.fork, lambda other: other == path)[path]
        before = submission.fork.entry(path)
        collision = Collision(
            path=path,
            base=Side(content=None) if before is None else Side(content=submission.fork.read(path), mode=before.mode),
            main=Side(content=content),
            change=Side(content=None) if wanted is None else Side(content=wanted.content, mode=wanted.mode),
            idempotent=True,
        )
        rule = self._rules[path]
        climbed = climb_shared(collision, rule)
        intents = self._main.movers(path, submission.fork.position) + list(self._passed.get(path, {}))
        place.collided[path] = Collided(
            path=path,
            kind=Kind.SHARED,
            intents=tuple(intents[-NAMED:]),
            count=len(intents),
            foreign=tuple(self._main.foreign(path, submission.fork.position)[-NAMED:]),
            steps=climbed.steps,
        )
        if climbed.resolved is None:
            return Declined(why=climbed.steps[-1].declined)
        self.latest[path] = climbed.resolved.content
        return climbed.resolved.content

    def _record(self, place: Place, landed: trunk_batch.Landed) -> Record:
        submission = place.member.submission
        return Record(
            run=self._terms.run,
            intent=submission.intent.id,
            asked=submission.intent.asked,
            agent=submission.agent,
            model=submission.model,
            deterministic=submission.deterministic,
            simulated=submission.simulated or self._terms.simulated,
            attempt=submission.attempt,
            replay=submission.replay,
            lane=place.train.lane,
            train=place.train.name,
            base=submission.change.base,
            parent=landed.parent,
            tree=place.judgement.tree,
            verdict=str(place.judgement.verdict),
            checks=place.judgement.checks,
            collisions=tuple(
                collided.brief for collided in (*submission.collided, *place.member.collided, *place.collided.values())
            ),
            symbols=submission.change.symbols,
            plan=submission.plan,
            undoes=submission.intent.given.undoes if submission.intent.given else None,
            usage=submission.usage,
            times=Times(
                admitted=submission.admitted_at,
                answered=submission.answered_at,
                queued=submission.queued_at,
                landed=self._now,
            ),
        )


def _of_given(given: Given | None) -> Iterator[tuple[str, str]]:
    """Yield the trailers of a change that was made before the run."""
    if given is not None and given.undoes is not None:
        yield UNDOES, given.undoes.commit
    for author in given.others if given else ():
        yield CO_AUTHOR, author


def _shared_edit(operation: AnyOperation, fork: Fork) -> trunk_batch.SharedEdit:
    match operation:
        case Patch(path=path, hunks=hunks):
            change: bytes | tuple[Hunk, ...] = hunks
            mode = None
        case Write(path=path, content=content, mode=mode):
            change = content
        case _:
            raise ValueError(f"{type(operation).__name__} of the shared path {operation.path.text}")
    return trunk_batch.SharedEdit(path=path, base=fork.entry(path), change=change, mode=mode)


def _before(member: Member, path: RepoPath) -> bytes | None:
    """Return what main must hold at a path, where the change's fork has it at hand."""
    fork = member.submission.fork
    return fork.held(path) if member.expects[path] == fork.entry(path) else None


def to_trunk(edit: Edit | None, before: bytes | None = None) -> trunk_batch.Edit | None:
    """Return an edit in the trunk's words."""
    return None if edit is None else trunk_batch.Edit(mode=edit.mode, content=edit.content, before=before)
