"""What happened to the intents of a run: one line each, or the whole story of one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from typing import Any

import msgspec

from qodebase.codec import JSON, BadData
from qodebase.collision import Collided
from qodebase.commands.support.intent_names import find_intent
from qodebase.commands.support.kept import Kept
from qodebase.events import Answered, AnyEvent, Asked, ChangeMade, Ordered, Replayed, TrainBuilt, Unknown
from qodebase.intent import Ending, Intent
from qodebase.record import Record, Usage, read_note
from qodebase.runs import RunFolder
from qodebase.segments import BadSegment
from qodebase.state import IntentState
from results.run_data import RunData


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """How an intent ended.

    Attributes:
        at: when, in seconds since the epoch on the run's clock; 0 where the job ended it before the run began.
        redone: what redid its collisions at last, each once, ``declined`` where nothing did; empty for none.
        commit: where it landed; empty where it did not.
    """

    intent: str
    at: float
    ending: str
    reason: str
    lane: str
    attempt: int
    redone: list[str]
    commit: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One call of a model, with what the run keeps of it; ``outcome`` is empty while it has no end.

    A text that was not kept is empty, and its SHA-256 is there all the same.
    """

    call: int
    attempt: int
    purpose: str
    model: str
    source: str
    outcome: str
    why: str
    input_tokens: int
    cached_tokens: int
    output_tokens: int
    cost_usd: float | None
    latency_s: float
    prompt: str
    answer: str
    prompt_sha256: str
    answer_sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Story:
    """Everything that the run folder and the repository hold on one intent.

    Attributes:
        texts_kept: whether the run keeps the texts of prompts and answers.
        events: the journal's events of it, and of the trains that it was in.
        changes: what was handed in (the journal's reference, then the change), replays included.
        record: its note, parsed back; None where it did not land.
        trouble: what could not be read.
    """

    intent: Intent
    line: Line
    events: list[AnyEvent | Unknown]
    calls: list[Call]
    changes: dict[str, Any]
    record: Record | None
    texts_kept: bool = True
    trouble: list[str] = field(default_factory=list)

    @property
    def usage(self) -> Usage:
        """Return what all calls used; the cost is None where that of one is not known."""
        from fleet.calls import usage_of

        return sum((usage_of(event) for event in self.events if isinstance(event, Answered)), Usage())

    def as_dict(self) -> dict[str, Any]:
        """Return the story as plain data."""
        return {
            **asdict(self.line),
            "usage": _plain(self.usage),
            "texts_kept": self.texts_kept,
            "frozen": _plain(self.intent),
            "events": [_plain(event) for event in self.events],
            "calls": [asdict(call) for call in self.calls],
            "changes": self.changes,
            "record": None if self.record is None else _plain(self.record),
            "trouble": self.trouble,
        }


def ended_lines(data: RunData) -> list[Line]:
    """Return a line for each intent that has ended, in the order in which they did."""
    ended = [state for state in data.state.intents.values() if state.ending != Ending.PENDING]
    return [_line(state) for state in sorted(ended, key=lambda state: state.ended_at)]


def story_of(folder: RunFolder, name: str) -> tuple[Story, RunData]:
    """Return the story of the intent that an id, a path or a commit names, and the run that it is part of.

    Raises:
        NoIntent: the name stands for none, or for several.
    """
    data = RunData(folder)
    state = find_intent(data.state.intents, name)
    events = list(_events_of(data, state.intent.id))
    trouble: list[str] = []
    with Kept(folder.attempts) as kept:
        calls = [_call(asked, state, kept, trouble) for asked in events if isinstance(asked, Asked)]
        changes = {}
        for event in events:
            if isinstance(event, ChangeMade | Replayed):
                try:
                    changes[event.ref] = _plain(kept.change(event.ref))
                except BadSegment as error:
                    trouble.append(error.message)
    return (
        Story(
            intent=state.intent,
            line=_line(state),
            events=events,
            calls=calls,
            changes=changes,
            record=_record(folder, state, trouble),
            texts_kept=folder.settings().privacy.keep_prompts,
            trouble=trouble,
        ),
        data,
    )


def _events_of(data: RunData, intent: str) -> Iterator[AnyEvent | Unknown]:
    trains = {event.train for event in data.events if isinstance(event, TrainBuilt) and intent in event.members}
    for event in data.events:
        of_train = event.intent is None and event.train is not None and event.train in trains
        ordered = isinstance(event, Ordered) and (event.everything or intent in event.intents)
        if event.intent == intent or of_train or ordered:
            yield event


def _line(state: IntentState) -> Line:
    return Line(
        intent=state.intent.id,
        at=state.ended_at,
        ending=str(state.ending),
        reason=state.reason,
        lane=state.lane or "",
        attempt=state.attempt,
        redone=_redone(state.collided),
        commit=state.commit or "",
    )


def _redone(collided: list[Collided]) -> list[str]:
    last = {collision.path: collision.resolved_by or "declined" for collision in collided}
    return list(dict.fromkeys(last.values()))


def _call(asked: Asked, state: IntentState, kept: Kept, trouble: list[str]) -> Call:
    answered = state.answered.get(asked.call)
    prompt = answer = ""
    try:
        prompt = kept.prompt(asked.ref)
        answer = kept.answer(answered.ref) if answered else ""
    except BadSegment as error:
        trouble.append(error.message)
    return Call(
        call=asked.call,
        attempt=asked.attempt or 0,
        purpose=asked.purpose,
        model=answered.model if answered else asked.model,
        source=answered.source if answered else "",
        outcome=answered.outcome if answered else "",
        why=answered.why if answered else "",
        input_tokens=answered.input_tokens if answered else 0,
        cached_tokens=answered.cached_tokens if answered else 0,
        output_tokens=answered.output_tokens if answered else 0,
        cost_usd=answered.cost_usd if answered else None,
        latency_s=answered.latency_s if answered else 0.0,
        prompt=prompt,
        answer=answer,
        prompt_sha256=asked.prompt,
        answer_sha256=answered.answer if answered else "",
    )


def _record(folder: RunFolder, state: IntentState, trouble: list[str]) -> Record | None:
    if state.commit is None:
        return None
    from qodebase.trunk.reader import Reader

    with Reader(folder.repository) as reader:
        note = reader.note(state.commit)
    if note is None:
        trouble.append(f"commit {state.commit} has no note")
        return None
    try:
        return read_note(note, source=f"the note of {state.commit[:12]}")
    except BadData as error:
        trouble.append(error.message)
        return None


def _plain(value: Any) -> Any:
    return msgspec.json.decode(JSON.encode(value))
