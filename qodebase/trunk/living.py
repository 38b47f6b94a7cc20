"""A trunk whose main follows a living branch of another repository, which others push to as well.

The branch elsewhere decides. Before a batch, main is brought to it, and what others pushed counts as main having moved;
then the batch lands here and is pushed with a lease, branch and notes together. Where the lease is lost the batch is
taken back here and lands again on what is there now, so nobody hears of a landing that is not on the branch. On opening,
landings that the branch does not hold are taken back: a killed process has told nobody of them.

Main's first parents stay a line through everything that landed. Where others merged our commits into theirs (``git
pull`` does), one commit joins what they pushed to that line, with their tree and both as parents.
"""

from __future__ import annotations

import random
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import ClassVar, Self, TypeVar

from qodebase.errors import QodebaseError
from qodebase.paths import CommitId
from qodebase.trailers import JOINS, RUN
from qodebase.trunk.batch import Landed, Landing, Moved, Push, Redo
from qodebase.trunk.commits import EXPECTS, CommitFacts, commit_bytes, message_bytes
from qodebase.trunk.compaction import git_environment
from qodebase.trunk.files import Files
from qodebase.trunk.history import read_commit
from qodebase.trunk.landing import Trunk, nothing
from qodebase.trunk.notes import add_notes_commit, notes_tree, united
from qodebase.trunk.objects import COMMIT, hash_object
from qodebase.trunk.pack import PackWriter
from qodebase.trunk.refs import NOTES_REF, RefBusy
from qodebase.trunk.remote import NotReached, Pair, Remote

T = TypeVar("T")

_TRIES = 20
_CALLS = 5
_FIRST_PAUSE_S = 0.02
_LONGEST_PAUSE_S = 3.0
_WHO = b"qodebase <qodebase@qodebase.invalid>"


class PushRefused(QodebaseError):
    """A push that the other repository does not take, and that nobody was ahead of."""

    exit_code = 3


class BranchKeepsMoving(QodebaseError):
    """A branch that others pushed to before us at every try."""

    exit_code = 3


class BranchRewritten(QodebaseError):
    """A branch that does not hold what it held, or what the run starts from."""

    exit_code = 3


