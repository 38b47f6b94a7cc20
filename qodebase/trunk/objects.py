"""Read objects of a repository: loose, packed, in alternates."""

from __future__ import annotations

import functools
import hashlib
import threading
from collections.abc import Callable
from pathlib import Path

from dulwich.object_store import BaseObjectStore, DiskObjectStore
from dulwich.objects import RawObjectID

from qodebase.errors import QodebaseError
from qodebase.trunk.alternates import object_folders

COMMIT, TREE, BLOB, TAG = 1, 2, 3, 4

_SHORT = 65536
_NAMES = {COMMIT: b"commit", TREE: b"tree", BLOB: b"blob", TAG: b"tag"}
_HEADS = {kind: name + b" %d\0" for kind, name in _NAMES.items()}


def _hasher() -> Callable[[bytes | bytearray], hashlib._Hash]:
    try:
        hashlib.sha1(b"")
    except ValueError:
        # A build that forbids SHA-1 for security allows it as a name; saying so costs time at every object.
        return functools.partial(hashlib.sha1, usedforsecurity=False)
    return hashlib.sha1


sha1 = _hasher()
"""Git's hash, begun with some bytes."""


class MissingObject(QodebaseError):
    """An object that the repository should hold and does not."""


def head_of(kind: int, size: int) -> bytes:
    """Return what git hashes before the content of an object."""
    return _HEADS[kind] % size


def hash_object(kind: int, content: bytes) -> bytes:
    """Return the 20 bytes that name an object."""
    head = _HEADS[kind] % len(content)
    if len(content) < _SHORT:
        return sha1(head + content).digest()
    digest = sha1(head)
    digest.update(content)
    return digest.digest()


_CACHE_BYTES = 8 << 20
_LOOKS = 2
"""So often an object is looked for: git may pack a loose one, or join packs, while it is looked for the first time."""


class _Store(DiskObjectStore):
    """One folder of objects; what it borrows is looked for by `Objects`, which ends where folders lead in a circle."""

    @property
    def alternates(self) -> list[BaseObjectStore]:
        return []


class Objects:
    """The objects of one repository; any thread may read."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = threading.Lock()
        self._stores = self._opened()

    def _opened(self) -> list[_Store]:
        # dulwich keeps so much for each pack, and a run has a pack a batch.
        return [_Store(str(path), delta_base_cache_limit=_CACHE_BYTES) for path in object_folders(self._folder)]

    def read(self, id: bytes) -> tuple[int, bytes]:
        """Return kind and content of the object that 20 bytes name.

        Raises:
            MissingObject: the repository does not hold it.
        """
        with self._lock:
            for _ in range(_LOOKS):
                self._stores = self._stores or self._opened()
                for store in self._stores:
                    try:
                        return store.get_raw(RawObjectID(id))
                    except (KeyError, FileNotFoundError):
                        continue
        raise MissingObject(
            f"{self._folder}: object {id.hex()} is missing",
            hint="Is this a partial clone, or was an alternate removed? `git fsck` says what else is missing.",
        )

    def content(self, id: bytes, kind: int) -> bytes:
        """Return the content of an object that must be of ``kind``."""
        found, content = self.read(id)
        if found != kind:
            name, wanted = _NAMES.get(found, b"?").decode(), _NAMES[kind].decode()
            raise MissingObject(f"{self._folder}: object {id.hex()} is a {name}, not a {wanted}")
        return content

    def tree(self, id: bytes) -> bytes:
        """Return a tree as git stores it."""
        return self.content(id, TREE)

    def kind(self, id: bytes) -> int | None:
        """Return the kind of an object, or None when the repository does not hold it."""
        try:
            return self.read(id)[0]
        except MissingObject:
            return None

    def reopen(self) -> None:
        """Forget which packs there are; they are looked up again when they are needed."""
        with self._lock:
            self._close()

    def close(self) -> None:
        """Close the packs."""
        with self._lock:
            self._close()

    def _close(self) -> None:
        for store in self._stores:
            store.close()
        self._stores = []
