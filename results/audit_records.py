"""Audit what notes and commits prove by themselves, without the run that made them.

A note says on which commit its change was made, and which of its paths had moved by then, through whom. Main's own
commits say that too: each is asked for both, and what only one of them says is a finding. So a landing that was dropped
is missed by the notes behind it, and content that came from nowhere by its own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain

from qodebase.change import SUBMODULE
from qodebase.paths import CommitId, RepoPath
from qodebase.record import Record
from results.findings import Check, Notebook
from results.history import Commit
from results.repository import Repository

_UNIQUE_LINES = "rule:sorted-index"


class RecordsAudit:
    """Goes along main once, oldest commit first.

    Args:
        repository: where all of it lies.
        commits: main along first parents, oldest first.
        records: the records of landings, by commit; those that were carried to a commit are several, it may be.
    """

    def __init__(
        self, repository: Repository, commits: Sequence[Commit], records: Mapping[CommitId, Sequence[Record]]
    ) -> None:
        self._repository = repository
        self._commits = commits
        self._records = records
        self._place = {commit.id: place for place, commit in enumerate(commits)}
        self._landed: dict[tuple[str, str], int] = {}
        for place, commit in enumerate(commits):
            self._landed.setdefault((commit.run, commit.intent), place)
            for record in records.get(commit.id, ()):
                self._landed.setdefault((record.run, record.intent), place)
        self._book = Notebook("records")
        self._changed_at: dict[RepoPath, int] = {}
        self._single: set[RepoPath] = set()

    def check(self) -> Check:
        """Look at every landing that has a record."""
        begin = self._begin()
        line = self._commits[begin:]
        diffs = chain.from_iterable(self._repository.trees.diffs(commit.tree for commit in line))
        for place, (commit, diff) in enumerate(zip(line[1:], diffs, strict=True), begin + 1):
            for record in self._records.get(commit.id, ()):
                self._see(place, commit, record, diff)
            self._changed_at.update(dict.fromkeys(diff, place))
        for path in sorted(self._single):
            self._check_lines(path, begin)
        count = sum(map(len, self._records.values()))
        return self._book.check(f"{count} landings against the commits between base and landing")

    def _begin(self) -> int:
        """Return the place before which nothing needs to be known: the oldest base, or the first landing's parent."""
        places = [self._place[id] for id in self._records]
        told = [record for records in self._records.values() for record in records]
        bases = [self._place[record.base] for record in told if record.base in self._place]
        return max(0, min([*bases, *(place - 1 for place in places)], default=len(self._commits)))

    def _see(self, place: int, commit: Commit, record: Record, diff: Iterable[RepoPath]) -> None:
        if record.verdict != "green":
            self._wrong(record, commit, f"its note says that the gate's verdict was {record.verdict}")
        base = self._place.get(record.base, place)
        if base >= place:
            self._wrong(record, commit, "its note names a base that main did not come through before it")
            return
        told = {path for met in record.collisions for path in (met.path, met.moved_to) if path is not None}
        for path in diff:
            if self._changed_at.get(path, -1) > base and path not in told:
                message = "main had moved under it since its base, and its note does not say so"
                self._book.wrong(message, intents=(record.intent,), commits=(commit.id,), path=path)
        for met in record.collisions:
            # What a carried record met, it met in its run; here the order may be another.
            for intent in met.intents if record.origin is None else ():
                if self._landed.get((record.run, intent), place) >= place:
                    self._missed(commit, intent, met.path)
            if met.resolved_by == _UNIQUE_LINES:
                self._single.add(met.path)

    def _missed(self, commit: Commit, intent: str, path: RepoPath) -> None:
        message = f"landed before {commit.intent} by the note of that, and no commit before it lands it"
        self._book.wrong(message, intents=(intent, commit.intent), commits=(commit.id,), path=path)

    def _wrong(self, record: Record, commit: Commit, message: str) -> None:
        self._book.wrong(message, intents=(record.intent,), commits=(commit.id,))

    def _check_lines(self, path: RepoPath, begin: int) -> None:
        """Name lines of an index that stand twice at the end and did not at the beginning, and who doubled them."""
        before = self._lines(begin, path)
        after = self._lines(len(self._commits) - 1, path)
        for line in (line for line, count in after.items() if count > max(1, before[line]) and line.strip()):
            culprit = next(
                commit
                for place, commit in enumerate(self._commits[begin + 1 :], begin + 1)
                if self._lines(place, path)[line] > max(1, before[line])
            )
            message = f"a line stands there {after[line]} times: {line.decode(errors='replace').strip()}"
            intents = (culprit.intent,) if culprit.intent else ()
            self._book.wrong(message, intents=intents, commits=(culprit.id,), path=path)

    def _lines(self, place: int, path: RepoPath) -> Counter[bytes]:
        commit = self._commits[place]
        entry = self._repository.trees.entry(commit.tree, path)
        if entry is None or entry.mode == SUBMODULE:
            return Counter()
        return Counter(self._repository.blob(entry.id).splitlines())
