"""The start of a run: what it is to be, what can be found wrong before any work, and the freeze."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from qodebase.commands.support.models import check_model
from qodebase.commands.support.surroundings import Surroundings
from qodebase.errors import QodebaseError
from qodebase.intent import Ending, Intent, check_order
from qodebase.rule_settings import RuleSettings
from qodebase.runs import RunExists, RunFolder, Settings

if TYPE_CHECKING:
    from qodebase.ports import Clock, Job, Model, Tree
    from qodebase.source import Source


class NoChecker(QodebaseError):
    """Checks that nothing here can run."""


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
        rules: which replay rules are tried where.
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
    rules: RuleSettings = field(default_factory=RuleSettings)
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
    from replay_rules.registry import chooser

    chooser(order.rules.off, order.rules.bind)
    kind = load_job(order.job, file=order.job_file)
    job = make_job(kind, dict(order.settings), source=order.source)
    source = inspect(order.repository, order.branch)
    if model is None:
        check_model(order.model, order.models, surroundings, clock, order.source)
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
            check_order(intents)
            if any(intent.checks for intent in intents):
                raise NoChecker(f"the job {job.name} declares checks, and nothing here can run them")
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
                rules=order.rules,
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


def _check_person(order: Order, source: Source) -> None:
    """Look at the author, and sign something, so that a missing key is found before anything is written."""
    name, opened, mail = order.author.partition("<")
    if order.author and not (name.strip() and opened and mail.endswith(">") and order.author.isprintable()):
        raise BadAuthor(f"{order.author!r} is no author", hint="Write --author 'NAME <MAIL>'.")
    if order.sign:
        from qodebase.signing import signer

        signer(source.path)(b"can commits be signed?\n")


def _run_id(order: Order, clock: Clock) -> str:
    """Return an id of its own; in simulated time one that the seed decides, for the run to repeat to the byte."""
    import secrets

    own = f"seed-{order.seed}" if clock.simulated else secrets.token_hex(4)
    return f"{order.out.resolve().name}-{own}"


def _plain(settings: Mapping[str, Any]) -> dict[str, Any]:
    return {name: list(value) if isinstance(value, tuple) else value for name, value in settings.items()}
