"""What came of one run of a check: read from what it wrote, which is not believed further than it must be."""

from __future__ import annotations

import contextlib
import json
import signal
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from lanes.checking.inside.selection import Selections
from lanes.checking.warm import Outcome, Request
from qodebase.paths import RepoPath

_FIRST_LINES, _LAST_LINES = 80, 40
_LINE_LENGTH = 400
_FAILURES = 10
_BEGUN = b'{"begin": '
_FAILED, _NO_TESTS = 1, 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """One run of a check.

    Attributes:
        why: why it is red, in one line; empty where it is green.
        text: what a person needs beside that.
        passed: ids of the tests that passed.
        read: see `qodebase.ports.Judgement`.
        listed: the folders among them that were listed for another reason than to import.
        habit: what its tests do themselves, where that was heard; see `lanes.checking.inside.reads`.
        called: whether its tests were only called, without pytest, and never opened or started anything themselves.
    """

    why: str
    text: str = ""
    passed: frozenset[str] = frozenset()
    read: tuple[RepoPath, ...] | None = None
    listed: tuple[RepoPath, ...] = ()
    habit: str | None = None
    called: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Shared:
    """One run of several checks in one process.

    Attributes:
        green: results of the checks that are green for certain, by their numbers.
        failed_imports: results of the checks with a file that cannot be imported, so that none of its tests there ran.
        ended: whether the run ended in order; else nothing is known but what it was at.
        crashed: whether it did not end itself, or not as pytest does.
        running: the test or the file that it was at.
        died: the result where all checks share what went wrong.
    """

    green: dict[int, Result]
    failed_imports: dict[int, Result]
    ended: bool
    crashed: bool
    running: str
    died: Result


def shared_of(request: Request, outcome: Outcome, selections: Selections) -> Shared:
    """Return what a run of several checks came to."""
    report = _Report(outcome.report)
    ended = report.finished and outcome.exit == report.exit and outcome.exit in (0, _FAILED, _NO_TESTS)
    green: dict[int, Result] = {}
    failed: dict[int, Result] = {}
    if ended and not report.shaken:
        chosen: dict[int, dict[str, list[str]]] = {number: {} for number in range(len(request.together))}
        for test in report.outcomes:
            for selected, numbers in selections.chosen(test).items():
                for number in numbers:
                    chosen[number].setdefault(selected, []).append(test)
        blocked = {number for path in report.importing for number in selections.around(path)}
        for number, found in chosen.items():
            tests = {test for some in found.values() for test in some}
            if number in blocked:
                failed[number] = report.result_of(tests | report.importing)
            elif len(found) == len(set(selections.checks[number])) and report.all_well(tests):
                green[number] = report.result_of(tests, number)
    return Shared(
        green=green,
        failed_imports=failed,
        ended=ended,
        crashed=not report.finished or outcome.exit != report.exit,
        running=report.running,
        died=_of_tests(outcome),
    )


def result_of(request: Request, outcome: Outcome) -> Result:
    """Return what a run of a request came to."""
    return _of_tests(outcome) if request.tests else _of_command(request, outcome)


def _of_command(request: Request, outcome: Outcome) -> Result:
    why = _ended(outcome)
    if not why and outcome.exit:
        why = f"`{' '.join(request.command)}` ended with {outcome.exit}"
    return Result(why=why, text=_shortened(outcome.output) if why else "")


def _of_tests(outcome: Outcome) -> Result:
    report = _Report(outcome.report)
    passed = frozenset(name for name, kind in report.outcomes.items() if kind == "passed")
    if not report.finished or outcome.exit != report.exit:
        why = _ended(outcome) or "pytest was ended from within"
        why += f", in {report.running}" if report.running else ""
        return Result(why=why, text=_shortened("\n".join([*report.failures(), outcome.output])), passed=passed)
    why = ""
    if report.red:
        why = f"{len(report.red)} of {len(report.outcomes)} tests failed: {_listed(report.red)}"
    elif outcome.exit == _NO_TESTS or not report.outcomes:
        why = "no test was found"
    elif outcome.exit:
        why = f"pytest ended with {outcome.exit}"
    elif set(report.outcomes.values()) <= {"skipped"}:
        why = "every test was skipped"
    text = "\n".join(report.failures()) or outcome.output
    return Result(why=why, text=_shortened(text) if why else "", passed=passed, read=report.read)


