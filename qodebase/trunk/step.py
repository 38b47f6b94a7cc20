"""One step of the trunk, in memory: take changes onto a tip, one commit and one note each, and collect the objects."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping
from itertools import islice
from typing import NamedTuple

from qodebase.change import EXECUTABLE, REGULAR, SUBMODULE, BadPatch, patched
from qodebase.collision import Declined, Entry
from qodebase.paths import CommitId, RepoPath, path_text
from qodebase.trunk.batch import (
    Edit,
    How,
    Landed,
    Landing,
    LandingRefused,
    Moved,
    ObjectId,
    Redo,
    SharedEdit,
    SharedResult,
)
from qodebase.trunk.commits import commit_bytes, message_bytes, person_line
from qodebase.trunk.deltas import splice_between
from qodebase.trunk.drafts import PathClash
from qodebase.trunk.folder import Node
from qodebase.trunk.naming import fault_of_edit, fault_of_path
from qodebase.trunk.objects import BLOB, COMMIT, TREE, Objects, hash_object
from qodebase.trunk.pack import PackWriter
from qodebase.trunk.tree import Tree
from qodebase.trunk.wholes import Copied, Wholes

RECENT_BYTES = 64 << 20

_WORTH_A_COPY = 512
_MUCH = 4
_MOST_ROOTS = 50_000


class Roots:
    """For each blob that was written as a delta lately the content that it began as, and that packs hold whole."""

    def __init__(self) -> None:
        self._roots: dict[bytes, bytes] = {}

    def get(self, id: bytes, default: bytes) -> bytes:
        """Return the root of a blob, or ``default``."""
        return self._roots.get(id, default)

    def update(self, roots: Mapping[bytes, bytes]) -> None:
        """Add roots, and forget the oldest beyond a fixed number."""
        self._roots.update(roots)
        for id in list(islice(self._roots, max(0, len(self._roots) - _MOST_ROOTS))):
            del self._roots[id]


class Recent:
    """The contents of the blobs used last, at most so many bytes of them; any thread may ask.

    Args:
        limit: in bytes; one content larger than a quarter of it is not kept.
    """

    def __init__(self, limit: int = RECENT_BYTES) -> None:
        self._limit = limit
        self._size = 0
        self._blobs: OrderedDict[bytes, bytes] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, id: bytes) -> bytes | None:
        """Return a content that is still kept."""
        return self._blobs.get(id)

    def put(self, id: bytes, content: bytes) -> None:
        """Keep a content and drop the oldest ones beyond the limit."""
        if 4 * len(content) > self._limit:
            return
        with self._lock:
            if id in self._blobs:
                return
            self._blobs[id] = content
            self._size += len(content)
            while self._size > self._limit:
                _, dropped = self._blobs.popitem(last=False)
                self._size -= len(dropped)


def entry_of(node: Node | None) -> Entry | None:
    """Return a tree's entry as the words of a landing have it."""
    return None if node is None else Entry(node.mode, ObjectId(node.id.hex()))


def _is(node: Node | None, entry: Entry | None) -> bool:
    if node is None or entry is None:
        return node is None and entry is None
    return node.mode == entry.mode and node.id.hex() == entry.id


def refuse_broken(landing: Landing) -> None:
    """Find what is wrong with a landing whatever main holds.

    Raises:
        LandingRefused: a path or mode that git would not take, a path that is file and folder at once, an edit
            without an expectation, an edit that is not one.
    """
    written = []
    for path, edit in landing.edits.items():
        _refuse_path(path, REGULAR if edit is None else edit.mode)
        if path not in landing.expects:
            raise LandingRefused(f"{path_text(path)} is edited without saying what main must hold there")
        if edit is not None:
            _refuse_edit(path, edit)
            written.append(path)
    for shared in landing.shared:
        _refuse_path(shared.path, REGULAR if shared.mode is None else shared.mode)
        if shared.mode not in (None, REGULAR, EXECUTABLE):
            raise LandingRefused(f"{path_text(shared.path)}: a shared path is a file, not {shared.mode:o}")
        written.append(shared.path)
    names = set(written)
    if len(names) < len(written) or any(shared.path in landing.edits for shared in landing.shared):
        raise LandingRefused(f"{path_text(landing.shared[0].path)} is edited twice in one landing")
    if len(names) > 1:
        _refuse_prefixes(names)


def _refuse_path(path: bytes, mode: int) -> None:
    fault = fault_of_path(path) or fault_of_edit(path, mode)
    if fault is not None:
        raise LandingRefused(f"{path_text(path)!r} may not stand in a tree: {fault}")


