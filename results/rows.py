"""The rows of every frame, computed from a run's frozen intents and journal; plain values in the schema's order."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from qodebase.events import (
    Admitted,
    Answered,
    Asked,
    ChangeMade,
    CollisionMet,
    Ended,
    Event,
    Landed,
    Queued,
    Replayed,
    RunStarted,
)
from qodebase.intent import Ending
from results.calls import Usage, calls_of
from results.flow import Flow
from results.run_data import RunData, second_of

Row = tuple[Any, ...]


def intents(run: RunData) -> Iterator[Row]:
    """Yield the rows of `schema.INTENTS`."""
    usage: defaultdict[str | None, Usage] = defaultdict(Usage)
    for call in calls_of(run):
        usage[call.intent].add(call)
    begun = Counter(event.intent for event in run.of(Admitted))
    for state in run.state.intents.values():
        intent, used = state.intent, usage[state.intent.id]
        yield (
            intent.id,
            intent.asked,
            [path.text for path in intent.scope],
            intent.group,
            intent.priority,
            str(state.ending),
            "" if state.ending == Ending.LANDED else state.reason,
            begun[intent.id],
            state.agent or None,
            state.lane,
            state.train,
            state.commit,
            state.replay,
            len({collided.path for collided in state.collided}),
            state.admitted_at or None,
            state.answered_at or None,
            state.queued_at or None,
            state.ended_at or None,
            state.ended_at - state.admitted_at if state.ended_at and begun[intent.id] else None,
            used.calls,
            used.input_tokens,
            used.cached_tokens,
            used.output_tokens,
            used.cost_usd,
            used.unknown_cost_calls,
        )


def attempts(run: RunData) -> Iterator[Row]:
    """Yield the rows of `schema.ATTEMPTS`."""
    for call in calls_of(run):
        answered = call.answered
        yield (
            call.intent,
            call.attempt,
            call.call,
            call.purpose,
            answered.model if answered else call.model,
            answered.source if answered else None,
            call.outcome,
            answered.why if answered else "",
            answered.input_tokens if answered else 0,
            answered.cached_tokens if answered else 0,
            answered.output_tokens if answered else 0,
            answered.cost_usd if answered else None,
            answered.latency_s if answered else None,
            call.asked_at,
            answered.at if answered else None,
            call.prompt,
            call.sitting,
            call.simulated,
        )


def collisions(run: RunData) -> Iterator[Row]:
    """Yield the rows of `schema.COLLISIONS`."""
    landed = {(event.intent, event.attempt) for event in run.of(Landed)}
    models = _replay_models(run)
    for event in run.of(CollisionMet):
        assert isinstance(event, CollisionMet)
        collided = event.collided
        replays, model = models.get((event.intent, event.attempt), (-1, ""))
        by = collided.resolved_by or (f"model:{model}" if replays > event.replay else "")
        step, _, name = by.partition(":")
        yield (
            event.at,
            second_of(event, run.started_at),
            event.intent,
            event.attempt,
            event.lane,
            event.train,
            event.replay,
            collided.path.text,
            None if collided.moved_to is None else collided.moved_to.text,
            str(collided.kind),
            list(collided.intents),
            collided.count,
            list(collided.foreign),
            step or None,
            name or None,
            [f"{step.by}: {step.declined}" for step in collided.steps if step.declined],
            (event.intent, event.attempt) in landed,
            event.simulated,
        )


def _replay_models(run: RunData) -> dict[tuple[str | None, int | None], tuple[float, str]]:
    """Return, for attempts that a model redid, the newest replay that worked and the model.

    One that landed so has none left open, whichever replay met it.
    """
    asked: dict[str | None, str] = {}
    found: dict[tuple[str | None, int | None], tuple[float, str]] = {}
    for event in run.of(Asked, Replayed, Landed):
        match event:
            case Asked(purpose="replay"):
                asked[event.intent] = event.model
            case Replayed():
                found[event.intent, event.attempt] = (event.replay, asked.get(event.intent, ""))
            case Landed(replay=replay) if replay:
                found[event.intent, event.attempt] = (math.inf, asked.get(event.intent, ""))
    return found


@dataclass(slots=True)
class _Story:
    """What an intent's newest attempt came through before it landed."""

    agent: str = ""
    admitted_at: float | None = None
    queued_at: float | None = None
    base: str | None = None
    paths: int = 0
    collided: set[bytes] = field(default_factory=set)


