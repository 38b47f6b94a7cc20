"""`qodebase verify`: rebuild a run from its repository and journal, and say what does not hold."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from qodebase.commands.support.console import Json, put, put_json, reporting, say
from qodebase.commands.support.layout import coloured, columns, harmless, paint, some
from qodebase.errors import QodebaseError

if TYPE_CHECKING:
    from collections.abc import Callable

    from qodebase.paths import CommitId
    from qodebase.runs import RunFolder
    from results.findings import Audit, Check, Finding


class NothingLanded(QodebaseError):
    """A repository in which there is nothing to audit."""


def audit_of(
    subject: str,
    *,
    full: bool = False,
    branch: str = "",
    with_job: bool = True,
    progress: Callable[[int, int, str], None] = lambda done, total, what: None,
) -> Audit:
    """Audit a run, or a repository that only has a run's notes.

    Args:
        subject: a run's path, name or ``last``; else the path of a git repository.
        full: prove everything that is otherwise proved of a sample.
        branch: of a repository without a run folder; empty means the one that is checked out.
        with_job: let the run's job prove its own promise again.

    Raises:
        QodebaseError: the audit is impossible: no such run or repository, its job cannot be loaded, its frozen files
            cannot be read.
    """
    from qodebase.commands.support.opening import find_run
    from qodebase.runs import NoRun

    try:
        folder = find_run(subject)
    except NoRun as error:
        if not Path(subject).is_dir():
            raise NoRun(error.message, hint=f"{error.hint} A repository's folder does as well.") from None
        return _audit_of_repository(Path(subject), branch, progress)
    return _audit_of_run(folder, full=full, with_job=with_job, progress=progress)


def register(app: typer.Typer) -> None:
    """Add the command."""

    @app.command()
    @reporting
    def verify(
        subject: Annotated[
            str, typer.Argument(metavar="RUN|REPOSITORY", help="A run, or a git repository that has a run's notes.")
        ],
        full: Annotated[bool, typer.Option("--full", help="Prove everything, also what a sample is taken of.")] = False,
        branch: Annotated[str, typer.Option(metavar="NAME", help="Which branch of a repository without a run.")] = "",
        without_job: Annotated[
            bool,
            typer.Option("--without-job", help="Leave the job's own promise unchecked (its code is not here, say)."),
        ] = False,
        json: Json = False,
    ) -> int:
        """Audit a run from its repository and journal.

        Everything is rebuilt, and what does not hold is shown. Exits with 0 where every check is satisfied, with 1
        where something was found, with 2 where the audit cannot be made.
        """
        with _progress() as progress:
            audit = audit_of(subject, full=full, branch=branch, with_job=not without_job, progress=progress)
        if json:
            put_json(audit.as_dict())
        else:
            put("\n".join(audit_lines(audit)))
        return 0 if audit.ok else 1


def _audit_of_run(folder: RunFolder, *, full: bool, with_job: bool, progress: Callable[[int, int, str], None]) -> Audit:
    from qodebase.commands.support.opening import opened
    from results.audit import verify_run
    from results.means import Means

    with ExitStack() as stack:
        means = Means(full=full)
        if with_job:
            folder.settings()
            try:
                job = stack.enter_context(opened(folder, same_job=False)).job
            except QodebaseError as error:
                hint = f"{error.hint} Without the job: `qodebase verify {folder.called} --without-job`.".strip()
                raise QodebaseError(f"the run's job cannot be opened: {error.message}", hint=hint) from None
            means = Means(job=lambda base: job.audit(), shared=job.shared, idempotent=job.idempotent, full=full)
        return verify_run(folder, means, progress=progress)


def _audit_of_repository(path: Path, branch: str, progress: Callable[[int, int, str], None]) -> Audit:
    from qodebase.source import inspect
    from results.audit import verify_repository

    source = inspect(path, branch or None)
    if not _has_landings(path, source.commit):
        raise NothingLanded(
            f"{path} holds no landing of a run on {source.branch}, and no note of one",
            hint="Name another --branch, or verify the run: `qodebase verify RUN`.",
        )
    return verify_repository(path, branch=source.branch, progress=progress)


def _has_landings(path: Path, tip: CommitId) -> bool:
    from qodebase.trailers import RUN
    from qodebase.trunk.reader import Reader

    with Reader(path) as reader:
        if next(reader.notes(), None) is not None:
            return True
        return any(key == RUN for commit in reader.log(tip) for key, _ in commit.trailers)


@contextmanager
def _progress() -> Iterator[Callable[[int, int, str], None]]:
    """Show progress on stderr: one line that changes on a terminal, else a line for each thing that is looked at."""
    live = sys.stderr.isatty()
    last = ""

    def told(done: int, total: int, what: str) -> None:
        nonlocal last
        if live:
            print(f"\r\x1b[K{what}: {done} of {total}", end="", file=sys.stderr, flush=True)
        elif what != last:
            say(f"checking {what} ...")
        last = what

    try:
        yield told
    finally:
        if live and last:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)


def audit_lines(audit: Audit) -> list[str]:
    """Return an audit as lines for people."""
    on = coloured()
    rows = columns([(check.name, "ok" if check.ok else "WRONG", harmless(check.counted)) for check in audit.checks])
    lines = []
    for row, check in zip(rows, audit.checks, strict=True):
        lines.append(row if check.ok else paint(row, "red", on=on))
        lines += map(harmless, _findings(check))
    lines += [f"not checked: {what}" for what in audit.not_checked]
    found = len(audit.findings)
    outcome = f"{found} findings" if found != 1 else "1 finding"
    verdict = "every check is satisfied" if audit.ok else f"{outcome} in {audit.subject}"
    shown = paint(verdict, "green" if audit.ok else "red", on=on)
    return [
        *lines,
        "",
        f"{audit.subject}: {shown} ({audit.seconds:.1f} s)" if audit.ok else f"{shown} ({audit.seconds:.1f} s)",
    ]


def _findings(check: Check) -> list[str]:
    return [
        *(line for finding in check.findings for line in _finding("wrong", finding)),
        *(line for finding in check.noted for line in _finding("note", finding)),
    ]


def _finding(word: str, finding: Finding) -> list[str]:
    where = f"{finding.path.text}: " if finding.path is not None else ""
    lines = [f"    {word}: {where}{finding.message}"]
    if finding.intents:
        lines.append(f"        intents: {some(finding.intents)}")
    if finding.commits:
        lines.append(f"        commits: {some([commit[:12] for commit in finding.commits])}")
    return lines
