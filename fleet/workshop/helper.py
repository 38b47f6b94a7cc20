"""The helper as the run's process sees it: started, asked in frames, and done without as soon as it fails."""

from __future__ import annotations

import asyncio
import fcntl
import os
import signal
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import BinaryIO

from qodebase.children import command, environment
from qodebase.codec import NotDecoded
from qodebase.helper_words import LENGTH, SAID, AnySaid, Opening, Request, frame

_BUFFER = 4 << 20
_PIPE = 1 << 20
_SILENT_S = 60.0
"""How long a process that was asked may say nothing before it is done without."""


class Helper:
    """One helper process; `serve` must run beside the agents.

    Args:
        hear: is given what the process says, in its order.
        gone: is called once when it will say nothing more.
    """

    def __init__(self, opening: Opening, hear: Callable[[Sequence[AnySaid]], None], gone: Callable[[], None]) -> None:
        self._opening = opening
        self._hear = hear
        self._gone = gone
        self._process: Process | None = None
        self._owed = 0
        self.open = False

    async def serve(self) -> None:
        """Keep the process until cancelled or until it dies or hangs, which is no failure of the run."""
        try:
            answers, out = _wide_pipe()
        except OSError:
            return
        with answers:
            try:
                # A session of its own: Ctrl-C is for the run, which ends its helper itself.
                self._process = await asyncio.create_subprocess_exec(
                    *command("fleet.workshop.process"),
                    stdin=PIPE,
                    stdout=out,
                    stderr=DEVNULL,
                    env=environment(),
                    start_new_session=True,
                )
            except OSError:
                return
            finally:
                os.close(out)
            try:
                await self._talk(self._process, answers)
            except (asyncio.IncompleteReadError, OSError, NotDecoded):
                return
            finally:
                self.open = False
                self._gone()
                await _ended(self._process)

    async def _talk(self, process: Process, answers: BinaryIO) -> None:
        assert process.stdin is not None
        reader = asyncio.StreamReader(limit=_BUFFER)
        loop = asyncio.get_running_loop()
        transport, _ = await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), answers)
        try:
            process.stdin.write(frame(self._opening))
            while True:
                head = await self._head(reader)
                said = SAID.decode(await reader.readexactly(LENGTH.unpack(head)[0]))
                self.open = True
                self._owed -= len(said)
                self._hear(said)
        finally:
            transport.close()

    async def _head(self, reader: asyncio.StreamReader) -> bytes:
        """Return the head of the next frame.

        Raises:
            TimeoutError: the process has owed an answer all the while.
        """
        while True:
            owing = self._owed > 0
            try:
                async with asyncio.timeout(_SILENT_S):
                    return await reader.readexactly(LENGTH.size)
            except TimeoutError:
                if owing:
                    raise

    def send(self, requests: Sequence[Request]) -> None:
        """Ask; only while it is `open`."""
        assert self._process is not None
        assert self._process.stdin is not None
        self._owed += len(requests)
        self._process.stdin.write(frame(requests))

    @property
    def pid(self) -> int | None:
        """Return the process's id; None where there is none."""
        return None if self._process is None else self._process.pid


def _wide_pipe() -> tuple[BinaryIO, int]:
    """Return a pipe to read from and its other end.

    The loop empties a pipe once a turn, and a usual one holds six answers.
    """
    read, write = os.pipe()
    with suppress(AttributeError, OSError):
        fcntl.fcntl(read, fcntl.F_SETPIPE_SZ, _PIPE)
    return os.fdopen(read, "rb", 0), write


async def _ended(process: Process) -> None:
    """Kill the process and let go of its pipes."""
    if process.returncode is None:
        # `Process.kill` would first ask the system whether it has ended, and take the answer from the loop's watcher.
        with suppress(ProcessLookupError):
            os.kill(process.pid, signal.SIGKILL)
    try:
        await process.communicate()
    except asyncio.CancelledError:
        # It is dead, but the loop has yet to hear of it.
        await process.communicate()
        raise
