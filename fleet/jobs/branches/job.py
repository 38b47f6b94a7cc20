"""The branches job: an intent a branch or patch file, its change against the commit that it was made on."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from fleet.given.job import GivenJob
from fleet.given.scratch import Scratch
from fleet.jobs.branches.patches import patch_files, patch_work
from fleet.jobs.branches.settings import Settings as BranchesSettings
from fleet.jobs.branches.work import Work, branch_work
from fleet.jobs.registry import code_digest
from qodebase.check import Check
from qodebase.collision import Entry
from qodebase.errors import QodebaseError
from qodebase.intent import Ending, Intent
from qodebase.paths import CommitId, RepoPath
from qodebase.runs import digest_of
from qodebase.scratch import ScratchFolder

_EVERY = "checks"
_NAMED = 20


class NoBranches(QodebaseError):
    """Patterns that no branch matches, or none given."""


class Branches(GivenJob):
    """Land branches and patch files that exist already; see `qodebase.ports.Job`."""

    name = "branches"
    Settings = BranchesSettings

    def __init__(self, settings: BranchesSettings) -> None:
        self._settings = settings
        self._git: Path | None = None
        self._given: dict[str, CommitId] = {}
        self._scratch: Scratch | None = None
        self._held = ExitStack()

    @property
    def digest(self) -> str:
        """Return a digest of the job's code and settings."""
        settings: list[Any] = [getattr(self._settings, name) for name in BranchesSettings.__slots__]
        code = [code_digest(sys.modules[name]) for name in ("fleet.given", "fleet.jobs.branches")]
        return digest_of([code, settings])

    def read_from(self, git: Path) -> None:
        """Read commits from this repository."""
        super().read_from(git)
        self._git = git

    def close(self) -> None:
        """Close the repository, and remove the scratch."""
        super().close()
        self._held.close()

    def intents(self) -> Iterator[Intent]:
        """Yield the branches by age, then the patch files by name; what has nothing to land has ended.

        Raises:
            NoBranches: a pattern matches no branch, or there is neither a pattern nor a folder of patches.
            NoPatches: the folder holds none.
        """
        if not self._settings.branches and not self._settings.patches:
            hint = "Give --branches 'agent/*', or --patches DIR."
            raise NoBranches("which branches, or which patches, shall land?", hint=hint)
        scratch = self._scratch = self._open_scratch()
        seen: dict[CommitId, str] = {}
        for work in self._works(scratch):
            intent = self._intent(scratch, work)
            given = intent.given
            if given is not None and intent.ending is Ending.PENDING:
                first = seen.setdefault(given.tip, work.name)
                if first != work.name:
                    intent = intent.ended(Ending.SKIPPED, f"the same commit as {first}")
                else:
                    self._given[str(len(self._given))] = given.tip
            yield intent

    def checks(self) -> Mapping[str, Check]:
        """Declare the command for all, and those of each pattern."""
        return {name: Check(command=("sh", "-c", command)) for name, _, command in self._commands()}

    def bring_to(self, git: Path) -> None:
        """Put the branches' commits into the run's repository, where nothing moves them."""
        if self._scratch is not None and self._given:
            self._scratch.hand_over(self._given, git)

    def idempotent(self, path: RepoPath) -> bool:
        """Say whether what two of them make alike is meant once."""
        return self._settings.alike

    def _open_scratch(self) -> Scratch:
        assert self._git is not None, "the job was given no repository"
        folder = self._held.enter_context(ScratchFolder("changes"))
        return Scratch(folder, self._git)

    def _works(self, scratch: Scratch) -> Iterator[Work]:
        for name, tip in self._chosen(scratch):
            yield branch_work(scratch, name, tip, self.base.commit)
        for file in patch_files(Path(self._settings.patches)) if self._settings.patches else ():
            yield patch_work(scratch, file, self.base.commit)

    def _chosen(self, scratch: Scratch) -> list[tuple[str, CommitId]]:
        refs = scratch.refs()
        for pattern in self._settings.branches:
            if not any(fnmatchcase(name, pattern) for name, _ in refs):
                there = ", ".join(name for name, _ in refs[:_NAMED]) or "none"
                raise NoBranches(f"no branch matches {pattern!r}", hint=f"Branches there: {there}.")
        return [ref for ref in refs if any(fnmatchcase(ref[0], pattern) for pattern in self._settings.branches)]

    def _intent(self, scratch: Scratch, work: Work) -> Intent:
        intent = Intent(
            id=work.id,
            asked=work.asked,
            scope=(),
            checks=tuple(name for name, pattern, _ in self._commands() if fnmatchcase(work.name, pattern)),
            given=work.given,
            ending=work.ending,
            reason=work.why,
        )
        if work.given is None:
            return intent
        differences = scratch.differences(work.given.base, work.given.tip)
        intent = intent.aimed(one.path for one in differences)
        submodule = next((one.path for one in differences if one.is_submodule), None)
        if not differences:
            return intent.ended(Ending.SKIPPED, "empty: it changes nothing")
        if submodule is not None:
            return intent.ended(Ending.REFUSED, f"it changes the submodule {submodule.text}")
        if all(self.base.entry(one.path) == (Entry(one.mode, one.id) if one.mode else None) for one in differences):
            return intent.ended(Ending.SKIPPED, "the branch that it should land on holds all of it already")
        return intent

    def _commands(self) -> Iterator[tuple[str, str, str]]:
        """Yield every check's name, whose work it judges, and its command."""
        if self._settings.checks:
            yield _EVERY, "*", self._settings.checks
        for pattern, commands in self._settings.own_checks.items():
            for number, command in enumerate(commands, 1):
                yield f"checks of {pattern}" + (f" ({number})" if number > 1 else ""), pattern, command
