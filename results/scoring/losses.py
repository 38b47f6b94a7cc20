"""The checks that main lost: each with the first commit on which it is red, and whose fault that is.

Nothing is taken for granted about how a test goes from commit to commit: main is walked back from its tip, over the
commits that change what the test reaches, until the test is green.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from qodebase.paths import CommitId, RepoPath
from results.history import Commit, History
from results.scoring.answers import Judged, Which
from results.scoring.states import State, States
from results.scoring.suite import Suite, Test, TestKind
from results.scoring.verdicts import Verdicts


class Cause(StrEnum):
    """Where a lost check was lost."""

    OWN = "lost own"
    LANDING = "lost in landing"


@dataclass(frozen=True, slots=True, kw_only=True)
class Loss:
    """One lost check.

    *Lost check*: a hidden or neighbour check red on the final main whose intent landed (or that was green on the base).
    Room is left by checks that a landed intent retires: they ended on purpose and are not lost. A check is all tests
    of one intent, kind and name; it is red where one of them is, and lost in landing where one of them was.

    Attributes:
        check, intent, kind: which; neighbours have no intent.
        functions: its tests that are red.
        cause: see `Cause`.
        why: in words, why it counts as that; ``told`` is what the test says on the final main.
        commit, by: the first red commit, and the intent that it landed; empty for other people's.
    """

    check: str
    intent: str
    kind: TestKind
    functions: tuple[str, ...]
    cause: Cause
    why: str
    told: str
    commit: CommitId
    by: str


class Main:
    """Main's states, the base first.

    Args:
        states: makes them.
        history: main's commits.
    """

    def __init__(self, states: States, history: History) -> None:
        self.commits = history.commits
        self._states = states
        self._base = history.base
        self._ours = frozenset(commit.id for commit in history.ours)
        self._changed: dict[int, set[RepoPath]] = {}

    def state(self, position: int) -> State:
        """Return the state after so many commits."""
        return self._states.of(self.commits[position - 1].id if position else self._base)

    @property
    def final(self) -> State:
        """Return the tip's state."""
        return self.state(len(self.commits))

    def landing(self, position: int) -> Commit | None:
        """Return the commit that made a state, where it landed an intent of the run."""
        commit = self.commits[position - 1]
        return commit if commit.id in self._ours else None

    def changed_at(self, position: int) -> set[RepoPath]:
        """Return the modules that a commit changed."""
        if position not in self._changed:
            self._changed[position] = self.state(position).differs(self.state(position - 1))
        return self._changed[position]


def lost_checks(suite: Suite, landed: Mapping[str, Commit], main: Main, verdicts: Verdicts) -> list[Test]:
    """Return the tests that the definition of `Loss` names, in the suite's order."""
    retired = suite.retired_by(landed)
    due = [test for test in suite.tests if test.name not in retired and test.kind is TestKind.HIDDEN]
    due = [test for test in due if test.intent in landed]
    neighbours = [test for test in suite.neighbours if test.name not in retired]
    verdicts.learn([(main.final, [*due, *neighbours]), (main.state(0), neighbours)])
    due += [test for test in neighbours if verdicts.green(main.state(0), test)]
    return [test for test in due if not verdicts.green(main.final, test)]


