"""`qodebase run`: freeze a job's intents and work on them."""

from __future__ import annotations

import itertools
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from qodebase.commands.support.console import put, put_json, say
from qodebase.commands.support.job_flags import register_run
from qodebase.commands.support.options import CommonOptions
from qodebase.errors import QodebaseError

if TYPE_CHECKING:
    from qodebase.runs import RunFolder


class NoRepository(QodebaseError):
    """A run without a repository."""


def register(app: typer.Typer) -> None:
    """Add the command; its flags come from the job that it names."""
    register_run(app, run_job)


def run_job(common: CommonOptions, job: str, job_file: str, settings: dict[str, Any]) -> int:
    """Run a job as the options say; return the exit code."""
    from qodebase.commands.support.at_work import work

    folder = begun(common, job, job_file, settings)
    return 0 if folder is None else work(folder, first=True, limit=None, json=common.json)


def begun(
    common: CommonOptions, job: str, job_file: str, settings: dict[str, Any], *, named: str = ""
) -> RunFolder | None:
    """Freeze a run as the options say; None where it is only to be shown.

    Args:
        named: what the folder is called after where the options give none; empty: the job.
    """
    from qodebase.caps import caps_of, seconds_of
    from qodebase.clock import SystemClock
    from qodebase.commands.support.plan import prompt_lines, run_plan
    from qodebase.commands.support.starting import Order, freeze, prepared
    from qodebase.commands.support.surroundings import surroundings

    if common.repo is None:
        raise NoRepository("which repository?", hint="Give a git repository: --repo PATH.")
    order = Order(
        job=job,
        job_file=job_file,
        settings=settings,
        repository=common.repo,
        branch=common.branch or None,
        land_on=common.land_on,
        push_to=common.push_to,
        model=common.model,
        models=common.models,
        replay_model=common.replay_model,
        escalate_model=common.escalate_model,
        prices=common.price,
        caps=caps_of(cost=common.cost_cap, tokens=common.token_cap, time=common.time_cap),
        stop_if=common.stop_if,
        workers=common.workers,
        attempts=common.attempts,
        ramp=common.ramp,
        train_max=common.train_max,
        prefetch=common.prefetch == "on",
        contract=common.contract == "on",
        check_selection=common.check_selection,
        claims=common.claims == "on",
        replays=common.replays,
        stall_after_s=seconds_of(common.stall_after, of="--stall-after"),
        out=common.out or new_folder(named or job or Path(job_file).stem, common.repo),
        numbered=common.out is None,
        sample=common.sample,
        seed=common.seed,
        author=common.author,
        sign=common.sign,
        lanes=common.lanes,
        priorities=common.priority,
        rules=common.all_rules,
        unsafe_checks=common.unsafe_checks,
        privacy=common.privacy,
        cache=common.cache,
        source=common.source,
    )
    clock = SystemClock()
    with ExitStack() as held:
        ready = held.enter_context(prepared(order, surroundings(), clock))
        if ready.source.dirty:
            say("note: uncommitted changes of the working tree are not part of the run")
        if inner := _inner_folder(ready.source.path):
            say(f"note: {inner} is a folder of the repository, and the run is about all of that")
        if common.show_prompt:
            put("\n".join(prompt_lines(ready, common.show_prompt)))
            return None
        if common.dry_run:
            plan = run_plan(ready)
            put_json(plan.as_dict()) if common.json else put("\n".join(plan.lines()))
            return None
        folder = freeze(ready, clock)
    say(f"run folder: {folder.root}")
    return folder


def _inner_folder(path: Path) -> str:
    """Return where in its repository's working tree a folder is; empty for the top of one, and for a bare one."""
    import subprocess

    from qodebase.git_environment import users_environment

    words = ["git", "-C", str(path), "rev-parse", "--show-prefix"]
    done = subprocess.run(words, capture_output=True, check=False, env=users_environment())
    return done.stdout.decode(errors="replace").rstrip("\n") if done.returncode == 0 else ""


def new_folder(job: str, repository: Path) -> Path:
    """Return the first free ``runs/JOB-REPOSITORY-N``."""
    from qodebase.commands.support.opening import HOME

    name = f"{job}-{repository.resolve().name}"
    return next(folder for number in itertools.count(1) if not (folder := HOME / f"{name}-{number}").exists())
