"""The worker: the process that becomes the check."""

from __future__ import annotations

import os
import resource
import signal
import sys
from typing import Any, NoReturn

from lanes.checking.inside import kernel
from lanes.checking.inside.plain import run_plain
from lanes.checking.inside.reporter import Reporter
from lanes.checking.inside.tally import Mark
from lanes.checking.inside.tests import run_tests, run_together

_REPORT = 3


def work(
    request: dict[str, Any], user: int | None, scratch: str, output: int, report: int, mark: Mark, *, sandbox: bool
) -> NoReturn:
    """Become the check: give up everything that it must not have, then run a command or tests; does not return."""
    code = 126
    try:
        os.setsid()
        _connect(output, report)
        # Else its own files in /proc are root's; nobody is here yet who could look into it.
        kernel.set_dumpable(True)
        _limit(request["limits"], sandbox=sandbox)
        kernel.become(user)
        os.umask(0o022)
        os.environ.clear()
        os.environ.update({**request["environ"], "HOME": scratch, "TMPDIR": scratch})
        os.chdir(request["folder"])
        signal.signal(signal.SIGINT, signal.default_int_handler)
        if request["command"]:
            _execute(request["command"])
        else:
            code = _run_tests(request, Reporter(_REPORT, mark))
    except BaseException as error:
        os.write(2, f"{type(error).__name__}: {error}\n".encode())
    finally:
        os._exit(code)


def _run_tests(request: dict[str, Any], reporter: Reporter) -> int:
    if request["tests"]:
        return run_tests(request["folder"], request["tests"], reporter)
    run = run_plain if request["plain"] else run_together
    return run(request["folder"], request["together"], reporter)


def _connect(output: int, report: int) -> None:
    """Leave nothing open but standard streams and the report's pipe."""
    nothing = os.open(os.devnull, os.O_RDONLY)
    report = os.dup2(report, max(output, report, nothing) + 1)
    for source, target in ((nothing, 0), (output, 1), (output, 2), (report, _REPORT)):
        os.dup2(source, target, inheritable=target < _REPORT)
    os.closerange(_REPORT + 1, 1 << 16)


def _limit(limits: dict[str, Any], *, sandbox: bool) -> None:
    """Set the limits of this process and of each that it starts."""
    with open("/proc/self/oom_score_adj", "w") as score:
        score.write("1000")
    wanted = {
        resource.RLIMIT_CPU: limits["cpu_s"],
        resource.RLIMIT_AS: limits["memory_bytes"],
        resource.RLIMIT_FSIZE: limits["file_bytes"],
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_NOFILE: limits["open_files"],
    }
    if sandbox:
        # Without a user or a namespace of its own, everything else of this user would be counted too.
        wanted[resource.RLIMIT_NPROC] = limits["processes"]
    for kind, most in wanted.items():
        hard = resource.getrlimit(kind)[1]
        most = most if hard == resource.RLIM_INFINITY else min(most, hard)
        # The soft limit of processor time ends a process by a signal of its own, the hard one by any other's.
        above = 1 if kind == resource.RLIMIT_CPU and most != hard else 0
        resource.setrlimit(kind, (most, most + above))


def _execute(command: list[str]) -> None:
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
    try:
        os.execvp(command[0], command)
    except OSError as error:
        sys.stderr.write(f"{command[0]}: {error.strerror}\n")
        sys.stderr.flush()
        os._exit(127)
