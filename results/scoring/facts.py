"""What happened to each intent on its way to main: touched, collided, conflicted, refused, redone and by what."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, field

from qodebase.intent import Intent
from qodebase.paths import RepoPath
from qodebase.trunk.objects import MissingObject
from results.repository import Repository
from results.scoring.answers import Answer, Judged, Which
from results.scoring.laying import Ahead, Laid, Rules, lay
from results.scoring.meetings import Fate, Meeting
from results.scoring.symbols import scope_of, touched


@dataclass(slots=True, kw_only=True)
class Facts:
    """One intent's story, each fact once for an intent, however many attempts and replays there were.

    Attributes:
        touched: a function in the change's scope changed on main since its base. See `results.scoring.symbols`.
        collided: main moved under a path that a change touches, between its base and now. Room is left by "now": it is
            where the change was to land, so members of its train in front of it count as main. Shared paths are left
            out, they are redone at every landing.
        conflicted: git's merge against the target state conflicts, once for an intent. The target state is the one
            that the change met: the parent that it landed on, what the model was shown that redid it, the tip and the
            train in front of it where the gate refused it, or main where it was sent back. What git merges and an
            invariant doubts has not conflicted.
        refused_clean: merged clean, then red while its own tree was green. Room is left by "merged": something of main
            had moved since its base, the change's paths or others, and git merged whatever of its own paths had; by
            "its own tree was green": all that the gate may run is green there, checks of the intent and neighbours.
        rule_refused: how many of its rule results the gate refused: changes that a rule redid in some path, on a
            tree that was red for them.
        redone_by: how the landed bytes arose, ``merge``, ``rule`` or ``model``; empty where nothing collided. A change
            that a model redid is the model's, even where it was merged again after that; one that a rule redid in one
            path and git in another is the rule's.
        sent_back: how many of its changes were sent back.
    """

    touched: bool = False
    collided: bool = False
    conflicted: bool = False
    refused_clean: bool = False
    rule_refused: int = 0
    redone_by: str = ""
    sent_back: int = 0


@dataclass(frozen=True, kw_only=True)
class Story:
    """Tell the facts of all intents from their meetings with main.

    Attributes:
        intents, answers, judged: the run's.
        rules: which rules the run tried on a path.
        shared: paths that are left out.
    """

    repository: Repository
    intents: Mapping[str, Intent]
    answers: Mapping[Which, Answer]
    judged: Mapping[Which, Judged]
    rules: Rules
    shared: Container[RepoPath] = field(default=frozenset())

    def tell(self, meetings: Iterable[Meeting]) -> dict[str, Facts]:
        """Return each intent's facts; a meeting of a change that cannot be read tells nothing but that it was."""
        found = {intent: Facts() for intent in self.intents}
        for meeting in meetings:
            facts, answer = found.get(meeting.which.intent), self.answers.get(meeting.which)
            if facts is None:
                continue
            if meeting.fate is not Fate.LANDED and meeting.fate is not Fate.REDONE:
                facts.sent_back += 1
            if answer is not None:
                try:
                    self._add(facts, meeting, answer)
                except MissingObject:
                    continue
        return found

    def _add(self, facts: Facts, meeting: Meeting, answer: Answer) -> None:
        base, target = self.repository.view(answer.change.base), self.repository.view(meeting.target)
        laid = self._laid(meeting, answer)
        facts.collided |= bool(laid.collided or meeting.collided)
        facts.conflicted |= bool(laid.conflicted)
        scope = scope_of(self.intents[meeting.which.intent], answer.change, base)
        facts.touched = facts.touched or touched(scope, base, target)
        if meeting.fate is Fate.LANDED:
            facts.redone_by = redone_by(meeting)
        elif meeting.fate is Fate.REFUSED:
            facts.rule_refused += any(by.startswith("rule:") for by in laid.redone_by.values())
            moved = base.tree != target.tree or bool(meeting.ahead)
            clean = moved and all(by == "merge" for by in laid.redone_by.values())
            facts.refused_clean |= clean and self.judged[meeting.which].own_green

    def _laid(self, meeting: Meeting, answer: Answer) -> Laid:
        """Lay a change where it met main; the ladder is climbed again only where the journal does not tell of it."""
        now = Ahead(self.repository.view(meeting.target))
        for which in meeting.ahead:
            before = self.answers.get(which)
            laid = None if before is None else self._on(now, before, self.rules)
            if laid is not None and laid.edits is not None:
                now.put(laid.edits)
        return self._on(now, answer, self.rules if meeting.fate is Fate.REFUSED else None)

    def _on(self, now: Ahead, answer: Answer, rules: Rules | None) -> Laid:
        return lay(answer.change, self.repository.view(answer.change.base), now, rules, self.shared)


def redone_by(meeting: Meeting) -> str:
    """Return how the bytes of a change that landed arose; see `Facts`."""
    if meeting.which.replay:
        return "model"
    steps = {met.resolved_by.partition(":")[0] for met in meeting.collided}
    return next((word for word in ("rule", "merge") if word in steps), "")
