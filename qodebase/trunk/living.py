"""A trunk whose main follows a living branch of another repository, which others push to as well.

The branch elsewhere decides. Before a batch, main is brought to it, and what others pushed counts as main having
moved; then the batch lands here and is pushed with a lease, branch and notes together. Where the lease is lost the
batch is taken back here and lands again on what is there now, so nobody hears of a landing that is not on the branch.
On opening, landings that the branch does not hold are taken back: a killed process has told nobody of them.
"""

from __future__ import annotations

import random
import re
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import ClassVar, Self, TypeVar

from qodebase.errors import QodebaseError
from qodebase.git_environment import git_environment
from qodebase.paths import CommitId
from qodebase.trunk.batch import Landed, Landing, Moved, Push, Redo
from qodebase.trunk.files import Files
from qodebase.trunk.following import Following
from qodebase.trunk.history import reaches
from qodebase.trunk.landing import Trunk, nothing
from qodebase.trunk.refs import NOTES_REF, RefBusy
from qodebase.trunk.remote import NotReached, Pair, Remote

T = TypeVar("T")

_TRIES = 20
_CALLS = 5
_LONGEST_PAUSE_S = 3.0
_SHORT_PAUSE_S = 0.02
_RACED = re.compile(r"\block\b|stale info|failed to update ref|fetch first")
"""What git says of a branch that somebody else is about to move, or has moved."""


class PushRefused(QodebaseError):
    """A push that the other repository does not take, and that nobody was ahead of."""

    exit_code = 3


class BranchKeepsMoving(QodebaseError):
    """A branch that others pushed to before us at every try."""

    exit_code = 3


class LivingTrunk(Trunk):
    """Land on a copy and push each batch; made by `onto`."""

    living: ClassVar[bool] = True
    _remote: Remote
    _following: Following
    _there: Pair
    _pushes: list[Push]

    @classmethod
    def onto(
        cls,
        repository: Path,
        *,
        branch: str,
        run: str,
        base: str,
        place: str,
        land_on: str,
        reached_as: Path | None = None,
        _files: Files | None = None,
    ) -> Self:
        """Open the copy's trunk and bring its main to the branch elsewhere.

        Args:
            repository, branch, run: as for `Trunk.open`.
            base: the commit that the run started from.
            place: the other repository, a path or an address that git can push to.
            land_on: the branch there; it need not exist yet.
            reached_as: see `Remote`.

        Raises:
            NotReached, StillPushing, CheckedOut, BranchRewritten: it cannot be landed on.
        """
        trunk = cls.open(repository, branch=branch, run=run, _files=_files)
        try:
            trunk._pushes = []
            trunk._there = Pair(None, None)
            trunk._remote = remote = Remote(trunk._folders.git, place, land_on, reached_as=reached_as)
            trunk._following = Following(remote, trunk._objects, trunk._files, trunk._folders, run=run, base=base)
            remote.check_free()
            remote.wait_for_others(trunk._files)
            trunk._move_to(trunk._look(), opening=True)
        except BaseException:
            trunk.close()
            raise
        return trunk

    def refresh(self) -> CommitId:
        """Bring main to where the branch is now, and return its tip."""
        self._follow()
        return super().refresh()

    def pushed(self) -> list[Push]:
        """Return what was pushed since the last call."""
        pushes, self._pushes = self._pushes, []
        return pushes

    def land(self, batch: Sequence[Landing], redo: Redo, again: Callable[[], None] = nothing) -> list[Landed | Moved]:
        """Land as `Trunk.land` does, on the branch elsewhere too: what comes back as landed is there.

        Raises:
            PushRefused, BranchRewritten, CheckedOut, NotReached: it cannot be pushed; the next opening brings main to
                the branch.
            BranchKeepsMoving: others were faster at every try.
        """
        refused = ""
        for attempt in range(_TRIES):
            if attempt:
                # Two runs that lost to each other must not go on in step.
                self._files.pause(_SHORT_PAUSE_S * attempt * random.uniform(0.1, 1.0))
                again()
            with self._remote.turn():
                self._follow()
                before = self._here()
                results = super().land(batch, redo, again)
                if self._here() == before:
                    return results
                refused = self._push(before)
            if not refused:
                landings = sum(isinstance(result, Landed) for result in results)
                push = Push(tip=self.tip, notes=self._tips.notes or "", landings=landings, tries=attempt + 1)
                self._pushes.append(push)
                return results
        raise BranchKeepsMoving(
            f"{self._remote.name}: others were faster at each of {_TRIES} tries: {refused}",
            hint="Nothing is lost: resume when fewer push to it, or start a run with --land-on another branch.",
        )

    def _here(self) -> Pair:
        return Pair(self._tips.main, self._tips.notes)

    def _push(self, before: Pair) -> str:
        """Push; return nothing where the branch holds it.

        Where somebody else was faster main is taken back to ``before``, and what git said is returned.

        Raises:
            PushRefused: nobody was faster, and it was not taken all the same; main is taken back.
        """
        self._remote.check_free()
        here = self._here()
        refused = self._remote.push(here, self._there)
        if refused:
            there = self._look()
            moved = there != self._there
            if not moved or not self._holds(self._fetch(there).branch, here.branch, before.branch):
                self._set(before)
                if not moved and not _RACED.search(refused):
                    raise PushRefused(
                        f"{self._remote.name} does not take what is pushed: {refused}",
                        hint="Nothing is lost: mend that (a hook, a rule for the branch, your rights), then resume.",
                    )
                return refused
        self._there = here
        return ""

    def _holds(self, there: str | None, commit: str | None, before: str | None) -> bool:
        """Return whether a branch holds a commit that was landed on ``before``."""
        if there is None or commit is None:
            return False
        return reaches(self._objects, self._folders.git, there, commit, before)

    def _follow(self) -> None:
        there = self._look()
        if there != self._there:
            self._move_to(there)

    def _move_to(self, there: Pair, *, opening: bool = False) -> None:
        """Bring main and notes to the branch and the notes elsewhere."""
        there = self._fetch(there)
        main = self._following.main(self._tips.main, there.branch, self._there.branch, opening=opening)
        notes = self._following.notes(self._tips.notes, there.notes, main, opening=opening)
        self._set(Pair(main, notes))
        self._following.let_go()
        self._there = there

    def _look(self) -> Pair:
        return self._patiently(self._remote.look)

    def _fetch(self, there: Pair) -> Pair:
        return self._patiently(lambda: self._remote.fetch(there))

    def _patiently(self, call: Callable[[], T]) -> T:
        """Call again where the other repository could not be reached, a few times."""
        for attempt in range(1, _CALLS):
            try:
                return call()
            except NotReached:
                self._files.pause(min(_LONGEST_PAUSE_S, 0.1 * 3**attempt) * random.uniform(0.3, 1.0))
        return call()

    def _set(self, new: Pair) -> None:
        """Move main and notes of the copy, which nobody else moves."""
        lines = []
        for ref, old, id in ((NOTES_REF, self._tips.notes, new.notes), (self.branch, self._tips.main, new.branch)):
            if old != id:
                lines.append(f"update {ref} {id} {old or '0' * 40}\n" if id else f"delete {ref} {old}\n")
        if not lines:
            return
        command = ["git", f"--git-dir={self._folders.git}", "update-ref", "--stdin"]
        given = "".join(lines).encode()
        done = subprocess.run(command, env=git_environment(), input=given, capture_output=True, check=False)
        if done.returncode:
            said = done.stderr.decode(errors="replace").strip()
            raise RefBusy(f"{self._folders.git}: {said}", hint="Nobody else may write to the run's copy; then resume.")
        self._tips.catch_up()