class _Report:
    """The lines that tests wrote about themselves."""

    def __init__(self, text: bytes) -> None:
        self.outcomes: dict[str, str] = {}
        self.running = ""
        self.exit: int | None = None
        self.read: tuple[RepoPath, ...] | None = None
        self.importing: set[str] = set()
        self.shaken = False
        self._shared: list[tuple[tuple[RepoPath, ...] | None, tuple[RepoPath, ...], str]] = []
        self._texts: list[tuple[str, str]] = []
        self._begun = b""
        self.finished = all(self._take(line) for line in text.splitlines()) and self.exit is not None
        self._take_begun()

    @property
    def red(self) -> list[str]:
        """Return the tests that failed."""
        return [name for name, kind in self.outcomes.items() if kind == "failed"]

    def all_well(self, tests: set[str]) -> bool:
        """Return whether tests are such that a run of them alone is green."""
        kinds = {self.outcomes[test] for test in tests}
        return kinds.isdisjoint(("failed", "open")) and not kinds <= {"skipped"}

    def result_of(self, tests: set[str], number: int | None = None) -> Result:
        """Return the result of some of the tests, with what the check of a number read."""
        passed = frozenset(test for test in tests if self.outcomes.get(test) == "passed")
        red = [test for test in tests if self.outcomes.get(test) == "failed"]
        if red or number is None:
            why = f"{len(red)} of {len(tests)} tests failed: {_listed(red)}"
            return Result(why=why, text=_shortened("\n".join(self.failures(red))), passed=passed)
        read, listed, habit = self._shared[number]
        return Result(why="", passed=passed, read=read, listed=listed, habit=habit)

    def failures(self, of: Iterable[str] | None = None) -> list[str]:
        """Return the first failures with their texts."""
        texts = self._texts if of is None else [one for one in self._texts if one[0] in set(of)]
        shown = [f"{name}\n{text}" for name, text in texts[:_FAILURES]]
        more = len(texts) - len(shown)
        return [*shown, f"... and {more} more"] if more else shown

    def _take(self, line: bytes) -> bool:
        """Take in a line; return whether it is one that our plugin writes."""
        if line.startswith(_BEGUN):
            self._begun = line
            return True
        try:
            words: dict[str, Any] = json.loads(line)
            if "test" in words:
                self._test(str(words["test"]), str(words["outcome"]), str(words["text"]))
                if "importing" in words:
                    self.importing.add(str(words["test"]))
            elif "shaken" in words:
                self.shaken = True
            elif "sets" in words:
                self.exit = int(words["done"])
                self._share(words)
            else:
                self.exit = int(words["done"])
                self.read = _paths(words["read"])
        except (ValueError, KeyError, TypeError, AttributeError, IndexError):
            return False
        return True

    def _take_begun(self) -> None:
        with contextlib.suppress(ValueError):
            self.running = str(json.loads(self._begun)["begin"])

    def _share(self, words: dict[str, Any]) -> None:
        sets = [_paths(names) for names in words["sets"]]
        self.outcomes.update(dict.fromkeys(map(str, words["passed"]), "passed"))
        of_each = zip(words["reads"], words["lists"], words["habits"], strict=True)
        self._shared = [(sets[read], sets[listed] or (), str(habit)) for read, listed, habit in of_each]

    def _test(self, name: str, outcome: str, text: str) -> None:
        if self.outcomes.get(name) != "failed":
            self.outcomes[name] = outcome
        if outcome == "failed":
            self._texts.append((name, text))


def _paths(names: Iterable[str] | None) -> tuple[RepoPath, ...] | None:
    return None if names is None else tuple(RepoPath(name.encode(errors="surrogateescape")) for name in names)


def _ended(outcome: Outcome) -> str:
    """Return what ended a run that did not end itself, in words."""
    if outcome.signal == signal.SIGXCPU:
        return "it used more processor time than it may"
    if outcome.signal is not None:
        try:
            name = signal.Signals(outcome.signal).name
        except ValueError:
            name = str(outcome.signal)
        return f"it was killed by signal {name}"
    return outcome.why


def _listed(names: Iterable[str], most: int = 5) -> str:
    named = list(names)
    more = f" and {len(named) - most} more" if len(named) > most else ""
    return ", ".join(named[:most]) + more


def missing(expected: Iterable[str]) -> str:
    """Return why a run is red in which tests are gone."""
    return f"tests that pass on main did not run or did not pass: {_listed(sorted(expected))}"


def _shortened(text: str) -> str:
    """Return a text without its middle where it is long, and without the ends of very long lines."""
    lines = [line if len(line) <= _LINE_LENGTH else line[:_LINE_LENGTH] + " ..." for line in text.strip().splitlines()]
    left_out = len(lines) - _FIRST_LINES - _LAST_LINES
    if left_out > 0:
        lines[_FIRST_LINES:-_LAST_LINES] = [f"... {left_out} lines left out ..."]
    return "\n".join(lines)
