"""Checks that mean harm: each ends as a red check, or does nothing, and the next check is green."""

from __future__ import annotations

import os
import pwd
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from checking_world import CheckingWorld

from lanes.checking.sandbox import Sandbox
from qodebase.check import Check, Limits
from qodebase.paths import RepoPath
from qodebase.ports import Judgement, Verdict

pytestmark = pytest.mark.usefixtures("sandboxed")

PATH = RepoPath(b"own/test_own.py")
LIMITS = Limits(
    wall_s=20.0,
    cpu_s=10,
    memory_bytes=1 << 30,
    processes=24,
    output_bytes=1 << 20,
    file_bytes=1 << 20,
    scratch_bytes=4 << 20,
)


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[CheckingWorld]:
    root = tmp_path_factory.mktemp("world")
    secret = root / "run"
    secret.mkdir(mode=0o700)
    (secret / "settings.json").write_text("a secret")
    with CheckingWorld(root / "repo.git", {b"code.py": b"x = 1\n"}, sandbox=Sandbox(hide=(secret,))) as made:
        yield made


def judged(world: CheckingWorld, text: str, limits: Limits = LIMITS) -> Judgement:
    """Judge one test with this body, and make sure that the next check is none the worse."""
    body = "\n    ".join(text.splitlines())
    check = Check(
        tests=("own/test_own.py",),
        files={PATH: f"import os, sys\n\ndef test_it():\n    {body}\n".encode()},
        limits=limits,
    )
    found, after = world.judge(
        {"c": check, "after": Check(command=("cat", "code.py"))},
        *((world.tree({}), (name,)) for name in ("c", "after")),
    )
    assert after.verdict is Verdict.GREEN
    return found


def green(world: CheckingWorld, text: str, limits: Limits = LIMITS) -> None:
    """Judge a test that asserts itself that it can do no harm."""
    found = judged(world, text, limits)
    assert found.verdict is Verdict.GREEN, found.output


def red(world: CheckingWorld, text: str, why: str, limits: Limits = LIMITS) -> None:
    found = judged(world, text, limits)
    assert found.failed == ("c",)
    assert why in found.output


def quick(seconds: float) -> Limits:
    return Limits(wall_s=seconds, cpu_s=30, processes=24)


def test_an_endless_loop_is_ended_by_the_wall_clock(world: CheckingWorld) -> None:
    red(world, "while True: pass", "it took longer than 1 s", quick(1.0))
    found = world.judge_one(Check(command=("sh", "-c", "while :; do :; done"), limits=quick(0.2)), {})
    assert found.output == "c: it took longer than 0.2 s"


def test_a_loop_that_uses_the_processor_is_ended_by_its_limit(world: CheckingWorld) -> None:
    limits = Limits(wall_s=60.0, cpu_s=1)
    red(world, "while True: pass", "more processor time than it may, in own/test_own.py::test_it", limits)


def test_a_fork_bomb_is_contained(world: CheckingWorld) -> None:
    red(world, "while True:\n    try: os.fork()\n    except OSError: pass", "it took longer than 1 s", quick(1.0))
    red(world, "while True: os.fork()", "Resource temporarily unavailable")


def test_a_test_that_kills_its_parent_and_everybody_ends_only_itself(world: CheckingWorld) -> None:
    if os.geteuid() == 0:
        red(world, "os.kill(os.getppid(), 9)", "PermissionError: [Errno 1]")
    else:
        green(world, "os.kill(os.getppid(), 9)")  # Of the same user, and the first of its namespace, it hears nothing.
    red(world, "os.kill(-1, 9)", "ProcessLookupError")
    red(world, "os.kill(0, 9)", "it was killed by signal SIGKILL, in own/test_own.py::test_it")


def test_a_test_that_ends_pytest_with_success_is_red(world: CheckingWorld) -> None:
    red(world, "os._exit(0)", "pytest was ended from within, in own/test_own.py::test_it")
    red(world, "sys.modules['atexit']._run_exitfuncs(); os._exit(0)", "pytest was ended from within")


