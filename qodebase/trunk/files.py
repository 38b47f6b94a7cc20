"""The few operations on files that durability rests on, in one place so that a fault can be put into each."""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Iterable
from pathlib import Path

from qodebase.trunk.configuration import NOT_SHARED, Shared


class Files:
    """Create, write, sync, link, rename and remove, one system call each.

    Args:
        durable: False leaves out every sync; only for tests, a crash of the machine may then lose what landed.
        shared: permissions beyond the umask for what is made here.
    """

    def __init__(self, *, durable: bool = True, shared: Shared = NOT_SHARED) -> None:
        self.durable = durable
        self.shared = shared

    def write_new(self, path: Path, chunks: Iterable[bytes | bytearray], *, mode: int = 0o644) -> None:
        """Create a file that does not exist yet, fill it and sync it."""
        descriptor = self.open_new(path, mode)
        try:
            for chunk in chunks:
                self.write(descriptor, chunk)
            self.sync(descriptor)
        finally:
            os.close(descriptor)

    def open_new(self, path: Path, mode: int) -> int:
        """Create an empty file and return its descriptor; `FileExistsError` when there is one."""
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
        if self.shared.bits:
            bits = self.shared.bits if mode & stat.S_IWUSR else self.shared.bits & 0o444
            kept = 0 if self.shared.exact else stat.S_IMODE(os.fstat(descriptor).st_mode)
            os.fchmod(descriptor, kept | bits)
        return descriptor

    def append(self, path: Path, chunk: bytes) -> None:
        """Write behind what a file holds, or make it; after a failure it holds what it held."""
        descriptor = os.open(path, os.O_WRONLY | os.O_CLOEXEC) if path.exists() else self.open_new(path, 0o644)
        try:
            size = os.lseek(descriptor, 0, os.SEEK_END)
            try:
                self.write(descriptor, chunk)
            except OSError:
                os.ftruncate(descriptor, size)
                raise
        finally:
            os.close(descriptor)

    def fill(self, path: Path, chunks: Iterable[bytes]) -> None:
        """Write to a file from its beginning and sync it."""
        with open(path, "r+b", buffering=0) as file:
            for chunk in chunks:
                self.write(file.fileno(), chunk)
            self.sync(file.fileno())

    def write(self, descriptor: int, chunk: bytes | bytearray) -> None:
        """Write all of ``chunk``."""
        view = memoryview(chunk)
        while view:
            view = view[os.write(descriptor, view) :]

    def sync(self, descriptor: int) -> None:
        """Bring a file's or a folder's content to the disk."""
        if self.durable:
            os.fsync(descriptor)

    def sync_folder(self, path: Path) -> None:
        """Bring a folder's names to the disk."""
        if not self.durable:
            return
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            self.sync(descriptor)
        finally:
            os.close(descriptor)

    def link(self, source: Path, target: Path) -> None:
        """Give a file a second name; `FileExistsError` when the name is taken."""
        os.link(source, target)

    def rename(self, source: Path, target: Path) -> None:
        """Give a file another name, in place of whatever had it."""
        os.replace(source, target)

    def unlink(self, path: Path) -> None:
        """Remove a name; it may be gone already."""
        path.unlink(missing_ok=True)

    def make_folder(self, path: Path) -> None:
        """Make a folder and those above it, and sync the names of the new ones."""
        missing = []
        while not path.is_dir():
            missing.append(path)
            path = path.parent
        for folder in reversed(missing):
            folder.mkdir(exist_ok=True)
            if self.shared.bits:
                # A folder is passed through by whom its files are read by, and hands its group on, as git has it.
                kept = 0 if self.shared.exact else stat.S_IMODE(folder.stat().st_mode)
                folder.chmod(kept | self.shared.bits | (self.shared.bits & 0o444) >> 2 | stat.S_ISGID)
            self.sync_folder(folder.parent)

    def pause(self, seconds: float) -> None:
        """Wait in real time, for somebody else's lock."""
        time.sleep(seconds)
