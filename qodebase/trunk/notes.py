"""The tree of notes: what is there stays byte for byte, ours are added under two hex digits of their commit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from qodebase.change import REGULAR
from qodebase.paths import CommitId
from qodebase.trailers import RUN
from qodebase.trunk.commits import EXPECTS, ONTO, commit_bytes, message_bytes
from qodebase.trunk.drafts import PathClash
from qodebase.trunk.folder import EMPTY_TREE, Node
from qodebase.trunk.objects import COMMIT, TREE, Objects, hash_object
from qodebase.trunk.pack import Add, Pack
from qodebase.trunk.tree import Tree


def notes_tree(objects: Objects, tip: str | None) -> Tree:
    """Return the tree of a notes commit; of none, the empty tree."""
    if tip is None:
        return Tree.read(EMPTY_TREE, objects.tree)
    head = objects.content(bytes.fromhex(tip), COMMIT)
    return Tree.read(bytes.fromhex(head[5:45].decode()), objects.tree)


def find_note(tree: Tree, commit: str) -> tuple[bytes, Node] | None:
    """Return the path and entry of a commit's note, whatever the fan-out."""
    rest = commit.encode()
    prefix = b""
    folder = tree.root
    while True:
        node = folder.node(rest)
        if node is not None:
            return prefix + rest, node
        below = folder.child(rest[:2], tree.load) if len(rest) > 2 else None
        if below is None:
            return None
        folder, prefix, rest = below, prefix + rest[:2] + b"/", rest[2:]


def all_notes(tree: Tree) -> Iterator[tuple[CommitId, Node]]:
    """Yield the commit and the entry of each note."""
    for path, node in tree.walk():
        name = path.replace(b"/", b"")
        if len(name) == 40 and all(byte in b"0123456789abcdef" for byte in name):
            yield CommitId(name.decode()), node


def with_notes(tree: Tree, notes: Mapping[bytes, bytes], add: Add) -> Tree:
    """Return the tree with a note (blob's id) for each commit (id) added; ``add`` gets its new folders."""
    edits: dict[bytes, Node | None] = {}
    for commit, blob in notes.items():
        name = commit.hex().encode()
        edits[name[:2] + b"/" + name[2:]] = Node(REGULAR, blob)
    try:
        new, written = tree.edited(edits)
    except PathClash:
        # Somebody keeps a file of two hex digits among the notes; git reads a note at its full name as well.
        flat = {path.replace(b"/", b""): node for path, node in edits.items()}
        new, written = tree.edited(flat)
    for folder in written:
        add(TREE, folder.id, folder.raw, folder.base, folder.splices)
    return new


def united(theirs: Tree, ours: Tree, pack: Pack) -> Tree:
    """Return their notes with ours of commits that have none there; where both have one, theirs stays."""
    missing = {bytes.fromhex(id): node.id for id, node in all_notes(ours) if find_note(theirs, id) is None}
    return with_notes(theirs, missing, pack.add) if missing else theirs


def add_notes_commit(
    pack: Pack,
    tree: Tree,
    *,
    parent: str | None,
    person: bytes,
    subject: str,
    trailers: tuple[tuple[str, str], ...] = (),
    joined: str | None = None,
) -> str:
    """Put a commit of the notes into the pack and return its id; ``joined`` is a second parent."""
    content = commit_bytes(
        tree=tree.id,
        parents=[bytes.fromhex(one) for one in (parent, joined) if one is not None],
        author=person,
        committer=person,
        message=message_bytes(subject, trailers),
    )
    id = hash_object(COMMIT, content)
    pack.add(COMMIT, id, content)
    return id.hex()


def batch_trailers(run: str, expects: str, onto: str) -> tuple[tuple[str, str], ...]:
    """Return what a batch's notes commit says: whose it is, the tip that main shall get, the tip that it had."""
    return (RUN, run), (EXPECTS, expects), (ONTO, onto)
