"""Which tests are green on which state: each is run once for all that it can reach."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from results.scoring.runner import Runner, Task
from results.scoring.states import Outcome, State
from results.scoring.suite import Test

_RUNNING = Outcome(False, "it is being run")


class Verdicts:
    """Ask for many at once: `learn` runs what is not known yet, `green` and `outcome` answer from that."""

    def __init__(self, runner: Runner) -> None:
        self._runner = runner

    def learn(self, wanted: Iterable[tuple[State, Sequence[Test]]]) -> None:
        """Run tests on states, but for those that ran where all that they can reach was the same."""
        tasks = []
        for state, tests in wanted:
            missing = []
            for test in tests:
                outcomes = state.sight(test.file).outcomes
                if test.function not in outcomes:
                    outcomes[test.function] = _RUNNING
                    missing.append(test)
            if missing:
                tasks.append(Task(state=state, tests=missing))
        for task, outcomes_of in zip(tasks, self._runner.run(tasks), strict=True):
            for test, outcome in zip(task.tests, outcomes_of, strict=True):
                task.state.sight(test.file).outcomes[test.function] = outcome

    def outcome(self, state: State, test: Test) -> Outcome:
        """Return how a test goes on a state."""
        outcomes = state.sight(test.file).outcomes
        if test.function not in outcomes:
            self.learn([(state, [test])])
        return outcomes[test.function]

    def green(self, state: State, test: Test) -> bool:
        """Return whether a test is green on a state."""
        return self.outcome(state, test).green
