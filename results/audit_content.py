"""Audit what the landings did: each commit again from its parent and its journalled change, one after the other.

Nothing is taken from what landed: the expected content of a path is the journalled change laid on its own base, or,
where main had moved, the journalled replay done again on the parent. Where main renamed a file that a change edits, the
rename is found again in the commits between its base and the parent. What cannot be done again is counted and named.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from qodebase.change import Change
from qodebase.collision import Declined, Entry
from qodebase.edits import BadChange, Edit, materialise
from qodebase.intent import Intent
from qodebase.paths import CommitId, RepoPath
from qodebase.ports import Landing
from qodebase.record import Record
from qodebase.trunk.objects import MissingObject
from replay_rules.placing import Place, placed
from results.audit_shared import SharedAudit
from results.evidence import Evidence, NoChange
from results.findings import Check, Notebook
from results.history import Commit
from results.main_line import MainLine
from results.means import Means, ask
from results.repository import View
from results.trail import Trail
from results.tree_diff import Differs

Diff = Mapping[RepoPath, Differs]

_SMALL = 8
"""So many paths a commit changes, whose contents will all be read."""


class ContentAudit:
    """Goes along main from the base: `see` takes every commit in order, `checks` gives the outcome."""

    def __init__(self, evidence: Evidence, means: Means, records: Mapping[CommitId, Record]) -> None:
        self._evidence = evidence
        self._records = records
        self._repository = evidence.repository
        self._means = means
        self._landed = {str(commit.id): commit.intent for commit in evidence.history.ours}
        self._composed = {commit.id for commit in evidence.history.composed}
        self._content = Notebook("content")
        self._promise = Notebook("promise")
        self._foreign = Notebook("foreign")
        self._undone = Notebook("reverted")
        self._undoing = {commit.id for commit in evidence.history.undoing}
        self._base = self._repository.view(evidence.history.base)
        self._line = MainLine(self._repository, self._base)
        self._before = self._line.view(self._base.commit)
        self._diffs = self._differences()
        self._job = means.job(self._before) if means.job else None
        self._shared = SharedAudit(evidence, means, self._job)
        self._apart = frozenset(shared.path for shared in means.shared)
        self._trail = Trail(evidence.history.base, self._apart)
        self._expected: dict[RepoPath, Entry | None] = {}
        self._changed_by: dict[RepoPath, list[str]] = {}
        self._landings = self._same = self._redone = self._not_redone = 0

    def see(self, commit: Commit) -> None:
        """Look at the next commit of main."""
        diff = next(self._diffs)
        after = self._line.add(commit, diff)
        if commit.id in self._landed:
            self._see_landing(commit, after, diff)
        elif commit.id in self._composed and self._job is None:
            self._take(commit, diff)
        elif commit.id in self._composed:
            self._shared.composed(commit, self._before, after, diff)
        else:
            self._see_foreign(commit, diff)
        gone = [path for path, differs in diff.items() if differs.after is None]
        self._trail.see(self._before, after, gone, diff)
        self._before = after

    def checks(self) -> list[Check]:
        """Return what was found, the whole of each shared path and the final tree included."""
        redone = f", {self._not_redone} taken as they are" if self._not_redone else ""
        content = f"{self._same} paths as the change makes them, {self._redone} redone again{redone}"
        return [
            self._content.check(f"{self._landings} landings: {content}"),
            self._shared.check(),
            self._promise.check(f"{self._landings if self._job else 0} landings"),
            self._final_tree(),
            self._foreign.check(f"{len(self._evidence.history.foreign)} commits"),
            *([self._undone.check(f"{len(self._undoing)} commits of other runs")] if self._undoing else []),
        ]

    @property
    def not_checked(self) -> list[str]:
        """Return in words what could not be checked."""
        missing = []
        if self._job is None:
            missing.append(
                "the job's own promise, that changes keep to the scopes of their intents, and the whole of the shared "
                "paths: the job is not at hand"
            )
        if self._not_redone:
            missing.append(f"{self._not_redone} paths that were redone: the replay ladder is not at hand")
        return missing

    def _differences(self) -> Iterator[Diff]:
        """Yield what each commit of main changed; the contents of small changes are on their way by then."""
        trees = (self._base.tree, *(commit.tree for commit in self._evidence.history.commits))
        for some in self._repository.trees.diffs(trees):
            self._repository.ask_for(diff for diff in some if len(diff) <= _SMALL)
            yield from some

    def _see_landing(self, commit: Commit, after: View, diff: Diff) -> None:
        self._landings += 1
        intent = self._evidence.intents.get(commit.intent)
        if intent is None:
            self._take(commit, diff)
            return
        try:
            change = self._evidence.change(commit)
            base = self._line.view(change.base)
            own = materialise(change, base, lambda path: path not in self._shared)
        except (NoChange, BadChange) as error:
            self._wrong(self._content, commit, str(error))
            self._take(commit, diff)
            return
        except MissingObject:
            self._wrong(self._content, commit, "its change was made on a commit that the repository does not hold")
            self._take(commit, diff)
            return
        self._trail.beside(base, self._base, lambda: self._repository.trees.diff(base.tree, self._base.tree))
        places = self._places(change, own, base)
        touched = {*own, *(path for place in places if not place.why for path in place.touched)}
        for path in diff:
            if path not in touched and not (path in self._shared and path in change.paths):
                self._wrong(self._content, commit, "it changed a path that its change does not touch", path)
        self._check_scope(commit, intent, change, base)
        record = self._records.get(commit.id)
        if record is not None and record.symbols != change.symbols:
            self._wrong(self._content, commit, "its note names other symbols than its change")
        for place in places:
            for path, due in self._due(commit, place, after).items():
                self._compare(commit, path, due, after.entry(path))
        moved = self._trail.moved(intent, self._before)
        landing = Landing(
            intent=intent,
            change=change,
            commit=commit.id,
            parent=self._before.commit,
            moved=moved,
            attempt=1 if record is None else record.attempt,
        )
        self._shared.landed(landing, commit, base, self._before, after)
        self._prove(landing, commit, after)

    def _places(self, change: Change, own: Mapping[RepoPath, Edit | None], base: View) -> list[Place]:
        return placed(
            change,
            own,
            base,
            self._before,
            lambda path: self._trail.where(path, change.base),
            shared=self._apart,
            idempotent=self._means.idempotent,
        )

    def _check_scope(self, commit: Commit, intent: Intent, change: Change, base: View) -> None:
        """Let a change edit nothing but its intent's scope, where its base has that, and shared paths.

        Only the job says which those are.
        """
        if self._job is None:
            return
        allowed = {*intent.scope, *self._trail.moved(intent, base).values()}
        for path in change.paths:
            if path not in allowed and path not in self._shared:
                self._wrong(self._content, commit, "its change edits a path outside of its intent's scope", path)

    def _due(self, commit: Commit, place: Place, after: View) -> dict[RepoPath, Entry | None]:
        """Return what the commit must hold at one of its own paths, and at the place that a rename took it to."""
        due = {path: self._before.entry(path) for path in place.touched}
        found = {path: after.entry(path) for path in place.touched}
        if place.why:
            self._wrong(
                self._content, commit, f"main had moved under it, and it cannot follow: {place.why}", place.path
            )
            return found
        if place.collision is None:
            self._same += 1
            return due | _entries(place.edits(place.edit, self._before))
        collided = self._evidence.collided.get((commit.intent, commit.attempt, commit.replay, place.path))
        by = collided.resolved_by if collided else ""
        if not by and self._alike(place):
            return due
        if collided is None or not by:
            self._wrong(self._content, commit, "main had moved under it, and the journal names no replay", place.path)
            return found
        if (collided.moved_to or place.path) != place.target:
            message = f"main's commits have the file at {place.target.text}, and the journal at {collided.where}"
            self._wrong(self._content, commit, message, place.path)
        if self._means.redo is None:
            self._not_redone += 1
            return found
        outcome = self._means.redo(place.collision, by)
        if isinstance(outcome, Declined):
            message = f"redone by {by}, which now declines it: {outcome.why}"
            self._wrong(self._content, commit, message, place.path)
            return found
        self._redone += 1
        return due | _entries(place.edits(Edit(outcome.mode, outcome.content), self._before))

    def _alike(self, place: Place) -> bool:
        """Return whether main holds what the change makes already, where that is meant once."""
        wanted = None if place.edit is None else place.edit.entry
        return self._before.entry(place.target) == wanted and self._means.idempotent(place.target)

    def _compare(self, commit: Commit, path: RepoPath, due: Entry | None, found: Entry | None) -> None:
        self._expected[path] = due
        self._changed_by.setdefault(path, []).append(commit.intent)
        if found == due:
            return
        if found is None or due is None:
            message = "its change keeps this path, and it is gone" if found is None else "its change deletes this path"
        elif found.id != due.id:
            message = "its content is not what its change makes"
        else:
            message = f"its file mode is {found.mode:o}, and its change makes {due.mode:o}"
        self._wrong(self._content, commit, message, path)

    def _prove(self, landing: Landing, commit: Commit, after: View) -> None:
        job, before, full = self._job, self._before, self._means.full
        if job is None:
            return
        fault = ask(lambda: job.proof(landing, before, after, full=full))
        if fault:
            self._wrong(self._promise, commit, fault)

    def _see_foreign(self, commit: Commit, diff: Diff) -> None:
        self._shared.foreign(commit, iter(diff))
        if commit.id in self._undoing:
            undone = (self._landed[commit.undoes],)
            self._undone.note(f"undone by the run {commit.run}", intents=undone, commits=(commit.id,))
            self._take(commit, diff, landed=False)
            return
        intents = dict.fromkeys(intent for path in diff for intent in self._changed_by.get(path, ()))
        self._foreign.note(f"{commit.id} changed {len(diff)} paths", intents=intents, commits=(commit.id,))
        self._take(commit, diff)

    def _take(self, commit: Commit, diff: Diff, *, landed: bool = True) -> None:
        """Expect what a commit did that no journalled change accounts for; it was named where it was met."""
        for path, differs in diff.items():
            self._expected[path] = differs.after
            if commit.intent and landed:
                self._changed_by.setdefault(path, []).append(commit.intent)

    def _final_tree(self) -> Check:
        """Compare the tip's tree with the base and all that was due, shared paths left out."""
        book = Notebook("final tree")
        base = self._repository.view(self._evidence.history.base)
        actual = self._repository.trees.diff(base.tree, self._before.tree)
        for path in sorted(actual.keys() | self._expected.keys()):
            if path in self._shared:
                continue
            due = self._expected.get(path, base.entry(path))
            found = actual[path].after if path in actual else base.entry(path)
            if due != found:
                message = "main does not hold what the base and the journalled changes make"
                book.wrong(message, intents=self._changed_by.get(path, ()), path=path)
        return book.check(f"{len(actual)} paths differ from the base")

    def _wrong(self, book: Notebook, commit: Commit, message: str, path: RepoPath | None = None) -> None:
        book.wrong(message, intents=(commit.intent,), commits=(commit.id,), path=path)


def _entries(edits: Mapping[RepoPath, Edit | None]) -> dict[RepoPath, Entry | None]:
    return {path: None if edit is None else edit.entry for path, edit in edits.items()}
