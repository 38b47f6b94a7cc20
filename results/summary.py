"""The figures of a run while it goes on and at its end, folded from the journal one event at a time."""

from __future__ import annotations

import dataclasses
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from qodebase.events import (
    Answered,
    Asked,
    CollisionMet,
    CutOff,
    Ended,
    Event,
    Landed,
    Replayed,
    RunStarted,
    RunStopped,
)
from qodebase.intent import Ending, Intent
from results.flow import Flow
from results.working import tells_of_work


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """The figures of the end-of-run table.

    Attributes:
        intents: how many were frozen; ``endings`` sums to it, zeros included.
        reasons: for each ending but landed and pending, how many intents for each reason.
        collisions: how often a moved path was met, one met again included.
        collided_intents, collided_paths: intents and (attempt, path) pairs under which main had moved, each once.
        redone: (attempt, path) pairs by what redid them at last: ``merge``, ``rule:NAME``, ``model:NAME``.
        not_redone: (attempt, path) pairs at which every step declined.
        seconds: time in which a process worked on the run; ``simulated`` where these are virtual.
        per_second: landings for each of these seconds, 0 where there is none.
        busiest_second: most landings within one second, counted from the run's first start.
        cost_usd: what is known of the cost; ``unknown_cost_calls`` have none.
        failed_calls, newest_failure: calls without an answer, retried ones included, and why the newest had none.
        in_flight, queued, held: intents with an agent, waiting in lanes, and waiting for what others claim, now.
        stopped: why the last sitting ended, empty while it runs or after a kill; ``stopped_detail`` names the cap or
            the condition.
    """

    intents: int
    endings: dict[Ending, int]
    reasons: dict[Ending, dict[str, int]]
    collisions: int
    collided_intents: int
    collided_paths: int
    redone: dict[str, int]
    not_redone: int
    seconds: float
    per_second: float
    busiest_second: int
    calls: int
    failed_calls: int
    newest_failure: str
    cache_calls: int
    input_tokens: int
    cached_tokens: int
    output_tokens: int
    cost_usd: float
    unknown_cost_calls: int
    in_flight: int
    queued: int
    held: int
    sittings: int
    stopped: str
    stopped_detail: str
    simulated: bool

    @property
    def landed(self) -> int:
        """Return how many intents landed."""
        return self.endings[Ending.LANDED]

    @property
    def pending(self) -> int:
        """Return how many intents have no ending yet."""
        return self.endings[Ending.PENDING]

    def redone_by(self, step: str) -> int:
        """Return how many were redone by a kind of step: ``merge``, ``rule`` or ``model``."""
        return sum(count for by, count in self.redone.items() if by.partition(":")[0] == step)

    def as_dict(self) -> dict[str, Any]:
        """Return the figures as plain data."""
        plain = dataclasses.asdict(self)
        plain["endings"] = {str(ending): count for ending, count in self.endings.items()}
        plain["reasons"] = {str(ending): dict(counts) for ending, counts in self.reasons.items()}
        return plain | {
            "redone_by_merge": self.redone_by("merge"),
            "redone_by_rule": self.redone_by("rule"),
            "redone_by_model": self.redone_by("model"),
        }


_Place = tuple[str | None, int | None, bytes]
"""Where changes collide: intent, attempt, path."""


