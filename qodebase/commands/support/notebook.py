"""Runs from Python: the same operations as the command line's, in a thread with a loop of its own."""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from qodebase.clock import SystemClock
from qodebase.commands.support.opening import find_run
from qodebase.commands.support.sitting import Order, Sat, freeze, prepared, sit
from qodebase.commands.support.surroundings import surroundings
from qodebase.errors import QodebaseError
from qodebase.runs import RunFolder

if TYPE_CHECKING:
    import polars as pl

    from fleet.driver import Driver
    from qodebase.ports import Answer, Model, NoAnswer, Prompt
    from results.frames import Frames

    Asked = str | Callable[[Prompt], Awaitable[str | Answer | NoAnswer]]


class StillGoing(QodebaseError):
    """A run that was asked for what only an ended sitting has."""


class Run:
    """A run: live, or opened from its folder. Its frames are polars frames of what the journal holds now.

    ``intents``, ``attempts``, ``collisions``, ``landings``, ``throughput``, ``losses`` and ``costs`` are described in
    `results.schema`.
    """

    def __init__(self, folder: RunFolder) -> None:
        self.folder = folder
        self._worker: _Worker | None = None

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
        with _interrupts(worker.drain, worker.abort):
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
        return "\n".join(self._lines())

    def _repr_html_(self) -> str:
        from html import escape

        return f"<pre>{escape(repr(self))}</pre>"

    def _lines(self) -> list[str]:
        from qodebase.commands.status import run_status, status_lines

        return status_lines(run_status(self.folder))

    @property
    def _frames(self) -> Frames:
        from results.frames import load

        return load(self.folder)

    def _start(self, *, first: bool, limit: int | None, model: Asked | None) -> Run:
        if self.live:
            raise StillGoing(f"{self.folder.root} goes on in this process", hint="Wait for it: run.wait().")
        self._worker = _Worker(self.folder, first=first, limit=limit, model=_made(model))
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
    **settings: Any,
) -> Run:
    """Freeze a run, begin to work on it in a thread, and return it at once.

    Args:
        job, job_file: an installed job's name, or a Python file that defines ``JOB``.
        repo: the git repository; it is only read.
        model: a model's name, or an async function from a `qodebase.ports.Prompt` to text.
        out: the run folder; None: the first free one in ``runs``.
        settings: the job's own settings, as its flags are called.

    The other arguments are the command line's options.

    Raises:
        QodebaseError: what is wrong with repository, job, model or settings; nothing was written.
    """
    from qodebase.commands.run import new_folder

    made = _made(model)
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


class _Worker:
    """One sitting in a thread with a loop of its own; begun by making it."""

    def __init__(self, folder: RunFolder, *, first: bool, limit: int | None, model: Model | None) -> None:
        self._folder = folder
        self._first = first
        self._limit = limit
        self._model = model
        self._driver: Driver | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._task: asyncio.Task[Sat] | None = None
        self.draining = threading.Event()
        self._failure: BaseException | None = None
        self._ended = threading.Event()
        threading.Thread(target=self._run, name=f"qodebase {folder.name}", daemon=True).start()

    @property
    def going(self) -> bool:
        """Return whether the sitting goes on."""
        return not self._ended.is_set()

    def join(self) -> None:
        """Wait for the end of the sitting."""
        self._ended.wait()

    def _run(self) -> None:
        try:
            with asyncio.Runner() as runner:
                self._loop = runner.get_loop()
                runner.run(self._sit())
        except asyncio.CancelledError:
            pass
        except BaseException as error:
            self._failure = error
        finally:
            self._ended.set()

    async def _sit(self) -> Sat:
        self._task = asyncio.current_task()
        return await sit(
            self._folder,
            surroundings(),
            SystemClock(),
            first=self._first,
            limit=self._limit,
            model=self._model,
            started=self._started,
        )

    def _started(self, driver: Driver) -> None:
        self._driver = driver
        if self.draining.is_set():
            driver.drain()

    def drain(self) -> None:
        """Start nothing new."""
        self.draining.set()
        if self._driver is not None:
            self._call(self._driver.drain)

    def abort(self) -> None:
        """Stop at once; what the trunk has begun is finished."""
        if self._task is not None:
            self._call(self._task.cancel)

    def _call(self, what: Callable[[], object]) -> None:
        if self._loop is not None:
            with suppress(RuntimeError):  # the loop has closed: the sitting is over
                self._loop.call_soon_threadsafe(what)

    def raise_failure(self) -> None:
        """Raise what ended the sitting before its time."""
        if self._failure is not None:
            raise self._failure


@contextmanager
def _interrupts(*stops: Callable[[], None]) -> Iterator[None]:
    """Answer each Ctrl-C (a notebook's interrupt is one) with the next of ``stops``, in the main thread.

    A handler sees every signal, also below a running event loop, which keeps the first one for itself.
    """
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or before is None:
        yield
        return
    left = list(stops)

    def hear(number: int, frame: object) -> None:
        if left:
            left.pop(0)()

    signal.signal(signal.SIGINT, hear)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _made(model: Asked | None) -> Model | None:
    if model is None or isinstance(model, str):
        return None
    from fleet.models.function import FunctionModel

    return FunctionModel(model)
