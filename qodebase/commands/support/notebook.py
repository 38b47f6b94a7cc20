"""Runs from Python: the same operations as the command line's, in a thread with a loop of its own."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from qodebase.caps import NO_CAPS, Caps, caps_of, seconds_of
from qodebase.check_selection import Selection
from qodebase.clock import SystemClock
from qodebase.commands.support.called import SOURCE, check_call, check_settings
from qodebase.commands.support.functions import made_model
from qodebase.commands.support.opening import find_run
from qodebase.commands.support.starting import Order, freeze, prepared
from qodebase.commands.support.surroundings import surroundings
from qodebase.commands.support.worker import Worker, interrupts
from qodebase.errors import QodebaseError
from qodebase.privacy import PrivacySettings
from qodebase.rule_settings import RuleSettings
from qodebase.runs import RunFolder

if TYPE_CHECKING:
    import polars as pl

    from qodebase.commands.support.functions import Asked
    from results.compare import Comparison
    from results.frames import Frames
    from results.plots.accessor import RunPlots


class StillGoing(QodebaseError):
    """A run that was asked for what only an ended sitting has."""


class Run:
    """A run: live, or opened from its folder. Its frames are polars frames of what the journal holds now.

    ``intents``, ``attempts``, ``collisions``, ``trains``, ``landings``, ``throughput``, ``losses`` and ``costs`` are
    described in `results.schema`.
    """

    def __init__(self, folder: RunFolder) -> None:
        self.folder = folder
        self._worker: Worker | None = None
        self._loaded: tuple[int, Frames] | None = None

    @property
    def live(self) -> bool:
        """Return whether a sitting of this run goes on in this process."""
        return self._worker is not None and self._worker.going

    @property
    def intents(self) -> pl.DataFrame:
        """Return a row an intent."""
        return self._frames.intents

    @property
    def attempts(self) -> pl.DataFrame:
        """Return a row a model call."""
        return self._frames.attempts

    @property
    def collisions(self) -> pl.DataFrame:
        """Return a row a path that had moved under a change."""
        return self._frames.collisions

    @property
    def trains(self) -> pl.DataFrame:
        """Return a row a train that was judged."""
        return self._frames.trains

    @property
    def landings(self) -> pl.DataFrame:
        """Return a row a landed intent."""
        return self._frames.landings

    @property
    def throughput(self) -> pl.DataFrame:
        """Return a row a second."""
        return self._frames.throughput

    @property
    def losses(self) -> pl.DataFrame:
        """Return a row a lost check."""
        return self._frames.losses

    @property
    def costs(self) -> pl.DataFrame:
        """Return a row a model and purpose."""
        return self._frames.costs

    def metrics(self) -> pl.DataFrame:
        """Return a row a metric, with unit and meaning; see `results.metrics`."""
        from results.metrics import metrics_frame

        return metrics_frame(self._frames)

    @property
    def plot(self) -> RunPlots:
        """Return the run's plots: ``run.plot.throughput()``; ``.save("fig.pdf", width_mm=85)`` keeps one."""
        from results.plots.accessor import RunPlots

        return RunPlots(lambda: self._frames)

    def sql(self, query: str) -> pl.DataFrame:
        """Return the answer to a query in polars' SQL; the frames, and ``metrics``, are its tables."""
        from results import sql

        return sql.query(self._frames, query)

    def environment(self) -> dict[str, Any]:
        """Return what the run was made with and on, as ``environment.json`` says."""
        from results.environment import environment_of

        return environment_of(self.folder)

    def wait(self) -> Run:
        """Wait for the sitting; interrupting drains it (what is under way lands), once more stops it at once.

        Raises:
            QodebaseError: what ended the sitting before its time.
        """
        worker = self._worker
        if worker is None:
            return self
        with interrupts(worker.drain, worker.abort):
            worker.join()
        worker.raise_failure()
        return self

    async def ended(self) -> Run:
        """Wait for the sitting without blocking the caller's loop; cancelling drains it."""
        worker = self._worker
        if worker is None:
            return self
        try:
            await asyncio.shield(asyncio.to_thread(worker.join))
        except asyncio.CancelledError:
            worker.drain()
            raise
        worker.raise_failure()
        return self

    def drain(self) -> None:
        """Start nothing new; what is under way lands."""
        if self._worker is not None:
            self._worker.drain()

    def pause(self) -> None:
        """Let the live run admit nothing more, and return when it has taken that in; see `qodebase pause`."""
        from qodebase.commands.pause import pause_run

        pause_run(self.folder)

    def cancel(self, *intents: str, everything: bool = False, reason: str = "cancelled by hand") -> dict[str, Any]:
        """End pending intents as cancelled, in a live run or a stopped one; return what ``--json`` prints.

        Args:
            intents: ids or paths; or ``everything`` that is pending.
        """
        from qodebase.commands.cancel import cancel_intents

        return asdict(cancel_intents(self.folder, intents, everything=everything, reason=reason))

    def resume(
        self,
        *,
        limit: int | None = None,
        model: Asked | None = None,
        cost_cap: float | None = None,
        token_cap: int | None = None,
        time_cap: str = "",
    ) -> Run:
        """Go on with the run and wait; a paused one goes on where it is live; see `qodebase resume`."""
        from qodebase.commands.resume import unpause_run
        from qodebase.commands.status import run_status

        check_call({"limit": limit, "cost_cap": cost_cap, "token_cap": token_cap, "time_cap": time_cap})
        if run_status(self.folder).resume == "unpause" and unpause_run(self.folder, self.folder.holder()):
            return self.wait()
        caps = caps_of(cost=cost_cap, tokens=token_cap, time=time_cap)
        return self._start(first=False, limit=limit, model=model, caps=caps).wait()

    def revert(
        self,
        *intents: str,
        lanes: Sequence[str] = (),
        models: Sequence[str] = (),
        since: str = "",
        until: str = "",
        where: str = "",
        everything: bool = False,
        replay_model: str = "",
        out: str | Path | None = None,
        unsafe_checks: bool = False,
    ) -> Run:
        """Undo landings in a run of its own, and wait for it; see `qodebase revert`.

        Args:
            intents: ids, paths or commits.
        """
        from qodebase.commands.support.undoing import Selector, Undoing, undoing

        selector = Selector(
            intents=intents, lanes=lanes, models=models, since=since, until=until, where=where, everything=everything
        )
        folder = None if out is None else Path(out)
        how = Undoing(out=folder, replay_model=replay_model, unsafe_checks=unsafe_checks)
        clock = SystemClock()
        with undoing(self.folder, selector, how, clock) as ready:
            made = Run(freeze(ready, clock))
        return made._start(first=True, limit=None, model=None).wait()

    def export(
        self,
        onto: str,
        *,
        by: Literal["lane", "owner", "folder"] = "lane",
        max_files: int = 200,
        squash: bool = False,
        drop: Sequence[str] = (),
        repo: str | Path | None = None,
        out: str | Path | None = None,
        force: bool = False,
        dry_run: bool = False,
    ) -> dict[str, Any]:
        """Make branches and pull request texts of what landed; return what ``qodebase export --json`` prints."""
        from qodebase.commands.export import export_of

        return export_of(
            self.folder,
            onto,
            by=by,
            max_files=max_files,
            squash=squash,
            drop=drop,
            repo=None if repo is None else Path(repo),
            out=None if out is None else Path(out),
            force=force,
            dry_run=dry_run,
        )

    def carry(self, ref: str, *, repo: str | Path | None = None, dry_run: bool = False) -> dict[str, Any]:
        """Give merged commits their records; return what ``qodebase carry --json`` prints."""
        from qodebase.commands.carry import carry_of

        return carry_of(self.folder, ref, repo=None if repo is None else Path(repo), dry_run=dry_run)

    def status(self) -> dict[str, Any]:
        """Return what ``qodebase status --json`` prints."""
        from qodebase.commands.status import run_status

        return run_status(self.folder).as_dict()

    def verify(self, *, full: bool = False) -> dict[str, Any]:
        """Return what ``qodebase verify --json`` prints."""
        from qodebase.commands.verify import audit_of

        return audit_of(str(self.folder.root), full=full).as_dict()

    def __repr__(self) -> str:
        from qodebase.commands.status import run_status
        from qodebase.commands.support.status_text import status_lines

        return "\n".join(status_lines(run_status(self.folder)))

    def _repr_html_(self) -> str:
        from qodebase.commands.status import run_status
        from qodebase.commands.support.status_text import status_html

        return status_html(run_status(self.folder))

    @property
    def _frames(self) -> Frames:
        """Return the frames of the journal as it is now; they are made again once it has grown."""
        from results.frames import load

        journal = self.folder.journal
        now = journal.stat().st_size if journal.exists() else 0
        if self._loaded is None or self._loaded[0] != now:
            self._loaded = now, load(self.folder)
        return self._loaded[1]

    def _start(self, *, first: bool, limit: int | None, model: Asked | None, caps: Caps = NO_CAPS) -> Run:
        if self.live:
            raise StillGoing(f"{self.folder.root} goes on in this process", hint="Wait for it: run.wait().")
        self._worker = Worker(self.folder, first=first, limit=limit, model=made_model(model), caps=caps)
        return self


