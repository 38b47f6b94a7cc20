"""Intents, and the endings that each of them reaches exactly once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import StrEnum

import msgspec

from qodebase.errors import QodebaseError
from qodebase.paths import CommitId, RepoPath

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


class Undone(msgspec.Struct, frozen=True, kw_only=True):
    """What an intent undoes: the commit, and the run and the intent that landed it (empty: no run did)."""

    commit: CommitId
    run: str = ""
    intent: str = ""


class Given(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A change that was made before the run: what ``tip`` has other than ``base``.

    Attributes:
        base: a commit that main holds, or one that the run's repository was given; the change is against it.
        tip: a commit that the run's repository holds.
        author: who made it, as git writes it (``NAME <MAIL> SECONDS ZONE``); empty: the agent.
        others: more authors, each as ``NAME <MAIL>``.
        undoes: what it takes back.
    """

    base: CommitId
    tip: CommitId
    author: str = ""
    others: tuple[str, ...] = ()
    undoes: Undone | None = None

    @property
    def name(self) -> str:
        """Return the words by which a model hands it back."""
        return f"given {self.base}..{self.tip}"


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
        given: the change, where it was made before the run; its first attempt forks from the change's own base.
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
    given: Given | None = None

    def ended(self, ending: Ending, reason: str) -> Intent:
        """Return the intent as one that has ended before any work."""
        return msgspec.structs.replace(self, ending=ending, reason=reason)

    def aimed(self, scope: Iterable[RepoPath]) -> Intent:
        """Return the same intent with another scope: where main has its files now."""
        return msgspec.structs.replace(self, scope=tuple(scope))

    def anew(self) -> Intent:
        """Return the same intent without the change that it came with: another one is to be made."""
        return msgspec.structs.replace(self, given=None)

    def called(self, id: str) -> Intent:
        """Return the same intent with another id."""
        return msgspec.structs.replace(self, id=id)

    def behind(self, others: Iterable[str]) -> Intent:
        """Return the same intent, to be taken when more others have ended."""
        return msgspec.structs.replace(self, after=tuple(dict.fromkeys((*self.after, *others))))

    def giving(self, given: Given) -> Intent:
        """Return the same intent with a change that was made before the run."""
        return msgspec.structs.replace(self, given=given)


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
