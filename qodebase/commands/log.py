"""`qodebase log`: what happened to the intents of a run."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from qodebase.commands.support.console import Json, RunName, put, put_json, reporting, say
from qodebase.commands.support.layout import columns, harmless, moment, on_one_line

if TYPE_CHECKING:
    from qodebase.commands.support.story import Line
    from qodebase.runs import RunFolder

_MOST_REASON = 200


def register(app: typer.Typer) -> None:
    """Add the command."""

    @app.command()
    @reporting
    def log(
        run: RunName,
        intent: Annotated[
            str | None, typer.Argument(metavar="[INTENT]", help="Its whole story: an id, a path or a commit.")
        ] = None,
        prompts: Annotated[bool, typer.Option("--prompts", help="Show whole prompts and answers.")] = False,
        json: Json = False,
    ) -> None:
        """Show how each intent ended, or the whole story of one.

        A story is its events, collisions with what each step said, what was sent back and why, the calls with prompts
        and answers, what all that used, and the record that landed with it. --json holds every text whole.
        """
        from qodebase.commands.support.opening import find_run

        folder = find_run(run)
        if intent is None:
            _show_all(folder, json=json)
        else:
            _show_one(folder, intent, prompts=prompts, json=json)


def _show_all(folder: RunFolder, *, json: bool) -> None:
    from qodebase.commands.support.story import ended_lines
    from results.run_data import RunData

    data = RunData(folder)
    lines = ended_lines(data)
    pending = len(data.intents) - len(lines)
    if json:
        put_json({"intents": [asdict(line) for line in lines], "pending": pending})
        return
    simulated = bool(data.events) and data.events[-1].simulated
    for row in columns(_row(line, moment(line.at, started_at=data.started_at, simulated=simulated)) for line in lines):
        put(harmless(row))
    say(f"{len(lines)} intents ended, {pending} pending")


def _show_one(folder: RunFolder, name: str, *, prompts: bool, json: bool) -> None:
    from qodebase.commands.support.story import story_of
    from qodebase.commands.support.story_text import story_lines

    story, data = story_of(folder, name)
    if json:
        put_json(story.as_dict())
        return
    put(harmless("\n".join(story_lines(story, started_at=data.started_at, whole=prompts))))


def _row(line: Line, when: str) -> tuple[str, ...]:
    reason = on_one_line(line.reason, most=_MOST_REASON, rest="... (`log RUN INTENT`)")
    last = f"{line.intent}  {reason}".rstrip()
    return (
        when or "at the freeze",
        line.ending,
        line.lane or "-",
        ", ".join(line.redone) or "-",
        line.commit[:12] or "-",
        last,
    )
