"""`qodebase revert`: undo landings of a run, through lanes, rules and gate, in a run of its own."""

from __future__ import annotations

import shlex
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from qodebase.commands.support.console import Json, RunName, put, put_json, reporting, say

if TYPE_CHECKING:
    from fleet.jobs.revert.foresee import Foreseen
    from qodebase.commands.support.starting import Prepared

_NAMED = 20


def register(app: typer.Typer) -> None:
    """Add the command."""

    @app.command()
    @reporting
    def revert(
        run: RunName,
        intent: Annotated[
            list[str] | None, typer.Option(metavar="NAME", help="By id, path or landed commit; repeatable.")
        ] = None,
        lane: Annotated[list[str] | None, typer.Option(metavar="NAME", help="Of a lane; repeatable.")] = None,
        model: Annotated[
            list[str] | None, typer.Option(metavar="NAME", help="Whose answer landed; repeatable.")
        ] = None,
        since: Annotated[str, typer.Option(metavar="TIME", help="Landed at this time or later (ISO 8601).")] = "",
        until: Annotated[str, typer.Option(metavar="TIME", help="Landed at this time or before.")] = "",
        where: Annotated[
            str,
            typer.Option(
                metavar="SQL",
                help="A condition over the columns of the frames `landings` and `intents`: 'collided > 2'.",
            ),
        ] = "",
        everything: Annotated[bool, typer.Option("--all", help="Every landing, where nothing else is said.")] = False,
        dry_run: Annotated[
            bool, typer.Option("--dry-run", help="Say what would change and what would collide; write nothing.")
        ] = False,
        out: Annotated[
            Path | None, typer.Option("--out", "-o", metavar="PATH", help="The new run's folder. [default: beside RUN]")
        ] = None,
        replay_model: Annotated[
            str, typer.Option(metavar="NAME", help="Who redoes what merge and rules cannot undo. [default: nobody]")
        ] = "",
        author: Annotated[str, typer.Option(metavar="'NAME <MAIL>'", help="Who the commits say wrote them.")] = "",
        sign: Annotated[bool, typer.Option("--sign", help="Let git sign the commits.")] = False,
        land_on: Annotated[
            str, typer.Option(metavar="BRANCH", help="Push every batch that lands to this branch; see `qodebase run`.")
        ] = "",
        push_to: Annotated[
            str, typer.Option(metavar="REPOSITORY", help="The repository of --land-on. [default: RUN's]")
        ] = "",
        unsafe_checks: Annotated[
            bool, typer.Option("--unsafe-checks", help="Run the checks that stay in force without a sandbox.")
        ] = False,
        json: Json = False,
    ) -> int:
        """Undo landings of a run by changes that are their inverse.

        They land in a new run, on what RUN's main is now, the newest first, through lanes, rules and gate; later
        landings on the same text stay. Index lines are taken out by their rule. What collides is sent back with the
        reason, or redone by --replay-model. Each record names what it undoes, and so does RUN's own audit once the
        commits are on its main.
        """
        from qodebase.clock import SystemClock
        from qodebase.commands.support.at_work import work
        from qodebase.commands.support.opening import find_run
        from qodebase.commands.support.starting import freeze
        from qodebase.commands.support.undoing import Selector, Undoing, foreseen, undoing

        folder = find_run(run)
        selector = Selector(
            intents=intent or (),
            lanes=lane or (),
            models=model or (),
            since=since,
            until=until,
            where=where,
            everything=everything,
        )
        how = Undoing(
            out=out,
            author=author,
            sign=sign,
            replay_model=replay_model,
            unsafe_checks=unsafe_checks,
            land_on=land_on,
            push_to=push_to,
        )
        clock = SystemClock()
        with undoing(folder, selector, how, clock) as ready:
            branch = ready.source.branch
            if dry_run:
                plan = plan_of(ready, foreseen(ready))
                put_json(plan) if json else put("\n".join(plan_lines(plan)))
                return 0
            made = freeze(ready, clock)
        say(f"run folder: {made.root}")
        code = work(made, first=True, limit=None, json=json)
        say(f"to show them in the audit of {folder.root} too:")
        there, here = shlex.quote(str(folder.repository)), shlex.quote(str(made.repository.resolve()))
        say(f"  git -C {there} fetch {here} {shlex.quote(f'{branch}:{branch}')} 'refs/notes/*:refs/notes/*'")
        return code


def plan_of(ready: Prepared, found: list[Foreseen]) -> dict[str, Any]:
    """Return as plain data what undoing would do."""
    from qodebase.intent import Ending

    ended = [intent for intent in ready.intents if intent.ending is not Ending.PENDING]
    files: dict[str, str] = {}
    for one in found:
        for path, edit in one.edits.items():
            there = ready.tree.entry(path)
            files[path.text] = "deleted" if edit is None else "added" if there is None else "changed"
    return {
        "base": ready.source.commit,
        "branch": ready.source.branch,
        "landings": len(ready.intents),
        "lands": sum(one.lands for one in found),
        "collides": sum(not one.lands for one in found),
        "ended": [{"intent": intent.id, "ending": str(intent.ending), "why": intent.reason} for intent in ended],
        "files": dict(sorted(files.items())),
        "intents": [_told(one) for one in found],
    }


def plan_lines(plan: dict[str, Any]) -> list[str]:
    """Return the same as lines for people."""
    from qodebase.commands.support.layout import harmless

    kinds = Counter(plan["files"].values())
    how = Counter(by for one in plan["intents"] for by in one["redone"].values())
    changed = ", ".join(f"{count} {kind}" for kind, count in kinds.most_common()) or "none"
    redone = ", ".join(f"{by}: {count}" for by, count in how.most_common())
    collides = [one for one in plan["intents"] if not one["lands"]]
    lines = [
        f"undoing {plan['landings']} landings on {plan['branch']} at {plan['base'][:12]}",
        f"would land: {plan['lands']}; would collide: {plan['collides']}; have ended: {len(plan['ended'])}",
        f"files: {changed}",
    ]
    lines += [f"paths that moved since, redone by {redone}"] if redone else []
    lines += [f"collides: {one['intent']}: {_why(one)}" for one in collides[:_NAMED]]
    lines += [f"  and {len(collides) - _NAMED} more"] if len(collides) > _NAMED else []
    lines += [f"{one['ending']}: {one['intent']}: {one['why']}" for one in plan["ended"][:_NAMED]]
    return [*map(harmless, lines), "dry run: nothing was written, and no check was run"]


def _told(one: Foreseen) -> dict[str, Any]:
    undone = one.intent.given.undoes if one.intent.given else None
    return {
        "intent": one.intent.id,
        "undoes": undone.commit if undone else "",
        "lands": one.lands,
        "paths": sorted(path.text for path in one.edits),
        "redone": {path.text: by for path, by in sorted(one.redone.items())},
        "collides": {path.text: why for path, why in sorted(one.collides.items())},
        "why": one.unusable,
    }


def _why(one: dict[str, Any]) -> str:
    return one["why"] or "; ".join(f"{path}: {why}" for path, why in one["collides"].items())
