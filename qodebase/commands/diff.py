"""`qodebase diff`: what the changes of a run do, with the prompt and the proof of each."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from qodebase.commands.support.console import Json, RunName, put, put_json, reporting, say
from qodebase.commands.support.layout import coloured, harmless, indented, paint, shortened

if TYPE_CHECKING:
    from qodebase.commands.support.shown import Shown

_PROMPT_LINES = 12


def register(app: typer.Typer) -> None:
    """Add the command."""

    @app.command()
    @reporting
    def diff(
        run: RunName,
        intents: Annotated[
            list[str] | None, typer.Argument(metavar="[INTENT]...", help="Only these: ids, paths or commits.")
        ] = None,
        limit: Annotated[int, typer.Option(metavar="N", min=0, help="At most so many; 0 for all.")] = 10,
        prompts: Annotated[bool, typer.Option("--prompts", help="Show the whole prompts.")] = False,
        json: Json = False,
    ) -> None:
        """Show what changes do, with their prompts and proofs.

        Landed ones come first, in the order in which they landed, then those that did not land.
        """
        from qodebase.commands.support.opening import find_run
        from qodebase.commands.support.shown import shown_changes

        folder = find_run(run)
        most = limit + 1 if limit else 0
        more = False
        found = []
        on = coloured()
        for number, change in enumerate(shown_changes(folder, intents or (), limit=most), 1):
            if number == most:
                more = True
            elif json:
                found.append(change.as_dict())
            else:
                put("\n".join(_lines(change, prompts=prompts, on=on)))
        if json:
            put_json({"changes": found, "more": more})
        elif more:
            say(f"There are more: --limit 0 shows all, --limit {limit * 2} twice as many.")


def _lines(change: Shown, *, prompts: bool, on: bool) -> list[str]:
    how = f"landed as {change.commit[:12]}" if change.commit else f"not landed ({change.ending})"
    lines = [paint(f"{change.intent}: {how}", "bold", on=on)]
    facts = {
        "asked": change.asked,
        "reason": change.reason,
        "proof": change.proof,
        "made harmless": ", ".join(change.sanitised),
    }
    lines += [f"  {name}: {harmless(text)}" for name, text in facts.items() if text]
    if change.prompt:
        prompt = change.prompt if prompts else shortened(change.prompt, most=_PROMPT_LINES)
        lines += ["  prompt:", paint(harmless(indented(prompt)), "dim", on=on)]
    diff = harmless(change.diff) if sys.stdout.isatty() else change.diff
    lines += ["", *(_in_colour(line, on) for line in diff.split("\n"))]
    return lines


def _in_colour(line: str, on: bool) -> str:
    if line.startswith(("diff --git ", "--- ", "+++ ")):
        return paint(line, "bold", on=on)
    colour = {"+": "green", "-": "red", "@": "cyan"}.get(line[:1])
    return paint(line, colour, on=on) if colour else line
