"""One step of the trunk, in memory: take changes onto a tip, one commit and one note each, and collect the objects."""

from __future__ import annotations

from collections.abc import Mapping

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
from qodebase.trunk.contents import Blob, Contents
from qodebase.trunk.drafts import PathClash, Written
from qodebase.trunk.folder import Node, entry_of, is_entry
from qodebase.trunk.front import Front, Patched
from qodebase.trunk.gathering import Gathering
from qodebase.trunk.objects import BLOB, COMMIT, TREE, hash_object
from qodebase.trunk.tree import Tree


class _Held(Exception):
    """Why one landing does not go on now."""

    def __init__(self, moved: Moved) -> None:
        super().__init__(moved.why)
        self.moved = moved


class Step:
    """Landings taken one after the other onto one tip; nothing is on disk before the pack is written."""

    def __init__(self, *, tip: bytes, tree: Tree, pack: Gathering, contents: Contents) -> None:
        self.tip = tip
        self.pack = pack
        self.notes: dict[bytes, bytes] = {}
        self.last: bytes = b""
        self._load = tree.load
        self._front = Front(tree.root, tree.load)
        self._contents = contents
        self._shared_now: dict[bytes, tuple[bytes, bytes]] = {}
        self._broken: set[str] = set()

    @property
    def tree(self) -> Tree:
        """Return the tree of the tip."""
        return Tree(self._front.root(), self._load)

    def take(self, landing: Landing, redo: Redo) -> Landed | Moved:
        """Put one landing onto the tip, whole or not at all."""
        if landing.behind in self._broken:
            return Moved(paths=(), why="one ahead of it has not landed")
        taken = self._taken(landing, redo)
        if landing.behind and isinstance(taken, Moved):
            self._broken.add(landing.behind)
        return taken

    def _taken(self, landing: Landing, redo: Redo) -> Landed | Moved:
        try:
            nodes, blobs, shared = self._resolved(landing, redo)
            folders = self._edited(nodes)
        except _Held as held:
            return held.moved
        except PathClash as clash:
            return Moved(paths=(RepoPath(clash.path),), why=clash.why)
        tree = self._front.id
        committer = person_line(landing.committer)
        content = commit_bytes(
            tree=tree,
            parents=(self.tip,),
            author=person_line(landing.author),
            committer=committer,
            message=message_bytes(landing.message, landing.trailers),
            sign=landing.sign,
        )
        commit = hash_object(COMMIT, content)
        landed = Landed(
            commit=CommitId(commit.hex()),
            parent=CommitId(self.tip.hex()),
            tree=ObjectId(tree.hex()),
            shared=shared,
        )
        note = landing.note(landed)
        for id, blob in blobs.items():
            self._contents.add(id, blob)
        for path, result in shared.items():
            id = bytes.fromhex(result.after.id)
            self._shared_now[path] = (id, blobs[id].content)
        self._add_folders(folders)
        add = self.pack.add
        add(COMMIT, commit, content)
        note_id = hash_object(BLOB, note)
        add(BLOB, note_id, note)
        self.notes[commit] = note_id
        self.tip, self.last = commit, committer
        return landed

    def _edited(self, nodes: Mapping[bytes, Node | None]) -> list[Patched] | list[Written]:
        """Put entries in place and return the folders that it made; nothing is done where they clash."""
        if len(nodes) == 1:
            ((path, node),) = nodes.items()
            patched = None if node is None else self._front.replace(path, node)
            if patched is not None:
                return patched
        tree, written = self.tree.edited(nodes)
        self._front = Front(tree.root, tree.load)
        return written

    def _add_folders(self, folders: list[Patched] | list[Written]) -> None:
        pack = self.pack
        for folder in folders:
            if isinstance(folder, Written):
                self._add_folder(folder)
            else:
                level, base, at, patch = folder
                if not pack.add_patched(level.id, level.size, base, at, patch):
                    pack.add(TREE, level.id, level.raw(), base, [(at, at + 20, patch)])

    def _add_folder(self, folder: Written) -> None:
        id, raw, base, splices = folder
        if base is not None and len(splices) == 1:
            ((start, end, text),) = splices
            if end - start == 20 == len(text) and self.pack.add_patched(id, len(raw), base, start, text):
                return
        self.pack.add(TREE, id, raw, base, splices)

    def _resolved(
        self, landing: Landing, redo: Redo
    ) -> tuple[dict[bytes, Node | None], dict[bytes, Blob], dict[RepoPath, SharedResult]]:
        """Return the entries that a landing sets, its new blobs with what each follows from, and its shared paths."""
        # An edit of several paths is laid on the whole tree, so they are not looked up where one of it moves on.
        node_at = self._front.node if len(landing.expects) + len(landing.shared) == 1 else self.tree.node
        held: dict[RepoPath, Node | None] = {}
        moved: list[RepoPath] = []
        for path, entry in landing.expects.items():
            node = held[path] = node_at(path)
            if not is_entry(node, entry):
                moved.append(path)
        if moved:
            raise _Held(Moved(paths=tuple(moved), why="main holds something else now"))
        nodes: dict[bytes, Node | None] = {}
        blobs: dict[bytes, Blob] = {}
        for path, edit in landing.edits.items():
            nodes[path] = None if edit is None else self._node(landing, path, edit, held[path], blobs)
        shared = {}
        for change in landing.shared:
            before = node_at(change.path)
            old = None if before is None else self._now(change.path, before)
            how, content = self._shared(change, before, old, redo)
            mode = change.mode or (REGULAR if before is None else before.mode)
            node = Node(mode, hash_object(BLOB, content))
            nodes[change.path] = node
            blobs[node.id] = Blob(content, None if before is None else before.id, old)
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
        blobs: dict[bytes, Blob],
    ) -> Node:
        if edit.content is not None:
            id = hash_object(BLOB, edit.content)
            blobs[id] = Blob(edit.content, None if before is None else before.id, told=edit.before)
            self._contents.edited(id, edit.content)
            return Node(edit.mode, id)
        assert edit.id is not None
        id = bytes.fromhex(edit.id)
        known = any(entry is not None and entry.id == edit.id for entry in landing.expects.values())
        if edit.mode != SUBMODULE and not known and not self._contents.known(id):
            raise LandingRefused(f"{path_text(path)}: the repository holds no content {edit.id}")
        return Node(edit.mode, id)

    def _now(self, path: bytes, node: Node) -> bytes:
        """Return the content of a shared path; those of one batch are not in the repository yet."""
        if node.mode not in (REGULAR, EXECUTABLE):
            raise _Held(Moved(paths=(RepoPath(path),), why="a shared path is no file on main"))
        id, content = self._shared_now.get(path, (b"", b""))
        return content if id == node.id else self._contents.read(node.id)

    def _shared(self, change: SharedEdit, before: Node | None, content: bytes | None, redo: Redo) -> tuple[How, bytes]:
        """Return how a shared path gets its content, and the content."""
        if is_entry(before, change.base):
            return How.TAKEN, _laid(change, content)
        redone = redo(change, content)
        if isinstance(redone, Declined):
            raise _Held(Moved(paths=(change.path,), why=redone.why))
        return How.REDONE, redone

    def remember(self) -> None:
        """Keep what the next step is likely to start from; of a shared path only the last content."""
        for id, content in self._shared_now.values():
            self._contents.edited(id, content)
        self._contents.remember()


def _laid(change: SharedEdit, content: bytes | None) -> bytes:
    if isinstance(change.change, bytes):
        return change.change
    try:
        return patched(content or b"", change.change)
    except BadPatch as error:
        raise LandingRefused(f"{path_text(change.path)}: {error}") from None
