"""A task: what is asked, where, and the tests that judge it; and a recipe, for models that are programs."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType

from qodebase.check import Check
from qodebase.paths import RepoPath

NOTHING: Mapping[str, str] = MappingProxyType({})


class Wrong(StrEnum):
    """How an answer is wrong.

    ``FAILS`` fails its own checks; ``MISSES`` passes them and fails its hidden tests; ``BREAKS`` passes both and breaks
    a neighbour check.
    """

    FAILS = "fails"
    MISSES = "misses"
    BREAKS = "breaks"


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """A task as a program does it: an operation on a definition, whatever the source around it has become.

    Attributes:
        operation: see `fleet.jobs.tasks.operations`.
        path, names: the file, and the names under which the definition may be found in it.
        right: the operation's words.
        fails, misses: what is other in answers that are wrong in these ways.
        victim: a function of the same file whose old behaviour an answer that breaks a neighbour breaks.
    """

    operation: str
    path: RepoPath
    names: tuple[str, ...]
    right: Mapping[str, str]
    fails: Mapping[str, str]
    misses: Mapping[str, str]
    victim: str = ""

    def words(self, wrong: Wrong | None) -> Mapping[str, str]:
        """Return the operation's words for an answer that is right, or wrong in this way."""
        other = {Wrong.FAILS: self.fails, Wrong.MISSES: self.misses}.get(wrong, NOTHING) if wrong else NOTHING
        return {**self.right, **other}


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """One small piece of coding work.

    Attributes:
        id: unique among the tasks; its check has the same name.
        kind: what is done (``clause``, ``rename``, ...); free for loaded tasks.
        text: what is asked.
        paths: the files that an answer may change.
        targets: the definitions that it is aimed at, as ``path#name``; the first is the one that a share counts.
        checks, hidden: test files, laid over the code: what agent and gate see, and what only a scorer runs.
        retires: checks that it ends on purpose.
        recipe: how a program does it; None: only a language model can.
    """

    id: str
    kind: str
    text: str
    paths: tuple[RepoPath, ...]
    targets: tuple[str, ...] = ()
    checks: Mapping[RepoPath, bytes] = field(default_factory=dict)
    hidden: Mapping[RepoPath, bytes] = field(default_factory=dict)
    retires: tuple[str, ...] = ()
    recipe: Recipe | None = None

    @property
    def check(self) -> Check:
        """Return the check that agent and gate see."""
        return check_of(self.checks)

    @property
    def hidden_check(self) -> Check:
        """Return the hidden tests in the form of a check."""
        return check_of(self.hidden)


def check_of(files: Mapping[RepoPath, bytes]) -> Check:
    """Return the check that runs every test function of these files."""
    tests = [f"{path.decode()}::{name}" for path, source in files.items() for name in test_names(source)]
    return Check(tests=tuple(tests), files=dict(files))


def test_names(source: bytes) -> tuple[str, ...]:
    """Return the names of a file's test functions, in order.

    Raises:
        SyntaxError: it is no Python.
    """
    return tuple(
        node.name
        for node in ast.parse(source).body
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test")
    )


test_names.__test__ = False  # type: ignore[attr-defined]