def test_a_gigabyte_of_output_is_cut_off(world: CheckingWorld) -> None:
    red(world, "while True: os.write(2, b'x' * 65536)", "1048576 bytes of output")
    check = Check(command=("yes",), limits=LIMITS)
    found = world.judge_one(check, {})
    assert "it wrote more than 1048576 bytes of output" in found.output
    assert len(found.output) < 20_000


def test_output_that_still_stands_in_the_pipe_at_the_end_counts(world: CheckingWorld) -> None:
    text = "import fcntl, os; fcntl.fcntl(1, fcntl.F_SETPIPE_SZ, 1 << 20); os.write(1, bytes(1_000_000)); os._exit(0)"
    check = Check(command=(sys.executable, "-c", text), limits=Limits(output_bytes=999_999))
    assert {world.judge_one(check, {}).verdict for _ in range(5)} == {Verdict.RED}


def test_a_gigabyte_in_one_file_or_in_many_is_not_written(world: CheckingWorld) -> None:
    red(world, "open(os.environ['HOME'] + '/big', 'wb').write(bytes(1 << 30 - 2))", "File too large")
    many = "for number in range(9): open(f'{os.environ[\"TMPDIR\"]}/{number}', 'wb').write(bytes(1 << 20))"
    red(world, many, "No space left on device")


def test_memory_is_limited_for_one_process_and_for_all(world: CheckingWorld) -> None:
    red(world, "bytearray(2 << 30)", "MemoryError")
    text = "import time\nfor _ in range(8):\n    if not os.fork():\n        kept = bytearray(b'x') * (160 << 20)\n"
    red(world, text + "        time.sleep(60)\ntime.sleep(60)", "used more than 1073741824 bytes of memory")


def test_nothing_is_written_outside_of_the_scratch_folder(world: CheckingWorld) -> None:
    places = ["/tmp", "/var/tmp", "/run", "/etc", os.fspath(Path.home()), os.getcwd(), ".", "own"]
    text = f"for place in {places!r}:\n    try: open(place + '/mark', 'w')\n    except OSError: continue\n"
    text += "    assert not place"
    green(world, text)
    green(world, "import pathlib\nassert [*pathlib.Path(os.environ['HOME']).iterdir()] == []")
    assert not Path("/tmp/mark").exists()


