"""The tests of a dial as data: checks, hidden tests that only the scorer runs, and what covers the old behaviour."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import NamedTuple

from qodebase.paths import RepoPath


class TestKind(StrEnum):
    """Whose a test is: agent and gate see a check, only the scorer a hidden test; a neighbour covers old behaviour."""

    __test__ = False

    CHECK = "check"
    HIDDEN = "hidden"
    NEIGHBOUR = "neighbour"


class File(NamedTuple):
    """A test file: its place, and its text."""

    path: RepoPath
    source: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Test:
    """One plain test function.

    Attributes:
        name: what it is called in a report, and in ``retires``; several tests may share a name.
        intent: whose it is; empty for a neighbour.
        kind: see `TestKind`.
        path: where its file is laid over the code.
        source: the whole file; tests of one file hold the same bytes.
        function: which function of the file.
        file: path and source together.
    """

    __test__ = False

    name: str
    intent: str = ""
    kind: TestKind
    path: RepoPath
    source: bytes
    function: str

    file: File = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "file", File(self.path, self.source))


@dataclass(frozen=True, kw_only=True)
class Suite:
    """All tests of a job; ``retires`` says which names an intent ends on purpose."""

    tests: tuple[Test, ...]
    retires: Mapping[str, Iterable[str]] = field(default_factory=dict)

    @cached_property
    def of(self) -> Mapping[str, tuple[Test, ...]]:
        """Return the checks and hidden tests of each intent that has some."""
        found: defaultdict[str, list[Test]] = defaultdict(list)
        for test in self.tests:
            if test.kind is not TestKind.NEIGHBOUR:
                found[test.intent].append(test)
        return {intent: tuple(tests) for intent, tests in found.items()}

    @cached_property
    def neighbours(self) -> tuple[Test, ...]:
        """Return the tests of the old behaviour."""
        return tuple(test for test in self.tests if test.kind is TestKind.NEIGHBOUR)

    @cached_property
    def neighbour_files(self) -> Mapping[File, tuple[Test, ...]]:
        """Return the neighbours by file: they reach the same modules."""
        found: defaultdict[File, list[Test]] = defaultdict(list)
        for test in self.neighbours:
            found[test.file].append(test)
        return {file: tuple(tests) for file, tests in found.items()}

    def retired_by(self, intents: Iterable[str]) -> dict[str, str]:
        """Return the names that these intents end, each with the first intent that does."""
        found: dict[str, str] = {}
        for intent in intents:
            for name in self.retires.get(intent, ()):
                found.setdefault(name, intent)
        return found

    def hidden(self, intent: str) -> tuple[Test, ...]:
        """Return an intent's hidden tests."""
        return tuple(test for test in self.of.get(intent, ()) if test.kind is TestKind.HIDDEN)
