"""Where main and notes of a copy go when the branch and the notes that they follow have moved elsewhere.

Main's first parents stay a line through everything that landed. Where others merged our commits into theirs (``git
pull`` does), one commit joins what they pushed to that line, with their tree and both as parents.
"""

from __future__ import annotations

from itertools import islice
from pathlib import Path

from qodebase.errors import QodebaseError
from qodebase.trailers import JOINS, RUN
from qodebase.trunk.commits import EXPECTS, CommitFacts, commit_bytes, message_bytes
from qodebase.trunk.files import Files
from qodebase.trunk.history import first_parents, read_commit
from qodebase.trunk.notes import add_notes_commit, notes_tree, united
from qodebase.trunk.objects import COMMIT, Objects, hash_object
from qodebase.trunk.pack import PackWriter
from qodebase.trunk.placing import let_go
from qodebase.trunk.remote import Remote
from qodebase.trunk.repository import Folders

_NEAR = 2000
"""So many commits are looked at here before git is asked."""
_WHO = b"qodebase <qodebase@qodebase.invalid>"


class BranchRewritten(QodebaseError):
    """A branch that does not hold what it held, or what the run starts from."""

    exit_code = 3


class Following:
    """Say where main and notes go; what they need is written to the copy.

    Args:
        remote: what is followed; its commits are here when they are asked about.
        run: whose landings are taken back on opening where they did not arrive.
        base: the commit that the run started from.
    """

    def __init__(
        self, remote: Remote, objects: Objects, files: Files, folders: Folders, *, run: str, base: str
    ) -> None:
        self._remote = remote
        self._objects = objects
        self._files = files
        self._folders = folders
        self._run = run
        self._base = base
        self._kept: list[Path] = []

    def main(self, main: str, there: str | None, known: str | None, *, opening: bool) -> str:
        """Return what main becomes where the branch elsewhere went from ``known`` to ``there``.

        Raises:
            BranchRewritten: it does not hold what main holds and was pushed.
        """
        if there is None:
            if known is not None:
                raise BranchRewritten(
                    f"there is no {self._remote.name} any more", hint="Bring it back where it was, then resume."
                )
            return self._base if opening else main
        if self._stands_on(there, main):
            return there
        behind = [read_commit(self._objects, line[0]) for line in self._remote.unpushed(main, there)]
        while opening and behind and dict(behind[0].trailers).get(RUN) == self._run:
            main = behind.pop(0).parents[0]
        ahead = self._remote.unpushed(there, main)
        if any(JOINS not in dict(commit.trailers) for commit in behind):
            if main == self._base and not ahead:
                return main
            raise self._rewritten(main)
        if not ahead:
            return main
        return there if ahead[-1][1:2] == (main,) else self._join(main, there)

    def notes(self, notes: str | None, there: str | None, main: str, *, opening: bool) -> str | None:
        """Return what the notes become where those elsewhere are at ``there``: both united.

        On opening, without those of landings that ``main`` does not hold.
        """
        if there == notes or notes is None:
            return there
        if there is not None and self._stands_on(there, notes):
            return there
        behind = [notes] if there is None else [line[0] for line in self._remote.unpushed(notes, there)]
        for id in behind if opening else ():
            commit = read_commit(self._objects, id)
            if not self._is_orphan(commit, main):
                break
            if not commit.parents:
                return there
            notes = commit.parents[0]
        if there is None or not self._remote.unpushed(there, notes):
            return notes
        return self._unite(there, notes) if self._remote.unpushed(notes, there) else there

    def let_go(self) -> None:
        """Leave to git what was written; call it when refs lead to it."""
        while self._kept:
            let_go(self._files, self._kept.pop())

    def _stands_on(self, tip: str, commit: str) -> bool:
        """Return whether a commit is near below a tip, along first parents."""
        near = islice(first_parents(self._objects, self._folders.git, tip), _NEAR)
        return any(one.id == commit for one in near)

    def _is_orphan(self, notes: CommitFacts, main: str) -> bool:
        words = dict(notes.trailers)
        expected = words.get(EXPECTS) if words.get(RUN) == self._run else None
        return expected is not None and bool(self._remote.unpushed(expected, main))

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
        self._kept.append(pack.write(self._files, self._folders.packs))
        return id.hex()

    def _unite(self, there: str, here: str) -> str:
        pack = PackWriter()
        tree = united(notes_tree(self._objects, there), notes_tree(self._objects, here), pack)
        person = read_commit(self._objects, there).committer
        tip = add_notes_commit(pack, tree, parent=there, joined=here, person=person, subject="Unite notes")
        self._kept.append(pack.write(self._files, self._folders.packs))
        return tip

    def _rewritten(self, main: str) -> BranchRewritten:
        if main == self._base:
            return BranchRewritten(
                f"{self._remote.name} does not hold {main[:12]}, from which the run starts",
                hint="Start from that branch itself (leave --branch out), or merge what is started from into it.",
            )
        return BranchRewritten(
            f"{self._remote.name} does not hold {main[:12]} any more, which it held: it was rewritten",
            hint="Bring it back (its reflog has it), then resume; or start another run from what it is now.",
        )
