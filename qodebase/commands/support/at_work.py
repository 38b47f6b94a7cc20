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
from qodebase.commands.support.layout import harmless
from qodebase.commands.support.progress import Progress
from qodebase.commands.support.sitting import INTERRUPTED, Sat, sit, stopped_by_signals
from qodebase.commands.support.surroundings import surroundings
from qodebase.git_environment import users_environment
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
    from qodebase.commands.status import run_status
    from qodebase.commands.support.status_text import status_lines

    status = run_status(folder)
    taking = taking_over(folder)
    if json:
        put_json({**status.as_dict(), "exit_code": sat.exit_code if sat else INTERRUPTED, "take_over": taking})
        return
    put(harmless("\n".join(status_lines(status))))
    if status.summary.landed and status.settings.land_on:
        put(f"\n{status.settings.land_on} of {status.settings.push_to} holds what landed, with the notes")
    elif status.summary.landed:
        put("\nto take main and the notes over into your repository:")
        put("\n".join(f"  {command}" for command in taking))
        if has_moved(folder):
            put(
                f"{status.settings.branch} or the notes there have moved since the run began, so these commands merge; "
                f"where git finds a conflict, let it be redone: {_exporting(folder)}"
            )
        else:
            put(f"where another run is taken over before, see again: qodebase resume {folder.called}")


def taking_over(folder: RunFolder) -> list[str]:
    """Return the git commands that bring a run's main and notes into the user's repository; none where it pushes.

    Where main and notes are there as the run found them, or this run's already, they go forward; else both are merged.
    """
    settings = folder.settings()
    if settings.land_on:
        return []
    into = f"git -C {shlex.quote(settings.repository)}"
    made = shlex.quote(str(folder.repository.resolve()))
    name = _branch_for(folder, settings)
    branch = shlex.quote(settings.branch)
    if has_moved(folder):
        notes = f"refs/notes/{name.replace('/', '-')}"
        return [
            f"{into} fetch {made} +{branch}:{name} +refs/notes/qodebase:{notes}",
            f"{into} notes --ref=qodebase merge {notes}",
            f"{into} log --notes=qodebase {name} --",
            *_merging(folder, settings, name),
        ]
    tree = _working_tree(settings)
    return [
        f"{into} fetch {made} {branch}:{name} refs/notes/qodebase:refs/notes/qodebase",
        f"{into} log --notes=qodebase {name} --",
        f"{into} fetch . {name}:{branch}" if tree is None else f"git -C {shlex.quote(tree)} merge --ff-only {name}",
    ]


def has_moved(folder: RunFolder) -> bool:
    """Return whether the user's branch or notes hold something now that the run's copy does not."""
    settings = folder.settings()
    ours = str(folder.repository)
    for ref in (f"refs/heads/{settings.branch}", "refs/notes/qodebase"):
        there = _asked(settings.repository, "rev-parse", "--verify", "--quiet", ref)
        if there is not None and _asked(ours, "merge-base", "--is-ancestor", there, ref) is None:
            return True
    return False


def _merging(folder: RunFolder, settings: Settings, name: str) -> list[str]:
    """Return the commands that merge a branch into the run's; where that is not checked out, in a passing worktree."""
    merge = f"merge --no-edit {name}"
    if (tree := _working_tree(settings)) is not None:
        return [f"git -C {shlex.quote(tree)} {merge}"]
    into = f"git -C {shlex.quote(settings.repository)}"
    space = shlex.quote(str(folder.root.resolve() / "merging"))
    return [
        f"{into} worktree add --quiet {space} {shlex.quote(settings.branch)}",
        f"git -C {space} {merge}",
        f"{into} worktree remove {space}",
    ]


def _exporting(folder: RunFolder) -> str:
    """Return the command that redoes what the run landed on the branch as it is now."""
    settings = folder.settings()
    return f"qodebase export {folder.called} --onto {shlex.quote(settings.branch)}"


def _ref_part(name: str) -> str:
    """Return a folder's name as part of a branch's name that git and a shell take as it is."""
    return re.sub(r"[^A-Za-z0-9_]+", "-", name).strip("-") or "run"


def _branch_for(folder: RunFolder, settings: Settings) -> str:
    """Return a branch for a run's main that git makes, or moves on, in the user's repository.

    It has the folder's name, or the run's id where an earlier run of that name left another history there.
    """
    inner = "-" if _asked(settings.repository, "show-ref", "--verify", "refs/heads/qodebase") else "/"
    name = f"qodebase{inner}{_ref_part(folder.name)}"
    there = _asked(settings.repository, "show-ref", "--verify", "--hash", f"refs/heads/{name}")
    ours = f"refs/heads/{settings.branch}"
    if there is None or _asked(str(folder.repository), "merge-base", "--is-ancestor", there, ours) is not None:
        return name
    return f"qodebase{inner}main-{_ref_part(settings.run)}"


def _working_tree(settings: Settings) -> str | None:
    """Return the folder that the run's branch is checked out in: the user's repository or a worktree of it."""
    here, branch = settings.repository, f"refs/heads/{settings.branch}"
    inside = _asked(here, "rev-parse", "--is-inside-work-tree") == "true"
    if inside and _asked(here, "symbolic-ref", "HEAD") == branch:
        return here
    for listed in (_asked(here, "worktree", "list", "--porcelain", "-z") or "").split("\0\0"):
        told = dict(line.partition(" ")[::2] for line in listed.split("\0"))
        if told.get("branch") == branch:
            return told["worktree"]
    return None


def _asked(repository: str, *words: str) -> str | None:
    """Return what git says of a repository, whatever one this process was started in; None where it says no."""
    command = ["git", "-C", repository, *words]
    done = subprocess.run(command, capture_output=True, check=False, env=users_environment())
    return done.stdout.decode(errors="surrogateescape").strip() if done.returncode == 0 else None
