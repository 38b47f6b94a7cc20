"""`qodebase bench counters`: agents that raise the same few counters at the same time, as in the published run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from qodebase.commands.bench.support.space import space_in
from qodebase.commands.bench.support.telling import tell
from qodebase.commands.support.console import Json, reporting, say

SIMULATED = (
    "The model is scripted: it thinks for 50 ms of real time and answers right for the text that it is shown, so it "
    "truly redoes a raise on the newest counter. The code is synthetic: 24 counters, raised with weights of 1/rank by "
    "236 of 300 intents, and one file to which the other 64 add a function each. No rule may settle counters; added "
    "functions are merged by rule. Agents, collisions, trains of at most 12, tests in their sandbox, landing, git, "
    "disk, kills and times are real."
)


def register(group: typer.Typer) -> None:
    """Add the bench."""

    @group.command(help=_HELP)
    @reporting
    def counters(
        agents: Annotated[int, typer.Option("--agents", "-w", min=1, help="Agents of each sector.")] = 100,
        intents: Annotated[int, typer.Option(min=10, help="Intents of each sector.")] = 300,
        sectors: Annotated[
            int,
            typer.Option(
                min=1,
                max=99,
                help="Copies of the work, each in a directory and a lane of its own; --agents and --intents count for "
                "each, so 10 means 1,000 agents and 3,000 intents.",
            ),
        ] = 1,
        kill: Annotated[
            bool,
            typer.Option("--kill", help="Kill the process (SIGKILL) once a third has landed, and go on in a new one."),
        ] = False,
        claims: Annotated[
            bool,
            typer.Option("--claims", help="Intents that raise the same counter are worked on one after the other."),
        ] = False,
        seed: Annotated[int, typer.Option(help="Which counters are raised, and in what order.")] = 1,
        folder: Annotated[Path | None, typer.Option(metavar="PATH", help="Where to work; made and removed.")] = None,
        json: Json = False,
        check: Annotated[bool, typer.Option("--check", help="Exit with 1 when a target is missed.")] = False,
    ) -> int:
        from qodebase.commands.bench.support.counters_run import measure

        say(f"{agents * sectors} agents and {intents * sectors} intents in {sectors} lanes; then the audit")
        with space_in(folder) as space:
            answer = measure(
                space, agents=agents, intents=intents, sectors=sectors, seed=seed, kill=kill, claims=claims
            )
        return tell({**answer, "simulated": SIMULATED}, json=json, check=check)


_HELP = (
    "Let scripted agents raise a few hot counters and add functions to one file, and count what main holds: every "
    "counter must equal the raises that landed, every function must be there once, and the audit must be clean.\n\n"
    + SIMULATED
)
