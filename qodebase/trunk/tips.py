"""The tips of main and of the notes as a trunk knows them, and the compare-and-set that moves both."""

from __future__ import annotations

from contextlib import ExitStack

from qodebase.errors import QodebaseError
from qodebase.trunk.configuration import Wishes
from qodebase.trunk.files import Files
from qodebase.trunk.folder import Load
from qodebase.trunk.history import read_commit
from qodebase.trunk.notes import notes_tree
from qodebase.trunk.objects import Objects
from qodebase.trunk.recovery import undo_orphans
from qodebase.trunk.reflog import log_move
from qodebase.trunk.refs import NOTES_REF, RefLock, read_ref
from qodebase.trunk.repository import Folders
from qodebase.trunk.tree import Tree


class NoSuchBranch(QodebaseError):
    """A branch that the repository does not have."""


class Raced(Exception):
    """Somebody moved main or the notes since the step began."""


class Tips:
    """Main and the notes: commits and trees, true as of the last `catch_up` or `move`.

    Args:
        branch: the branch's full name.
        run: whose notes are undone where their commits never reached main.
        load: gives a serialized tree of main.
    """

    def __init__(
        self, folders: Folders, wishes: Wishes, files: Files, objects: Objects, load: Load, *, branch: str, run: str
    ) -> None:
        self.main = ""
        self.notes: str | None = None
        self._folders = folders
        self._wishes = wishes
        self._files = files
        self._objects = objects
        self._load = load
        self._branch = branch
        self._run = run
        self._unsure = True
        self._main_tree: Tree | None = None
        self._notes_tree: Tree | None = None

    @property
    def main_tree(self) -> Tree:
        """Return the tree of main."""
        assert self._main_tree is not None
        return self._main_tree

    @property
    def notes_tree(self) -> Tree:
        """Return the tree of the notes."""
        assert self._notes_tree is not None
        return self._notes_tree

    def lock(self) -> RefLock:
        """Return git's lock on main, not yet held."""
        return RefLock(self._files, self._folders, self._branch)

    def catch_up(self) -> None:
        """Bring what is in memory to what main and the notes are now.

        Raises:
            NoSuchBranch: somebody removed it.
        """
        git = self._folders.git
        if self._unsure:
            undo_orphans(self._files, self._folders, self._objects, branch=self._branch, run=self._run)
            self._unsure = False
        tip = read_ref(git, self._branch)
        if tip is None:
            raise NoSuchBranch(f"{git} has no branch {self._branch} any more")
        if tip != self.main or self._main_tree is None:
            tree = bytes.fromhex(read_commit(self._objects, tip).tree)
            known = self._main_tree
            self._main_tree = Tree.read(tree, self._load) if known is None else known.moved_to(tree)
            self.main = tip
        notes = read_ref(git, NOTES_REF)
        if notes != self.notes or self._notes_tree is None:
            self._notes_tree = notes_tree(self._objects, notes)
            self.notes = notes

    def check(self) -> None:
        """Look whether both are where they were.

        Raises:
            Raced: they are not.
        """
        git = self._folders.git
        if read_ref(git, self._branch) != self.main or read_ref(git, NOTES_REF) != self.notes:
            raise Raced

    def move(
        self, main: tuple[str, Tree], notes: tuple[str, Tree], person: bytes, why: str, lock: RefLock, held: ExitStack
    ) -> None:
        """Move the notes, then main, with both locks held: only a crash can come between.

        Args:
            main, notes: the new commits with their trees.
            person, why: for the reflogs.
            lock: main's; taken here, for ``held`` to give back, where it is not held already.

        Raises:
            Raced: one of them is not where it was.
        """
        if not lock.held:
            held.enter_context(lock)
        with RefLock(self._files, self._folders, NOTES_REF) as notes_lock:
            self.check()
            lock.prepare(main[0])
            notes_lock.prepare(notes[0])
            for ref, old, new in ((NOTES_REF, self.notes, notes[0]), (self._branch, self.main, main[0])):
                log_move(
                    self._files, self._folders.git, ref, old=old, new=new, person=person, why=why,
                    begin=self._wishes.logs,
                )  # fmt: skip
            self._unsure = True
            notes_lock.move()
            lock.move()
            self._unsure = False
        self.main, self._main_tree = main
        self.notes, self._notes_tree = notes
