"""One sitting of a run: freeze it, work on it, stop it by signals, say how it ended."""

from __future__ import annotations

import asyncio
import signal
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from qodebase.commands.support.disk import disk_of
from qodebase.commands.support.opening import opened
from qodebase.errors import QodebaseError
from qodebase.events import Event
from qodebase.intent import Ending, Intent
from qodebase.runs import RunExists, RunFolder, Settings

if TYPE_CHECKING:
    from fleet.driver import Driver
    from fleet.models.registry import ModelContext
    from fleet.throttle import Throttle
    from qodebase.ports import Clock, Job, Model, Tree
    from qodebase.source import Source

INTERRUPTED = 130


class NothingToDo(QodebaseError):
    """A job that found nothing that it could be about."""


class BadAuthor(QodebaseError):
    """An author that no commit can name."""


class NoFolder(QodebaseError):
    """A run folder that cannot be made."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """What a run is to be.

    Attributes:
        job, job_file, settings: which job and what it is told.
        repository, branch: where; branch None means the one that is checked out.
        model, models: the model's name, and the raw ``[models.NAME]`` tables.
        workers, tries, train_max: how many agents, attempts an intent, changes a train.
        out: the run folder.
        sample, seed: how many intents to admit at first (None: all) and the seed that chooses them.
        lanes: lane names with patterns; empty: by the job, or by looking at the tree.
        cache: use, readonly, off or refresh.
        source: where the order came from, for errors (a job file's name, or the command line).
    """

    job: str
    repository: Path
    out: Path
    job_file: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)
    branch: str | None = None
    model: str = "outline"
    models: Mapping[str, Any] = field(default_factory=dict)
    workers: int = 1000
    tries: int = 1
    train_max: int = 64
    author: str = ""
    sign: bool = False
    sample: int | None = None
    seed: int = 0
    lanes: Mapping[str, Sequence[str]] = field(default_factory=dict)
    cache: str = "use"
    source: str = "command line"


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """A run that could start: everything that can be found wrong before work has been looked at."""

    order: Order
    source: Source
    job: Job
    tree: Tree
    intents: list[Intent]
    lanes: dict[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What only the face may read: the environment and the user's folders."""

    environ: Mapping[str, str]
    cache_folder: Path


@contextmanager
def prepared(order: Order, surroundings: Surroundings, clock: Clock, model: Model | None = None) -> Iterator[Prepared]:
    """Look at repository, job, model and settings, and make the intents; nothing is written.

    Raises:
        QodebaseError: what is wrong, and what to do.
    """
    from fleet.jobs.registry import load_job, make_job
    from lanes.router import Router, lanes_from_tree
    from qodebase.code import CommitTree
    from qodebase.source import inspect
    from qodebase.trunk.reader import Reader

    kind = load_job(order.job, file=order.job_file)
    job = make_job(kind, dict(order.settings), source=order.source)
    source = inspect(order.repository, order.branch)
    if model is None:
        _check_model(order, surroundings, clock)
    _check_person(order, source)
    with Reader(source.git) as reader:
        tree = CommitTree(reader, source.commit)
        job.open(tree)
        try:
            intents = list(job.intents())
            if not intents:
                raise NothingToDo(
                    f"the job {job.name} found nothing to do on branch {source.branch}",
                    hint="Look at its settings: patterns that match no file, say.",
                )
            _check_unique(intents)
            aimed = [path for intent in intents if intent.ending is Ending.PENDING for path in intent.scope]
            lanes = dict(order.lanes) or dict(job.lanes()) or lanes_from_tree(aimed)
            Router(lanes)
            yield Prepared(
                order=order,
                source=source,
                job=job,
                tree=tree,
                intents=intents,
                lanes={name: tuple(patterns) for name, patterns in lanes.items()},
            )
        finally:
            job.close()


def freeze(prepared: Prepared, clock: Clock) -> RunFolder:
    """Make the run folder: the repository's copy, the frozen intents, the settings. Nothing stays where it fails."""
    import shutil
    from importlib.metadata import version

    order, source = prepared.order, prepared.source
    try:
        folder = RunFolder.create(order.out)
    except RunExists as error:
        if (order.out / "settings.json").is_file():
            raise
        hint = "It holds no run (a start that was cut off, say): remove it, or give another one with --out."
        raise RunExists(error.message, hint=hint) from None
    except OSError as error:
        raise NoFolder(
            f"the run folder {order.out} cannot be made: {error.strerror}", hint="Give another one with --out."
        ) from None
    try:
        source.copy_to(folder.repository)
        folder.freeze(
            Settings(
                run=_run_id(order, clock),
                job=prepared.job.name,
                job_file=str(Path(order.job_file).resolve()) if order.job_file else "",
                job_digest=prepared.job.digest,
                job_settings=_plain(order.settings),
                repository=str(source.path),
                branch=source.branch,
                base=source.commit,
                model=order.model,
                models={name: dict(table) for name, table in order.models.items()},
                workers=order.workers,
                tries=order.tries,
                author=order.author,
                sign=order.sign,
                train_max=order.train_max,
                sample=order.sample,
                seed=order.seed,
                lanes=prepared.lanes,
                cache=order.cache,
                created=clock.now(),
                product=version("qodebase"),
            ),
            prepared.intents,
        )
    except BaseException as error:
        shutil.rmtree(folder.root, ignore_errors=True)
        if isinstance(error, OSError):
            why = f"the run folder {order.out} cannot be written: {error.strerror}"
            raise NoFolder(why, hint="Make room, or give another folder with --out.") from None
        raise
    return folder


@dataclass(frozen=True, slots=True, kw_only=True)
class Sat:
    """How a sitting ended: why it stopped, how many intents are pending, and the exit code that says so.

    ``untidy`` says why the repository could not be tidied at the end, where that is so.
    """

    why: str
    pending: int
    seconds: float
    untidy: str = ""

    @property
    def exit_code(self) -> int:
        """Return 0 for ended and for a limit that was asked for, 130 for interrupted, 3 for any other stop."""
        return {"ended": 0, "limit": 0, "interrupted": INTERRUPTED}.get(self.why, 3)


async def sit(
    folder: RunFolder,
    surroundings: Surroundings,
    clock: Clock,
    *,
    first: bool,
    limit: int | None = None,
    model: Model | None = None,
    listeners: Sequence[Callable[[Event], None]] = (),
    started: Callable[[Driver], None] = lambda driver: None,
) -> Sat:
    """Work on a run until it ends, a limit is reached or it is drained.

    Args:
        first: the sample of the settings is what is admitted.
        limit: the most intents to admit.
        model: use this one instead of the model that the settings name.
        started: is handed the driver before it runs, to drain it.

    Raises:
        JobChanged: the job is not the one of the freeze.
        RunHeld: another process works on the run.
    """
    from fleet.driver import Driver, Parts

    began = time.monotonic()
    with disk_of(folder.root), folder.locked(), opened(folder, same_job=True) as run, ExitStack() as held:
        settings = run.settings
        asked, throttle = (model, None) if model is not None else _model(settings, surroundings, clock)
        driver = Driver(
            folder,
            settings,
            Parts(
                job=run.job,
                model=asked,
                clock=clock,
                throttle=throttle,
                tries=settings.tries,
                sign=_signer(settings, held),
                listeners=listeners,
            ),
            choose=_chooser(settings, first=first, limit=limit),
            limit=settings.sample if first else limit,
        )
        started(driver)
        try:
            why = await driver.run()
        finally:
            await asked.close()
    pending = driver.state.ledger()[Ending.PENDING]
    return Sat(why=why, pending=pending, seconds=time.monotonic() - began, untidy=driver.untidy)


@contextmanager
def stopped_by_signals(driver: Driver, say: Callable[[str], None]) -> Iterator[None]:
    """Drain at the first Ctrl-C or SIGTERM, stop at the second; must be entered inside the event loop."""
    loop = asyncio.get_running_loop()
    task = asyncio.current_task()
    heard = 0

    def hear() -> None:
        nonlocal heard
        heard += 1
        if heard == 1:
            say("draining: what is under way lands, nothing new starts; once more to stop at once")
            driver.drain()
        elif task is not None:
            task.cancel()

    signals = (signal.SIGINT, signal.SIGTERM)
    for number in signals:
        loop.add_signal_handler(number, hear)
    try:
        yield
    finally:
        for number in signals:
            loop.remove_signal_handler(number)


def _chooser(settings: Settings, *, first: bool, limit: int | None) -> Callable[[list[Intent]], list[Intent]]:
    from fleet.sampling import sample
    from lanes.router import Router

    router = Router(settings.lanes)

    def choose(pending: list[Intent]) -> list[Intent]:
        if first and settings.sample is not None:
            return sample(
                pending,
                settings.sample,
                seed=settings.seed,
                stratum=lambda intent: f"{intent.group}\0{'+'.join(router.lanes(intent.scope))}",
            )
        return pending if limit is None else pending[:limit]

    return choose


def model_context(models: Mapping[str, Any], surroundings: Surroundings, clock: Clock, source: str) -> ModelContext:
    """Return what models may use, with the tables of a job file decoded.

    Raises:
        BadData: a table has a wrong key, type or value.
    """
    from fleet.models.registry import ModelContext, model_tables

    return ModelContext(
        environ=surroundings.environ,
        cache_folder=surroundings.cache_folder,
        clock=clock,
        tables=model_tables(models, source=source),
    )


def _check_model(order: Order, surroundings: Surroundings, clock: Clock) -> None:
    """Make the model and throw it away, so that a missing key is found before anything is written."""
    from fleet.models.registry import create_model, parse_spec

    context = model_context(order.models, surroundings, clock, order.source)
    create_model(parse_spec(order.model, context.tables), context)


def _check_person(order: Order, source: Source) -> None:
    """Look at the author, and sign something, so that a missing key is found before anything is written."""
    name, opened, mail = order.author.partition("<")
    if order.author and not (name.strip() and opened and mail.endswith(">") and order.author.isprintable()):
        raise BadAuthor(f"{order.author!r} is no author", hint="Write --author 'NAME <MAIL>'.")
    if order.sign:
        from qodebase.signing import signer

        signer(source.path)(b"can commits be signed?\n")


def _model(settings: Settings, surroundings: Surroundings, clock: Clock) -> tuple[Model, Throttle | None]:
    from fleet.models.cached import CacheMode, with_cache
    from fleet.models.registry import create_model, parse_spec
    from fleet.throttle import Throttle

    context = model_context(settings.models, surroundings, clock, "settings.json")
    spec = parse_spec(settings.model, context.tables)
    model = create_model(spec, context)
    if not model.deterministic:
        model = with_cache(model, spec, context, CacheMode(settings.cache))
    table = spec.table
    throttle = None
    if table.requests_per_minute or table.tokens_per_minute:
        throttle = Throttle(
            clock, requests_per_minute=table.requests_per_minute, tokens_per_minute=table.tokens_per_minute
        )
    return model, throttle


def _signer(settings: Settings, held: ExitStack) -> Callable[[bytes], bytes] | None:
    if not settings.sign:
        return None
    from qodebase.signing import signer

    return signer(Path(settings.repository))


def _check_unique(intents: Sequence[Intent]) -> None:
    seen: set[str] = set()
    for intent in intents:
        if intent.id in seen:
            raise ValueError(f"the job gave the id {intent.id!r} to two intents")
        seen.add(intent.id)


def _run_id(order: Order, clock: Clock) -> str:
    """Return an id of its own; in simulated time one that the seed decides, for the run to repeat to the byte."""
    import secrets

    own = f"seed-{order.seed}" if clock.simulated else secrets.token_hex(4)
    return f"{order.out.resolve().name}-{own}"


def _plain(settings: Mapping[str, Any]) -> dict[str, Any]:
    return {name: list(value) if isinstance(value, tuple) else value for name, value in settings.items()}