def landings(run: RunData) -> Iterator[Row]:
    """Yield the rows of `schema.LANDINGS`."""
    stories: defaultdict[str | None, _Story] = defaultdict(_Story)
    for event in run.of(Admitted, ChangeMade, Replayed, Queued, CollisionMet, Landed):
        if isinstance(event, Landed):
            yield _landing(event, stories[event.intent], run.started_at)
        else:
            _tell(stories, event)


def _tell(stories: defaultdict[str | None, _Story], event: Event) -> None:
    match event:
        case Admitted():
            stories[event.intent] = _Story(event.actor, event.at)
        case ChangeMade():
            stories[event.intent].base, stories[event.intent].paths = event.base, len(event.paths)
        case Replayed():
            stories[event.intent].base = event.base
        case Queued():
            stories[event.intent].queued_at = event.at
        case CollisionMet():
            stories[event.intent].collided.add(event.collided.path)


def _landing(event: Landed, story: _Story, started_at: float) -> Row:
    return (
        event.intent,
        event.attempt,
        event.lane,
        event.train,
        event.commit,
        event.parent,
        story.base,
        event.replay,
        story.agent or None,
        event.at,
        second_of(event, started_at),
        None if story.admitted_at is None else event.at - story.admitted_at,
        None if story.queued_at is None else event.at - story.queued_at,
        story.paths,
        len(story.collided),
        event.simulated,
    )


def throughput(run: RunData) -> Iterator[Row]:
    """Yield the rows of `schema.THROUGHPUT`: no row for a second in which no process worked on the run."""
    flow = Flow()
    counts: Counter[str] = Counter()
    second: int | None = None
    last = (0, False)

    def row(at: int) -> Row:
        sitting, simulated = last
        fields = (counts["landed"], counts["collided"], counts["ended"], counts["answered"])
        return (at, run.started_at + at, sitting, *fields, len(flow.in_flight), len(flow.queued), simulated)

    sitting = 0
    for event in run.events:
        if isinstance(event, RunStarted):
            sitting = event.sitting
        now = second_of(event, run.started_at)
        second = now if second is None else second
        if now > second:
            yield row(second)
            counts.clear()
            if not isinstance(event, RunStarted):
                for idle in range(second + 1, now):
                    yield row(idle)
            second = now
        last = (sitting, event.simulated)
        flow.apply(event)
        counts[_COUNTED.get(type(event), "")] += 1
    if second is not None:
        yield row(second)


_COUNTED = {Landed: "landed", CollisionMet: "collided", Ended: "ended", Answered: "answered"}


def losses(run: RunData) -> Iterator[Row]:
    """Yield the rows of `schema.LOSSES`: none where no intent names checks."""
    yield from ()


def costs(run: RunData) -> Iterator[Row]:
    """Yield the rows of `schema.COSTS`, by model and purpose."""
    usage: defaultdict[tuple[str, str], Usage] = defaultdict(Usage)
    for call in calls_of(run):
        usage[call.answered.model if call.answered else call.model, call.purpose].add(call)
    for (model, purpose), used in sorted(usage.items()):
        yield (
            model,
            purpose,
            used.calls,
            used.answers,
            used.provider_calls,
            used.cache_calls,
            used.run_calls,
            used.input_tokens,
            used.cached_tokens,
            used.output_tokens,
            used.cost_usd,
            used.unknown_cost_calls,
        )


ROWS: MappingProxyType[str, Callable[[RunData], Iterator[Row]]] = MappingProxyType(
    {row.__name__: row for row in (intents, attempts, collisions, landings, throughput, losses, costs)}
)
