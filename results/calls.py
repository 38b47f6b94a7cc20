"""The model calls of a run, and what they used."""

from __future__ import annotations

from dataclasses import dataclass

from qodebase.events import Answered, Asked, CutOff
from results.run_data import RunData


@dataclass(slots=True, kw_only=True)
class Call:
    """One model call, from asked to its end."""

    intent: str | None
    attempt: int | None
    call: int
    purpose: str
    model: str
    sitting: int
    prompt: str = ""
    simulated: bool = False
    asked_at: float | None = None
    answered: Answered | None = None
    cut_off: bool = False

    @property
    def outcome(self) -> str:
        """Return how the call ended, in the frame's words."""
        if self.answered:
            return self.answered.outcome
        return "cut off" if self.cut_off else "open"


@dataclass(slots=True)
class Usage:
    """What calls used; calls that the run already held an answer for use nothing."""

    calls: int = 0
    input_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float = 0.0
    unknown_cost_calls: int = 0
    answers: int = 0
    provider_calls: int = 0
    cache_calls: int = 0
    run_calls: int = 0

    def add(self, call: Call) -> None:
        """Count one call."""
        self.calls += 1
        answered = call.answered
        if answered is None:
            self.provider_calls += 1
            self.unknown_cost_calls += 1
            return
        self.answers += answered.outcome == "answer"
        if answered.source == "run":
            self.run_calls += 1
            return
        if answered.source == "cache":
            self.cache_calls += 1
        else:
            self.provider_calls += 1
        self.input_tokens += answered.input_tokens
        self.cached_tokens += answered.cached_tokens
        self.output_tokens += answered.output_tokens
        if answered.cost_usd is None:
            self.unknown_cost_calls += 1
        else:
            self.cost_usd += answered.cost_usd


def calls_of(run: RunData) -> list[Call]:
    """Return every model call in the order of asking; an answer without its question stands where it came."""
    calls: dict[tuple[str | None, int], Call] = {}
    for sitting, event in run.with_sitting(Asked, Answered, CutOff):
        match event:
            case Asked():
                calls[event.intent, event.call] = _call(event, event.purpose, sitting)
                calls[event.intent, event.call].asked_at = event.at
                calls[event.intent, event.call].prompt = event.prompt
            case Answered():
                call = calls.setdefault((event.intent, event.call), _call(event, "fresh", sitting))
                call.answered = event
            case CutOff():
                calls.setdefault((event.intent, event.call), _call(event, "fresh", sitting)).cut_off = True
    return list(calls.values())


def _call(event: Asked | Answered | CutOff, purpose: str, sitting: int) -> Call:
    return Call(
        intent=event.intent,
        attempt=event.attempt,
        call=event.call,
        purpose=purpose,
        model=event.model,
        sitting=sitting,
        simulated=event.simulated,
    )