class Losses:
    """Say of lost checks where and by whom they were lost."""

    def __init__(
        self, main: Main, verdicts: Verdicts, judged: Mapping[Which, Judged], landed: Mapping[str, Commit]
    ) -> None:
        self._main = main
        self._verdicts = verdicts
        self._judged = judged
        self._landed = landed
        self._positions = {commit.id: number for number, commit in enumerate(main.commits, 1)}

    def explain(self, tests: Sequence[Test]) -> list[Loss]:
        """Return each lost check with its cause, in order of their first tests."""
        checks: defaultdict[tuple[str, TestKind, str], list[tuple[int, Test]]] = defaultdict(list)
        for test, first in zip(tests, self._first_red(tests), strict=True):
            checks[test.intent, test.kind, test.name].append((first, test))
        return [self._loss(red) for red in checks.values()]

    def _first_red(self, tests: Sequence[Test]) -> list[int]:
        """Return the position at which each test became red and stayed so, no earlier than where it was due.

        All tests walk back together, so that many are run at once. A hidden test is due from its intent's landing on, a
        neighbour, which is green on the base, from the first commit on. A hidden test that is red on its own tree and
        on its landing counts from there, whatever came between: nothing that others did is to blame.
        """
        due = [self._positions[self._landed[test.intent].id] if test.intent else 1 for test in tests]
        at = [len(self._main.commits)] * len(tests)
        own = [number for number, test in enumerate(tests) if self._red_alone(test)]
        self._verdicts.learn((self._main.state(due[number]), [tests[number]]) for number in own)
        for number in own:
            if not self._verdicts.green(self._main.state(due[number]), tests[number]):
                at[number] = due[number]
        open_ = [number for number in range(len(tests)) if at[number] > due[number]]
        while open_:
            for number in open_:
                at[number] = self._changed_before(tests[number], at[number], due[number])
            open_ = [number for number in open_ if at[number] > due[number]]
            self._verdicts.learn((self._main.state(at[number] - 1), [tests[number]]) for number in open_)
            open_ = [
                number for number in open_ if not self._verdicts.green(self._main.state(at[number] - 1), tests[number])
            ]
            for number in open_:
                at[number] -= 1
        return at

    def _red_alone(self, test: Test) -> bool:
        """Return whether a test is red on the own tree of its intent's change."""
        own = self._judged.get(which_of(self._landed[test.intent])) if test.intent else None
        return own is not None and not self._verdicts.green(own.answer.own, test)

    def _changed_before(self, test: Test, position: int, due: int) -> int:
        """Return the last commit, at or before a position, that changed what a test reaches there."""
        while position > due:
            reach = self._main.state(position).sight(test.file).reach
            changed = self._main.changed_at(position)
            if changed and (reach is None or not reach.isdisjoint(changed)):
                break
            position -= 1
        return position

    def _loss(self, red: Sequence[tuple[int, Test]]) -> Loss:
        """Return the loss of a check: its first red test counts, and one lost in landing before all others."""
        causes = [(*self._cause(test, self._main.landing(first)), first, test) for first, test in red]
        cause, why, first, test = min(causes, key=lambda one: (one[0] is not Cause.LANDING, one[2]))
        landing = self._main.landing(first)
        return Loss(
            check=test.name,
            intent=test.intent,
            kind=test.kind,
            functions=tuple(one.function for _, one in red),
            cause=cause,
            why=why,
            told=self._verdicts.outcome(self._main.final, test).why,
            commit=self._main.commits[first - 1].id,
            by=landing.intent if landing else "",
        )

    def _cause(self, test: Test, landing: Commit | None) -> tuple[Cause, str]:
        """Return a lost check's cause, and why.

        *Lost in landing*: a lost check green on the change's own tree, whose first red commit came from a merge whose
        answer was right on the state shown; else *lost own*. The change is the one of the test's intent; a neighbour
        has none, and being green on the base stands for it. Room is left by "right on the state shown": an answer is
        not right either where the lost check itself was green on the state shown and is red on the answer's own tree,
        for then the model broke it, and no merge.
        """
        if test.intent:
            if which_of(self._landed[test.intent]) not in self._judged:
                return Cause.OWN, "its own change cannot be read"
            if self._red_alone(test):
                return Cause.OWN, "red on its own tree"
        if landing is None:
            return Cause.OWN, "somebody else's commit broke it"
        by = self._judged.get(which_of(landing))
        if by is None:
            return Cause.OWN, f"the change of {landing.intent} cannot be read"
        if by.wrong:
            return Cause.OWN, f"the answer of {landing.intent} was wrong: {by.wrong}"
        if self._verdicts.green(by.answer.shown, test) and not self._verdicts.green(by.answer.own, test):
            return Cause.OWN, f"the answer of {landing.intent} broke it on the state that it was shown"
        return Cause.LANDING, f"the merge of {landing.intent}, whose answer was right, broke it"


def which_of(commit: Commit) -> Which:
    """Return the answer that a commit lands."""
    return Which(commit.intent, int(commit.attempt or 1), int(commit.replay or 0))
