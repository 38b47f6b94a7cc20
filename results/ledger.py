"""The ledger: every intent of a run stands at exactly one ending, and git decides what is landed."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

from qodebase.intent import Ending
from qodebase.state import RunState
from results.findings import Finding, Notebook
from results.history import History


@dataclass(frozen=True, slots=True, kw_only=True)
class Ledger:
    """intents = landed + sent back + no answer + refused + skipped + cancelled + pending.

    Attributes:
        intents: how many were frozen.
        counts: how many stand at each ending, zeros included; landed are those whose commit is on main.
        reverted: how many of the landed somebody has taken back since.
        foreign: other people's commits on main since the base.
        discrepancies: where journal and repository do not agree, each naming the intents.
        noted: what differs and is no fault: landed by a process that was killed before it could say so.
    """

    intents: int
    counts: dict[Ending, int]
    reverted: int
    foreign: int
    discrepancies: tuple[Finding, ...] = ()
    noted: tuple[Finding, ...] = ()

    @property
    def balanced(self) -> bool:
        """Return whether the sum is right and nothing disagrees."""
        return sum(self.counts.values()) == self.intents and not self.discrepancies

    @property
    def sentence(self) -> str:
        """Return the equation in words and figures."""
        terms = " + ".join(f"{count} {ending}" for ending, count in self.counts.items())
        return f"{self.intents} intents = {terms}; {self.reverted} reverted, {self.foreign} foreign"

    def as_dict(self) -> dict[str, Any]:
        """Return the ledger as plain data."""
        return {
            "intents": self.intents,
            **{str(ending): count for ending, count in self.counts.items()},
            "reverted": self.reverted,
            "foreign": self.foreign,
            "balanced": self.balanced,
            "discrepancies": [finding.as_dict() for finding in self.discrepancies],
            "noted": [finding.as_dict() for finding in self.noted],
        }


def ledger_of(state: RunState, history: History | None) -> Ledger:
    """Draw up the ledger from the journal's state and main's history (None: the run has no repository yet)."""
    book = Notebook("ledger")
    on_main = history.landings if history else {}
    counts: Counter[Ending] = Counter()
    for id, intent in state.intents.items():
        if id in on_main:
            counts[Ending.LANDED] += 1
            _compare(book, state, id, history)
        elif intent.ending == Ending.LANDED:
            counts[Ending.PENDING] += 1
            commits = (intent.commit,) if intent.commit else ()
            book.wrong("landed in the journal, but no commit of main lands it", intents=(id,), commits=commits)
        else:
            counts[intent.ending] += 1
    for id, commits_of in on_main.items():
        ids = [commit.id for commit in commits_of]
        if id not in state.intents:
            book.wrong("a commit of main lands it, but it is not among the frozen intents", intents=(id,), commits=ids)
        if len(ids) > 1:
            book.wrong(f"landed {len(ids)} times", intents=(id,), commits=ids)
    check = book.check("")
    return Ledger(
        intents=len(state.intents),
        counts={ending: counts[ending] for ending in Ending},
        reverted=len(history.reverted) if history else 0,
        foreign=len(history.foreign) if history else 0,
        discrepancies=check.findings,
        noted=check.noted,
    )


def _compare(book: Notebook, state: RunState, id: str, history: History | None) -> None:
    intent = state.intents[id]
    commits = [commit.id for commit in history.landings[id]] if history else []
    if intent.ending == Ending.LANDED:
        return
    if intent.ending != Ending.PENDING:
        book.wrong(
            f"a commit of main lands it, but the journal ended it: {intent.ending}", intents=(id,), commits=commits
        )
    elif state.stopped:
        book.wrong("a commit of main lands it, but the journal does not say so", intents=(id,), commits=commits)
    else:
        book.note(
            "landed by a process that ended before it could write so in the journal; `qodebase resume` writes it",
            intents=(id,),
            commits=commits,
        )
