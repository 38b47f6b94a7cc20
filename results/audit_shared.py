"""Audit the shared paths: what each landing did to them, and what they hold at the end."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from qodebase.edits import materialise
from qodebase.paths import CommitId, RepoPath
from qodebase.ports import JobAudit, Landing
from results.evidence import Evidence, NoChange
from results.findings import Check, Notebook
from results.history import Commit
from results.means import Means, ask
from results.repository import View


@dataclass(slots=True)
class _Stretch:
    """A shared path's history between two commits of other people that changed it."""

    start: CommitId
    end: CommitId | None = None
    landed: list[Commit] = field(default_factory=list)


class SharedAudit:
    """Follows the shared paths along main; other people's commits on them begin a new stretch, proved by itself."""

    def __init__(self, evidence: Evidence, means: Means, job: JobAudit | None) -> None:
        self._evidence = evidence
        self._job = job
        self._book = Notebook("shared paths")
        self._stretches = {shared.path: [_Stretch(evidence.history.base)] for shared in means.shared}

    def __contains__(self, path: RepoPath) -> bool:
        return path in self._stretches

    def landed(self, landing: Landing, commit: Commit, base: View, before: View, after: View) -> None:
        """Look at what a landing did to the shared paths that its change touches."""
        for path in landing.change.paths:
            if path not in self._stretches:
                continue
            self._stretches[path][-1].landed.append(commit)
            if before.entry(path) == base.entry(path):
                edit = materialise(landing.change, base, path.__eq__)[path]
                if after.entry(path) != (edit and edit.entry):
                    self._wrong("its content is not what its change makes", path, commit)
            if self._job is not None:
                fault = _edit_fault(self._job, landing, path, before, after)
                if fault:
                    self._wrong(fault, path, commit)

    def foreign(self, commit: Commit, paths: Iterator[RepoPath]) -> None:
        """Take a commit of somebody else as it is."""
        for path in paths:
            if path in self._stretches and commit.parent:
                self._stretches[path][-1].end = commit.parent
                self._stretches[path].append(_Stretch(commit.id))

    def check(self) -> Check:
        """Prove the whole of each shared path, and return everything that was found."""
        counted = []
        for path, stretches in self._stretches.items():
            landed = sum(len(stretch.landed) for stretch in stretches)
            words = [f"{path.text}: {landed} landings"]
            if self._job is not None:
                for stretch in stretches:
                    self._whole(self._job, path, stretch)
                words += [f"{count} {name}" for name, count in self._job.account(path).items()]
            counted.append(", ".join(words))
        return self._book.check("; ".join(counted) or "none")

    def _whole(self, job: JobAudit, path: RepoPath, stretch: _Stretch) -> None:
        end = stretch.end or self._evidence.history.tip
        base, final = self._read(stretch.start, path), self._read(end, path)
        for fault in job.shared_whole(path, base, final, self._landings(stretch)):
            self._book.wrong(fault, path=path)

    def _landings(self, stretch: _Stretch) -> Iterator[Landing]:
        for commit in stretch.landed:
            try:
                change = self._evidence.change(commit)
            except NoChange:
                continue
            if commit.parent is not None:
                intent = self._evidence.intents[commit.intent]
                yield Landing(intent=intent, change=change, commit=commit.id, parent=commit.parent)

    def _read(self, commit: CommitId, path: RepoPath) -> bytes | None:
        try:
            return self._evidence.repository.view(commit).read(path)
        except KeyError:
            return None

    def _wrong(self, message: str, path: RepoPath, commit: Commit) -> None:
        self._book.wrong(message, intents=(commit.intent,), commits=(commit.id,), path=path)


def _edit_fault(job: JobAudit, landing: Landing, path: RepoPath, before: View, after: View) -> str:
    return ask(lambda: job.shared_edit(landing, path, before, after))
