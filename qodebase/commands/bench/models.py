"""`qodebase bench models`: how many answers a second a large fleet gets from an endpoint."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from qodebase.commands.bench.support.telling import tell
from qodebase.commands.support.console import Json, reporting, say

_AT_LEAST = {"direct_per_s": 1500.0}
_AT_MOST = {"loop_lag_p99_ms": 100.0}
_SIMULATED = (
    "The provider is simulated: a local endpoint in its own process, latency log-normal (sigma 0.5), errors drawn from "
    "a seed, 500 and 503 alike, prompts of a kilobyte. Agents, gate, retries, sockets and times are real; nothing is "
    "journalled or landed."
)


def register(group: typer.Typer) -> None:
    """Add the bench."""

    @group.command(help=_help())
    @reporting
    def models(
        agents: Annotated[int, typer.Option(min=1, help="Agents that ask all the time.")] = 10_000,
        gate: Annotated[float, typer.Option(min=0.1, help="Calls a second that the gate lets through.")] = 2000.0,
        seconds: Annotated[float, typer.Option(min=0.1, help="How long the direct path is measured.")] = 20.0,
        litellm_seconds: Annotated[float, typer.Option(min=0, help="How long litellm is; 0 leaves it out.")] = 15.0,
        latency: Annotated[float, typer.Option(min=0, help="Median seconds of a call.")] = 0.6,
        errors: Annotated[float, typer.Option(min=0, max=1, help="The share of calls that fail.")] = 0.08,
        seed: Annotated[int, typer.Option(help="Which latencies and errors.")] = 1,
        json: Json = False,
        check: Annotated[bool, typer.Option("--check", help="Exit with 1 when a target is missed.")] = False,
    ) -> int:
        from qodebase.commands.bench.support.model_rate import measure

        say(f"{agents} agents for {seconds:g} s on the direct path, then for {litellm_seconds:g} s through litellm")
        answer = measure(
            agents=agents,
            per_s=gate,
            seconds=seconds,
            litellm_seconds=litellm_seconds,
            median_s=latency,
            errors=errors,
            seed=seed,
        )
        return _show(answer, json=json, check=check)


def _show(answer: dict[str, Any], *, json: bool, check: bool) -> int:
    missed = [name for name, least in _AT_LEAST.items() if answer[name] < least]
    missed += [name for name, most in _AT_MOST.items() if answer[name] > most]
    targets = {name: f">= {value:g}" for name, value in _AT_LEAST.items()}
    targets |= {name: f"<= {value:g}" for name, value in _AT_MOST.items()}
    answer = {**answer, "targets": targets, "missed": missed, "simulated": _SIMULATED}
    return tell(answer, json=json, check=check)


def _help() -> str:
    return (
        "Let thousands of agents ask a local endpoint through the gate, with retries, and count the answers a second, "
        "on the direct path and through litellm with the limits that one process bears.\n\n" + _SIMULATED
    )
