"""`qodebase bench dial`: coding tasks with hidden tests, aimed ever more at the same functions, in merge queues."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from qodebase.commands.bench.support.telling import tell
from qodebase.commands.support.console import Json, put, put_json, reporting, say

SIMULATED = (
    "Codebase and tasks are made by program from the seed. With --clock virtual the latencies of the model and of the "
    "gate are simulated, the same for every queue; merges, rules, tests, landing and the audit are real. The scripted "
    "model edits by program whatever source it is shown; its wrong answers are planted at the rate that --wrong gives."
)


def register(group: typer.Typer) -> None:
    """Add the bench."""

    @group.command(help=_help())
    @reporting
    def dial(
        tasks: Annotated[
            int | None,
            typer.Option(min=1, help="How many tasks.", show_default="1385; loaded ones: all that the share allows"),
        ] = None,
        agents: Annotated[int, typer.Option(min=1, help="How many agents.")] = 200,
        share: Annotated[str, typer.Option(help="The parts of the tasks that aim at the hot functions.")] = "0,0.3,0.6",
        queue: Annotated[str, typer.Option(help="classic, single, lanes, prefetch, claims, or TOML files.")] = (
            "classic,single,lanes,prefetch"
        ),
        rules: Annotated[str, typer.Option(metavar="on|off|theirs-wins", help="Replay rules before a model.")] = "on",
        contract: Annotated[str, typer.Option(metavar="on|off", help="Checks of what landed stay in force.")] = "on",
        wrong: Annotated[float, typer.Option(min=0, max=1, help="The part of wrong answers.")] = 0.05,
        wrong_redone: Annotated[
            float | None, typer.Option(min=0, max=1, help="The same for redone changes.", show_default="as --wrong")
        ] = None,
        attempts: Annotated[int, typer.Option(min=1, help="Attempts of an intent.")] = 2,
        hot_modules: Annotated[int, typer.Option(min=1, help="Modules that hold the hot functions.")] = 6,
        seeds: Annotated[int, typer.Option(min=1, help="How many seeds; each pairs all queues.")] = 1,
        model: Annotated[str, typer.Option(help="A real model instead of the scripted one.", show_default=False)] = "",
        folder: Annotated[
            Path | None, typer.Option("--tasks-from", metavar="DIR", help="Load tasks (with --repo) instead.")
        ] = None,
        repo: Annotated[Path | None, typer.Option(metavar="PATH", help="The codebase of loaded tasks.")] = None,
        clock: Annotated[str, typer.Option(metavar="virtual|wall", help="Simulated time, or real.")] = "virtual",
        jobs: Annotated[int, typer.Option(min=1, help="Settings measured at a time.")] = 2,
        fit: Annotated[
            bool, typer.Option("--fit", help="Fit the classic queue's times again, and print them.")
        ] = False,
        out: Annotated[
            Path, typer.Option("--out", "-o", metavar="PATH", help="Where results are kept; a stopped grid goes on.")
        ] = Path("runs/dial"),
        json: Json = False,
        check: Annotated[bool, typer.Option("--check", help="Exit with 1 when a target is missed.")] = False,
    ) -> int:
        from qodebase.commands.bench.support import dial_figures, dial_fit, dial_grid
        from qodebase.commands.bench.support.dial_setting import TASKS, BadDial, Plain, grid_of

        for name, value, known in (("contract", contract, ("on", "off")), ("clock", clock, ("virtual", "wall"))):
            if value not in known:
                raise BadDial(f"--{name} {value}: no such {name}", hint=f"It is one of {', '.join(known)}.")
        plain = Plain(
            tasks=tasks or (0 if folder else TASKS),
            agents=agents,
            attempts=attempts,
            hot_modules=hot_modules,
            wrong=wrong,
            wrong_redone=wrong if wrong_redone is None else wrong_redone,
            model=model,
            folder=str(folder.resolve()) if folder else "",
            repository=str(repo.resolve()) if repo else "",
            virtual=clock == "virtual",
        )
        if fit:
            put_json(dial_fit.fitted(plain, out / "fit", say=say))
            return 0
        settings = grid_of(
            plain,
            shares=_shares(share),
            queues=[name.strip() for name in queue.split(",")],
            rules=rules,
            contract=contract == "on",
            seeds=seeds,
        )
        say(f"{len(settings)} settings, {jobs} at a time; results go to {out}")
        answer = dial_figures.figures(settings, dial_grid.measure(settings, out, jobs=jobs, say=say))
        if json:
            return tell({**answer, "simulated": SIMULATED}, json=json, check=check)
        put(dial_figures.table(answer))
        put(SIMULATED)
        return 1 if check and answer["missed"] else 0


def _shares(text: str) -> list[float]:
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        return []


def _help() -> str:
    return (
        "Let agents do small coding tasks on one codebase, judged by hidden tests, while ever more of the tasks aim "
        "at the same functions, through four kinds of merge queue.\n\n" + SIMULATED
    )
