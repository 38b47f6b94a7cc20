"""The caller's side of the process that checks are forked from: start it, hand it requests, start it again."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import json
import os
import socket
import subprocess
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import lanes
from qodebase.check import Limits
from qodebase.errors import QodebaseError

if TYPE_CHECKING:
    from lanes.checking.sandbox import Sandbox

_ROOT = str(Path(lanes.__file__).parents[1])
_BOOT = (
    "import sys; sys.path.insert(0, sys.argv[1]); from lanes.checking.inside.zygote import serve; del sys.path[0]; "
    "serve(int(sys.argv[2]), sys.argv[3])"
)
_PATIENCE_S = 30.0
_TRIES = 3
_MOST_BYTES = 64 << 20


class NotStarted(QodebaseError):
    """A process for checks that does not start."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One thing to run in a folder (its path without links): a command, tests, or the tests of several checks.

    Attributes:
        together: what each check selects; all run in one process.
        plain: whether they are only called, without pytest; see `lanes.checking.inside.plain`.
        modules: paths of what the tests are likely to import, to be compiled once for many requests.
    """

    folder: Path
    command: tuple[str, ...] = ()
    tests: tuple[str, ...] = ()
    together: tuple[tuple[str, ...], ...] = ()
    plain: bool = False
    modules: tuple[str, ...] = ()
    environ: dict[str, str] = field(default_factory=dict)
    limits: Limits = field(default_factory=Limits)


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How it ended.

    Attributes:
        why: what ended it before its time, or the empty text.
        exit, signal: how it ended itself; both None where something else ended it.
        output: what it printed, the middle left out where it is long.
        report: what tests wrote about themselves.
    """

    why: str = ""
    exit: int | None = None
    signal: int | None = None
    output: str = ""
    report: bytes = b""


class Warm:
    """Runs requests in children of one process, which is started at the first and again after its death."""

    def __init__(self, sandbox: Sandbox) -> None:
        self._sandbox = sandbox
        self._process: subprocess.Popen[bytes] | None = None
        self._control: socket.socket | None = None
        self._starting = asyncio.Lock()
        self._plain = False

    async def run(self, request: Request) -> Outcome:
        """Run one request; several may run at a time. Cancelling ends all that it started.

        Raises:
            NotStarted: the process does not start; the message says why.
        """
        for _ in range(_TRIES):
            control = await self._started()
            ours, theirs = socket.socketpair()
            with ours:
                with theirs:
                    try:
                        socket.send_fds(control, [b"!"], [theirs.fileno()])
                    except OSError:
                        await self.close()
                        continue
                answer = await _asked(ours, request)
            if answer is not None:
                return answer
            # What is compiled beforehand is not under the limits of a check; it may have been too much.
            request = dataclasses.replace(request, modules=())
            if self._process is not None and self._process.poll() is not None:
                await self.close()
        return Outcome(why="the process that runs checks died again and again")

    async def may_be_plain(self) -> bool:
        """Return whether tests may be called here without pytest: it has no plugin that might make a difference."""
        await self._started()
        return self._plain

    async def close(self) -> None:
        """End the process and all that still runs below it."""
        process, self._process = self._process, None
        if self._control is not None:
            self._control.close()
            self._control = None
        if process is not None:
            process.kill()
            await asyncio.to_thread(process.wait)

    async def _started(self) -> socket.socket:
        async with self._starting:
            if self._control is None:
                self._control = await self._start()
            return self._control

    async def _start(self) -> socket.socket:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        try:
            with tempfile.TemporaryFile() as said:
                with theirs:
                    self._process = _spawned(self._sandbox, theirs, said)
                fault, self._plain = await _ready(ours, said)
            if fault:
                raise NotStarted(fault, hint="Checks need this process; mend that, then resume.")
        except BaseException as error:
            ours.close()
            await self.close()
            if isinstance(error, OSError):
                raise NotStarted(f"{self._sandbox.python}: {error.strerror}") from None
            raise
        return ours


def environment(own: dict[str, str]) -> dict[str, str]:
    """Return the variables that a check finds: nothing of the caller's but the search path."""
    return {
        "PATH": os.environ.get("PATH", os.defpath),
        "LANG": "C.UTF-8",
        "USER": "check",
        "LOGNAME": "check",
        "PYTHONDONTWRITEBYTECODE": "1",
        **own,
    }


def _spawned(sandbox: Sandbox, control: socket.socket, said: IO[bytes]) -> subprocess.Popen[bytes]:
    settings = {
        "sandbox": sandbox.on,
        "hide": sandbox.hidden,
        "keep": sandbox.kept,
        "preload": sandbox.preload,
        "bytecode": "" if sandbox.bytecode is None else str(sandbox.bytecode),
    }
    return subprocess.Popen(
        [sandbox.python, "-I", "-c", _BOOT, _ROOT, str(control.fileno()), json.dumps(settings)],
        pass_fds=[control.fileno()],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=said,
        env=environment({}),
        start_new_session=True,
    )


async def _ready(control: socket.socket, said: IO[bytes]) -> tuple[str, bool]:
    """Wait for the process to be ready; return why it is not, or the empty text; and whether tests may be plain."""
    control.setblocking(False)
    try:
        async with asyncio.timeout(_PATIENCE_S):
            packet = await asyncio.get_running_loop().sock_recv(control, 64 << 10)
    except TimeoutError:
        return f"the process for checks was not ready within {_PATIENCE_S:g} s", False
    except OSError as error:
        return str(error), False
    control.setblocking(True)
    if not packet:
        said.seek(0)
        lines = said.read().decode(errors="replace").strip().splitlines()
        return lines[-1] if lines else "the process for checks ended at once", False
    words = json.loads(packet)
    return str(words["fault"]), bool(words["plain"])


async def _asked(connection: socket.socket, request: Request) -> Outcome | None:
    """Send a request and wait for its outcome; None where whoever runs it is gone."""
    limits = {name: getattr(request.limits, name) for name in request.limits.__struct_fields__}
    words = {
        "folder": str(request.folder),
        "command": request.command,
        "tests": request.tests,
        "together": request.together,
        "plain": request.plain,
        "modules": request.modules,
        "environ": environment(request.environ),
        "limits": limits,
    }
    connection.setblocking(False)
    loop = asyncio.get_running_loop()
    answer = bytearray()
    with contextlib.suppress(ConnectionError, BrokenPipeError):
        await loop.sock_sendall(connection, json.dumps(words).encode() + b"\n")
        while chunk := await loop.sock_recv(connection, 1 << 20):
            answer += chunk
            if len(answer) > _MOST_BYTES:
                return Outcome(why="its answer is too long")
    head, _, rest = bytes(answer).partition(b"\n")
    if not head:
        return None
    said: dict[str, Any] = json.loads(head)
    return Outcome(
        why=said["why"],
        exit=said.get("exit"),
        signal=said.get("signal"),
        output=rest[: said["output"]].decode(errors="replace"),
        report=rest[said["output"] :],
    )
