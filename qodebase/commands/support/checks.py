"""A job's checks: whether they can be run here, and who runs them in a sitting."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from qodebase.errors import QodebaseError

if TYPE_CHECKING:
    from lanes.checking.checker import SandboxedChecker
    from lanes.desk import Tell
    from lanes.verdicts import Verdicts
    from qodebase.check import Check
    from qodebase.commands.support.opening import Opened
    from qodebase.intent import Intent
    from qodebase.ports import Clock, Job


class NoChecker(QodebaseError):
    """Checks that nothing here can run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judging:
    """Who runs the checks of a sitting (None: the job has none), who must hear of the trees, and what is remembered."""

    checker: SandboxedChecker | None
    tell: Tell
    verdicts: Verdicts | None = None

    async def close(self) -> None:
        """End what still runs."""
        if self.checker is not None:
            await self.checker.close()


def checks_of(job: Job) -> dict[str, Check]:
    """Return the checks that a job declares; most declare none.

    Raises:
        BadCheck: one that nothing could run.
    """
    from qodebase.check import proved
    from qodebase.ports import HasChecks

    return proved(job.checks()) if isinstance(job, HasChecks) else {}


def own_checks_of(job: Job) -> dict[str, Check]:
    """Return the checks that agents run on their own forks, by the names that the checker knows them by.

    Raises:
        BadCheck: one that nothing could run.
    """
    from fleet.verifying import check_name
    from qodebase.check import proved
    from qodebase.ports import Verifies

    own = job.verifying() if isinstance(job, Verifies) else {}
    return proved({check_name(intent): check for intent, check in own.items()})


def check_checks(job: Job, intents: Sequence[Intent], *, unsafe: bool) -> None:
    """Look at a job's checks before the freeze.

    Raises:
        BadCheck: one that nothing could run.
        NoChecker: an intent names one that the job does not declare, or this machine cannot hold them.
    """
    checks = checks_of(job)
    for intent in intents:
        for name in intent.checks:
            if name not in checks:
                raise NoChecker(
                    f"intent {intent.id!r} names the check {name!r}, which the job {job.name} does not declare",
                    hint="A job declares its checks in `checks()`; see the README.",
                )
    every = checks | own_checks_of(job)
    if unsafe or not every:
        return
    from lanes.checking.sandbox import Sandbox, available
    from qodebase.commands.support.programs import programs_of

    unseen = programs_of(every.values(), Sandbox().hidden).unseen
    if unseen:
        raise NoChecker(
            f"checks run {unseen[0]}, which stands where no check in the sandbox sees it",
            hint="Checks see the system's programs and virtual environments, but nothing else of a home, /tmp or /run. "
            "Name another one; or trust what the models write and give --unsafe-checks.",
        )

    why = available()
    if why:
        raise NoChecker(
            f"this machine cannot hold checks in a sandbox: {why}",
            hint="Run as root or where user namespaces are allowed; or trust what the models write and give "
            "--unsafe-checks, with which checks can read and write whatever you can.",
        )


def judging_of(run: Opened, clock: Clock, *, charge_s: float = 0.0) -> Judging:
    """Return who runs the checks of a run's job; nothing is started before the first check.

    Args:
        charge_s: simulated seconds that a judgement takes.
    """
    from lanes.desk import unheard

    checks = checks_of(run.job) | own_checks_of(run.job)
    if not checks:
        return Judging(checker=None, tell=unheard)
    from lanes.checking.checker import SandboxedChecker
    from lanes.checking.sandbox import Sandbox
    from lanes.checking.trees import Trees
    from lanes.verdicts import Verdicts
    from qodebase.commands.support.programs import programs_of

    trees = Trees(run.reader)
    sandbox = Sandbox(on=not run.settings.unsafe_checks, hide=(run.folder.root.resolve(),))
    sandbox = replace(sandbox, keep=programs_of(checks.values(), sandbox.hidden).folders)
    checker = SandboxedChecker(checks, trees, clock, sandbox, selection=run.settings.check_selection, charge_s=charge_s)
    return Judging(checker=checker, tell=trees.tell, verdicts=Verdicts(trees))
