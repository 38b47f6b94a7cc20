"""Several checks in one process: what came of each test, and what each check read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from lanes.checking.inside.leftovers import Leftovers
from lanes.checking.inside.reads import Reads
from lanes.checking.inside.selection import Selections

if TYPE_CHECKING:
    from lanes.checking.inside.reporter import Reporter


class Together:
    """Says what a process that runs several checks is at, and tells apart what they read."""

    def __init__(self, checks: list[list[str]], reporter: Reporter, reads: Reads) -> None:
        self.selections = Selections(checks)
        self.reporter = reporter
        self._reads = reads
        self.aside = reads.aside
        self.leftovers = Leftovers()
        self._of: set[int] = set()
        self._ran: list[list[str]] = [[] for _ in checks]

    @contextmanager
    def collecting(self, path: str) -> Iterator[None]:
        """Say that a file of tests is being imported."""
        self.reporter.begin(path)
        with self._reads.collecting(path):
            yield

    def begin(self, test: str) -> None:
        """Say that a test is being run from now on."""
        self.reporter.begin(test)
        chosen = self.selections.chosen(test).values()
        for numbers in chosen:
            for number in numbers:
                self._ran[number].append(test)
        of = set[int]().union(*chosen)
        if of != self._of:
            self._of = of
            self.leftovers.take_back()
        self._reads.begin(test, test.partition("::")[0])

    def end(self) -> None:
        """Say that it has ended."""
        self._reads.end()

    def done(self, code: int, passed: Sequence[str] = ()) -> None:
        """Write how it ended: an exit code, what passed without being reported yet, and what each check read.

        For each check this is the number of a set of paths, that of the folders which it listed, and its habit.
        """
        sets: dict[tuple[str, ...] | None, int] = {}
        reads = []
        last, number = None, -1
        for tests in self._ran:
            found = self._reads.found_by(tests)
            # A long tuple is slow to look up, and most tests stand beside others that read the same.
            if found is not last or number < 0:
                last, number = found, sets.setdefault(found, len(sets))
            reads.append(number)
        lists = [sets.setdefault(tuple(self._reads.listed_by(tests)), len(sets)) for tests in self._ran]
        habits = [self._reads.habit(tests) for tests in self._ran]
        self.reporter.write(done=code, passed=passed, sets=list(sets), reads=reads, lists=lists, habits=habits)
