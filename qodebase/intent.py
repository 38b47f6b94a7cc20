"""Intents, and the endings that each of them reaches exactly once."""

from __future__ import annotations

from enum import StrEnum

import msgspec

from qodebase.paths import RepoPath


class Ending(StrEnum):
    """How an intent ends. The ledger: intents = the sum over all endings, ``pending`` included."""

    LANDED = "landed"
    SENT_BACK = "sent back"
    NO_ANSWER = "no answer"
    REFUSED = "refused"
    SKIPPED = "skipped"
    CANCELLED = "cancelled"
    PENDING = "pending"


class Intent(msgspec.Struct, frozen=True, kw_only=True):
    """One unit of work, frozen in the run folder before work starts.

    Attributes:
        id: unique in the run, stable over runs of the same job on the same code.
        asked: what is asked, in one sentence.
        scope: the paths that a change may touch; shared paths are added by the job.
        symbols: the symbols that it claims, as ``path#name``.
        checks: names of the checks that agent and gate see.
        after: ids of intents that must have ended first.
        retires: checks of landed intents that this one ends on purpose.
        priority: 0 to 255, lower first; only 0 interrupts.
        group: what a sample is spread over beside the lane (a language, say).
        ending: set where the job ends the intent before any work (a file that is documented already).
        reason: why, for such an ending.
    """

    id: str
    asked: str
    scope: tuple[RepoPath, ...]
    symbols: tuple[str, ...] = ()
    checks: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    retires: tuple[str, ...] = ()
    priority: int = 100
    group: str = ""
    ending: Ending = Ending.PENDING
    reason: str = ""