class Tally:
    """Keep the figures of a run; `apply` takes the journal's events in order, each in constant time."""

    def __init__(self, intents: Iterable[Intent]) -> None:
        self._ended = {intent.id: (intent.ending, intent.reason) for intent in intents}
        self._endings = Counter(self._ended.values())
        self._flow = Flow()
        self._redone: dict[_Place, str] = {}
        self._open: defaultdict[tuple[str | None, int | None], set[_Place]] = defaultdict(set)
        self._replay_model: dict[str | None, str] = {}
        self._collided: set[str | None] = set()
        self._landed_in: Counter[int] = Counter()
        self._collisions = 0
        self._failed_calls = 0
        self._newest_failure = ""
        self._calls = self._cache_calls = self._unknown_cost_calls = 0
        self._input_tokens = self._cached_tokens = self._output_tokens = 0
        self._cost_usd = 0.0
        self._sittings = 0
        self._stopped = self._stopped_detail = ""
        self._simulated = False
        self._first_at: float | None = None
        self._sitting_at = self._last_at = self._worked = 0.0

    def apply_all(self, events: Iterable[Event]) -> Tally:
        """Apply events in order and return self."""
        for event in events:
            self.apply(event)
        return self

    def apply(self, event: Event) -> None:
        """Move on by one event."""
        if isinstance(event, RunStarted):
            self._sit_down(event)
        if tells_of_work(event):
            self._last_at = max(self._last_at, event.at)
        self._simulated = event.simulated
        self._flow.apply(event)
        match event:
            case RunStopped():
                self._stopped, self._stopped_detail = event.why, event.detail
            case Answered():
                self._count(event)
            case CutOff():
                self._calls += 1
                self._unknown_cost_calls += 1
            case Asked(purpose="replay"):
                self._replay_model[event.intent] = event.model
            case CollisionMet():
                self._collide(event)
            case Replayed():
                self._redo_by_model(event)
            case Landed():
                if event.replay:
                    self._redo_by_model(event)
                self._end(event.intent, Ending.LANDED, "")
                self._landed_in[int(event.at - (self._first_at or 0.0))] += 1
            case Ended():
                self._end(event.intent, event.ending, event.reason)

    def summary(self, *, now: float | None = None) -> Summary:
        """Return the figures; ``now`` (seconds on the run's clock) counts the time since the last event in."""
        until = self._last_at if self._stopped else max(self._last_at, now or 0.0)
        seconds = self._worked + until - self._sitting_at
        endings = dict.fromkeys(Ending, 0)
        reasons: dict[Ending, dict[str, int]] = {}
        for (ending, reason), count in sorted(self._endings.items(), key=lambda item: -item[1]):
            endings[ending] += count
            if count and ending not in (Ending.LANDED, Ending.PENDING):
                reasons.setdefault(ending, {})[reason] = count
        redone = Counter(self._redone.values())
        not_redone = redone.pop("", 0)
        return Summary(
            intents=len(self._ended),
            endings=endings,
            reasons=reasons,
            collisions=self._collisions,
            collided_intents=len(self._collided),
            collided_paths=len(self._redone),
            redone=dict(redone.most_common()),
            not_redone=not_redone,
            seconds=seconds,
            per_second=endings[Ending.LANDED] / seconds if seconds else 0.0,
            busiest_second=max(self._landed_in.values(), default=0),
            calls=self._calls,
            failed_calls=self._failed_calls,
            newest_failure=self._newest_failure,
            cache_calls=self._cache_calls,
            input_tokens=self._input_tokens,
            cached_tokens=self._cached_tokens,
            output_tokens=self._output_tokens,
            cost_usd=self._cost_usd,
            unknown_cost_calls=self._unknown_cost_calls,
            in_flight=len(self._flow.in_flight),
            queued=len(self._flow.queued),
            held=len(self._flow.held),
            sittings=self._sittings,
            stopped=self._stopped,
            stopped_detail=self._stopped_detail,
            simulated=self._simulated,
        )

    def _sit_down(self, event: RunStarted) -> None:
        if self._first_at is None:
            self._first_at = event.at
        else:
            self._worked += self._last_at - self._sitting_at
        self._sitting_at = self._last_at = event.at
        self._sittings = event.sitting
        self._stopped = self._stopped_detail = ""

    def _collide(self, event: CollisionMet) -> None:
        place = (event.intent, event.attempt, event.collided.path)
        self._collisions += 1
        self._collided.add(event.intent)
        self._redone[place] = event.collided.resolved_by
        if not event.collided.resolved_by:
            self._open[event.intent, event.attempt].add(place)

    def _redo_by_model(self, event: Event) -> None:
        """A model's replay settles what every step before it declined."""
        by = f"model:{self._replay_model.get(event.intent, '')}"
        self._redone.update(dict.fromkeys(self._open.pop((event.intent, event.attempt), ()), by))

    def _end(self, intent: str | None, ending: Ending, reason: str) -> None:
        if intent in self._ended:
            self._endings[self._ended[intent]] -= 1
            self._ended[intent] = (ending, reason)
            self._endings[ending, reason] += 1

    def _count(self, event: Answered) -> None:
        if event.source == "run":
            return
        self._calls += 1
        if event.outcome != "answer":
            self._failed_calls += 1
            self._newest_failure = f"{event.outcome}: {event.why}" if event.why else event.outcome
        self._cache_calls += event.source == "cache"
        self._input_tokens += event.input_tokens
        self._cached_tokens += event.cached_tokens
        self._output_tokens += event.output_tokens
        if event.cost_usd is None:
            self._unknown_cost_calls += 1
        else:
            self._cost_usd += event.cost_usd
