"""The revert job: an intent a landing, whose change leads from the landing's commit back to its parent."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from functools import cached_property
from pathlib import Path
from typing import Any

from fleet.given.difference import change_between, hunks_between
from fleet.given.job import GivenJob
from fleet.given.scratch import Scratch
from fleet.jobs.registry import code_digest
from fleet.jobs.revert.audit import RevertAudit
from fleet.jobs.revert.checks import checks_of_run
from fleet.jobs.revert.lines import kept_of
from fleet.jobs.revert.settings import Settings as RevertSettings
from fleet.jobs.revert.shards import Unfolding
from qodebase.change import SUBMODULE, Change, Patch
from qodebase.check import Check
from qodebase.errors import QodebaseError
from qodebase.intent import Ending, Given, Intent, Undone
from qodebase.paths import CommitId, RepoPath
from qodebase.ports import JobAudit, SharedPath, Tree
from qodebase.runs import digest_of
from qodebase.scratch import ScratchFolder
from qodebase.trailers import COMPOSE, INTENT, RUN
from qodebase.trunk.commits import CommitFacts


class NoLandings(QodebaseError):
    """Commits that cannot be undone, or none given."""


class Revert(GivenJob):
    """Undo landings (see `qodebase revert`); see `qodebase.ports.Job`."""

    name = "revert"
    Settings = RevertSettings

    def __init__(self, settings: RevertSettings) -> None:
        self._settings = settings
        self._git: Path | None = None
        self._scratch: Scratch | None = None
        self._unfolded: dict[str, CommitId] = {}
        self._held = ExitStack()

    @property
    def digest(self) -> str:
        """Return a digest of the job's code and settings."""
        settings: list[Any] = [getattr(self._settings, name) for name in RevertSettings.__slots__]
        return digest_of([[code_digest(sys.modules[name]) for name in ("fleet.given", "fleet.jobs.revert")], settings])

    @property
    def shared(self) -> tuple[SharedPath, ...]:
        """Return the shared paths with the rules that undo what landings did to them."""
        return tuple(
            SharedPath(path=RepoPath.parse(path), rule=rule)
            for rule, paths in self._settings.shared.items()
            for path in paths
        )

    def read_from(self, git: Path) -> None:
        """Read commits from this repository."""
        super().read_from(git)
        self._git = git

    def bring_to(self, git: Path) -> None:
        """Put the commits that stand for landings on shards into the run's repository."""
        if self._scratch is not None and self._unfolded:
            self._scratch.hand_over(self._unfolded, git)

    def close(self) -> None:
        """Close the repository, and remove the scratch."""
        super().close()
        self._held.close()

    def intents(self) -> Iterator[Intent]:
        """Yield an intent a commit, the newest first, each after those that it shares a path with.

        Raises:
            NoLandings: no commit was given, or one is not on the branch.
        """
        intents = []
        newest: dict[RepoPath, str] = {}
        names: set[str] = set()
        for commit, gone in self._chosen():
            intent = self._intent(commit, gone)
            if intent.id in names:
                intent = intent.called(f"{intent.id}@{commit.id[:12]}")
            names.add(intent.id)
            if intent.ending is Ending.PENDING:
                intent = intent.behind(newest[path] for path in intent.scope if path in newest)
                newest.update(dict.fromkeys(intent.scope, intent.id))
            intents.append(intent)
        yield from self._without_shards(intents)

    def checks(self) -> Mapping[str, Check]:
        """Declare those checks of the run that stay in force."""
        if not self._settings.checks:
            return {}
        assert self._git is not None, "the job was given no repository"
        return checks_of_run(Path(self._settings.of), self._settings.checks, self._git)

    def change(self, intent: Intent, given: Given, base: Tree) -> Change:
        """Return the inverse: what the landing did to its own paths, and its lines in the shared ones."""
        tip = self.tree(given.tip)
        own = change_between(base, tip, intent.scope)
        lines = []
        for path in sorted(set(self.differing(given.base, given.tip)) & self._shared_paths):
            landed = base.read(path) if base.entry(path) is not None else b""
            before = tip.read(path) if tip.entry(path) is not None else b""
            hunks = hunks_between(landed, kept_of(landed, before))
            if base.entry(path) is not None and hunks:
                lines.append(Patch(path=path, hunks=hunks))
        return Change(base=own.base, operations=(*own.operations, *lines))

    def audit(self) -> JobAudit:
        """Return the audit that each landing is the inverse of the one that it names."""
        return RevertAudit(
            self.tree, self.differing, parent=self._parent, shared=self._shared_paths, shards=self._shards
        )

    def _parent(self, commit: CommitId) -> CommitId:
        return self.reader.commit(commit).parents[0]

    @cached_property
    def _shared_paths(self) -> frozenset[RepoPath]:
        return frozenset(one.path for one in self.shared)

    @cached_property
    def _shards(self) -> dict[RepoPath, RepoPath]:
        """Return the shared path that each shard was folded into."""
        return {
            RepoPath.parse(shard): RepoPath.parse(path)
            for path, shards in self._settings.shards.items()
            for shard in shards
        }

    def _chosen(self) -> Iterator[tuple[CommitFacts, str]]:
        """Yield the commits to undo, the newest first, each with the commit that undid it already, if one did."""
        wanted = dict.fromkeys(self._settings.undo)
        if not wanted:
            raise NoLandings("which landings?", hint="Select some: `qodebase revert RUN --lane NAME`; see its --help.")
        undone: dict[str, str] = {}
        for commit in self.reader.log(self.base.commit):
            if commit.id not in undone:
                undone.update(dict.fromkeys(commit.reverts, commit.id))
            found = next((name for name in wanted if commit.id.startswith(name)), None)
            if found is not None:
                del wanted[found]
                yield commit, undone.get(commit.id, "")
                if not wanted:
                    return
        raise NoLandings(
            f"{len(wanted)} of the commits are not on the branch, {next(iter(wanted))} first",
            hint="Only what a branch holds can be undone on it.",
        )

    def _intent(self, commit: CommitFacts, gone: str) -> Intent:
        words = dict(commit.trailers)
        landed = words.get(INTENT, "")
        subject = commit.message.partition("\n")[0].strip()
        undone = Undone(commit=commit.id, run=words.get(RUN, ""), intent=landed)
        intent = Intent(
            id=f"undo:{landed or commit.id[:12]}",
            asked=f'Undo "{subject}"\n\nThis reverts commit {commit.id}.',
            scope=(),
        )
        if gone:
            return intent.ended(Ending.SKIPPED, f"undone already, by {gone[:12]}")
        if not commit.parents:
            return intent.ended(Ending.REFUSED, "it is the first commit of its history")
        if COMPOSE in words:
            return intent.ended(Ending.REFUSED, "it folds shards, and lands nothing")
        given = Given(base=commit.id, tip=commit.parents[0], undoes=undone)
        paths = self.differing(given.base, given.tip)
        own = [path for path in paths if path not in self._shared_paths and path not in self._shards]
        intent = intent.aimed(own).giving(given)
        if not paths:
            return intent.ended(Ending.SKIPPED, "it changed nothing")
        trees = self.tree(given.base), self.tree(given.tip)
        for path in paths:
            if any(entry is not None and entry.mode == SUBMODULE for entry in (tree.entry(path) for tree in trees)):
                return intent.ended(Ending.REFUSED, f"it changed the submodule {path.text}")
        return intent

    def _without_shards(self, intents: list[Intent]) -> list[Intent]:
        """Return the intents with commits that stand for those of landings whose shards were folded since."""
        unfolding = Unfolding(self.tree, self.differing, self.base, self._shards)
        givens = {one.id: one.given for one in intents if one.ending is Ending.PENDING and one.given is not None}
        folded = {id: given for id, given in givens.items() if unfolding.concerns(given)}
        if not folded:
            return intents
        assert self._git is not None, "the job was given no repository"
        folder = self._held.enter_context(ScratchFolder("changes"))
        self._scratch = Scratch(folder, self._git)
        made = unfolding.made(list(folded.values()), self._scratch)
        super().read_from(folder)
        instead = dict(zip(folded, made, strict=True))
        self._unfolded = {str(number): given.tip for number, given in enumerate(made)}
        return [one.giving(instead[one.id]) if one.id in instead else one for one in intents]
