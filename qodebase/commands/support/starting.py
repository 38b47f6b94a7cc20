"""The start of a run: what it is to be, what can be found wrong before any work, and the freeze."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from qodebase.caps import NO_CAPS, Caps
from qodebase.check_selection import Selection
from qodebase.commands.support.checks import check_checks
from qodebase.commands.support.environment import environment, keep_environment
from qodebase.commands.support.facts import check_facts, is_described
from qodebase.commands.support.landing_on import branch_to_start_from, checked_target
from qodebase.commands.support.making import made
from qodebase.commands.support.models import check_models, with_folders, with_prices
from qodebase.commands.support.priorities import with_priorities
from qodebase.commands.support.setting_fields import with_whole_paths
from qodebase.commands.support.surroundings import Surroundings
from qodebase.errors import QodebaseError
from qodebase.intent import Ending, Intent, check_order
from qodebase.privacy import PrivacySettings
from qodebase.rule_settings import RuleSettings
from qodebase.runs import RunFolder, Settings, plain_name

if TYPE_CHECKING:
    from fleet.guard import Guard
    from qodebase.code import CommitTree
    from qodebase.ports import Clock, Job, Model, Prompt
    from qodebase.source import Source


MODEL = "outline"
"""The model where neither the order nor the job names one."""


class NothingToDo(QodebaseError):
    """A job that found nothing that it could be about."""


class NoModel(QodebaseError):
    """A run of a job without a model of its own, that names none."""


class BadAuthor(QodebaseError):
    """An author that no commit can name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """What a run is to be.

    Attributes:
        job, job_file, settings: which job and what it is told.
        repository, branch: where; branch None means the one that is checked out, or ``land_on`` where there is one.
        land_on, push_to: a branch that all landings are pushed to (empty: none), and its repository (empty: the same).
        model, models: the model's name (empty: the job's own), and the raw ``[models.NAME]`` tables.
        replay_model, escalate_model: names of the models for replays and escalation; empty: the same.
        prices: ``[MODEL=]IN:OUT``, what tokens cost.
        caps, stop_if: what the run may use at most, and what pauses it.
        workers, attempts, train_max: how many agents, attempts an intent, changes a train.
        prefetch, contract, read_sets, check_selection, claims, replays: see `qodebase.runs.Settings`.
        stall_after_s: see `qodebase.runs.Settings`.
        ramp: how many agents start in a second; None: as the model's kind wants it.
        out, numbered: the run folder, and whether the number at its end may be raised where it is taken meanwhile.
        sample, seed: how many intents to admit at first (None: all) and the seed that chooses them.
        lanes: lane names with patterns; empty: by the job, or by looking at the tree.
        priorities: numbers with path patterns, instead of the job's own priorities.
        rules: which replay rules are tried where.
        unsafe_checks: run checks without a sandbox.
        privacy: what may leave the machine, and which texts are kept.
        cache: use, readonly, off or refresh.
        source: where the order came from, for errors (a job file's name, or the command line).
    """

    job: str
    repository: Path
    out: Path
    numbered: bool = False
    job_file: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)
    branch: str | None = None
    land_on: str = ""
    push_to: str = ""
    model: str = ""
    models: Mapping[str, Any] = field(default_factory=dict)
    replay_model: str = ""
    escalate_model: str = ""
    prices: Sequence[str] = ()
    caps: Caps = NO_CAPS
    stop_if: Sequence[str] = ()
    workers: int = 1000
    attempts: int = 1
    ramp: int | None = None
    train_max: int = 64
    prefetch: bool = True
    contract: bool = True
    read_sets: bool = True
    check_selection: Selection = "names"
    claims: bool = False
    replays: Literal["beside", "inside"] = "beside"
    stall_after_s: float = 600.0
    author: str = ""
    sign: bool = False
    sample: int | None = None
    seed: int = 0
    lanes: Mapping[str, Sequence[str]] = field(default_factory=dict)
    priorities: Mapping[str, Sequence[str]] = field(default_factory=dict)
    rules: RuleSettings = field(default_factory=RuleSettings)
    unsafe_checks: bool = False
    privacy: PrivacySettings = field(default_factory=PrivacySettings)
    cache: str = "use"
    source: str = "command line"

    @property
    def all_models(self) -> list[str]:
        """Return the names of the run's models, each once, that of fresh work first."""
        return list(dict.fromkeys(filter(None, (self.model, self.replay_model, self.escalate_model))))


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """A run that could start: everything that can be found wrong before work has been looked at.

    ``guard`` looks at the prompts for fresh work; None: they do not leave the machine. ``described`` says that a model
    of the run answers from facts; see `qodebase.commands.support.facts`.
    """

    order: Order
    source: Source
    job: Job
    tree: CommitTree
    intents: list[Intent]
    lanes: dict[str, tuple[str, ...]]
    guard: Guard | None = None
    described: bool = False

    def prompt(self, intent: Intent) -> Prompt:
        """Return the first prompt about an intent, were an agent to take it now."""
        fork = self.tree if intent.given is None else self.tree.at(intent.given.base)
        return self.job.prompt(intent, fork)


