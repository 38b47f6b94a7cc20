"""Write commits, notes and branches into the user's repository: objects first, then notes, then each branch."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import NamedTuple

from qodebase.errors import QodebaseError
from qodebase.paths import CommitId
from qodebase.trailers import RUN
from qodebase.trunk.batch import Person
from qodebase.trunk.checkouts import refuse_checked_out
from qodebase.trunk.commits import person_line
from qodebase.trunk.configuration import wishes_of
from qodebase.trunk.contents import Contents
from qodebase.trunk.files import Files
from qodebase.trunk.folder import Node
from qodebase.trunk.gathering import Gathered
from qodebase.trunk.history import read_commit
from qodebase.trunk.kept import Recent, Roots
from qodebase.trunk.landing import DiskTrouble
from qodebase.trunk.lock import TrunkLock
from qodebase.trunk.notes import add_notes_commit, find_note, notes_tree, with_notes
from qodebase.trunk.objects import BLOB, TREE, Objects, hash_object
from qodebase.trunk.recovery import remove_leftovers
from qodebase.trunk.reflog import log_move
from qodebase.trunk.refs import NOTES_REF, RefLock, read_ref
from qodebase.trunk.repository import find_folders
from qodebase.trunk.step import Step
from qodebase.trunk.tree import Tree
from qodebase.trunk.wholes import Wholes

_HEADS = "refs/heads/"


class BranchExists(QodebaseError):
    """A branch that is there already and holds something else."""


class MovedMeanwhile(QodebaseError):
    """A ref that somebody else moved while we worked."""


class Move(NamedTuple):
    """A branch with its new commit; ``old`` is where it must be still, None: nowhere."""

    branch: str
    old: CommitId | None
    new: CommitId


class Writer:
    """Write into a repository while no trunk does; a context manager.

    Args:
        repository: the user's, bare or not.
        run: whose work it is.
        dry_run: `write` is never called, and nothing is locked.
    """

    def __init__(self, repository: Path, run: str, *, dry_run: bool = False) -> None:
        self._dry_run = dry_run
        self.notes: dict[bytes, bytes] = {}
        """Commits with the blobs of their new notes, both as 20 bytes."""
        self._run = run
        self._folders = find_folders(repository)
        self._wishes = wishes_of(self._folders.git)
        self._files = Files(shared=self._wishes.shared)
        self._stack = ExitStack()

    def __enter__(self) -> Writer:
        files, folders = self._files, self._folders
        if not self._dry_run:
            files.make_folder(folders.own)
            files.make_folder(folders.packs)
            lock = TrunkLock(folders.own / "trunk.lock", run=self._run, branch=NOTES_REF)
            self._stack.callback(lock.release)
            remove_leftovers(files, folders)
        self._objects = Objects(folders.objects)
        self._stack.callback(self._objects.close)
        wholes = Wholes(folders.objects)
        self._stack.callback(wholes.close)
        self.pack = Gathered(wholes=wholes, roots=Roots())
        self._contents = Contents(self.pack, objects=self._objects, recent=Recent())
        self._notes_tip = read_ref(folders.git, NOTES_REF)
        self._notes = notes_tree(self._objects, self._notes_tip)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()

    def step_on(self, commit: CommitId) -> Step:
        """Begin to put commits on one of the repository's."""
        tree = bytes.fromhex(read_commit(self._objects, commit).tree)
        return Step(
            tip=bytes.fromhex(commit),
            tree=Tree.read(tree, self._objects.tree),
            pack=self.pack,
            contents=self._contents,
        )

    def note(self, commit: CommitId) -> bytes | None:
        """Return a commit's note, or None."""
        found = find_note(self._notes, commit)
        return None if found is None else self._objects.content(found[1].id, BLOB)

    def old_tip(self, branch: str, *, force: bool) -> CommitId | None:
        """Return where a branch is now.

        Raises:
            BranchExists: it is there and may not be moved, or another branch is in its way.
            CheckedOut: a working tree stands on it.
        """
        git = self._folders.git
        parts = branch.split("/")
        for above in ("/".join(parts[:end]) for end in range(1, len(parts))):
            if read_ref(git, _HEADS + above) is not None:
                raise BranchExists(
                    f"a branch {above} is in the way of {branch}",
                    hint=f"Rename it: `git branch -m {above} other-name`.",
                )
        found = read_ref(git, _HEADS + branch)
        if found is None:
            return None
        refuse_checked_out(git, _HEADS + branch, bare=self._wishes.bare)
        if not force:
            raise BranchExists(
                f"the branch {branch} is there already and holds something else",
                hint="Move it with --force, or delete it: `git branch -D NAME`.",
            )
        return CommitId(found)

    def has(self, branch: str, commit: CommitId) -> bool:
        """Return whether a branch is at a commit already."""
        return read_ref(self._folders.git, _HEADS + branch) == commit

    def write(self, moves: Sequence[Move], person: Person, what: str) -> None:
        """Write all objects, synced, then `notes`, each instead of the one that is there, then the branches.

        Args:
            person, what: for the commit of the notes and for reflogs.

        Raises:
            MovedMeanwhile: the notes or a branch moved since they were looked at; branches before it are moved.
            DiskTrouble: the disk did not take it.
        """
        why = f"qodebase: {what} of run {self._run}"
        try:
            with RefLock(self._files, self._folders, NOTES_REF) as lock:
                tip = self._noted(person, what)
                if lock.value() != self._notes_tip:
                    raise MovedMeanwhile(f"{NOTES_REF} was moved meanwhile", hint="Run the command again.")
                if len(self.pack):
                    self.pack.write(self._files, self._folders.packs)
                if tip is not None:
                    self._move(lock, tip, self._notes_tip, person, why)
            for move in moves:
                with RefLock(self._files, self._folders, _HEADS + move.branch) as lock:
                    if lock.value() != move.old:
                        raise MovedMeanwhile(f"{move.branch} was moved meanwhile", hint="Run the command again.")
                    self._move(lock, move.new, move.old, person, why)
        except OSError as error:
            raise DiskTrouble(
                f"{self._folders.git} could not be written: {error}",
                hint="Free some space or mend the disk, then run the command again: nothing is doubled.",
            ) from error

    def _move(self, lock: RefLock, new: str, old: str | None, person: Person, why: str) -> None:
        lock.prepare(new)
        log_move(
            self._files, self._folders.git, lock.name, old=old, new=new, person=person_line(person), why=why,
            begin=self._wishes.logs,
        )  # fmt: skip
        lock.move()

    def _noted(self, person: Person, what: str) -> str | None:
        """Put the tree of the notes and its commit into the pack; None where nothing changes."""
        tree = self._notes
        fresh = dict(self.notes)
        replaced: dict[bytes, Node | None] = {}
        for commit, blob in self.notes.items():
            found = find_note(tree, commit.hex())
            if found is not None:
                replaced[found[0]] = Node(found[1].mode, blob)
                del fresh[commit]
        if replaced:
            tree, written = tree.edited(replaced)
            for folder in written:
                self.pack.add(TREE, folder.id, folder.raw, folder.base, folder.splices)
        if fresh:
            tree = with_notes(tree, fresh, self.pack.add)
        if tree.id == self._notes.id:
            return None
        return add_notes_commit(
            self.pack,
            tree,
            parent=self._notes_tip,
            person=person_line(person),
            subject=f"Notes of {what}",
            trailers=((RUN, self._run),),
        )

    def add_note(self, commit: CommitId, content: bytes) -> None:
        """Put the note of a commit into the pack and among `notes`."""
        id = hash_object(BLOB, content)
        self.pack.add(BLOB, id, content)
        self.notes[bytes.fromhex(commit)] = id
