"""What an audit proves with: the job's own audit, handed in by whoever may import it, and the replay ladder."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from qodebase.collision import Collision, Declined, Resolved
from qodebase.errors import QodebaseError
from qodebase.paths import RepoPath
from qodebase.ports import JobAudit, SharedPath, Tree

Redo = Callable[[Collision, str], Resolved | Declined]
"""Does a replay again: a collision, and the step that redid it (``merge`` or ``rule:NAME``)."""

Progress = Callable[[int, int, str], None]
"""Is told ``done, total, what`` while an audit goes on."""


def redo_step(collision: Collision, by: str) -> Resolved | Declined:
    """Do one step of the replay ladder again; it is pure, so it gives what it gave."""
    if by != "merge" and not by.startswith("rule:"):
        return Declined(why="it is no deterministic step")
    from replay_rules.ladder import redo
    from replay_rules.registry import UnknownRule

    try:
        return redo(collision, by)
    except UnknownRule as error:
        return Declined(why=error.message)


def _never(path: RepoPath) -> bool:
    return False


@dataclass(frozen=True, slots=True, kw_only=True)
class Means:
    """What is missing leaves something unchecked, and the audit says what.

    Attributes:
        job: makes the job's own proofs (`qodebase.ports.JobAudit`), given the code at the run's base; None where the
            job is not at hand.
        shared: the job's shared paths.
        idempotent: whether a hunk that two intents make alike in a path is meant once.
        redo: does merges and rules again; None leaves what they made as it is.
        full: prove everything that the job would otherwise prove of a sample.
    """

    job: Callable[[Tree], JobAudit] | None = None
    shared: Sequence[SharedPath] = ()
    idempotent: Callable[[RepoPath], bool] = _never
    redo: Redo | None = redo_step
    full: bool = False


def ask(proof: Callable[[], str]) -> str:
    """Return what a job's proof finds wrong; one that cannot be made at all is wrong as well."""
    try:
        return proof()
    except (KeyError, QodebaseError) as error:
        return f"it cannot be proved: {type(error).__name__}: {error}"
