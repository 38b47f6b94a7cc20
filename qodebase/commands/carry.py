"""`qodebase carry`: find a run's intents again after a merge, and give those commits their records."""

from __future__ import annotations

import shlex
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from qodebase.commands.support.console import Json, RunName, put, put_json, reporting, say
from qodebase.commands.support.layout import harmless, some

if TYPE_CHECKING:
    from qodebase.commands.support.handover.carrying import Carried
    from qodebase.runs import RunFolder

_NAMED = 20


def register(app: typer.Typer) -> None:
    """Add the command."""

    @app.command()
    @reporting
    def carry(
        run: RunName,
        ref: Annotated[str, typer.Argument(metavar="REF", help="Where its work is by now: a branch, tag or commit.")],
        repo: Annotated[
            Path | None, typer.Option("--repo", metavar="PATH", help="Another repository than the run was started on.")
        ] = None,
        dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what is found; write nothing.")] = False,
        json: Json = False,
    ) -> int:
        """Write the records of a run's intents as notes onto the commits of REF that hold them.

        Intents are found by trailers in messages, by their patch, or by what their files hold, so it works after merges
        that squash or rebase. A commit that holds several keeps all their records. Intents that are not found are named
        (exit code 1). Only notes are written, and carrying again writes nothing twice.
        """
        from qodebase.commands.support.opening import find_run

        folder = find_run(run)
        told = carry_of(folder, ref, repo=repo, dry_run=dry_run)
        put_json(told) if json else put("\n".join(map(harmless, lines_of(told))))
        if dry_run:
            say("dry run: nothing was written")
        elif told["found"] and not json:
            repository = shlex.quote(str(repo or folder.settings().repository))
            say(f"look at them: git -C {repository} log --notes=qodebase {shlex.quote(ref)}")
            say(f"share them:   git -C {repository} push origin refs/notes/qodebase")
        return 1 if told["missing"] or told["kept_out"] else 0


def carry_of(folder: RunFolder, ref: str, *, repo: Path | None = None, dry_run: bool = False) -> dict[str, Any]:
    """Carry a run's records and return as plain data what came out; the arguments are the command's.

    Raises:
        QodebaseError: what is wrong, and what to do.
    """
    from qodebase.commands.support.handover.carrying import carry

    return told_of(carry(folder, repo or Path(folder.settings().repository), ref, dry_run=dry_run))


def told_of(carried: Carried) -> dict[str, Any]:
    """Return what came out as plain data."""
    return {
        "tip": carried.tip,
        "found": {one.work.intent: {"commit": one.candidate.commit, "by": str(one.by)} for one in carried.found},
        "missing": {one.work.intent: one.why for one in carried.missing},
        "written": carried.written,
        "kept_out": dict(carried.kept_out),
    }


def lines_of(told: dict[str, Any]) -> list[str]:
    """Return the same as lines for people."""
    commits = {one["commit"] for one in told["found"].values()}
    ways = Counter(one["by"] for one in told["found"].values())
    how = f" (by {', '.join(f'{way}: {count}' for way, count in ways.most_common())})" if ways else ""
    lines = [f"{len(told['found'])} intents found on {len(commits)} commits of {told['tip'][:12]}{how}"]
    there = len(told["found"]) - told["written"] - sum(map(len, told["kept_out"].values()))
    lines += [f"{told['written']} records written" + (f", {there} were there" if there else "")]
    lines += [f"not found: {intent}: {why}" for intent, why in list(told["missing"].items())[:_NAMED]]
    more = len(told["missing"]) - _NAMED
    lines += [f"  and {more} more: --json names all"] if more > 0 else []
    lines += [
        f"not written: {commit[:12]} has a note that is no record: {some(intents)}"
        for commit, intents in told["kept_out"].items()
    ]
    return lines
