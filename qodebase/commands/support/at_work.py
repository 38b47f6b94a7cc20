"""What `run` and `resume` share: a sitting with progress and signals around it, and how its end is told."""

from __future__ import annotations

import asyncio
import re
import shlex
import subprocess
from contextlib import ExitStack

from qodebase.caps import NO_CAPS, Caps
from qodebase.clock import SystemClock
from qodebase.commands.support.console import put, put_json, say
from qodebase.commands.support.progress import Progress
from qodebase.commands.support.sitting import INTERRUPTED, Sat, sit, stopped_by_signals
from qodebase.commands.support.surroundings import surroundings
from qodebase.journal import read_events
from qodebase.runs import RunFolder, Settings


def work(
    folder: RunFolder,
    *,
    first: bool,
    limit: int | None,
    json: bool,
    caps: Caps = NO_CAPS,
    stall_after_s: float | None = None,
) -> int:
    """Take a sitting of a run, show it, tell its end, and return the exit code."""
    past = read_events(folder.journal) if folder.journal.exists() else ()
    progress = Progress(folder.intents(), past)
    stood = progress.tally.summary()
    if not first and not stood.pending and stood.stopped == "ended":
        say("nothing is left to do: every intent has ended")
        tell(folder, Sat(why="ended", pending=0, seconds=0.0), json=json)
        return 0
    with asyncio.Runner() as runner:
        try:
            sat = runner.run(_sit(folder, progress, first=first, limit=limit, caps=caps, stall_after_s=stall_after_s))
        except asyncio.CancelledError:
            sat = None
    if sat is not None and sat.untidy:
        say(f"note: everything has landed, and the repository was not tidied: {sat.untidy}")
    tell(folder, sat, json=json)
    return sat.exit_code if sat is not None else INTERRUPTED


async def _sit(
    folder: RunFolder, progress: Progress, *, first: bool, limit: int | None, caps: Caps, stall_after_s: float | None
) -> Sat:
    from fleet.driver import Driver

    with ExitStack() as held:

        def started(driver: Driver) -> None:
            held.enter_context(stopped_by_signals(driver, say))

        async with progress.showing():
            return await sit(
                folder,
                surroundings(),
                SystemClock(),
                first=first,
                limit=limit,
                caps=caps,
                stall_after_s=stall_after_s,
                listeners=(progress.listen,),
                started=started,
            )


def tell(folder: RunFolder, sat: Sat | None, *, json: bool) -> None:
    """Print where the run stands and what to do with it."""
    from qodebase.commands.status import run_status, status_lines

    status = run_status(folder)
    taking = taking_over(folder)
    if json:
        put_json({**status.as_dict(), "exit_code": sat.exit_code if sat else INTERRUPTED, "take_over": taking})
        return
    put("\n".join(status_lines(status)))
    if status.summary.landed and status.settings.land_on:
        put(f"\n{status.settings.land_on} of {status.settings.push_to} holds what landed, with the notes")
    elif status.summary.landed:
        put("\nto take main and the notes over into your repository:")
        put("\n".join(f"  {command}" for command in taking))


def taking_over(folder: RunFolder) -> list[str]:
    """Return the git commands that bring a run's main and notes into the user's repository; none where it pushes."""
    settings = folder.settings()
    if settings.land_on:
        return []
    into = f"git -C {shlex.quote(settings.repository)}"
    made = shlex.quote(str(folder.repository.resolve()))
    name = f"qodebase/{_ref_part(folder.name)}"
    branch = shlex.quote(settings.branch)
    return [
        f"{into} fetch {made} {branch}:{name} refs/notes/qodebase:refs/notes/qodebase",
        f"{into} log --notes=qodebase {name}",
        f"{into} merge --ff-only {name}" if _checked_out(settings) else f"{into} fetch . {name}:{branch}",
    ]


def _ref_part(name: str) -> str:
    """Return a folder's name as part of a branch's name that git and a shell take as it is."""
    return re.sub(r"[^A-Za-z0-9_]+", "-", name).strip("-") or "run"


def _checked_out(settings: Settings) -> bool:
    """Return whether the run's branch has its working tree where the user's repository is."""

    def asked(*words: str) -> str:
        done = subprocess.run(["git", "-C", settings.repository, *words], capture_output=True, check=False)
        return done.stdout.decode(errors="surrogateescape").strip()

    inside = asked("rev-parse", "--is-inside-work-tree") == "true"
    return inside and asked("symbolic-ref", "--short", "HEAD") == settings.branch
