"""Gather the objects of large batches in a process beside this one: deltas and checksums take half of a landing's time.

The process only computes: what it makes comes back as bytes and is written here. One that dies costs the step that it
was at, which is taken again without it.
"""

from __future__ import annotations

import fcntl
import functools
import marshal
import os
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from qodebase.children import command, environment
from qodebase.trunk import packer
from qodebase.trunk.deltas import Splice, splice_between
from qodebase.trunk.files import Files
from qodebase.trunk.pack import LEAST_PATCHED, STEPS, Ready
from qodebase.trunk.packer import FORM, LARGE, LENGTH, Call, Newest
from qodebase.trunk.placing import Packed, place_pack

_PIPE = 1 << 20
_MANY_CALLS = 64
_UNKNOWN = 1 << 16
"""More steps than a chain has: only the process knows how many there are."""


class Gone(ConnectionError):
    """The process beside this one has ended before it was told to."""


class Beside:
    """A process that gathers the objects of one step after the other; used from one thread.

    Args:
        objects: the repository's folder of objects.
        level: zlib's.
    """

    def __init__(self, objects: Path, *, level: int) -> None:
        words = (*command(packer.__name__), str(objects), str(level))
        # A session of its own: Ctrl-C is for this process, which ends that one itself.
        self._process = subprocess.Popen(
            words, bufsize=0, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            env=environment(), start_new_session=True,
        )  # fmt: skip
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._in, self._out = self._process.stdin.fileno(), self._process.stdout.fileno()
        for end in (self._in, self._out):
            with suppress(AttributeError, OSError):  # Smaller ones do, where a system has no others or no more.
                fcntl.fcntl(end, fcntl.F_SETPIPE_SZ, _PIPE)
        self._unheard = 0

    def begin(self) -> Elsewhere:
        """Return what gathers one step's objects; the one before it is done with."""
        while self._unheard:
            self.hear()
        self.send([(packer.BEGIN, ())])
        return Elsewhere(self)

    def forget(self) -> None:
        """Have packs looked up again: some were removed."""
        self.send([(packer.FORGET, ())])

    def send(self, calls: list[Call]) -> None:
        """Send calls.

        Raises:
            Gone: nobody takes them.
        """
        try:
            said = marshal.dumps(calls, FORM)
        except ValueError as error:
            raise Gone(f"more than a frame holds: {error}") from None
        try:
            for part in (len(said).to_bytes(LENGTH), said):
                view = memoryview(part)
                while view:
                    view = view[os.write(self._in, view) :]
        except BrokenPipeError as error:
            raise Gone(str(error)) from None

    def finish(self) -> None:
        """Ask for what was gathered; three times `hear` then tells it."""
        self._unheard = 3

    def hear(self) -> bytearray:
        """Return the next part of an answer.

        Raises:
            Gone: there is none.
        """
        self._unheard -= 1
        return self._read(int.from_bytes(self._read(LENGTH)))

    def _read(self, size: int) -> bytearray:
        read = bytearray(size)
        view = memoryview(read)
        while view:
            got = os.readv(self._out, [view])
            if not got:
                raise Gone("it has ended")
            view = view[got:]
        return read

    def close(self) -> None:
        """End the process, whatever it is at."""
        self._process.kill()
        for end in (self._process.stdin, self._process.stdout):
            if end is not None:
                end.close()
        self._process.wait()


class Elsewhere:
    """The objects of one step, gathered by the process beside this one; a `Gathering`."""

    def __init__(self, beside: Beside) -> None:
        self._beside = beside
        self._steps: dict[bytes, int] = {}
        self._newest: Newest[None] = Newest()
        self._calls: list[Call] = []
        self._tell = self._calls.append

    def __contains__(self, id: bytes | None) -> bool:
        return id in self._steps

    def _send(self) -> None:
        self._beside.send(self._calls)
        self._calls.clear()

    def add(
        self, kind: int, id: bytes, content: bytes, base: bytes | None = None, splices: Sequence[Splice] = ()
    ) -> None:
        """Do as `Pack.add`."""
        if id not in self._steps:
            # On nothing, and on a chain that is at its end, an object begins anew; else that hangs on the delta's size.
            begins = base is None or self._steps.get(base, STEPS) == STEPS
            self._steps[id] = 0 if begins else _UNKNOWN
            self._tell((packer.ADD, (kind, id, content, base, splices)))
            if len(self._calls) >= _MANY_CALLS:
                self._send()

    def add_patched(self, id: bytes, size: int, base: bytes, place: int, patch: bytes) -> bool:
        """Do as `Pack.add_patched`."""
        if id in self._steps:
            return True
        steps = self._steps.get(base, _UNKNOWN)
        if steps >= STEPS or size < LEAST_PATCHED:
            return False
        self._steps[id] = steps + 1
        self._tell((packer.ADD_PATCHED, (id, size, base, place, patch)))
        return True

    def add_run(self, run: Sequence[Ready]) -> bool:
        """Do as `Pack.add_run`."""
        if any(ready.id in self._steps for ready in run):
            return False
        self._steps.update((ready.id, _UNKNOWN) for ready in run)
        self._tell((packer.ADD_RUN, (tuple(map(tuple, run)),)))
        return True

    def add_blob(self, id: bytes, content: bytes, base: bytes | None, old: bytes | None, told: bytes | None) -> None:
        """Do as `Gathering.add_blob`."""
        if id in self._steps:
            return
        self._steps[id] = _UNKNOWN
        if old is not None and base in self._newest:
            self._tell((packer.ADD_SPLICED, (id, base, splice_between(old, content))))
        else:
            self._tell((packer.ADD_BLOB, (id, content, base, old, None if old is not None else told)))
            if len(content) < LARGE:
                return
        self._newest.put(id, base, None, len(content))

    def write(self, files: Files, folder: Path) -> Path:
        """Do as `Pack.write`."""
        self._tell((packer.FINISH, ()))
        self._send()
        self._beside.finish()
        content, checksum = self._beside.hear(), self._beside.hear()
        return place_pack(files, folder, Packed([content], checksum, functools.cache(self._beside.hear)))

    def remember(self) -> None:
        """Do as `Gathering.remember`."""
        self._tell((packer.REMEMBER, ()))
        with suppress(Gone):  # The step is taken; the next one finds out.
            self._send()
