"""From an answer to a proved change: what the job accepts, within the scope, with the job's promise kept."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass

from fleet.screening import screen
from qodebase.change import Change
from qodebase.intent import Ending, Intent
from qodebase.paths import RepoPath
from qodebase.ports import Answer, Failure, Job, NoAnswer, Tree, Unusable

_REFUSALS = (Failure.REFUSED, Failure.SECRET, Failure.NEVER_SENT)


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """A change, what was proved of it and in how many seconds, and what was made harmless in the answer."""

    change: Change
    proof: str
    sanitised: tuple[str, ...]
    proof_s: float = 0.0


def make_change(
    job: Job, intent: Intent, outcome: Answer | NoAnswer, fork: Tree, shared: Iterable[RepoPath]
) -> Made | Unusable:
    """Turn what a model gave into a change against ``fork``, or say how the intent ends."""
    if isinstance(outcome, NoAnswer):
        ending = Ending.REFUSED if outcome.failure in _REFUSALS else Ending.NO_ANSWER
        return Unusable(ending=ending, why=f"{outcome.failure}: {outcome.why}" if outcome.why else str(outcome.failure))
    accepted = job.accept(intent, outcome.text, fork)
    if isinstance(accepted, Unusable):
        return accepted
    fault = screen(intent, accepted.change, fork, shared)
    if fault:
        return Unusable(ending=Ending.REFUSED, why=fault)
    began = time.perf_counter()
    proof = job.proof(intent, accepted.change, fork)
    proof_s = time.perf_counter() - began
    if isinstance(proof, Unusable):
        return proof
    return Made(change=accepted.change, proof=proof, sanitised=accepted.sanitised, proof_s=proof_s)