class LivingTrunk(Trunk):
    """Land on a copy and push each batch; made by `onto`."""

    living: ClassVar[bool] = True
    _remote: Remote
    _base: str
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
        _files: Files | None = None,
    ) -> Self:
        """Open the copy's trunk and bring its main to the branch elsewhere.

        Args:
            repository, branch, run: as for `Trunk.open`.
            base: the commit that the run started from.
            place: the other repository, a path or an address that git can push to.
            land_on: the branch there; it need not exist yet.

        Raises:
            NotReached, StillPushing, CheckedOut, BranchRewritten: it cannot be landed on.
        """
        trunk = cls.open(repository, branch=branch, run=run, _files=_files)
        try:
            trunk._pushes = []
            trunk._base = base
            trunk._there = Pair(None, None)
            trunk._remote = Remote(trunk._folders.git, place, land_on)
            trunk._remote.check_free()
            trunk._remote.wait_for_others(trunk._files)
            trunk._follow(opening=True)
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
            PushRefused, NotReached, BranchRewritten, CheckedOut: it cannot be pushed; main is where it was, or, where
                nothing is known of the push, is brought to the branch on the next opening.
            BranchKeepsMoving: others were faster at every try.
        """
        for attempt in range(_TRIES):
            if attempt:
                self._pause(attempt)
                self._follow()
                again()
            before = self._here()
            results = super().land(batch, redo, again)
            here = self._here()
            if here == before:
                return results
            refused = self._push(here)
            if not refused:
                landings = sum(isinstance(result, Landed) for result in results)
                push = Push(tip=self.tip, notes=here.notes or "", landings=landings, tries=attempt + 1)
                self._pushes.append(push)
                return results
            self._set(before)
            if self._look() == self._there and "lock" not in refused:
                raise PushRefused(
                    f"{self._remote.name} does not take what is pushed: {refused}",
                    hint="Nothing is lost: mend that (a hook, a rule for the branch, your rights), then resume.",
                )
        raise BranchKeepsMoving(
            f"{self._remote.name}: others pushed first at each of {_TRIES} tries",
            hint="Nothing is lost: resume when fewer push to it, or start a run with --land-on another branch.",
        )

    def _here(self) -> Pair:
        return Pair(self._tips.main, self._tips.notes)

    def _look(self) -> Pair:
        return self._patiently(self._remote.look)

    def _push(self, here: Pair) -> str:
        """Push; return nothing where the branch holds it, else what git said."""
        self._remote.check_free()
        refused = self._remote.push(here, self._there)
        if refused and not self._arrived(here):
            return refused
        self._there = here
        return ""

    def _arrived(self, here: Pair) -> bool:
        """Return whether a push of which git said that it failed has been taken all the same."""
        there = self._look()
        if there == self._there or there.branch is None:
            return False
        there = self._patiently(lambda: self._remote.fetch(there))
        return there.branch is not None and not self._remote.unpushed(here.branch or "", there.branch)

    def _follow(self, *, opening: bool = False) -> None:
        """Bring main and notes to the branch and the notes elsewhere."""
        there = self._look()
        if there == self._there and not opening:
            return
        there = self._patiently(lambda: self._remote.fetch(self._remote.look()))
        main = self._main_on(there.branch, opening=opening)
        self._set(Pair(main, self._notes_on(there.notes, opening=opening)))
        self._there = there

    def _main_on(self, there: str | None, *, opening: bool) -> str:
        """Return what main becomes where the branch elsewhere is at ``there``."""
        if there is None:
            if self._there.branch is not None:
                raise BranchRewritten(
                    f"there is no {self._remote.name} any more", hint="Bring it back where it was, then resume."
                )
            return self._base if opening else self._tips.main
        main, behind = self._without_ours(self._tips.main, there, opening=opening)
        ahead = self._remote.unpushed(there, main)
        if any(JOINS not in dict(commit.trailers) for commit in behind):
            if main == self._base and not ahead:
                return main
            raise self._rewritten(main)
        if not ahead or ahead[-1][1:2] == (main,):
            return there if ahead else main
        return self._join(main, there)

    def _without_ours(self, tip: str, there: str, *, opening: bool) -> tuple[str, list[CommitFacts]]:
        """Return a tip and what of it is not elsewhere; on opening, without what the run had landed and not told of."""
        behind = [read_commit(self._objects, line[0]) for line in self._remote.unpushed(tip, there)]
        while opening and behind and dict(behind[0].trailers).get(RUN) == self.run:
            tip = behind.pop(0).parents[0]
        return tip, behind

    def _notes_on(self, there: str | None, *, opening: bool) -> str | None:
        """Return what the notes become where those elsewhere are at ``there``: both united."""
        here = self._tips.notes
        behind = [] if here is None else [read_commit(self._objects, id) for id in self._notes_behind(here, there)]
        while opening and behind and _is_batch(behind[0], self.run):
            here = behind[0].parents[0] if behind[0].parents else None
            behind.pop(0)
        if there is None or here == there:
            return here
        if here is None or not behind:
            return there
        if not self._remote.unpushed(there, here):
            return here
        return self._unite(there, here)

    def _notes_behind(self, here: str, there: str | None) -> list[str]:
        if there is not None:
            return [line[0] for line in self._remote.unpushed(here, there)]
        return [here]

    def _join(self, main: str, there: str) -> str:
        """Write the commit that makes what others pushed one step of main; the same for the same two commits."""
        theirs = read_commit(self._objects, there)
        when = b" ".join(theirs.committer.split(b" ")[-2:])
        content = commit_bytes(
            tree=bytes.fromhex(theirs.tree),
            parents=[bytes.fromhex(main), bytes.fromhex(there)],
            author=_WHO + b" " + when,
            committer=_WHO + b" " + when,
            message=message_bytes("Join what others pushed", ((JOINS, there),)),
        )
        pack = PackWriter()
        id = hash_object(COMMIT, content)
        pack.add(COMMIT, id, content)
        pack.write(self._files, self._folders.packs)
        return id.hex()

    def _unite(self, there: str, here: str) -> str:
        pack = PackWriter()
        tree = united(notes_tree(self._objects, there), notes_tree(self._objects, here), pack)
        person = read_commit(self._objects, there).committer
        tip = add_notes_commit(pack, tree, parent=there, joined=here, person=person, subject="Unite notes")
        pack.write(self._files, self._folders.packs)
        return tip

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

    def _rewritten(self, main: str) -> BranchRewritten:
        if main == self._base:
            return BranchRewritten(
                f"{self._remote.name} does not hold {main[:12]}, from which the run starts",
                hint="Start from that branch itself (leave --branch out), or merge the one that is started from into it.",
            )
        return BranchRewritten(
            f"{self._remote.name} does not hold {main[:12]} any more, which it held: it was rewritten",
            hint="Bring it back (its reflog has it), then resume; or start another run from what it is now.",
        )

    def _patiently(self, call: Callable[[], T]) -> T:
        """Call again where the other repository could not be reached, a few times."""
        for attempt in range(1, _CALLS):
            try:
                return call()
            except NotReached:
                self._pause(attempt)
        return call()

    def _pause(self, attempt: int) -> None:
        # Two runs that lose to each other must not try again at the same moments.
        longest = min(_LONGEST_PAUSE_S, _FIRST_PAUSE_S * 2**attempt)
        self._files.pause(longest * random.uniform(0.3, 1.0))


def _is_batch(commit: CommitFacts, run: str) -> bool:
    words = dict(commit.trailers)
    return words.get(RUN) == run and EXPECTS in words
