"""The trunk: the one writer of a branch and of its notes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType

from qodebase.collector import never_collected
from qodebase.collision import Entry
from qodebase.errors import QodebaseError
from qodebase.paths import CommitId, RepoPath
from qodebase.trunk.batch import Edit, Landed, Landing, LandingRefused, Moved, ObjectId, Redo
from qodebase.trunk.compaction import Tidying, compact
from qodebase.trunk.files import Files
from qodebase.trunk.folder import Node
from qodebase.trunk.history import read_commit
from qodebase.trunk.lock import TrunkLock
from qodebase.trunk.notes import add_notes_commit, batch_trailers, notes_tree, with_notes
from qodebase.trunk.objects import BLOB, TREE, Objects, hash_object
from qodebase.trunk.pack import PackWriter
from qodebase.trunk.recovery import remove_leftovers, undo_orphans
from qodebase.trunk.refs import NOTES_REF, RefLock, read_ref, resolve_ref
from qodebase.trunk.repository import Folders, find_folders
from qodebase.trunk.step import Recent, Roots, Step, entry_of, refuse_broken
from qodebase.trunk.tree import Tree
from qodebase.trunk.wholes import Wholes

_TRIES = 20
_PILE = 50
_LOOK_AGAIN = 16
"""So often, in steps, the largest packs are looked for anew: tidying makes larger ones."""


class NoSuchBranch(QodebaseError):
    """A branch that the repository does not have."""


class DiskTrouble(QodebaseError):
    """A step that the disk did not take; main did not move unless the message says so."""

    exit_code = 3


class MainKeepsMoving(QodebaseError):
    """A branch that others moved at every try."""

    exit_code = 3


class _Raced(Exception):
    """Somebody moved main or the notes since the step began."""


class Trunk:
    """Land changes on one branch; one trunk for each repository, used from one thread.

    Made by `open`; every `land` is one compare-and-set step that is durable when it returns.
    """

    def __init__(self, folders: Folders, branch: str, run: str, lock: TrunkLock, files: Files, level: int) -> None:
        self.run = run
        self.branch = branch
        self._folders = folders
        self._lock = lock
        self._files = files
        self._level = level
        self._objects = Objects(folders.objects)
        self._recent = Recent()
        self._wholes = Wholes(folders.objects)
        self._roots = Roots()
        self._tidying = Tidying(folders.git)
        self._piled = 0
        self._unsure = True
        self._tip = ""
        self._notes_tip: str | None = None
        self._tree: Tree | None = None
        self._notes: Tree | None = None

    @classmethod
    def open(cls, repository: Path, *, branch: str, run: str, level: int = -1, _files: Files | None = None) -> Trunk:
        """Hold a repository, undo what a dead trunk left half done, and read the branch's tip.

        Args:
            repository: a bare repository, a ``.git`` folder or a working tree.
            branch: its name, with or without ``refs/heads/``.
            run: the run that lands; part of the notes' trailers.
            level: zlib's for new objects; -1 is git's own.

        Raises:
            TrunkHeld: another trunk holds the repository.
            NotARepository, UnsupportedRepository, NoSuchBranch: it cannot be landed on.
        """
        folders = find_folders(Path(repository))
        ref = resolve_ref(folders.git, branch if branch.startswith("refs/") else f"refs/heads/{branch}")
        if read_ref(folders.git, ref) is None:
            raise NoSuchBranch(f"{repository} has no branch {branch}", hint="`git branch --list` shows those it has.")
        if not run or "\n" in run:
            raise LandingRefused(f"{run!r} cannot name a run")
        files = _files or Files()
        files.make_folder(folders.own)
        files.make_folder(folders.packs)
        lock = TrunkLock(folders.own / "trunk.lock", run=run, branch=ref)
        trunk = cls(folders, ref, run, lock, files, level)
        try:
            remove_leftovers(files, folders)
            trunk._catch_up()
        except BaseException:
            trunk.close()
            raise
        return trunk

    def __enter__(self) -> Trunk:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let others land."""
        self._tidying.stop()
        self._objects.close()
        self._wholes.close()
        self._lock.release()

    @property
    def tip(self) -> CommitId:
        """Return main's commit as of the last step."""
        return CommitId(self._tip)

    @property
    def tip_tree(self) -> ObjectId:
        """Return the tree of `tip`."""
        return ObjectId(self._main.id.hex())

    @property
    def _main(self) -> Tree:
        assert self._tree is not None
        return self._tree

    def entry(self, path: bytes) -> Entry | None:
        """Return what main holds at a path; None for a folder and for nothing."""
        return entry_of(self._main.node(path))

    def paths(self, under: bytes = b"") -> Iterator[tuple[RepoPath, Entry]]:
        """Yield every path below a folder with its entry, in git's order."""
        for path, node in self._main.walk(under):
            yield RepoPath(path), Entry(node.mode, ObjectId(node.id.hex()))

    def blob(self, id: str) -> bytes:
        """Return the content that an id names."""
        name = bytes.fromhex(id)
        found = self._recent.get(name)
        return self._objects.content(name, BLOB) if found is None else found

    def moved(self, path: bytes, expected: Entry | None) -> bool:
        """Say whether main holds something else than ``expected`` at a path."""
        return self.entry(path) != expected

    def tree_with(self, edits: Mapping[RepoPath, Edit | None]) -> ObjectId:
        """Return the tree that main would have with these edits; nothing is written and nothing changes.

        Raises:
            PathClash: a file stands where an edit needs a folder, or the other way round.
        """
        nodes: dict[bytes, Node | None] = {}
        for path, edit in edits.items():
            if edit is None:
                nodes[path] = None
            elif edit.content is not None:
                nodes[path] = Node(edit.mode, hash_object(BLOB, edit.content))
            else:
                nodes[path] = Node(edit.mode, bytes.fromhex(edit.id or ""))
        return ObjectId(self._main.edited(nodes)[0].id.hex())

    def refresh(self) -> CommitId:
        """Read main again, for others may have moved it, and return its tip."""
        self._catch_up()
        return self.tip

    def land(self, batch: Sequence[Landing], redo: Redo) -> list[Landed | Moved]:
        """Land changes in order, one commit and one note each, in one step that is durable on return.

        The answer has one item for each landing. What others put on main meanwhile stays and ours goes on top; a
        landing whose paths they changed comes back as `Moved`. At the second try main's lock is held from the start,
        so that nobody can keep us from landing.

        Raises:
            LandingRefused: the batch is broken; main did not move.
            DiskTrouble, RefBusy, MainKeepsMoving: the step could not be taken; `refresh` says where main is.
        """
        for landing in batch:
            refuse_broken(landing)
        try:
            for attempt in range(_TRIES):
                with ExitStack() as held:
                    lock = RefLock(self._files, self._folders, self.branch)
                    if attempt:
                        held.enter_context(lock)
                    self._catch_up()
                    try:
                        with never_collected():
                            return self._step(batch, redo, lock, held)
                    except _Raced:
                        continue
        except OSError as error:
            raise DiskTrouble(
                f"{self._folders.git} could not be written: {error}",
                hint="Free some space or mend the disk, then resume: main is at its last good commit.",
            ) from error
        raise MainKeepsMoving(f"{self.branch} moved at each of {_TRIES} tries", hint="Who else pushes to it?")

    def _step(self, batch: Sequence[Landing], redo: Redo, lock: RefLock, held: ExitStack) -> list[Landed | Moved]:
        assert self._notes is not None
        pack = PackWriter(level=self._level)
        step = Step(
            tip=bytes.fromhex(self._tip),
            tree=self._main,
            objects=self._objects,
            recent=self._recent,
            pack=pack,
            wholes=self._wholes,
            roots=self._roots,
        )
        results = [step.take(landing, redo) for landing in batch]
        if not step.notes:
            return results
        tip = step.tip.hex()
        notes = with_notes(self._notes, step.notes, pack)
        notes_tip = add_notes_commit(
            pack,
            notes,
            parent=self._notes_tip,
            person=step.last,
            subject=f"Notes of {len(step.notes)} landings",
            trailers=batch_trailers(self.run, tip, self._tip),
        )
        if not self._unmoved():
            raise _Raced
        pack.write(self._files, self._folders.packs)
        self._publish(tip, notes_tip, lock, held)
        self._tip, self._tree, self._notes_tip, self._notes = tip, step.tree, notes_tip, notes
        step.remember()
        self._tidy()
        return results

    def _tidy(self) -> None:
        self._piled += 1
        if self._piled % _LOOK_AGAIN == 0:
            self._wholes.close()
        if self._piled >= _PILE and self._tidying.start():
            self._piled = 0

    def _unmoved(self) -> bool:
        git = self._folders.git
        return read_ref(git, self.branch) == self._tip and read_ref(git, NOTES_REF) == self._notes_tip

    def _publish(self, tip: str, notes_tip: str, lock: RefLock, held: ExitStack) -> None:
        """Move the notes, then main, with both locks held: only a crash can come between."""
        if not lock.held:
            held.enter_context(lock)
        with RefLock(self._files, self._folders, NOTES_REF) as notes_lock:
            if not self._unmoved():
                raise _Raced
            lock.prepare(tip)
            notes_lock.prepare(notes_tip)
            self._unsure = True
            notes_lock.move()
            lock.move()
            self._unsure = False

    def _catch_up(self) -> None:
        """Bring what is in memory to what main and the notes are now."""
        git = self._folders.git
        if self._unsure:
            undo_orphans(self._files, self._folders, self._objects, branch=self.branch, run=self.run)
            self._unsure = False
        tip = read_ref(git, self.branch)
        if tip is None:
            raise NoSuchBranch(f"{git} has no branch {self.branch} any more")
        if tip != self._tip or self._tree is None:
            tree = bytes.fromhex(read_commit(self._objects, tip).tree)
            self._tree = Tree.read(tree, self._load) if self._tree is None else self._tree.moved_to(tree)
            self._tip = tip
        notes_tip = read_ref(git, NOTES_REF)
        if notes_tip != self._notes_tip or self._notes is None:
            self._notes = notes_tree(self._objects, notes_tip)
            self._notes_tip = notes_tip

    def _load(self, id: bytes) -> bytes:
        whole = self._wholes.find(id, TREE)
        return self._objects.tree(id) if whole is None else whole.content

    def compact(self) -> None:
        """Bring the repository to what ``git gc`` leaves.

        Raises:
            CompactionFailed: git says why it stopped.
        """
        self._tidying.stop()
        compact(self._folders.git)
        self._objects.reopen()
        self._wholes.close()
