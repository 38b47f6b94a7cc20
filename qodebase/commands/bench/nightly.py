"""`qodebase bench nightly`: the other benches, and whether their figures are worse than those of the nights before."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from qodebase.commands.support.console import Json, put, put_json, reporting, say


def register(group: typer.Typer) -> None:
    """Add the command."""

    @group.command(help=_HELP)
    @reporting
    def nightly(
        baseline: Annotated[Path, typer.Option(metavar="DIR", help="Where the nights before are; made if missing.")],
        artifacts: Annotated[
            Path,
            typer.Option(
                metavar="OUT", help="Gets junit.xml, summary.md, results.json, environment.json and report.html."
            ),
        ],
        time_budget: Annotated[str, typer.Option(metavar="DURATION", help="The most time, such as 45m.")] = "45m",
        strict: Annotated[bool, typer.Option("--strict", help="Exit with 1 also for what is inconclusive.")] = False,
        only: Annotated[str, typer.Option(metavar="NAME,...", help="Only these benches.", show_default="all")] = "",
        accept: Annotated[
            str,
            typer.Option(
                metavar="BENCH.FIGURE,...",
                help="Figures whose level of this night is meant: the nights before do not count for them any more.",
                show_default=False,
            ),
        ] = "",
        json: Json = False,
    ) -> int:
        from qodebase.caps import seconds_of
        from qodebase.commands.bench.support.night_files import headline, summary
        from qodebase.commands.bench.support.night_watch import Watch

        watch = Watch(
            baseline=baseline,
            artifacts=artifacts,
            seconds=seconds_of(time_budget, of="--time-budget"),
            only=tuple(name for name in only.split(",") if name),
            accepted=frozenset(name for name in accept.split(",") if name),
            strict=strict,
        )
        results = watch.keep(say)
        if json:
            put_json(results)
        else:
            put(summary(results))
        say(f"{headline(results)}; {artifacts / 'report.html'}")
        return int(results["exit_code"])


_HELP = (
    "Take the benches in sizes that fit into the time, and compare their figures with the nights before on the same "
    "class of machine (processor, cores, memory, Python).\n\nFigures are ratios against a peer measured in the same "
    "run, or of simulated time. A figure that looks worse is measured again before it is an alarm. Verdicts: ok; "
    "learning (fewer than 8 nights); inconclusive (no time, or nights that differ too much); regressed; broken "
    "(something lost or doubled, a bench that failed, or one that hung in three nights in a row). Exit codes: 0; 1 "
    "regressed or broken; 130 stopped. The files in OUT are written after every bench, and hold no prompts."
)
