"""Intents, and the endings that each of them reaches exactly once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import StrEnum

import msgspec

from qodebase.errors import QodebaseError
from qodebase.paths import RepoPath

PRIORITIES = range(256)
"""What an intent's priority may be."""


class BadIntents(QodebaseError):
    """Intents that no run could bring to an end."""


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
        priority: 0 to 255, lower first, for agents and in lanes; only 0 interrupts a train that is being tested.
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

    def ended(self, ending: Ending, reason: str) -> Intent:
        """Return the intent as one that has ended before any work."""
        return msgspec.structs.replace(self, ending=ending, reason=reason)

    def aimed(self, scope: Iterable[RepoPath]) -> Intent:
        """Return the same intent with another scope: where main has its files now."""
        return msgspec.structs.replace(self, scope=tuple(scope))


def check_order(intents: Sequence[Intent]) -> None:
    """Make sure that ids stand once, that priorities are in range and that some order keeps every ``after``.

    Raises:
        BadIntents: an id stands twice, a priority is out of range, ``after`` names no intent, or intents wait for each
            other; the message names them.
    """
    known: dict[str, Intent] = {}
    for intent in intents:
        if known.setdefault(intent.id, intent) is not intent:
            raise BadIntents(f"two intents are called {intent.id!r}", hint="Give each intent an id of its own.")
        if intent.priority not in PRIORITIES:
            raise BadIntents(
                f"intent {intent.id!r} has priority {intent.priority}",
                hint="Give 0 to 255, lower first: 100 is usual, and 0 interrupts trains.",
            )
    for intent in intents:
        for other in intent.after:
            if other not in known:
                raise BadIntents(
                    f"intent {intent.id!r} comes after {other!r}, which is no intent of the run",
                    hint="`after` holds ids of intents of the same run.",
                )
    cycle = _cycle(known)
    if cycle:
        raise BadIntents(
            f"intents wait for each other: {' after '.join(cycle)}", hint="Take one of them out of an `after`."
        )


def _cycle(known: dict[str, Intent]) -> list[str]:
    """Return the ids of a circle of ``after``, first and last alike, or nothing; a depth-first search."""
    done: set[str] = set()
    for start in known:
        path: list[str] = []
        on_path: set[str] = set()
        todo = [(start, False)]
        while todo:
            name, left = todo.pop()
            if left:
                on_path.discard(path.pop())
                done.add(name)
            elif name in on_path:
                return [*path[path.index(name) :], name]
            elif name not in done:
                path.append(name)
                on_path.add(name)
                todo.append((name, True))
                todo += [(other, False) for other in known[name].after]
    return []