@contextmanager
def prepared(order: Order, surroundings: Surroundings, clock: Clock, model: Model | None = None) -> Iterator[Prepared]:
    """Look at repository, job, model and settings, and make the intents; nothing is written.

    Raises:
        QodebaseError: what is wrong, and what to do.
    """
    from fleet.budget import check_price
    from fleet.guard import guard_of, skip_forbidden
    from fleet.jobs.registry import load_job, make_job
    from fleet.stop_if import parse_condition
    from lanes.router import Router, lanes_from_tree
    from qodebase.code import CommitTree
    from qodebase.ports import ReadsRepository, Routed
    from qodebase.source import inspect
    from qodebase.trunk.reader import Reader
    from replay_rules.registry import chooser

    chooser(order.rules.off, order.rules.bind)
    guard = guard_of(order.privacy)
    kind = load_job(order.job, file=order.job_file)
    order = replace(order, settings=with_whole_paths(kind.Settings, order.settings, Path.cwd()))
    job = make_job(kind, dict(order.settings), source=order.source)
    order = replace(order, model=order.model or getattr(kind, "MODEL", MODEL))
    if not order.model and model is None:
        raise NoModel(
            f"which model? The job {job.name} has none of its own",
            hint="Give one: --model openai:MODEL-ID, or 'program:python answer.py'; see `qodebase models`.",
        )
    branch = order.branch or branch_to_start_from(order.repository, order.land_on, order.push_to)
    source = inspect(order.repository, branch)
    order = replace(order, push_to=checked_target(source, order.land_on, order.push_to))
    tables = with_folders(order.models, order.all_models, Path.cwd())
    order = replace(order, models=with_prices(tables, order.prices, order.all_models))
    named = order.all_models if model is None else order.all_models[1:]
    found = check_models(named, order.models, surroundings, clock, order.source, order.caps)
    local = found[order.model] if model is None else model.local
    if model is not None and order.caps.cost_usd is not None:
        check_price(model.name, None)
    for condition in order.stop_if:
        parse_condition(condition)
    _check_person(order, source)
    with Reader(source.git) as reader:
        tree = CommitTree(reader, source.commit)
        try:
            if isinstance(job, ReadsRepository):
                job.read_from(source.git)
            job.open(tree)
            intents = with_priorities(job.intents(), order.priorities)
            if not intents:
                raise NothingToDo(
                    f"the job {job.name} found nothing to do on branch {source.branch}",
                    hint="Look at its settings: patterns that match no file, say.",
                )
            check_order(intents)
            if not local:
                intents = skip_forbidden(intents, guard, tree)
            check_checks(job, intents, unsafe=order.unsafe_checks)
            aimed = [path for intent in intents if intent.ending is Ending.PENDING for path in intent.scope]
            lanes = dict(order.lanes) or dict(job.lanes()) or lanes_from_tree(aimed)
            Router(lanes)
            if isinstance(job, Routed):
                job.route(lanes, sum(intent.ending is Ending.PENDING for intent in intents))
            yield Prepared(
                order=order,
                source=source,
                job=job,
                tree=tree,
                intents=intents,
                lanes={name: tuple(patterns) for name, patterns in lanes.items()},
                guard=None if local else guard,
                described=is_described(named, order.models, order.source),
            )
        finally:
            job.close()


