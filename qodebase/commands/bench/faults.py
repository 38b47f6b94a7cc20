"""`qodebase bench faults`: the real fleet against an endpoint that fails in every way that providers do."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from qodebase.commands.bench.support.space import space_in
from qodebase.commands.bench.support.telling import tell
from qodebase.commands.support.console import Json, reporting, say

_LITELLM_WORKERS = 16
_RATIO = 3.0
_SIMULATED = (
    "The provider is simulated: a local endpoint in its own process, latency log-normal (sigma 0.5), faults drawn from "
    "a seed, each of nine kinds as often as the others, and bursts of 429 that last a second. The job writes the one "
    "line of each file of a made-up repository. Fleet, lanes, trunk, git, audit, sockets and times are real."
)


def register(group: typer.Typer) -> None:
    """Add the bench."""

    @group.command(help=_help())
    @reporting
    def faults(
        intents: Annotated[int, typer.Option(min=1, help="Intents of the run on the direct path.")] = 2000,
        litellm_intents: Annotated[int, typer.Option(min=0, help="Intents through litellm; 0 leaves it out.")] = 200,
        workers: Annotated[int, typer.Option("--workers", "-w", min=1, help="Agents.")] = 64,
        share: Annotated[float, typer.Option(min=0, max=1, help="The share of calls that fail.")] = 0.3,
        bursts: Annotated[int, typer.Option(min=0, help="Bursts of 429.")] = 5,
        latency: Annotated[float, typer.Option(min=0, help="Median seconds of a call.")] = 0.6,
        seed: Annotated[int, typer.Option(help="Which faults.")] = 1,
        folder: Annotated[Path | None, typer.Option(metavar="PATH", help="Where to work; made and removed.")] = None,
        json: Json = False,
        check: Annotated[bool, typer.Option("--check", help="Exit with 1 when a target is missed.")] = False,
    ) -> int:
        from qodebase.commands.bench.support.faults import DEMANDS, RIGHT, measure, missed

        how: dict[str, Any] = {"faults": share, "median_s": latency, "seed": seed}
        with space_in(folder) as space:
            say(f"{intents} intents without and with faults; this takes a minute or two")
            answer: dict[str, Any] = measure(
                space / "direct", adapter="openai", intents=intents, workers=workers, bursts=bursts, **how
            )
            if litellm_intents:
                say(f"{litellm_intents} intents through litellm, also twice")
                few = min(workers, _LITELLM_WORKERS)
                answer["litellm"] = measure(
                    space / "litellm",
                    adapter="litellm",
                    intents=litellm_intents,
                    workers=few,
                    bursts=min(bursts, 1),
                    **how,
                )
        answer["right"] = {str(kind): right for kind, right in RIGHT.items()}
        answer["targets"] = {
            "ratio_to_fault_free": f"<= {_RATIO}",
            "secrets_found": "0",
            **dict.fromkeys(DEMANDS, "true"),
        }
        answer["missed"] = missed(answer, ratio=_RATIO)
        return tell({**answer, "simulated": _SIMULATED}, json=json, check=check)


def _help() -> str:
    return (
        "Run the whole fleet against an endpoint that fails, and hold journal and main against what the endpoint has "
        "seen.\n\nEvery intent must end as its replies deserve, the ledger must balance, what was paid must be counted "
        "once, and the key must stand in no file. " + _SIMULATED
    )
