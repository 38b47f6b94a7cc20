"""Audit what records tell beside who and where: asked, made, met, judged and used, each field against the journal.

The journal is read once, in order. Of every attempt that is under way it gives what the record of its landing must say.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from qodebase.collision import Collided
from qodebase.events import (
    Admitted,
    Answered,
    Asked,
    ChangeMade,
    CollisionMet,
    CutOff,
    Event,
    Judged,
    Landed,
    ModelKind,
    Postponed,
    Queued,
    Replayed,
    RunStarted,
    TrainBuilt,
    Wasted,
)
from qodebase.intent import Intent
from qodebase.paths import CommitId
from qodebase.ports import Verdict
from qodebase.record import VERSION, Record, Usage, write_note
from results.evidence import Evidence
from results.findings import Notebook

_Span = tuple[float, float]


@dataclass(slots=True)
class _Sitting:
    """A sitting: which, when it began, and of what kind the models are that were asked up to now."""

    number: int = 0
    began_at: float = 0.0
    kinds: dict[str, ModelKind] = field(default_factory=dict)

    def begin(self, started: RunStarted) -> None:
        """Take in that the next one begins."""
        self.number += 1
        self.began_at = started.at
        self.kinds.update(started.models)


@dataclass(slots=True)
class _Attempt:
    """What the journal says of an attempt; ``counts`` says whether its calls add up to what its record must tell.

    They do not where an earlier sitting asked, or where an answer led to nothing: such calls are not all told there.
    ``made`` and ``queued`` are the spans of time, ends included, in which the answer and the queueing must lie.
    """

    admitted: Admitted
    sitting: int
    counts: bool = True
    collided: set[Collided] = field(default_factory=set)
    prompts: set[str] = field(default_factory=set)
    redo_prompts: set[str] = field(default_factory=set)
    answers: set[str] = field(default_factory=set)
    models: set[str] = field(default_factory=set)
    asked: set[str] = field(default_factory=set)
    usage: Usage = field(default_factory=Usage)
    replays: int = 0
    newest_at: float = 0.0
    answered_at: set[float] = field(default_factory=set)
    made: _Span | None = None
    queued: _Span | None = None
    queued_in: int = 0

    def take(self, event: Event, sitting: _Sitting) -> None:
        """Take the next event of the attempt."""
        match event:
            case ChangeMade():
                self.made = (max(self.admitted.at, self.newest_at), event.at)
                self.newest_at = event.at
            case Queued() if self.queued_in != sitting.number:
                self.queued_in = sitting.number
                self.queued = (max(sitting.began_at, self.newest_at), event.at)
            case CollisionMet():
                self.collided.add(event.collided.brief)
            case Asked():
                self.prompts.add(event.prompt)
                self.asked.add(event.model)
                if event.purpose == "replay":
                    self.redo_prompts.add(event.prompt)
            case Answered():
                self.answers.add(event.answer)
                self.models.add(event.model)
                self.newest_at = event.at
                self.answered_at.add(event.at)
                self.usage = self.usage + Usage(
                    calls=1,
                    input_tokens=event.input_tokens,
                    cached_tokens=event.cached_tokens,
                    output_tokens=event.output_tokens,
                    cost_usd=event.cost_usd,
                )
            case Replayed():
                self.replays += 1
            case CutOff() | Postponed() | Wasted():
                self.counts = False

    def begin_again(self, admitted: Admitted, sitting: int) -> None:
        """Take in that an agent took the same attempt once more."""
        self.admitted, self.sitting = admitted, sitting
        self.counts = self.counts and not self.prompts
        self.collided.clear()
        self.replays = 0
        self.newest_at = admitted.at


@dataclass(slots=True)
class _Train:
    """The members that a train was built of on each tree, and how many checks were green on each."""

    members: dict[str, tuple[str, ...]] = field(default_factory=dict)
    green: defaultdict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    judged_at: float = 0.0


def check_told(book: Notebook, evidence: Evidence, records: Mapping[CommitId, Record]) -> None:
    """Write down every landing whose train was never judged green, or whose record tells what the journal does not."""
    attempts: dict[tuple[str, int | None], _Attempt] = {}
    trains: defaultdict[str | None, _Train] = defaultdict(_Train)
    sitting = _Sitting()
    for event in evidence.events:
        key = (event.intent or "", event.attempt)
        match event:
            case RunStarted():
                sitting.begin(event)
            case Admitted() if key in attempts:
                attempts[key].begin_again(event, sitting.number)
            case Admitted():
                attempts[key] = _Attempt(event, sitting.number)
            case TrainBuilt():
                trains[event.train].members[event.tree] = event.members
            case Judged(verdict=Verdict.GREEN, of=""):
                trains[event.train].green[event.tree].append(event.checks)
                trains[event.train].judged_at = event.at
            case Landed():
                attempt, train, record = attempts.pop(key, None), trains[event.train], records.get(event.commit)
                for fault in _faults(evidence, event, attempt, train, record, sitting):
                    book.wrong(fault, intents=(key[0],), commits=(event.commit,))
            case _ if key in attempts:
                attempts[key].take(event, sitting)


def _faults(
    evidence: Evidence,
    landed: Landed,
    attempt: _Attempt | None,
    train: _Train,
    record: Record | None,
    sitting: _Sitting,
) -> Iterator[str]:
    """Yield what is wrong with a landing; a record of another intent is named elsewhere."""
    intent = evidence.intents.get(landed.intent or "")
    if not any(landed.intent in train.members.get(tree, ()) for tree in train.green):
        yield "landed, and the journal has no green verdict on a train of it"
    if record is None or intent is None or record.intent != intent.id:
        return
    wrong = [*_of_intent(record, intent), *_of_train(record, train, intent), *_of_change(record, evidence, landed)]
    wrong += _of_attempt(record, attempt, landed, sitting) if attempt else ["attempt"]
    if attempt and not _fit(record, attempt, (train.judged_at, landed.at)):
        wrong.append("times")
    if not _says(evidence.notes[landed.commit][0], record):
        wrong.append("its sentence")
    if wrong:
        yield f"its note tells what the journal does not: {', '.join(wrong)}"


def _of_intent(record: Record, intent: Intent) -> Iterator[str]:
    undoes = intent.given.undoes if intent.given else None
    yield from _unequal(
        v=(1 <= record.v <= VERSION, True),
        asked=(record.asked, intent.asked),
        undoes=(record.undoes, undoes),
        origin=(record.origin, None),
    )


def _of_train(record: Record, train: _Train, intent: Intent) -> Iterator[str]:
    green = train.green.get(record.tree)
    counts = [count for counted in train.green.values() for count in counted]
    most = max(counts, default=0)
    told = set(record.checks)
    yield from _unequal(
        verdict=(record.verdict, Verdict.GREEN),
        tree=(green is not None and intent.id in train.members.get(record.tree, ()), True),
        checks=(told.issuperset(intent.checks) and most <= len(told) <= sum(counts), True),
    )


def _of_attempt(record: Record, attempt: _Attempt, landed: Landed, sitting: _Sitting) -> Iterator[str]:
    yield from _unequal(
        agent=(record.agent, attempt.admitted.actor),
        collisions=(set(record.collisions), attempt.collided),
    )
    if attempt.models and record.model not in attempt.models:
        yield "model"
    if attempt.prompts and record.plan.get("prompt") not in attempt.prompts:
        yield "prompt"
    if attempt.answers and record.plan.get("answer") not in attempt.answers:
        yield "answer"
    redone = attempt.replays == record.replay == len(attempt.redo_prompts)
    whole = attempt.counts and attempt.sitting == sitting.number and redone
    if whole and not _alike(record.usage, attempt.usage):
        yield "usage"
    yield from _of_models(record, [sitting.kinds.get(name) for name in attempt.asked], landed, whole=whole)


def _of_models(record: Record, asked: Sequence[ModelKind | None], landed: Landed, *, whole: bool) -> Iterator[str]:
    """Compare what a record says of the models with what the journal says of those that were asked.

    Where they differ in kind, and not all answers are told in the record, nobody knows which counted.
    """
    if landed.simulated and not record.simulated:
        yield "simulated"
    kinds = [kind for kind in asked if kind is not None]
    if not kinds or len(kinds) < len(asked):
        return
    deterministic, simulated = {kind.deterministic for kind in kinds}, {kind.simulated for kind in kinds}
    if (whole or len(deterministic) == 1) and record.deterministic != all(deterministic):
        yield "deterministic"
    if not landed.simulated and (whole or len(simulated) == 1) and record.simulated != any(simulated):
        yield "simulated"


def _fit(record: Record, attempt: _Attempt, landed: _Span) -> bool:
    """Return whether the times of a record lie between the events that stand around them in the journal."""
    times = record.times
    return (
        times.admitted == attempt.admitted.at
        and (times.answered in attempt.answered_at or _within(times.answered, attempt.made))
        and _within(times.queued, attempt.queued)
        and _within(times.landed, landed)
    )


def _within(at: float, span: _Span | None) -> bool:
    """Return whether a time lies in a span; one that ends before it begins tells of a clock that was set back."""
    return span is None or span[0] > span[1] or span[0] <= at <= span[1]


def _of_change(record: Record, evidence: Evidence, landed: Landed) -> Iterator[str]:
    change = evidence.changes.get((record.intent, str(landed.attempt), str(landed.replay)))
    if change is not None:
        yield from _unequal(base=(record.base, change.base), change=(record.plan.get("change"), change.change))


def _says(note: bytes, record: Record) -> bool:
    """Return whether the sentence of a note, which people read, is that of its fields."""
    return note.partition(b"\n\n")[0] == write_note(record).partition(b"\n\n")[0]


def _alike(one: Usage, other: Usage) -> bool:
    """Return whether two usages are the same but for the order in which costs were added."""
    costs = one.cost_usd, other.cost_usd
    known = [cost for cost in costs if cost is not None]
    same = len(known) == 0 or (len(known) == 2 and math.isclose(*known, abs_tol=1e-9))
    counts = [(use.calls, use.input_tokens, use.cached_tokens, use.output_tokens) for use in (one, other)]
    return same and counts[0] == counts[1]


def _unequal(**pairs: tuple[object, object]) -> list[str]:
    return [name for name, (told, known) in pairs.items() if told != known]
