"""The score of one setting of the dial: what became of a run's intents, told from its folder and the tests as data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from qodebase.errors import QodebaseError
from qodebase.intent import Ending
from qodebase.paths import RepoPath
from qodebase.runs import RunFolder
from qodebase.segments import SegmentReader
from replay_rules.registry import chooser
from results.evidence import Evidence, gather
from results.ledger import Ledger, ledger_of
from results.repository import Repository
from results.scoring.answers import Answers, Judged, Which, judge_all
from results.scoring.facts import Facts, Story
from results.scoring.losses import Cause, Loss, Losses, Main, lost_checks
from results.scoring.meetings import meetings
from results.scoring.runner import USUAL, Limits, Runner, Spawn, plain
from results.scoring.states import States
from results.scoring.suite import Suite, Test
from results.scoring.timing import Timing, timing_of
from results.scoring.verdicts import Verdicts


class NotScored(QodebaseError):
    """A run that cannot be scored."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NotPassing:
    """An intent that does not pass.

    Attributes:
        why: ``lost own``, ``lost in landing``, ``not landed: ENDING``, or ``retired`` where a landed intent ended its
            tests on purpose.
        detail: which of its tests and what they say, or the reason of its ending.
    """

    intent: str
    why: str
    detail: str


@dataclass(frozen=True, kw_only=True)
class Score:
    """What a run is worth.

    Attributes:
        facts: each intent's way to main.
        judged: each answer on its own tree.
        lost: every lost check, with its cause and first red commit.
        failing: every intent that does not pass, and why. *Passing*: all hidden tests of an intent green on the final
            main, of all intents. Room is left by an intent without hidden tests: it passes where it landed.
        ledger: where every intent ended; git decides what landed.
        timing: minutes, waits and runs of checks.
        unread: answers that could not be judged, and why.
        simulated: whether the run's clock was virtual, so that minutes and waits are.
        tests_ran: how many tests were run for this.
    """

    facts: Mapping[str, Facts]
    judged: Mapping[Which, Judged]
    lost: tuple[Loss, ...]
    failing: tuple[NotPassing, ...]
    ledger: Ledger
    timing: Timing
    unread: Mapping[Which, str]
    simulated: bool
    tests_ran: int

    @property
    def required(self) -> int:
        """Return how many intents there are."""
        return len(self.facts)

    @property
    def passing(self) -> int:
        """Return how many of them pass."""
        return self.required - len(self.failing)

    @property
    def judged_answers(self) -> dict[str, int]:
        """Return how many answers were judged, of which ``wrong_redone`` and ``wrong_fresh`` are parts."""
        redone = sum(which.replay > 0 for which in self.judged)
        return {"judged_redone": redone, "judged_fresh": len(self.judged) - redone}

    def row(self, *, share: float, queue: str, rules: bool | str, seed: int) -> dict[str, Any]:
        """Return one entry of the dial's ``settings``, as JSON has it.

        ``touched``, ``collided``, ``conflicted``, ``refused_clean`` and ``redone_by_*`` count intents;
        ``rule_refused``, ``wrong_*`` and ``sent_back`` count changes, of which one intent may have several;
        ``lost_*`` count checks. ``rules`` is ``on``, ``off`` or what the caller calls them;
        ``clock`` is ``virtual`` or ``real``.
        """
        facts = self.facts.values()
        redone = Counter(one.redone_by for one in facts)
        wrong = Counter(which.replay > 0 for which, judged in self.judged.items() if judged.wrong)
        lost = Counter(loss.cause for loss in self.lost)
        return {
            "share": share,
            "queue": queue,
            "rules": rules if isinstance(rules, str) else "on" if rules else "off",
            "seed": seed,
            "minutes": round(self.timing.minutes, 2),
            "touched": sum(one.touched for one in facts),
            "collided": sum(one.collided for one in facts),
            "conflicted": sum(one.conflicted for one in facts),
            "refused_clean": sum(one.refused_clean for one in facts),
            "redone_by_merge": redone["merge"],
            "redone_by_rule": redone["rule"],
            "redone_by_model": redone["model"],
            "rule_refused": sum(one.rule_refused for one in facts),
            "wrong_redone": wrong[True],
            "wrong_fresh": wrong[False],
            "sent_back": sum(one.sent_back for one in facts),
            "lost_own": lost[Cause.OWN],
            "lost_in_landing": lost[Cause.LANDING],
            "passing": self.passing,
            "required": self.required,
            "test_runs": self.timing.test_runs,
            "wait_p50_s": round(self.timing.wait_s(0.5), 3),
            "wait_p99_s": round(self.timing.wait_s(0.99), 3),
            "clock": "virtual" if self.simulated else "real",
        }


