"""What all kinds of generated tasks are made with."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from fleet.jobs.tasks.codebase import PACKAGE, path_of
from fleet.jobs.tasks.ground import Ground
from fleet.jobs.tasks.shapes import Worker
from fleet.jobs.tasks.task import Recipe, Task
from qodebase.paths import RepoPath

_STONES = ("opal", "agate", "beryl", "coral", "flint", "garnet", "jade", "onyx", "pearl", "quartz", "ruby", "topaz")

SEEN, UNSEEN = (7, 31), (7, 64, 512)
"""Amounts that checks look at, and hidden tests; what holds below 50 alone passes the checks only."""


@dataclass(slots=True, kw_only=True)
class Maker:
    """Makes one task on one worker.

    ``turn`` counts the tasks of the same kind on that worker, from 0.
    """

    ground: Ground
    rng: random.Random
    number: int
    id: str
    worker: Worker
    turn: int

    @property
    def key(self) -> str:
        """Return a word that no other task has."""
        return f"{_STONES[self.number % len(_STONES)]}{self.number}"

    @property
    def path(self) -> RepoPath:
        """Return the worker's file."""
        return path_of(self.worker.module)

    @property
    def called(self) -> str:
        """Return how a test calls the worker."""
        return f"{self.worker.module}.{self.worker.name}"

    def expected(self, expression: str, amount: int) -> int | str:
        """Return what the worker would return for an expression of the amount."""
        found: int | str = eval(self.worker.result(expression), {self.worker.words.amount: amount})
        return found

    def task(
        self,
        kind: str,
        text: str,
        *,
        answers: tuple[Mapping[str, str], Mapping[str, str], Mapping[str, str]],
        asserts: tuple[Iterable[str], Iterable[str]],
        operation: str = "",
        names: tuple[str, ...] = (),
        targets: tuple[str, ...] = (),
        retires: tuple[str, ...] = (),
        paths: tuple[RepoPath, ...] = (),
        path: RepoPath | None = None,
        modules: Iterable[str] = (),
    ) -> Task:
        """Return the task.

        Args:
            kind, text, targets, retires, paths: see `Task`; without ``targets`` the worker, without ``paths`` ``path``.
            answers: the recipe's words for a right answer, and what is other in one that fails and in one that misses.
            asserts: the lines of the check, and of the hidden test.
            operation: the recipe's, where it is not called as the kind.
            names, path: the recipe's; without them the worker and its file.
            modules: those that the tests import, beside that of ``path``.
        """
        here = path or self.path
        imported = sorted({_module_of(here), *modules})
        right, fails, misses = answers
        return Task(
            id=self.id,
            kind=kind,
            text=text,
            paths=paths or (here,),
            targets=targets or (f"{self.path.text}#{self.worker.name}",),
            checks=_test_file("checks", self.id, imported, asserts[0]),
            hidden=_test_file("hidden", self.id, imported, asserts[1]),
            retires=retires,
            recipe=Recipe(
                operation=operation or kind,
                path=here,
                names=names or (self.worker.name,),
                right=right,
                fails=fails,
                misses=misses,
                victim=self._victim(here, targets),
            ),
        )

    def _victim(self, path: RepoPath, targets: Iterable[str]) -> str:
        """Return a worker of a file that the task is not about; nobody calls a worker."""
        aimed = {f"{self.path.text}#{self.worker.name}", *targets}
        functions = self.ground.modules[_module_of(path)].functions
        free = [one.name for one in functions if isinstance(one, Worker) and f"{path.text}#{one.name}" not in aimed]
        return self.rng.choice(free)


def equals(call: str, expected: int | str) -> str:
    """Return the line of a test that compares what a call returns."""
    return f"assert {call} == {expected!r}"


def _module_of(path: RepoPath) -> str:
    return path.rpartition(b"/")[2].removesuffix(b".py").decode()


def _test_file(folder: str, id: str, modules: Iterable[str], asserts: Iterable[str]) -> dict[RepoPath, bytes]:
    name = id.replace("-", "_")
    lines = "".join(f"    {line}\n" for line in asserts)
    source = f"from {PACKAGE} import {', '.join(modules)}\n\n\ndef test_{name}() -> None:\n{lines}"
    prefix = "" if folder == "checks" else f"{folder}_"
    return {RepoPath(f"{folder}/test_{prefix}{name}.py".encode()): source.encode()}
