"""A change: what one attempt wants to edit, against the commit that it read."""

from __future__ import annotations

import msgspec

from qodebase.paths import CommitId, RepoPath

REGULAR = 0o100644
EXECUTABLE = 0o100755
SYMLINK = 0o120000
SUBMODULE = 0o160000


class Hunk(msgspec.Struct, frozen=True, kw_only=True):
    """Replace ``length`` bytes at ``offset`` of the base's content by ``text``."""

    offset: int
    length: int = 0
    text: bytes


class Operation(msgspec.Struct, frozen=True, kw_only=True, tag_field="op"):
    """One edit of one path; its kinds are the classes below."""

    path: RepoPath


class Write(Operation, frozen=True, kw_only=True, tag="write"):
    """Give a path this content; ``mode`` None keeps the mode of the base, and means 100644 for a new file."""

    content: bytes
    mode: int | None = None


class Patch(Operation, frozen=True, kw_only=True, tag="patch"):
    """Write a path as hunks on the base's content: ascending, not overlapping, offsets in bytes of the base."""

    hunks: tuple[Hunk, ...]


class Delete(Operation, frozen=True, kw_only=True, tag="delete"):
    """Remove a path."""


class Rename(Operation, frozen=True, kw_only=True, tag="rename"):
    """Move a path to ``target`` with its content and mode; a later operation may edit the target."""

    target: RepoPath


class SetMode(Operation, frozen=True, kw_only=True, tag="mode"):
    """Make a file executable (0o100755) or plain (0o100644)."""

    mode: int


class Symlink(Operation, frozen=True, kw_only=True, tag="symlink"):
    """Make a path a symbolic link to ``target`` (the bytes that git stores for it)."""

    target: bytes


AnyOperation = Write | Patch | Delete | Rename | SetMode | Symlink


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """The edits of one attempt against ``base``; merged content is never stored as a change.

    Operations are applied in order. ``symbols`` names what they touch as ``path#name``, for the record.
    """

    base: CommitId
    operations: tuple[AnyOperation, ...]
    symbols: tuple[str, ...] = ()

    def on(self, base: CommitId) -> Change:
        """Return the same edits against another commit, which holds the same at their paths."""
        return msgspec.structs.replace(self, base=base)

    @property
    def paths(self) -> tuple[RepoPath, ...]:
        """Return every path that the change touches, each once, in order of first mention."""
        seen: dict[RepoPath, None] = {}
        for operation in self.operations:
            seen[operation.path] = None
            if isinstance(operation, Rename):
                seen[operation.target] = None
        return tuple(seen)


class BadPatch(ValueError):
    """Hunks that do not fit the content that they are laid on."""


def patched(content: bytes, hunks: tuple[Hunk, ...]) -> bytes:
    """Return ``content`` with ``hunks`` laid on it.

    Raises:
        BadPatch: a hunk overlaps the one before it or reaches beyond the content.
    """
    parts = []
    at = 0
    for hunk in hunks:
        if hunk.offset < at or hunk.length < 0 or hunk.offset + hunk.length > len(content):
            raise BadPatch(f"a hunk at {hunk.offset} of {len(content)} bytes does not fit")
        parts.append(content[at : hunk.offset])
        parts.append(hunk.text)
        at = hunk.offset + hunk.length
    parts.append(content[at:])
    return b"".join(parts)
