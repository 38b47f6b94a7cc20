"""Bring journal and repository together at the start of a sitting; git decides what has landed."""

from __future__ import annotations

from collections.abc import Container

from qodebase import events
from qodebase.codec import BadData
from qodebase.collision import Collided
from qodebase.composition import read_composition
from qodebase.errors import QodebaseError
from qodebase.intent import Ending
from qodebase.journal import Journal
from qodebase.paths import CommitId
from qodebase.record import read_note
from qodebase.state import IntentState, RunState
from qodebase.trailers import ATTEMPT, COMPOSE, INTENT, LANE, REPLAY, RUN, TRAIN
from qodebase.trunk.commits import CommitFacts
from qodebase.trunk.reader import Reader


class RunDiverged(QodebaseError):
    """A repository that does not hold what the journal says has landed."""

    exit_code = 1


def recover(run: str, state: RunState, journal: Journal, reader: Reader, *, tip: CommitId, base: CommitId) -> None:
    """Write what a kill kept from the journal: landings, calls without an end, other people's commits.

    Raises:
        RunDiverged: the journal says that an intent landed and no commit on main says so.
    """
    log = list(reader.log(tip, base))
    log.reverse()
    ours: dict[str, CommitFacts] = {}
    foreign = []
    composed = []
    for commit in log:
        words = dict(commit.trailers)
        if words.get(RUN) == run and COMPOSE in words:
            composed.append(commit)
        elif words.get(RUN) == run:
            ours.setdefault(words.get(INTENT, ""), commit)
        else:
            foreign.append(commit.id)
    _check(state, ours)
    for intent, commit in ours.items():
        known = state.intents.get(intent)
        if known is not None and known.ending is not Ending.LANDED:
            _write_landing(journal, reader, known, commit)
    for commit in composed:
        if commit.id not in state.composed:
            _write_composed(journal, reader, commit)
    unseen = [commit for commit in foreign if commit not in state.foreign]
    if unseen:
        journal.write(events.Foreign, actor="trunk", commits=tuple(unseen))
    _write_cut_off(journal, state)


def _check(state: RunState, ours: Container[str]) -> None:
    missing = [
        intent for intent, known in state.intents.items() if known.ending is Ending.LANDED and intent not in ours
    ]
    if missing:
        raise RunDiverged(
            f"{len(missing)} intents landed by the journal and are not on main, {missing[0]} first",
            hint="Main was moved back by someone. `qodebase verify` names all of them; `git reflog` may find them.",
        )


def _write_landing(journal: Journal, reader: Reader, known: IntentState, commit: CommitFacts) -> None:
    """Write a landing, and those of its collisions that the journal has not: a model's replays it knows already."""
    intent = known.intent.id
    held = {collided.brief for collided in known.collided}
    words = dict(commit.trailers)
    attempt, replay = int(words.get(ATTEMPT, "1")), int(words.get(REPLAY, "0"))
    lane, train = words.get(LANE), words.get(TRAIN)
    for collided in _collisions(reader, commit):
        if collided in held:
            continue
        journal.write(
            events.CollisionMet,
            actor="trunk",
            intent=intent,
            attempt=attempt,
            lane=lane,
            train=train,
            collided=collided,
            replay=replay,
        )
    journal.write(
        events.Landed,
        actor="trunk",
        intent=intent,
        attempt=attempt,
        lane=lane,
        train=train,
        commit=commit.id,
        parent=CommitId(commit.parents[0]),
        replay=replay,
    )


def _write_composed(journal: Journal, reader: Reader, commit: CommitFacts) -> None:
    note = reader.note(commit.id)
    try:
        composition = read_composition(note or b"")
    except BadData:
        return
    journal.write(
        events.Composed,
        actor="trunk",
        commit=commit.id,
        parent=CommitId(commit.parents[0]),
        path=composition.composes,
        shards=composition.shards,
    )


def _collisions(reader: Reader, commit: CommitFacts) -> tuple[Collided, ...]:
    """Return what the commit's note says of collisions; a note that a person took away or changed says nothing."""
    note = reader.note(commit.id)
    if note is None:
        return ()
    try:
        return read_note(note, source=f"note of {commit.id}").collisions
    except BadData:
        return ()


def _write_cut_off(journal: Journal, state: RunState) -> None:
    for known in state.intents.values():
        for asked in known.open_calls:
            journal.write(
                events.CutOff,
                actor="driver",
                intent=asked.intent,
                attempt=asked.attempt,
                call=asked.call,
                model=asked.model,
            )
