"""What came of one run of a check: read from what it wrote, which is not believed further than it must be."""

from __future__ import annotations

import json
import signal
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from lanes.checking.warm import Outcome, Request
from qodebase.paths import RepoPath

_FIRST_LINES, _LAST_LINES = 80, 40
_LINE_LENGTH = 400
_FAILURES = 10
_NO_TESTS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """One run of a check.

    Attributes:
        why: why it is red, in one line; empty where it is green.
        text: what a person needs beside that.
        passed: ids of the tests that passed.
        read: see `qodebase.ports.Judgement`.
    """

    why: str
    text: str = ""
    passed: frozenset[str] = frozenset()
    read: tuple[RepoPath, ...] | None = None


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
        self._texts: list[tuple[str, str]] = []
        self.finished = all(self._take(line) for line in text.splitlines()) and self.exit is not None

    @property
    def red(self) -> list[str]:
        """Return the tests that failed."""
        return [name for name, kind in self.outcomes.items() if kind == "failed"]

    def failures(self) -> list[str]:
        """Return the first failures with their texts."""
        shown = [f"{name}\n{text}" for name, text in self._texts[:_FAILURES]]
        more = len(self._texts) - len(shown)
        return [*shown, f"... and {more} more"] if more else shown

    def _take(self, line: bytes) -> bool:
        """Take in a line; return whether it is one that our plugin writes."""
        try:
            words: dict[str, Any] = json.loads(line)
            if "begin" in words:
                self.running = str(words["begin"])
            elif "test" in words:
                self._test(str(words["test"]), str(words["outcome"]), str(words["text"]))
            else:
                read = words["read"]
                self.exit = int(words["done"])
                self.read = None if read is None else tuple(_path(name) for name in read)
        except (ValueError, KeyError, TypeError, AttributeError):
            return False
        return True

    def _test(self, name: str, outcome: str, text: str) -> None:
        if self.outcomes.get(name) != "failed":
            self.outcomes[name] = outcome
        if outcome == "failed":
            self._texts.append((name, text))


def _path(name: str) -> RepoPath:
    return RepoPath(name.encode(errors="surrogateescape"))


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
