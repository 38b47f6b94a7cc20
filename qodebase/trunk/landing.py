"""The trunk: the one writer of a branch and of its notes."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from types import TracebackType
from typing import ClassVar, Self

from qodebase.collector import never_collected
from qodebase.collision import Entry
from qodebase.errors import QodebaseError
from qodebase.paths import CommitId, RepoPath
from qodebase.trunk.batch import Edit, Landed, Landing, LandingRefused, Moved, ObjectId, Push, Redo
from qodebase.trunk.beside import Gone
from qodebase.trunk.checkouts import refuse_checked_out
from qodebase.trunk.compaction import compact
from qodebase.trunk.configuration import Wishes, wishes_of
from qodebase.trunk.contents import Contents
from qodebase.trunk.files import Files
from qodebase.trunk.folder import Node, entry_of
from qodebase.trunk.kept import Recent
from qodebase.trunk.lock import TrunkLock
from qodebase.trunk.notes import add_notes_commit, batch_trailers, with_notes
from qodebase.trunk.objects import BLOB, TREE, Objects, hash_object
from qodebase.trunk.packing import Packing
from qodebase.trunk.placing import let_go
from qodebase.trunk.recovery import remove_leftovers
from qodebase.trunk.refs import RefLock, read_ref, resolve_ref
from qodebase.trunk.refusals import refuse_broken
from qodebase.trunk.repository import Folders, find_folders
from qodebase.trunk.step import Step
from qodebase.trunk.tidying import Tidying
from qodebase.trunk.tips import NoSuchBranch, Raced, Tips
from qodebase.trunk.wholes import Wholes

__all__ = ["DiskTrouble", "MainKeepsMoving", "NoSuchBranch", "Trunk"]

_TRIES = 20
_PILE = 50


def nothing() -> None:
    """Do nothing."""


class DiskTrouble(QodebaseError):
    """A step that the disk did not take, or did not say to be durable; `refresh` says where main is."""

    exit_code = 3


class MainKeepsMoving(QodebaseError):
    """A branch that others moved at every try."""

    exit_code = 3


class Trunk:
    """Land changes on one branch; one trunk for each repository, used from one thread.

    Made by `open`; every `land` is one compare-and-set step that is durable when it returns. ``living`` says that main
    follows a branch elsewhere.
    """

    living: ClassVar[bool] = False

    def __init__(
        self, folders: Folders, wishes: Wishes, branch: str, run: str, lock: TrunkLock, files: Files, level: int
    ) -> None:
        self.run = run
        self.branch = branch
        self._folders = folders
        self._lock = lock
        self._files = files
        self._objects = Objects(folders.objects)
        self._recent = Recent()
        self._wholes = Wholes(folders.objects)
        self._packing = Packing(folders.objects, self._wholes, level=level)
        self._tidying = Tidying(files, folders)
        self._piled = 0
        self._tips = Tips(folders, wishes, files, self._objects, self._load, branch=branch, run=run)

    @classmethod
    def open(cls, repository: Path, *, branch: str, run: str, level: int = -1, _files: Files | None = None) -> Self:
        """Hold a repository, undo what a dead trunk left half done, and read the branch's tip.

        Args:
            repository: a bare repository, a ``.git`` folder or a working tree.
            branch: its name, with or without ``refs/heads/``.
            run: the run that lands; part of the notes' trailers.
            level: zlib's for new objects; -1 is git's own.

        Raises:
            TrunkHeld: another trunk holds the repository.
            NotARepository, UnsupportedRepository, NoSuchBranch, CheckedOut: it cannot be landed on.
        """
        folders = find_folders(Path(repository))
        ref = resolve_ref(folders.git, branch if branch.startswith("refs/") else f"refs/heads/{branch}")
        if read_ref(folders.git, ref) is None:
            raise NoSuchBranch(f"{repository} has no branch {branch}", hint="`git branch --list` shows those it has.")
        if not run or "\n" in run:
            raise LandingRefused(f"{run!r} cannot name a run")
        wishes = wishes_of(folders.git)
        refuse_checked_out(folders.git, ref, bare=wishes.bare)
        files = _files or Files(shared=wishes.shared)
        files.make_folder(folders.own)
        files.make_folder(folders.packs)
        held = folders.own / "trunk.lock"
        with suppress(FileExistsError):
            os.close(files.open_new(held, 0o644))
        lock = TrunkLock(held, run=run, branch=ref)
        trunk = cls(folders, wishes, ref, run, lock, files, level)
        try:
            remove_leftovers(files, folders)
            trunk._tips.catch_up()
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
        self._packing.close()
        self._objects.close()
        self._wholes.close()
        self._lock.release()

    @property
    def tip(self) -> CommitId:
        """Return main's commit as of the last step."""
        return CommitId(self._tips.main)

    @property
    def tip_tree(self) -> ObjectId:
        """Return the tree of `tip`."""
        return ObjectId(self._tips.main_tree.id.hex())

    def entry(self, path: bytes) -> Entry | None:
        """Return what main holds at a path; None for a folder and for nothing."""
        return entry_of(self._tips.main_tree.node(path))

    def paths(self, under: bytes = b"") -> Iterator[tuple[RepoPath, Entry]]:
        """Yield every path below a folder with its entry, in git's order."""
        for path, node in self._tips.main_tree.walk(under):
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
        return ObjectId(self._tips.main_tree.edited(nodes)[0].id.hex())

    def refresh(self) -> CommitId:
        """Read main again, for others may have moved it, and return its tip."""
        self._tips.catch_up()
        return self.tip

    def pushed(self) -> list[Push]:
        """Return what was pushed since the last call, where this trunk pushes; see `qodebase.trunk.living`."""
        return []

    def land(self, batch: Sequence[Landing], redo: Redo, again: Callable[[], None] = nothing) -> list[Landed | Moved]:
        """Land changes in order, one commit and one note each, in one step that is durable on return.

        The answer has one item for each landing. What others put on main meanwhile stays and ours goes on top; a
        landing whose paths they changed comes back as `Moved`. At the second try main's lock is held from the start,
        so that nobody can keep us from landing. ``again`` is called before every try but the first.

        Raises:
            LandingRefused: the batch is broken; main did not move.
            DiskTrouble, RefBusy, MainKeepsMoving: the step could not be taken; `refresh` says where main is.
        """
        for landing in batch:
            refuse_broken(landing)
        try:
            for attempt in range(_TRIES):
                with ExitStack() as held:
                    lock = self._tips.lock()
                    if attempt:
                        held.enter_context(lock)
                    self._tips.catch_up()
                    try:
                        with never_collected():
                            return self._step(batch, redo, lock, held)
                    except Raced:
                        again()
                    except Gone:
                        self._packing.stay_here()
                        again()
        except OSError as error:
            raise DiskTrouble(
                f"{self._folders.git} could not be written: {error}",
                hint="Free some space or mend the disk, then resume: main is at a good commit.",
            ) from error
        raise MainKeepsMoving(f"{self.branch} moved at each of {_TRIES} tries", hint="Who else pushes to it?")

    def _step(self, batch: Sequence[Landing], redo: Redo, lock: RefLock, held: ExitStack) -> list[Landed | Moved]:
        tips = self._tips
        pack = self._packing.begin(len(batch))
        contents = Contents(pack, objects=self._objects, recent=self._recent)
        step = Step(tip=bytes.fromhex(tips.main), tree=tips.main_tree, pack=pack, contents=contents)
        results = [step.take(landing, redo) for landing in batch]
        if not step.notes:
            return results
        tip = step.tip.hex()
        notes = with_notes(tips.notes_tree, step.notes, pack.add_growing)
        notes_tip = add_notes_commit(
            pack,
            notes,
            parent=tips.notes,
            person=step.last,
            subject=f"Notes of {len(step.notes)} landings",
            trailers=batch_trailers(self.run, tip, tips.main),
        )
        tips.check()
        held.callback(let_go, self._files, pack.write(self._files, self._folders.packs))
        why = f"qodebase: {len(step.notes)} landings of run {self.run}"
        tips.move((tip, step.tree), (notes_tip, notes), step.last, why, lock, held)
        step.remember()
        self._tidy()
        return results

    def _tidy(self) -> None:
        self._piled += 1
        if self._tidying.finish():
            self._objects.reopen()
            self._packing.forget()
        if self._piled >= _PILE and self._tidying.start():
            self._piled = 0

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
        self._packing.forget()