def _refuse_edit(path: bytes, edit: Edit) -> None:
    if (edit.content is None) == (edit.id is None):
        raise LandingRefused(f"{path_text(path)}: an edit has either content or an id")
    if edit.mode == SUBMODULE and edit.id is None:
        raise LandingRefused(f"{path_text(path)}: a submodule is the id of a commit")
    if edit.id is not None and (len(edit.id) != 40 or edit.id.strip("0123456789abcdef")):
        raise LandingRefused(f"{path_text(path)}: {edit.id!r} is no object id")


def _refuse_prefixes(names: set[RepoPath]) -> None:
    for path in names:
        at = path.rfind(b"/")
        while at > 0:
            if path[:at] in names:
                raise LandingRefused(f"{path_text(path[:at])} would be a file and a folder at once")
            at = path.rfind(b"/", 0, at)


class _Held(Exception):
    """Why one landing does not go on now."""

    def __init__(self, moved: Moved) -> None:
        super().__init__(moved.why)
        self.moved = moved


class _Blob(NamedTuple):
    """A new content, the id of what it replaces, and that content where it is at hand.

    A shared path's old content is one that this step or the repository gave; an edit's comes from the caller and is
    not believed unseen.
    """

    content: bytes
    base: bytes | None
    old: bytes | None = None
    told: bytes | None = None


