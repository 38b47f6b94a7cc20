"""Undo what a dead trunk left half done."""

from __future__ import annotations

import subprocess
from contextlib import suppress
from pathlib import Path

from qodebase.errors import QodebaseError
from qodebase.git_environment import git_environment
from qodebase.trailers import RUN
from qodebase.trunk.commits import EXPECTS, ONTO, CommitFacts
from qodebase.trunk.files import Files
from qodebase.trunk.folder import Node
from qodebase.trunk.history import first_parents, reaches
from qodebase.trunk.notes import add_notes_commit, all_notes, find_note, notes_tree
from qodebase.trunk.objects import TREE, Objects
from qodebase.trunk.pack import PackWriter
from qodebase.trunk.placing import HALF, KEEP, TEMPORARY, let_go
from qodebase.trunk.refs import NOTES_REF, RefLock, read_ref, remove_claim, stale_claims
from qodebase.trunk.repository import Folders
from qodebase.trunk.tidying import remove_unfinished

UNDOES = "Qodebase-Undoes"


class NotesNotUndone(QodebaseError):
    """Notes of commits that never reached main, which somebody else's change keeps from being removed."""


def remove_leftovers(files: Files, folders: Folders) -> None:
    """Free the ref locks and packs that a dead trunk held, and remove its unfinished packs; hold the repository."""
    for claim in stale_claims(folders.own):
        remove_claim(files, folders.git, claim)
    for half in sorted(folders.packs.glob(f"{TEMPORARY}*")) if folders.packs.is_dir() else ():
        name = half.name.removeprefix(TEMPORARY).removesuffix(HALF)
        pack = (folders.packs / name).with_suffix(".pack")
        _let_go_of(files, half, pack)
        if name.endswith(".idx") and not (folders.packs / name).exists():
            _let_go_of(files, pack, pack)
            files.unlink(pack)
        files.unlink(half)
    remove_unfinished(folders)
    for keep in sorted(folders.packs.glob(f"*{KEEP}")):
        _let_go_of(files, keep.with_suffix(".pack"), keep)


def _let_go_of(files: Files, written: Path, pack: Path) -> None:
    with suppress(FileNotFoundError):  # Nobody keeps it, or a git that fetches is just done with its own.
        if pack.with_suffix(KEEP).samefile(written):
            let_go(files, pack)


def undo_orphans(files: Files, folders: Folders, objects: Objects, *, branch: str, run: str) -> None:
    """Take back the notes of this run whose commits never reached main; other people's stay.

    Where nobody wrote notes on top, the ref goes back to what it was; else one more notes commit removes them.

    Raises:
        NotesNotUndone: somebody keeps moving the notes.
    """
    for _ in range(10):
        tip = read_ref(folders.git, NOTES_REF)
        if tip is None:
            return
        orphans, untouched = _orphans(folders, objects, tip, branch, run)
        if not orphans:
            return
        if untouched and _set_notes(files, folders, tip, orphans[-1].parents[0] if orphans[-1].parents else None):
            return
        if not untouched and _remove_notes(files, folders, objects, tip, orphans, run):
            return
    raise NotesNotUndone(
        f"{folders.git}: {NOTES_REF} holds notes of commits that never reached {branch}, and keeps moving",
        hint="Stop what else writes notes and try again.",
    )


def _orphans(folders: Folders, objects: Objects, tip: str, branch: str, run: str) -> tuple[list[CommitFacts], bool]:
    """Return the orphaned commits of the notes, newest first, and whether they are all that is new."""
    main = read_ref(folders.git, branch)
    orphans: list[CommitFacts] = []
    undone: set[str] = set()
    untouched = True
    for commit in first_parents(objects, folders.git, tip):
        said = commit.trailers
        words = dict(said)
        undone.update(value for key, value in said if key == UNDOES)
        if words.get(RUN) != run or EXPECTS not in words or commit.id in undone:
            untouched = untouched and bool(orphans)
            continue
        expected = words[EXPECTS]
        known = objects.kind(bytes.fromhex(expected)) is not None
        if known and main is not None and reaches(objects, folders.git, main, expected, words.get(ONTO)):
            break
        orphans.append(commit)
    return orphans, untouched


def _set_notes(files: Files, folders: Folders, old: str, new: str | None) -> bool:
    """Move the notes from ``old`` to ``new``; None removes the ref."""
    if new is None:
        command = ["git", f"--git-dir={folders.git}", "update-ref", "-d", NOTES_REF, old]
        done = subprocess.run(command, env=git_environment(), capture_output=True, check=False)
        return done.returncode == 0
    with RefLock(files, folders, NOTES_REF) as lock:
        if lock.value() != old:
            return False
        lock.prepare(new)
        lock.move()
    return True


def _remove_notes(
    files: Files, folders: Folders, objects: Objects, tip: str, orphans: list[CommitFacts], run: str
) -> bool:
    tree = notes_tree(objects, tip)
    edits: dict[bytes, Node | None] = {}
    for orphan in orphans:
        before = dict(all_notes(notes_tree(objects, orphan.parents[0] if orphan.parents else None)))
        for commit, node in all_notes(notes_tree(objects, orphan.id)):
            found = find_note(tree, commit)
            if before.get(commit) != node and found is not None and found[1] == node:
                edits[found[0]] = None
    new, written = tree.edited(edits)
    pack = PackWriter()
    for folder in written:
        pack.add(TREE, folder.id, folder.raw, folder.base, folder.splices)
    trailers = ((RUN, run), *((UNDOES, orphan.id) for orphan in orphans))
    subject = f"Remove notes of {len(edits)} commits that never landed"
    undoing = add_notes_commit(pack, new, parent=tip, person=orphans[0].committer, subject=subject, trailers=trailers)
    kept = pack.write(files, folders.packs)
    try:
        return _set_notes(files, folders, tip, undoing)
    finally:
        let_go(files, kept)