def start(
    job: str = "",
    *,
    repo: str | Path,
    model: Asked = "",
    out: str | Path | None = None,
    job_file: str = "",
    branch: str | None = None,
    land_on: str = "",
    push_to: str = "",
    replay_model: str = "",
    escalate_model: str = "",
    price: Sequence[str] = (),
    cost_cap: float | None = None,
    token_cap: int | None = None,
    time_cap: str = "",
    stop_if: Sequence[str] = (),
    workers: int = 1000,
    attempts: int = 1,
    ramp: int | None = None,
    train_max: int = 64,
    contract: bool = True,
    check_selection: Selection = "names",
    prefetch: bool = True,
    claims: bool = False,
    replays: Literal["beside", "inside"] = "beside",
    stall_after: str = "10m",
    sample: int | None = None,
    seed: int = 0,
    author: str = "",
    sign: bool = False,
    lanes: Mapping[str, Sequence[str]] | None = None,
    priorities: Mapping[str | int, Sequence[str]] | None = None,
    models: Mapping[str, Any] | None = None,
    cache: str = "use",
    secrets: str = "refuse",
    secret_patterns: Mapping[str, Sequence[str]] | None = None,
    never_send: Sequence[str] = (),
    never_send_licences: Sequence[str] = (),
    keep_prompts: bool = True,
    rules_off: Sequence[str] = (),
    rules_bind: Mapping[str, Sequence[str]] | None = None,
    unsafe_checks: bool = False,
    **settings: Any,
) -> Run:
    """Freeze a run, begin to work on it in a thread, and return it at once.

    Args:
        job, job_file: an installed job's name, or a Python file that defines ``JOB``.
        repo: the git repository; it is only read.
        model: a model's name (empty: the job's own), or an async function from a `qodebase.ports.Prompt` to text.
        out: the run folder; None: the first free one in ``runs``.
        rules_off: replay rules that are not tried.
        rules_bind: replay rules with the paths that they are tried on, in gitignore syntax, instead of their own.
        settings: the job's own settings, as its flags are called.

    The other arguments are the command line's options.

    Raises:
        QodebaseError: what is wrong with repository, job, model or settings; nothing was written.
    """
    arguments = {name: value for name, value in locals().items() if name != "settings"}
    from qodebase.commands.run import new_folder

    check_call(arguments)
    settings = {name: _plain(value) for name, value in settings.items()}
    check_settings(settings, job, job_file, arguments)
    made = made_model(model)
    clock = SystemClock()
    order = Order(
        job=job,
        job_file=job_file,
        settings=settings,
        repository=Path(repo),
        branch=branch,
        land_on=land_on,
        push_to=push_to,
        model=model if isinstance(model, str) else made.name if made else "",
        models=models or {},
        replay_model=replay_model,
        escalate_model=escalate_model,
        prices=[price] if isinstance(price, str) else price,
        caps=caps_of(cost=cost_cap, tokens=token_cap, time=time_cap),
        stop_if=[stop_if] if isinstance(stop_if, str) else stop_if,
        workers=workers,
        attempts=attempts,
        ramp=ramp,
        train_max=train_max,
        contract=contract,
        check_selection=check_selection,
        prefetch=prefetch,
        claims=claims,
        replays=replays,
        stall_after_s=seconds_of(stall_after, of="stall_after"),
        out=Path(out) if out is not None else new_folder(job or Path(job_file).stem, Path(repo)),
        numbered=out is None,
        sample=sample,
        seed=seed,
        author=author,
        sign=sign,
        lanes=lanes or {},
        priorities={str(number): patterns for number, patterns in (priorities or {}).items()},
        cache=cache,
        privacy=PrivacySettings(
            secrets=secrets,
            patterns={name: tuple(patterns) for name, patterns in (secret_patterns or {}).items()},
            never_send=tuple(never_send),
            licences=tuple(never_send_licences),
            keep_prompts=keep_prompts,
        ),
        rules=RuleSettings(
            off=tuple(rules_off), bind={name: tuple(paths) for name, paths in (rules_bind or {}).items()}
        ),
        unsafe_checks=unsafe_checks,
        source=SOURCE,
    )
    with prepared(order, surroundings(), clock, made) as ready:
        run = Run(freeze(ready, clock))
    return run._start(first=True, limit=None, model=model)