class Step:
    """Landings taken one after the other onto one tip; nothing is on disk before the pack is written."""

    def __init__(
        self,
        *,
        tip: bytes,
        tree: Tree,
        objects: Objects,
        recent: Recent,
        pack: PackWriter,
        wholes: Wholes,
        roots: Roots,
    ) -> None:
        self.tip = tip
        self.tree = tree
        self.pack = pack
        self.notes: dict[bytes, bytes] = {}
        self.last: bytes = b""
        self._objects = objects
        self._recent = recent
        self._wholes = wholes
        self._roots = roots
        self._new_roots: dict[bytes, bytes] = {}
        self._edited: dict[bytes, bytes] = {}
        self._shared_now: dict[bytes, tuple[bytes, bytes]] = {}

    def take(self, landing: Landing, redo: Redo) -> Landed | Moved:
        """Put one landing onto the tip, whole or not at all."""
        try:
            nodes, blobs, shared = self._resolved(landing, redo)
            tree, written = self.tree.edited(nodes)
        except _Held as held:
            return held.moved
        except PathClash as clash:
            return Moved(paths=(RepoPath(clash.path),), why=clash.why)
        committer = person_line(landing.committer)
        content = commit_bytes(
            tree=tree.id,
            parents=[self.tip],
            author=person_line(landing.author),
            committer=committer,
            message=message_bytes(landing.message, landing.trailers),
            sign=landing.sign,
        )
        commit = hash_object(COMMIT, content)
        landed = Landed(
            commit=CommitId(commit.hex()),
            parent=CommitId(self.tip.hex()),
            tree=ObjectId(tree.id.hex()),
            shared=shared,
        )
        note = landing.note(landed)
        for id, blob in blobs.items():
            self._add_blob(id, blob)
        for path, result in shared.items():
            id = bytes.fromhex(result.after.id)
            self._shared_now[path] = (id, blobs[id].content)
        pack = self.pack
        for id, raw, base, splices in written:
            if base is not None and len(splices) == 1 and splices[0][1] - splices[0][0] == 20 == len(splices[0][2]):
                pack.add_patched(id, raw, base, splices[0][0], splices[0][2])
            else:
                pack.add(TREE, id, raw, base, splices)
        pack.add(COMMIT, commit, content)
        note_id = hash_object(BLOB, note)
        pack.add(BLOB, note_id, note)
        self.notes[commit] = note_id
        self.tip, self.tree, self.last = commit, tree, committer
        return landed

    def _resolved(
        self, landing: Landing, redo: Redo
    ) -> tuple[dict[bytes, Node | None], dict[bytes, _Blob], dict[RepoPath, SharedResult]]:
        """Return the entries that a landing sets, its new blobs with what each follows from, and its shared paths."""
        held = {path: self.tree.node(path) for path in landing.expects}
        moved = tuple(path for path, entry in landing.expects.items() if not _is(held[path], entry))
        if moved:
            raise _Held(Moved(paths=moved, why="main holds something else now"))
        nodes: dict[bytes, Node | None] = {}
        blobs: dict[bytes, _Blob] = {}
        for path, edit in landing.edits.items():
            nodes[path] = None if edit is None else self._node(landing, path, edit, held[path], blobs)
        shared = {}
        for change in landing.shared:
            before = self.tree.node(change.path)
            old = None if before is None else self._now(change.path, before)
            how, content = self._shared(change, before, old, redo)
            mode = change.mode or (REGULAR if before is None else before.mode)
            node = Node(mode, hash_object(BLOB, content))
            nodes[change.path] = node
            blobs[node.id] = _Blob(content, None if before is None else before.id, old)
            shared[change.path] = SharedResult(
                how=how, before=entry_of(before), after=Entry(mode, ObjectId(node.id.hex()))
            )
        return nodes, blobs, shared

    def _node(
        self,
        landing: Landing,
        path: bytes,
        edit: Edit,
        before: Node | None,
        blobs: dict[bytes, _Blob],
    ) -> Node:
        if edit.content is not None:
            id = hash_object(BLOB, edit.content)
            blobs[id] = _Blob(edit.content, None if before is None else before.id, told=edit.before)
            self._edited[id] = edit.content
            return Node(edit.mode, id)
        assert edit.id is not None
        id = bytes.fromhex(edit.id)
        known = any(entry is not None and entry.id == edit.id for entry in landing.expects.values())
        if edit.mode != SUBMODULE and not known and id not in self.pack and self._objects.kind(id) != BLOB:
            raise LandingRefused(f"{path_text(path)}: the repository holds no content {edit.id}")
        return Node(edit.mode, id)

    def _now(self, path: bytes, node: Node) -> bytes:
        """Return the content of a shared path; those of one batch are not in the repository yet."""
        if node.mode not in (REGULAR, EXECUTABLE):
            raise _Held(Moved(paths=(RepoPath(path),), why="a shared path is no file on main"))
        id, content = self._shared_now.get(path, (b"", b""))
        return content if id == node.id else self.blob(node.id)

    def _shared(self, change: SharedEdit, before: Node | None, content: bytes | None, redo: Redo) -> tuple[How, bytes]:
        """Return how a shared path gets its content, and the content."""
        if _is(before, change.base):
            return How.TAKEN, _laid(change, content)
        redone = redo(change, content)
        if isinstance(redone, Declined):
            raise _Held(Moved(paths=(change.path,), why=redone.why))
        return How.REDONE, redone

    def blob(self, id: bytes) -> bytes:
        """Return a content, from memory if it was written lately."""
        found = self._kept(id)
        if found is None:
            found = self._objects.content(id, BLOB)
            self._recent.put(id, found)
        return found

    def _kept(self, id: bytes) -> bytes | None:
        found = self._edited.get(id)
        return self._recent.get(id) if found is None else found

    def remember(self) -> None:
        """Keep what the next step is likely to start from; of a shared path only the last content."""
        for id, content in (*self._edited.items(), *self._shared_now.values()):
            self._recent.put(id, content)
        self._roots.update(self._new_roots)

    def _add_blob(self, id: bytes, blob: _Blob) -> None:
        if id in self.pack:
            return
        old = blob.old
        if old is None and blob.base is not None:
            if blob.base in self.pack:
                old = self._kept(blob.base)
            elif self._add_on_copy(id, blob, blob.base):
                return
        if old is None:
            self.pack.add(BLOB, id, blob.content)
        else:
            self.pack.add(BLOB, id, blob.content, blob.base, [splice_between(old, blob.content)])

    def _add_on_copy(self, id: bytes, blob: _Blob, base: bytes) -> bool:
        """Add a content as a delta on a copy of what it began as, if that is at hand and saves much; say whether."""
        content = blob.content
        if len(content) < _WORTH_A_COPY:
            return False
        root = self._roots.get(base, base)
        copied: Copied | None = None
        if blob.told is not None and root == base and hash_object(BLOB, blob.told) == base:
            old = blob.told
            copied = self._wholes.copied(root, BLOB, len(old))
        elif (whole := self._wholes.find(root, BLOB)) is not None:
            old, copied = whole
        if copied is None:
            return False
        splice = splice_between(old, content)
        if _MUCH * len(splice[2]) > len(content):
            return False
        self.pack.add_copy(root, len(old), copied.entry, copied.crc)
        self.pack.add(BLOB, id, content, root, [splice])
        self._new_roots[id] = root
        return True


def _laid(change: SharedEdit, content: bytes | None) -> bytes:
    if isinstance(change.change, bytes):
        return change.change
    try:
        return patched(content or b"", change.change)
    except BadPatch as error:
        raise LandingRefused(f"{path_text(change.path)}: {error}") from None
