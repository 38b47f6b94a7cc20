"""Runs from Python: the same operations as the command line's, in a thread with a loop of its own."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from qodebase.clock import SystemClock
from qodebase.commands.support.functions import made_model
from qodebase.commands.support.opening import find_run
from qodebase.commands.support.starting import Order, freeze, prepared
from qodebase.commands.support.surroundings import surroundings
from qodebase.commands.support.worker import Worker, interrupts
from qodebase.errors import QodebaseError
from qodebase.rule_settings import RuleSettings
from qodebase.runs import RunFolder

if TYPE_CHECKING:
    import polars as pl

    from qodebase.commands.support.functions import Asked
    from results.frames import Frames


class StillGoing(QodebaseError):
    """A run that was asked for what only an ended sitting has."""


class Run:
    """A run: live, or opened from its folder. Its frames are polars frames of what the journal holds now.

    ``intents``, ``attempts``, ``collisions``, ``landings``, ``throughput``, ``losses`` and ``costs`` are described in
    `results.schema`.
    """

    def __init__(self, folder: RunFolder) -> None:
        self.folder = folder
        self._worker: Worker | None = None

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

    def resume(self, *, limit: int | None = None, model: Asked | None = None) -> Run:
        """Go on with the run and wait; see `qodebase resume`."""
        return self._start(first=False, limit=limit, model=model).wait()

    def status(self) -> dict[str, Any]:
        """Return what ``qodebase status --json`` prints."""
        from qodebase.commands.status import run_status

        return run_status(self.folder).as_dict()

    def verify(self, *, full: bool = False) -> dict[str, Any]:
        """Return what ``qodebase verify --json`` prints."""
        from qodebase.commands.verify import audit_of

        return audit_of(str(self.folder.root), full=full).as_dict()

    def __repr__(self) -> str:
        from qodebase.commands.status import run_status, status_lines

        return "\n".join(status_lines(run_status(self.folder)))

    def _repr_html_(self) -> str:
        from qodebase.commands.status import run_status, status_html

        return status_html(run_status(self.folder))

    @property
    def _frames(self) -> Frames:
        from results.frames import load

        return load(self.folder)

    def _start(self, *, first: bool, limit: int | None, model: Asked | None) -> Run:
        if self.live:
            raise StillGoing(f"{self.folder.root} goes on in this process", hint="Wait for it: run.wait().")
        self._worker = Worker(self.folder, first=first, limit=limit, model=made_model(model))
        return self


def start(
    job: str = "",
    *,
    repo: str | Path,
    model: Asked = "outline",
    out: str | Path | None = None,
    job_file: str = "",
    branch: str | None = None,
    workers: int = 1000,
    tries: int = 1,
    train_max: int = 64,
    sample: int | None = None,
    seed: int = 0,
    author: str = "",
    sign: bool = False,
    lanes: Mapping[str, Sequence[str]] | None = None,
    models: Mapping[str, Any] | None = None,
    cache: str = "use",
    rules_off: Sequence[str] = (),
    rules_bind: Mapping[str, Sequence[str]] | None = None,
    **settings: Any,
) -> Run:
    """Freeze a run, begin to work on it in a thread, and return it at once.

    Args:
        job, job_file: an installed job's name, or a Python file that defines ``JOB``.
        repo: the git repository; it is only read.
        model: a model's name, or an async function from a `qodebase.ports.Prompt` to text.
        out: the run folder; None: the first free one in ``runs``.
        rules_off: replay rules that are not tried.
        rules_bind: replay rules with the paths that they are tried on, in gitignore syntax, instead of their own.
        settings: the job's own settings, as its flags are called.

    The other arguments are the command line's options.

    Raises:
        QodebaseError: what is wrong with repository, job, model or settings; nothing was written.
    """
    from qodebase.commands.run import new_folder

    made = made_model(model)
    clock = SystemClock()
    order = Order(
        job=job,
        job_file=job_file,
        settings={name: tuple(value) if isinstance(value, list) else value for name, value in settings.items()},
        repository=Path(repo),
        branch=branch,
        model=model if isinstance(model, str) else made.name if made else "",
        models=models or {},
        workers=workers,
        tries=tries,
        train_max=train_max,
        out=Path(out) if out is not None else new_folder(job or Path(job_file).stem, Path(repo)),
        sample=sample,
        seed=seed,
        author=author,
        sign=sign,
        lanes=lanes or {},
        cache=cache,
        rules=RuleSettings(
            off=tuple(rules_off), bind={name: tuple(paths) for name, paths in (rules_bind or {}).items()}
        ),
        source="the call",
    )
    with prepared(order, surroundings(), clock, made) as ready:
        run = Run(freeze(ready, clock))
    return run._start(first=True, limit=None, model=model)


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