def freeze(prepared: Prepared, clock: Clock) -> RunFolder:
    """Make the run folder: the repository's copy, the frozen intents, the settings. Nothing stays where it fails."""
    from importlib.metadata import version

    from qodebase.ports import ReadsRepository

    check_facts(prepared)
    order, source = prepared.order, prepared.source
    with made(order.out, numbered=order.numbered) as folder:
        source.copy_to(folder.repository)
        if isinstance(prepared.job, ReadsRepository):
            prepared.job.bring_to(folder.repository)
        keep_environment(folder.root, environment() | _environment(prepared))
        folder.freeze(
            Settings(
                run=_run_id(folder, order.seed, clock),
                job=prepared.job.name,
                job_file=str(Path(order.job_file).resolve()) if order.job_file else "",
                job_digest=prepared.job.digest,
                job_settings=_plain(order.settings),
                repository=str(source.path),
                branch=source.branch,
                base=source.commit,
                land_on=order.land_on,
                push_to=order.push_to,
                model=order.model,
                models={name: dict(table) for name, table in order.models.items()},
                replay_model=order.replay_model,
                escalate_model=order.escalate_model,
                caps=order.caps,
                stop_if=tuple(order.stop_if),
                workers=order.workers,
                attempts=max(order.attempts, 2 if order.escalate_model else 1),
                ramp=order.ramp,
                author=order.author,
                sign=order.sign,
                train_max=order.train_max,
                prefetch=order.prefetch,
                contract=order.contract,
                read_sets=order.read_sets,
                check_selection=order.check_selection,
                claims=order.claims,
                replays=order.replays,
                stall_after_s=order.stall_after_s,
                sample=order.sample,
                seed=order.seed,
                lanes=prepared.lanes,
                rules=order.rules,
                unsafe_checks=order.unsafe_checks,
                privacy=order.privacy,
                cache=order.cache,
                created=clock.now(),
                product=version("qodebase"),
            ),
            prepared.intents,
        )
    return folder


def _environment(prepared: Prepared) -> dict[str, Any]:
    """Return what `environment.json` says beside the product and the machine."""
    order = prepared.order
    return {
        "repository_commit": prepared.source.commit,
        "seed": order.seed,
        "cache": order.cache,
        "prompts": {"job": prepared.job.name, "digest": prepared.job.digest},
        "models": {"asked": order.all_models, "named_by_provider": []},
    }


def _check_person(order: Order, source: Source) -> None:
    """Look at the author, and sign something, so that a missing key is found before anything is written."""
    name, opened, mail = order.author.partition("<")
    if order.author and not (name.strip() and opened and mail.endswith(">") and order.author.isprintable()):
        raise BadAuthor(f"{order.author!r} is no author", hint="Write --author 'NAME <MAIL>'.")
    if order.sign:
        from qodebase.signing import signer

        signer(source.path)(b"can commits be signed?\n")


def _run_id(folder: RunFolder, seed: int, clock: Clock) -> str:
    """Return an id of its own; in simulated time one that the seed decides, for the run to repeat to the byte."""
    import secrets

    own = f"seed-{seed}" if clock.simulated else secrets.token_hex(4)
    return f"{plain_name(folder.name)}-{own}"


def _plain(settings: Mapping[str, Any]) -> dict[str, Any]:
    return {name: list(value) if isinstance(value, tuple) else value for name, value in settings.items()}