def _plain(value: Any) -> Any:
    """Return a setting as a job file would give it."""
    if isinstance(value, list | tuple):
        return tuple(_plain(one) for one in value)
    return str(value) if isinstance(value, Path) else value


def run(job: str = "", *, repo: str | Path, **options: Any) -> Run:
    """Run a job and wait for it, also inside a running event loop; see `start` for the arguments."""
    return start(job, repo=repo, **options).wait()


async def arun(job: str = "", *, repo: str | Path, **options: Any) -> Run:
    """Run a job without blocking the caller's loop; see `start` for the arguments."""
    begun = await asyncio.to_thread(lambda: start(job, repo=repo, **options))
    return await begun.ended()


def open_run(name: str | Path) -> Run:
    """Open a run by path, by name in ``runs``, or ``last``."""
    return Run(find_run(str(name)))


Runs = Run | str | Path | Sequence[Run | str | Path]
"""Runs of one side of a comparison: each a run, its name, or a folder below which all are meant."""


def compare(a: Runs, b: Runs) -> Comparison:
    """Compare the runs of two settings, paired by seed; ``.frame()`` is a row a metric. See `qodebase compare`."""
    from qodebase.commands.compare import compared

    return compared(_names(a), _names(b))


def _names(runs: Runs) -> list[str]:
    several = [runs] if isinstance(runs, Run | str | Path) else runs
    return [str(run.folder.root if isinstance(run, Run) else run) for run in several]
