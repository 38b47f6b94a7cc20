"""`qodebase run JOB`, whose flags come from the job's own settings type.

The job is found among the arguments first; then a command with the common options and that job's flags is made and
given the arguments. Only the job that is named is imported.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Protocol

import typer

from qodebase.commands.support.console import reporting
from qodebase.commands.support.flags import flags_of, given, parameters
from qodebase.commands.support.options import CommonOptions
from qodebase.commands.support.setting_fields import settings_of
from qodebase.commands.support.words import read_plainly
from qodebase.errors import QodebaseError

_Started = Callable[[dict[str, Any], dict[str, Any]], int]


class NoJob(QodebaseError):
    """A command line that names no job, or two."""


class BadJobSettings(QodebaseError):
    """A settings type whose flags would hide those of `qodebase run`."""


class RunJob(Protocol):
    """Runs a job; what it returns is the exit code."""

    def __call__(self, common: CommonOptions, job: str, job_file: str, settings: dict[str, Any]) -> int:
        """Run the job ``job``, or the one in ``job_file``, with the settings that were given explicitly."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Named:
    """What the arguments name (a job, a job's Python file, a TOML job file), and the arguments without the name."""

    job: str = ""
    job_file: str = ""
    toml: str = ""
    rest: tuple[str, ...] = ()


def register_run(app: typer.Typer, run_job: RunJob) -> None:
    """Add the command ``run`` to an app."""

    def run(arguments: Annotated[list[str] | None, typer.Argument(metavar="JOB [OPTIONS]")] = None) -> None:
        run_arguments(arguments or [], run_job)

    app.command(
        "run",
        help="Run a job on a repository (see `run JOB --help`).",
        add_help_option=False,
        context_settings={"ignore_unknown_options": True},
    )(reporting(run))


def run_arguments(arguments: Sequence[str], run_job: RunJob) -> None:
    """Read the arguments behind ``qodebase run`` and run the job that they name; leave by `typer.Exit`.

    Raises:
        QodebaseError: no job, an unknown one, a job file with a fault, or whatever ``run_job`` raises.
    """
    from fleet.jobs.registry import job_names, load_job

    jobs = job_names()
    named = find_job(arguments, jobs)
    if not (named.job or named.job_file or named.toml):
        if "--help" not in arguments:
            raise NoJob("run which job?", hint=f"There are: {', '.join(jobs)}; see `qodebase run --help`.")
        _call("qodebase run JOB", None, _general_help(jobs), lambda common, settings: 0, ["--help"])
    file = _job_file(named.toml)
    job_file = named.job_file or (file.job_file if file else "")
    job = "" if job_file else named.job or (file.job if file else "")
    if not (job or job_file):
        raise NoJob(f"{named.toml} names no job", hint=f'Write `job = "NAME"` in it; there are: {", ".join(jobs)}.')
    kind = load_job(job, file=job_file)
    table = file.settings_for(kind) if file else {}
    base = {**file.common, "source": str(file.path)} if file else {}

    def started(common: dict[str, Any], settings: dict[str, Any]) -> int:
        return run_job(CommonOptions(**(base | common)), job, job_file, table | settings)

    name = named.toml or named.job or f"--job {named.job_file}"
    _call(f"qodebase run {name}", kind, _job_help(kind), started, named.rest)


def find_job(arguments: Sequence[str], jobs: Sequence[str]) -> Named:
    """Find what the arguments name, whatever options stand before it.

    An option that is not a common one may or may not take the word behind it, so an installed job or a TOML file is
    looked for first, and such a word is taken for a job only where nothing else can be one.

    Raises:
        NoJob: both a job and ``--job``.
    """
    words = _words(arguments)
    job_file = next((word for _, word, flag in words if flag == "--job"), "")
    free = [(place, word) for place, word, flag in words if flag in ("", "?")]
    found = next(((place, word) for place, word in free if word in jobs or word.endswith(".toml")), None)
    if found is None and not job_file:
        found = next(((place, word) for place, word, flag in words if not flag), None)
    if found is None:
        return Named(job_file=job_file, rest=tuple(arguments))
    place, word = found
    rest = (*arguments[:place], *arguments[place + 1 :])
    if word.endswith(".toml"):
        return Named(toml=word, job_file=job_file, rest=rest)
    if job_file:
        raise NoJob(f"{word} and --job {job_file} exclude each other", hint="Name the one job that is meant.")
    return Named(job=word, rest=rest)


def _words(arguments: Sequence[str]) -> list[tuple[int, str, str]]:
    """Return the words that are no options: place, word, and the option that takes it, ``?`` where one may."""
    common = settings_of(CommonOptions)
    bare = {"--help", *(flag for setting in common if setting.type is bool for flag in flags_of(setting))}
    valued = {"--job", *(flag for setting in common if setting.type is not bool for flag in flags_of(setting))}
    words = []
    before = ""
    for place, argument in enumerate(arguments):
        if not argument.startswith("-") or argument == "-":
            words.append((place, argument, before if before in valued or not before else "?"))
            before = ""
            continue
        flag, equals, value = argument.partition("=")
        if equals and flag in valued:
            words.append((place, value, flag))
        whole = equals or flag in bare or (flag not in valued and flag[:2] in valued)
        before = "" if whole else flag
    return words


def _job_file(toml: str) -> Any:
    if not toml:
        return None
    from qodebase.commands.support.job_file import read_job_file

    return read_job_file(Path(toml))


def _call(name: str, kind: type[Any] | None, text: str, started: _Started, arguments: Sequence[str]) -> None:
    """Make the command of a job and give it the arguments."""
    common = settings_of(CommonOptions)
    own = settings_of(kind.Settings) if kind else []
    taken = {setting.name for setting in common} & {setting.name for setting in own}
    if taken:
        raise BadJobSettings(
            f"the job's settings {', '.join(sorted(taken))} are options of `qodebase run` already",
            hint="Give these fields of its Settings other names.",
        )

    def command(**values: Any) -> int:
        return started(given(common, values), given(own, values))

    job = typer.Option("--job", metavar="FILE.py", help="Load the job from a file that defines JOB.")
    which = inspect.Parameter(
        "which", inspect.Parameter.KEYWORD_ONLY, default=None, annotation=Annotated[str | None, job]
    )
    signature = inspect.Signature([*parameters(own), *parameters(common), which])
    told = reporting(command)
    told.__signature__ = signature  # type: ignore[attr-defined]
    app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
    app.command(help=text)(told)
    job_command = typer.main.get_command(app)
    read_plainly(job_command)
    raise typer.Exit(job_command(args=list(arguments), prog_name=name, standalone_mode=False) or 0)


def _general_help(jobs: Sequence[str]) -> str:
    return (
        "Run a job on a repository: an installed one, one from a Python file (--job FILE.py), or one that a TOML file "
        "sets up (JOB.toml; its keys are the options below, flags count more). Each job has options of its own: "
        f"`qodebase run JOB --help`.\n\nJobs: {', '.join(jobs)}."
    )


def _job_help(kind: type[Any]) -> str:
    first = (inspect.getdoc(kind) or "Run the job.").split("\n")[0].partition("; see `")[0]
    return f"{first.rstrip('.')}.\n\nThe job's own options come first."
