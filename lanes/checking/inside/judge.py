"""One judgement: namespaces of its own, whose first process watches the check, holds it to its limits and ends all.

When the first process of a process namespace ends, the kernel kills all others in it; so a judgement leaves nothing
behind, however it ends, also when the one who asked for it is gone.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import shutil
import signal
import socket
import tempfile
import time
from typing import Any

from lanes.checking.inside import kernel, walls
from lanes.checking.inside.bytecode import prepare
from lanes.checking.inside.tally import CHUNK, Mark, Tally, memory_in_use
from lanes.checking.inside.work import work

_FIRST_USER = 0x70000000
_TICK_S = 0.1
_GATHER_MS = 10
_REPORT_BYTES = 32 << 20
_KEPT_BYTES = 64 << 10


def judge(asker: socket.socket, bytecode: str, *, sandbox: bool) -> None:
    """Read a request (one line of JSON), run it, and answer: a line of JSON, then output and report."""
    asker.settimeout(30)
    with asker.makefile("rb") as lines:
        request = json.loads(lines.readline())
    asker.settimeout(None)
    user = _FIRST_USER + os.getpid() if os.geteuid() == 0 and sandbox else None
    if sandbox:
        space = kernel.NEW_PIDS | kernel.NEW_MOUNTS | kernel.NEW_NET | kernel.NEW_IPC | kernel.NEW_NAMES
        kernel.unshare(space)
    first = os.fork()
    if first:
        asker.close()
        os.waitpid(first, 0)
        os._exit(0)
    try:
        _first_process(asker, request, user, bytecode, sandbox=sandbox)
    except BaseException as error:
        _answer(asker, {"why": f"the sandbox failed: {type(error).__name__}: {error}"})
    finally:
        os._exit(0)


def _first_process(
    asker: socket.socket, request: dict[str, Any], user: int | None, bytecode: str, *, sandbox: bool
) -> None:
    scratch = walls.SCRATCH
    if sandbox:
        if os.getpid() != 1:
            raise RuntimeError("not the first process of its namespace")
        kernel.die_with_parent()
        if bytecode and not request["command"]:
            memory = request["limits"]["memory_bytes"]
            prepare(request["folder"], bytecode, request["modules"], plain=request["plain"], memory_bytes=memory)
        walls.enter(os.geteuid() if user is None else user, request["limits"]["scratch_bytes"], bytecode)
    else:
        kernel.adopt_orphans()
        scratch = tempfile.mkdtemp(prefix="qodebase-check-")
    output, into_output = os.pipe()
    report, into_report = os.pipe()
    mark = Mark()
    worker = os.fork()
    if not worker:
        asker.close()
        work(request, user, scratch, into_output, into_report, mark, sandbox=sandbox)
    os.close(into_output)
    os.close(into_report)
    watch = _Watch(request["limits"], asker, worker, Tally(output, _KEPT_BYTES), Tally(report, _REPORT_BYTES))
    try:
        watch.until_end()
    finally:
        _end_all(worker)
        watch.drain()
        if not sandbox:
            shutil.rmtree(scratch, ignore_errors=True)
    _answer(asker, watch.ended(), bytes(watch.output), bytes(mark) + bytes(watch.report))


class _Watch:
    """Holds a worker to its limits."""

    def __init__(self, limits: dict[str, Any], asker: socket.socket, worker: int, output: Tally, report: Tally) -> None:
        self.output = output
        self.report = report
        self._limits = limits
        self._asker = asker
        self._worker = worker
        self._status: int | None = None
        self._why = ""

    def until_end(self) -> None:
        """Return when the worker has ended, a limit is passed, or the one who asked is gone."""
        ended = os.pidfd_open(self._worker)
        poll, ends = select.poll(), select.poll()
        for descriptor in (ended, self.output.source, self.report.source):
            poll.register(descriptor, select.POLLIN)
        for one in (poll, ends):
            one.register(self._asker, select.POLLRDHUP)
        ends.register(ended, select.POLLIN)
        deadline = time.monotonic() + self._limits["wall_s"]
        look_at = time.monotonic() + _TICK_S
        while self._status is None and not self._why:
            now = time.monotonic()
            if now >= deadline:
                self._why = f"it took longer than {self._limits['wall_s']:g} s"
                return
            if now >= look_at:
                self._look()
                look_at = now + _TICK_S
            most = 0
            for descriptor, _ in poll.poll(1000 * max(0.0, min(deadline, look_at) - now)):
                if descriptor == self._asker.fileno():
                    self._why = "nobody waits for it any more"
                elif descriptor != ended:
                    count = self._take(descriptor)
                    most = max(most, count)
                    if not count:
                        poll.unregister(descriptor)
            self._reap()
            if 0 < most < CHUNK and self._status is None:
                # Who writes one line after the other is not to be interrupted by each.
                ends.poll(_GATHER_MS)

    def _take(self, descriptor: int) -> int:
        tally = self.output if descriptor == self.output.source else self.report
        count = tally.take()
        if self.output.total > self._limits["output_bytes"]:
            self._why = self._why or f"it wrote more than {self._limits['output_bytes']} bytes of output"
        elif self.report.total > _REPORT_BYTES:
            self._why = self._why or "its report is too long"
        return count

    def _look(self) -> None:
        # Outside of a process namespace the sum would be the whole machine's.
        if os.getpid() == 1 and memory_in_use() > self._limits["memory_bytes"]:
            self._why = f"its processes used more than {self._limits['memory_bytes']} bytes of memory"

    def _reap(self) -> None:
        with contextlib.suppress(ChildProcessError):
            while True:
                pid, status = os.waitpid(-1, os.WNOHANG)
                if not pid:
                    return
                if pid == self._worker:
                    self._status = status

    def drain(self) -> None:
        """Take what still stands in the pipes, now that all who could write are gone."""
        for tally in (self.output, self.report):
            os.set_blocking(tally.source, False)
            with contextlib.suppress(BlockingIOError):
                while self._take(tally.source):
                    pass

    def ended(self) -> dict[str, Any]:
        """Return how the worker ended."""
        ended: dict[str, Any] = {"why": self._why, "exit": None, "signal": None, "output_total": self.output.total}
        if not self._why and self._status is not None:
            if os.WIFSIGNALED(self._status):
                ended["signal"] = os.WTERMSIG(self._status)
            else:
                ended["exit"] = os.WEXITSTATUS(self._status)
        return ended


def _end_all(worker: int) -> None:
    """Kill everything that the check started, and wait for it."""
    while True:
        if os.getpid() == 1:
            with contextlib.suppress(ProcessLookupError):
                os.kill(-1, signal.SIGKILL)
        else:
            _kill_descendants(worker)
        try:
            os.waitpid(-1, 0)
        except ChildProcessError:
            return


def _kill_descendants(worker: int) -> None:
    """Kill the worker's session, and all that have become children of this process."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(worker, signal.SIGKILL)
    with open(f"/proc/self/task/{os.getpid()}/children") as children:
        for child in children.read().split():
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(int(child), signal.SIGKILL)


def _answer(asker: socket.socket, ended: dict[str, Any], output: bytes = b"", report: bytes = b"") -> None:
    head = {**ended, "output": len(output), "report": len(report)}
    with contextlib.suppress(OSError):
        asker.sendall(json.dumps(head).encode() + b"\n" + output + report)