@pytest.mark.parametrize("home", ["/", ""])
def test_a_home_that_is_the_root_of_all_hides_nothing_and_the_true_one_stays_hidden(
    home: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    true = Path(pwd.getpwuid(os.getuid()).pw_dir)
    monkeypatch.setenv("HOME", home)
    with CheckingWorld(tmp_path / "repo.git", {b"code.py": b"x = 1\n"}, sandbox=Sandbox()) as world:
        assert world.sandbox.hidden == [str(true)] * (true != Path("/"))
        green(world, "import subprocess\nassert subprocess.run(['sh', '-c', 'exit 3']).returncode == 3")


def test_the_code_cannot_be_changed_by_what_runs_on_it(world: CheckingWorld) -> None:
    red(world, "open('code.py', 'a').write('y = 2')", "E   " + ("PermissionError" if os.geteuid() == 0 else "OSError"))
    red(world, "os.chmod('code.py', 0o777)", "Read-only file system")
    red(world, "open('more.py', 'w')", "Read-only file system")


def test_secrets_of_the_run_and_of_the_user_are_not_seen(world: CheckingWorld) -> None:
    (secret,) = world.sandbox.hide
    assert os.listdir(secret)
    green(world, f"assert not os.path.exists({os.fspath(secret / 'settings.json')!r})")
    home = Path.home().resolve()
    python = [Path(prefix) for prefix in (sys.prefix, sys.base_prefix) if Path(prefix).is_relative_to(home)]
    seen = {path.relative_to(home).parts[0] for path in python}
    green(world, f"assert set(os.listdir({os.fspath(home)!r})) <= {seen!r}")
    known = sorted(name for name in os.environ if name not in ("PATH", "HOME", "LANG", "USER", "LOGNAME", "TMPDIR"))
    allowed = {"PYTEST_CURRENT_TEST", "PYTEST_VERSION", "PYTHONDONTWRITEBYTECODE", "COLUMNS", "LINES"}
    green(world, f"assert not set(os.environ) & {set(known) - allowed!r}")


def test_only_its_own_processes_and_no_network_are_there(world: CheckingWorld) -> None:
    green(world, "assert {name for name in os.listdir('/proc') if name.isdigit()} == {'1', str(os.getpid())}")
    green(world, "import socket\nassert [name for _, name in socket.if_nameindex()] == ['lo']")
    unreachable = "import socket\ntry: socket.create_connection(('192.0.2.1', 80), 1)\n"
    green(world, unreachable + "except OSError as error: assert error.errno == 101\nelse: assert False")


def test_a_daemon_does_not_outlive_its_check(world: CheckingWorld) -> None:
    mark = f"qodebase-daemon-{os.getpid()}"
    text = f"if not os.fork():\n    os.setsid()\n    if not os.fork(): os.execvp('sleep', [{mark!r}, '1000'])\n"
    green(world, text + "    os._exit(0)")
    running = subprocess.run(["ps", "-eo", "args"], capture_output=True, check=True).stdout.decode()
    assert f"{mark} 1000" not in running


def test_privileges_cannot_be_won_back(world: CheckingWorld) -> None:
    if os.geteuid() == 0:
        red(world, "os.setuid(0)", "PermissionError")
    green(world, "assert [line.split()[1] for line in open('/proc/self/status') if 'NoNewPrivs' in line] == ['1']")
    caps = "assert {line.split()[1] for line in open('/proc/self/status') if line[:6] in ('CapPrm', 'CapEff')}"
    green(world, caps + " == {'0' * 16}")


def test_no_open_file_of_the_caller_is_handed_down(world: CheckingWorld) -> None:
    check = Check(command=("ls", "-l", "/proc/self/fd"), limits=LIMITS)
    found = world.judge_one(Check(command=("sh", "-c", "ls /proc/self/fd; exit 1"), limits=check.limits), {})
    assert found.output.splitlines()[3:] == ["0", "1", "2", "3"]


def test_a_forged_report_is_red(world: CheckingWorld) -> None:
    red(world, "os.write(3, b'not a line of ours\\n')", "pytest was ended from within")
    red(world, 'os.write(3, b\'{"done": 0, "read": []}\\n\'); assert 0', "1 of 1 tests failed")


@pytest.mark.skipif(os.geteuid() != 0, reason="becomes another user")
def test_a_plain_user_can_hold_checks_too(tmp_path: Path) -> None:
    text = (
        "import os\nfrom lanes.checking.inside import kernel, walls\n"
        "from lanes.checking.inside.tally import Mark\nfrom lanes.checking.inside.work import work\n"
        "os.setgroups([])\nos.setgid(64321)\nos.setuid(64321)\nkernel.set_dumpable(True)\n"
        "walls.build(['/var'], [], '')\n"
        "assert os.listdir('/var') == []\n"
        "kernel.set_dumpable(False)\n"
        "kernel.unshare(kernel.NEW_PIDS | kernel.NEW_MOUNTS | kernel.NEW_NET | kernel.NEW_IPC | kernel.NEW_NAMES)\n"
        "child = os.fork()\n"
        "if not child:\n"
        "    walls.enter(os.getuid(), 1 << 20, '')\n"
        "    most = dict.fromkeys(('cpu_s', 'memory_bytes', 'file_bytes', 'open_files', 'processes'), 1 << 30)\n"
        "    command = ['sh', '-c', 'echo > $HOME/x && ! echo 2> $HOME/y > /tmp/x && exit 7']\n"
        "    request = {'limits': most, 'environ': dict(os.environ), 'folder': '/', 'command': command}\n"
        "    work(request, None, walls.SCRATCH, 1, 2, Mark(), sandbox=True)\n"
        "raise SystemExit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))\n"
    )
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, check=False, cwd="/")
    assert (done.returncode, done.stderr) == (7, b"")