def score_run(
    folder: RunFolder,
    suite: Suite,
    *,
    workers: int = 2,
    spawn: Spawn = plain,
    limits: Limits = USUAL,
    shared: frozenset[RepoPath] = frozenset(),
) -> Score:
    """Score a run; takes a while and two processes, so call it in a thread of its own.

    Args:
        folder: a run that has ended; of one that goes on, or was stopped, what is there so far.
        suite: all tests of its job.
        workers: processes that run tests.
        spawn: starts one of them, in a sandbox where there is one: they run what models wrote.
        limits: what one test may use.
        shared: the job's shared paths.

    Raises:
        NotScored: the run's branch is not there, or main no longer stands on the run's base.
        BadData: the settings, the intents or the journal cannot be read.
        NoWorker: no process that runs tests could be started.
    """
    with Repository(folder.repository) as repository:
        evidence = gather(folder, repository)
        if evidence is None or not evidence.history.reaches_base:
            raise NotScored(
                f"{folder.root} cannot be scored: its main does not stand on the commit that the run began on",
                hint="Score the run's own repository, as the run left it.",
            )
        segments = SegmentReader(folder.attempts)
        states = States(repository, evidence.history.base)
        try:
            with Runner(states, suite.tests, workers=workers, spawn=spawn, limits=limits) as runner:
                return _Scoring(evidence, suite, states, segments, runner, shared).score()
        finally:
            segments.close()
            evidence.close()


class _Scoring:
    def __init__(
        self,
        evidence: Evidence,
        suite: Suite,
        states: States,
        segments: SegmentReader,
        runner: Runner,
        shared: frozenset[RepoPath],
    ) -> None:
        self._evidence = evidence
        self._suite = suite
        self._states = states
        self._segments = segments
        self._runner = runner
        self._shared = shared
        self._verdicts = Verdicts(runner)
        self._landed = {intent: commits[0] for intent, commits in evidence.history.landings.items()}

    def score(self) -> Score:
        """Judge the answers, find the losses, tell the facts."""
        evidence, suite, verdicts = self._evidence, self._suite, self._verdicts
        answers = Answers(evidence.events, self._segments, self._states)
        judged = judge_all(answers, suite, verdicts)
        main = Main(self._states, evidence.history)
        lost = lost_checks(suite, self._landed, main, verdicts)
        losses = Losses(main, verdicts, judged, self._landed).explain(lost)
        off, bind = evidence.settings.rules.off, evidence.settings.rules.bind
        story = Story(
            repository=evidence.repository,
            intents=evidence.intents,
            answers=answers.all,
            judged=judged,
            rules=chooser(off, bind),
            shared=self._shared,
        )
        return Score(
            facts=story.tell(meetings(evidence.events)),
            judged=judged,
            lost=tuple(losses),
            failing=tuple(self._failing(main, losses)),
            ledger=ledger_of(evidence.state, evidence.history),
            timing=timing_of(evidence.events),
            unread=answers.unread,
            simulated=any(event.simulated for event in evidence.events),
            tests_ran=self._runner.ran,
        )

    def _failing(self, main: Main, losses: list[Loss]) -> list[NotPassing]:
        hidden = {intent: self._suite.hidden(intent) for intent in self._evidence.intents}
        self._verdicts.learn([(main.final, [test for tests in hidden.values() for test in tests])])
        lost: dict[str, list[Loss]] = {}
        for loss in losses:
            lost.setdefault(loss.intent, []).append(loss)
        found = []
        for intent, tests in hidden.items():
            red = [test for test in tests if not self._verdicts.green(main.final, test)]
            if red or (not tests and intent not in self._landed):
                found.append(self._not_passing(intent, red, lost.get(intent, []), main))
        return found

    def _not_passing(self, intent: str, red: list[Test], losses: list[Loss], main: Main) -> NotPassing:
        if intent not in self._landed:
            state = self._evidence.state.intents[intent]
            ending = Ending.PENDING if state.ending is Ending.LANDED else state.ending
            return NotPassing(intent=intent, why=f"not landed: {ending}", detail=state.reason)
        # One test that a merge broke is enough: that is what nobody may overlook.
        worst = next((loss for loss in losses if loss.cause is Cause.LANDING), losses[0] if losses else None)
        told = "; ".join(f"{test.name}: {self._verdicts.outcome(main.final, test).why}" for test in red)
        if worst is None:
            return NotPassing(intent=intent, why="retired", detail=told)
        return NotPassing(intent=intent, why=str(worst.cause), detail=f"{worst.why}; {told}")
