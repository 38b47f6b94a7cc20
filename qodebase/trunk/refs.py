"""Read refs, and move them by compare-and-set under git's own lock files.

Git takes ``<ref>.lock`` by creating it exclusively and moves a ref by renaming the lock over it; so does `RefLock`. It
makes a file of its own first and links it to the lock's name: after a crash a lock that is the same file as ours is
known to be ours, and nobody else's is ever removed.
"""

from __future__ import annotations

import os
import re
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from urllib.parse import quote, unquote

from qodebase.errors import QodebaseError
from qodebase.trunk.files import Files
from qodebase.trunk.repository import Folders

NOTES_REF = "refs/notes/qodebase"

_TRIES = 200
_PAUSE = 0.01
_CLAIM = "claim-"
_ID = re.compile(rb"[0-9a-f]{40}")


class BadRef(QodebaseError):
    """A ref that does not say what a ref says."""


class RefBusy(QodebaseError):
    """A ref whose lock file somebody else keeps."""


def read_ref(git: Path, name: str) -> str | None:
    """Return the 40 hex digits that a ref holds, or None when there is no such ref.

    The loose file is read before the packed ones, as git does: packing writes the packed one first.
    """
    for _ in range(5):
        try:
            text = (git / name).read_bytes().strip()
        except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
            return _packed(git, name)
        if not text.startswith(b"ref:"):
            break
        name = os.fsdecode(text[4:].strip())
    if not _ID.fullmatch(text):
        raise BadRef(f"{git / name} does not hold an object id", hint="See what `git fsck` says.")
    return text.decode()


def resolve_ref(git: Path, name: str) -> str:
    """Return the name of the ref that ``name`` leads to when it is a symbolic one."""
    for _ in range(5):
        try:
            text = (git / name).read_bytes()
        except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
            return name
        if not text.startswith(b"ref:"):
            return name
        name = os.fsdecode(text[4:].strip())
    raise BadRef(f"{git / name} leads in a circle")


def head_of(folder: Path, git: Path) -> str:
    """Return the name of the ref that HEAD in a folder leads to, through symbolic ones; what else it says, if that.

    A HEAD that is a symbolic link (`core.preferSymlinkRefs`) names a ref as well.
    """
    head = folder / "HEAD"
    try:
        text = b"ref:" + os.readlink(os.fsencode(head)) if head.is_symlink() else head.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return ""
    name = os.fsdecode(text.removeprefix(b"ref:").strip())
    return resolve_ref(git, name) if text.startswith(b"ref:") else name


def _packed(git: Path, name: str) -> str | None:
    try:
        text = (git / "packed-refs").read_bytes()
    except FileNotFoundError:
        return None
    found = re.search(rb"^([0-9a-f]{40}) " + re.escape(os.fsencode(name)) + rb"\r?$", text, re.MULTILINE)
    return found.group(1).decode() if found else None


class RefLock:
    """Git's lock on one ref, held from entering to leaving; `move` sets the ref and ends it."""

    def __init__(self, files: Files, folders: Folders, name: str) -> None:
        self._files = files
        self._git = folders.git
        self.name = name
        self._ref = folders.git / name
        self._lock = self._ref.with_name(self._ref.name + ".lock")
        self._claim = folders.own / (_CLAIM + quote(name, safe=""))
        self.held = False

    def __enter__(self) -> RefLock:
        self._files.unlink(self._claim)
        os.close(self._files.open_new(self._claim, 0o644))
        for attempt in range(_TRIES):
            try:
                self._files.make_folder(self._ref.parent)
                self._files.link(self._claim, self._lock)
                self.held = True
                return self
            except FileExistsError:
                self._files.pause(_PAUSE * (1 + attempt % 7) / 4)
            except FileNotFoundError:
                # git removes a folder of refs when it becomes empty, perhaps just now.
                continue
            except OSError:
                self._files.unlink(self._claim)
                raise
        self._files.unlink(self._claim)
        raise RefBusy(
            f"{self._lock} is held by another program",
            hint="Wait until it is done; if no git runs on this repository, remove that file.",
        )

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.held = False
        if self._claim.exists():
            remove_claim(self._files, self._git, self._claim)

    def value(self) -> str | None:
        """Return what the ref holds now."""
        return read_ref(self._git, self.name)

    def prepare(self, id: str) -> None:
        """Write the new value, synced, without moving the ref.

        Raises:
            BadRef: there are refs below it.
        """
        if self._ref.is_dir():
            self._make_room()
        self._files.fill(self._claim, [id.encode() + b"\n"])

    def _make_room(self) -> None:
        """Remove empty folders where the ref's file shall be, which git leaves behind and removes as well."""
        for folder, _, _ in os.walk(self._ref, topdown=False):
            with suppress(OSError):
                os.rmdir(folder)
        if self._ref.is_dir():
            raise BadRef(
                f"{self.name} cannot be written: there are refs below it",
                hint=f"`git for-each-ref {self.name}` lists them; rename or delete them.",
            )

    def move(self) -> None:
        """Give the ref the prepared value; the rename is the moment when it moves."""
        self._files.rename(self._lock, self._ref)
        try:
            self._files.sync_folder(self._ref.parent)
        except FileNotFoundError:
            # git has packed the ref already, and removed the folder that was empty then.
            self._files.sync_folder(self._git)
        self._files.unlink(self._claim)


def remove_claim(files: Files, git: Path, claim: Path) -> None:
    """Free the ref that a claim of ours holds, if it still does, and remove the claim."""
    ref = git / unquote(claim.name.removeprefix(_CLAIM))
    lock = ref.with_name(ref.name + ".lock")
    with suppress(FileNotFoundError):  # Somebody else had it, and frees it just now.
        if lock.samefile(claim):
            files.unlink(lock)
    files.unlink(claim)


def stale_claims(own: Path) -> list[Path]:
    """Return the claims that a dead trunk left."""
    return sorted(own.glob(_CLAIM + "*")) if own.is_dir() else []
