"""Audit the shared paths: what each landing did to them, what they hold at the end, and what was composed of shards."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from qodebase.change import REGULAR
from qodebase.collision import Declined
from qodebase.edits import materialise
from qodebase.paths import CommitId, RepoPath
from qodebase.ports import JobAudit, Landing, SharedPath
from replay_rules.folding import fold
from results.evidence import Evidence, NoChange
from results.findings import Check, Notebook
from results.history import Commit
from results.means import Means, ask
from results.repository import View
from results.tree_diff import Differs


@dataclass(slots=True)
class _Stretch:
    """A shared path's history between two commits that began it anew: other people's, or one that composed it."""

    start: CommitId
    end: CommitId | None = None
    landed: list[Commit] = field(default_factory=list)


class SharedAudit:
    """Follows the shared paths along main; other people's commits on them begin a new stretch, proved by itself.

    A commit that composes a path ends the stretches of its shards. What the path must hold then is computed from the
    stretches' starts and the journalled changes of the landings in them; that the shards held the same is a proof of
    its own.
    """

    def __init__(self, evidence: Evidence, means: Means, job: JobAudit | None) -> None:
        self._evidence = evidence
        self._job = job
        self._book = Notebook("shared paths")
        self._shards: dict[RepoPath, list[SharedPath]] = {}
        for shared in means.shared:
            if shared.compose_into is not None:
                self._shards.setdefault(shared.compose_into, []).append(shared)
        paths = [shared.path for shared in means.shared]
        self._stretches = {path: [_Stretch(evidence.history.base)] for path in (*paths, *self._shards)}
        self._counted: dict[RepoPath, list[str]] = {}
        self._composed: dict[RepoPath, int] = dict.fromkeys(self._shards, 0)

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
                self._begin(path, commit)

    def composed(self, commit: Commit, before: View, after: View, diff: Mapping[RepoPath, Differs]) -> None:
        """Look at a commit of the run that composes a path of its shards."""
        target = next((path for path in self._shards if path.text == commit.composes), None)
        if target is None:
            self._book.wrong(f"it composes {commit.composes}, which the job does not", commits=(commit.id,))
            return
        shards = self._shards[target]
        for path in diff:
            if path != target and path not in {shard.path for shard in shards}:
                self._wrong("it composes another path, and changed this one", path, commit)
        for shard in shards:
            if after.entry(shard.path) is not None:
                self._wrong("a shard is left", shard.path, commit)
        landed = [one for shard in shards for one in self._stretches[shard.path][-1].landed]
        if not landed:
            self._wrong("it was composed again, and nothing had landed on its shards", target, commit)
        self._prove_folded(target, shards, commit, before, after)
        self._prove_whole(target, shards, landed, after)
        self._composed[target] += 1
        for path in (target, *(shard.path for shard in shards)):
            self._begin(path, commit)

    def check(self) -> Check:
        """Prove the whole of each shared path, and return everything that was found."""
        for path, stretches in self._stretches.items():
            if self._job is not None and path not in self._shards:
                for stretch in stretches:
                    self._whole(self._job, path, stretch)
        for target, shards in self._shards.items():
            waiting = [shard.path for shard in shards if self._stretches[shard.path][-1].landed]
            if waiting and self._evidence.state.stopped == "ended":
                self._book.wrong(f"the run has ended, and {len(waiting)} shards were not composed", path=target)
        self._check_journal()
        return self._book.check("; ".join(self._words()) or "none")

    def _words(self) -> Iterator[str]:
        """Yield what was counted for each path; the shards of one path are counted together."""
        together = {shard.path: target for target, shards in self._shards.items() for shard in shards}
        for path, stretches in self._stretches.items():
            if path in together or path in self._shards:
                continue
            yield ", ".join([f"{path.text}: {_landings(stretches)} landings", *self._counted.get(path, ())])
        for target, shards in self._shards.items():
            landed = sum(_landings(self._stretches[shard.path]) for shard in shards)
            used = sum(_landings(self._stretches[shard.path]) > 0 for shard in shards)
            state = "composed" if self._composed[target] else "not composed"
            told = [f"{target.text}: {landed} landings in {used} shards, {state}", *self._counted.get(target, ())]
            yield ", ".join(told)

    def _prove_folded(
        self, target: RepoPath, shards: Sequence[SharedPath], commit: Commit, before: View, after: View
    ) -> None:
        """Fold again what main held before the commit."""
        entry, was = after.entry(target), before.entry(target)
        if entry is None or entry.mode != (was.mode if was else REGULAR):
            self._wrong("it is not there, or its file mode changed", target, commit)
            return
        parts = [path for path in (target, *(shard.path for shard in shards)) if before.entry(path) is not None]
        folded = fold(target, [before.read(path) for path in parts], shards[0].rule) if parts else Declined(why="")
        if folded != after.read(target):
            why = f": {folded.why}" if isinstance(folded, Declined) else ""
            self._wrong(f"it is not what its rule makes of the shards{why}", target, commit)

    def _prove_whole(self, target: RepoPath, shards: Sequence[SharedPath], landed: list[Commit], after: View) -> None:
        """Compare what was composed with what the base, other people's commits and the journalled changes make."""
        if self._job is None:
            return
        paths = (target, *(shard.path for shard in shards))
        starts = [self._read(self._stretches[path][-1].start, path) for path in paths]
        known = [content for content in starts if content is not None]
        base = fold(target, known, shards[0].rule) if known else None
        if isinstance(base, Declined):
            self._book.wrong(f"what it began with cannot be folded: {base.why}", path=target)
            return
        final = after.read(target) if after.entry(target) is not None else None
        for fault in self._job.shared_whole(target, base, final, self._landings(landed)):
            self._book.wrong(fault, path=target)
        self._count(self._job, target)

    def _check_journal(self) -> None:
        """Compare the composing commits with those that the journal names."""
        there = {commit.id for commit in self._evidence.history.composed}
        told = set(self._evidence.state.composed)
        if told - there:
            self._book.wrong("the journal names composing commits that are not on main", commits=sorted(told - there))
        if there - told and not self._evidence.unfinished:
            self._book.wrong("composing commits that the journal does not name", commits=sorted(there - told))

    def _begin(self, path: RepoPath, commit: Commit) -> None:
        self._stretches[path][-1].end = commit.parent
        self._stretches[path].append(_Stretch(commit.id))

    def _whole(self, job: JobAudit, path: RepoPath, stretch: _Stretch) -> None:
        end = stretch.end or self._evidence.history.tip
        base, final = self._read(stretch.start, path), self._read(end, path)
        for fault in job.shared_whole(path, base, final, self._landings(stretch.landed)):
            self._book.wrong(fault, path=path)
        self._count(job, path)

    def _count(self, job: JobAudit, path: RepoPath) -> None:
        self._counted[path] = [f"{count} {name}" for name, count in job.account(path).items()]

    def _landings(self, landed: Sequence[Commit]) -> Iterator[Landing]:
        for commit in landed:
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
        intents = (commit.intent,) if commit.intent else ()
        self._book.wrong(message, intents=intents, commits=(commit.id,), path=path)


def _landings(stretches: Sequence[_Stretch]) -> int:
    return sum(len(stretch.landed) for stretch in stretches)


def _edit_fault(job: JobAudit, landing: Landing, path: RepoPath, before: View, after: View) -> str:
    return ask(lambda: job.shared_edit(landing, path, before, after))
