from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from qodebase.cli import main, make_app

QODEBASE = (sys.executable, "-c", "from qodebase.cli import main; main()")
HEAVY = (
    "litellm",
    "polars",
    "aiohttp",
    "dulwich",
    "pygit2",
    "tree_sitter",
    "msgspec",
    "asyncio",
    "rich",
    "fleet",
    "lanes",
)


def call(*arguments: str) -> Result:
    return CliRunner().invoke(make_app(), arguments, prog_name="qodebase")


def commands() -> list[str]:
    folder = Path(__file__).parents[2] / "qodebase" / "commands"
    return [file.stem.replace("_", "-") for file in sorted(folder.glob("*.py")) if file.stem != "__init__"]


def test_the_help_loads_nothing_heavy() -> None:
    code = (
        "import sys, os\nfrom qodebase.cli import make_app\nsys.stdout = open(os.devnull, 'w')\n"
        "try:\n    make_app()(['--help'], prog_name='qodebase')\nexcept SystemExit:\n    pass\n"
        f"print([name for name in {HEAVY} if name in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr == "[]\n"


def test_what_is_odd_in_the_code_of_others_is_not_told() -> None:
    code = (
        "import sys\nfrom qodebase.cli import main\nsys.argv = ['qodebase', '--version']\n"
        "try:\n    main()\nexcept SystemExit:\n    compile('1 is 1', 'module', 'exec')\n"
    )
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr == ""


def test_the_help_needs_less_than_three_tenths_of_a_second_of_the_processor() -> None:
    def seconds() -> float:
        before = os.times()
        subprocess.run([*QODEBASE, "--help"], stdout=subprocess.DEVNULL, check=True)
        after = os.times()
        return after.children_user + after.children_system - before.children_user - before.children_system

    assert any(seconds() < 0.3 for _ in range(10))


def test_every_file_of_the_commands_folder_is_a_command_with_a_help() -> None:
    overview = call("--help").stdout
    assert {"diff", "log", "status", "verify"} <= set(commands())
    for command in commands():
        assert f"\n  {command} " in overview
        result = call(command, "--help")
        assert result.exit_code == 0
        assert f"qodebase {command}" in result.stdout


@pytest.mark.parametrize("arguments", [["statsu"], ["status", "--al", "x"], ["status"], ["log", "a", "b", "c"]])
def test_what_the_command_line_does_not_know_ends_with_2(arguments: list[str]) -> None:
    result = call(*arguments)
    assert result.exit_code == 2
    assert "Error: " in result.stderr
    assert result.stdout == ""


def test_a_command_that_is_nearly_right_is_named() -> None:
    assert "Did you mean 'status'?" in call("statsu").stderr


def test_the_version_is_shown() -> None:
    result = call("--version")
    assert result.exit_code == 0
    assert result.stdout.startswith("qodebase 0.")


def test_an_expected_failure_shows_a_message_and_a_hint_and_no_traceback(tmp_path: Path) -> None:
    done = subprocess.run([*QODEBASE, "status", "none"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr == ("error: no run 'none'\n  A run is a path, a name in runs, or `last`. Runs there: none.\n")


def test_a_bug_shows_its_traceback_and_asks_for_a_report_and_ends_with_1() -> None:
    code = "import qodebase.cli as cli\ncli.make_app = lambda: 1 / 0\ncli.main()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "ZeroDivisionError" in done.stderr
    assert "This is a bug in qodebase 0." in done.stderr
    assert "Please report it" in done.stderr


def test_a_reader_that_closes_the_pipe_ends_the_output_without_a_word(tmp_path: Path) -> None:
    code = (
        "import typer, qodebase.cli as cli\n"
        "from qodebase.commands.support.console import put, reporting\n"
        "app = typer.Typer(rich_markup_mode=None, pretty_exceptions_enable=False)\n"
        "app.command()(reporting(lambda: [put('x' * 1000) for _ in range(1000)] and None))\n"
        "cli.make_app = lambda: app\ncli.main()"
    )
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.read(10)
    process.stdout.close()
    assert process.stderr.read() == b""
    process.stderr.close()
    assert process.wait() == 141


@pytest.mark.parametrize(("no_color", "coloured"), [("", True), ("1", False)])
def test_colour_is_for_terminals_and_no_color_turns_it_off(no_color: str, coloured: bool) -> None:
    code = "from qodebase.commands.support.layout import coloured, paint\nprint(paint('x', 'red', on=coloured()))"
    ours, theirs = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", "NO_COLOR": no_color}
    subprocess.run([sys.executable, "-c", code], stdout=theirs, env=environment, check=True)
    os.close(theirs)
    shown = os.read(ours, 100)
    os.close(ours)
    assert (b"\x1b[31m" in shown) is coloured


def test_a_terminal_without_unicode_gets_escapes_and_no_traceback() -> None:
    code = (
        "import typer, qodebase.cli as cli\n"
        "from qodebase.commands.support.console import put, reporting\n"
        "app = typer.Typer(rich_markup_mode=None, pretty_exceptions_enable=False)\n"
        "app.command()(reporting(lambda: put('\\u2190')))\n"
        "cli.make_app = lambda: app\ncli.main()"
    )
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, env=environment, check=True)
    assert done.stdout == b"\\u2190\n"


def test_a_run_is_drained_also_where_nobody_reads_any_more_what_it_says() -> None:
    code = (
        "import asyncio, os, signal\n"
        "from qodebase.commands.support.console import say\n"
        "from qodebase.commands.support.sitting import stopped_by_signals\n"
        "class Driver(asyncio.Event):\n"
        "    drain = asyncio.Event.set\n"
        "async def main():\n"
        "    driver = Driver()\n"
        "    with stopped_by_signals(driver, say):\n"
        "        os.kill(os.getpid(), signal.SIGINT)\n"
        "        async with asyncio.timeout(20):\n"
        "            await driver.wait()\n"
        "    print('drained')\n"
        "asyncio.run(main())"
    )
    theirs, ours = os.pipe()
    os.close(theirs)
    done = subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=ours, check=False)
    os.close(ours)
    assert done.stdout == b"drained\n"


def test_an_interrupt_on_the_way_out_waits_for_nothing_and_shows_no_traceback() -> None:
    code = (
        "import threading, time\n"
        "import qodebase.cli as cli\n"
        "threading.Thread(target=time.sleep, args=(60,)).start()\n"
        "cli.make_app = lambda: lambda **words: print('done', flush=True)\n"
        "try:\n    cli.main()\nfinally:\n    print('out', flush=True)"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert [process.stdout.readline() for _ in range(2)] == [b"done\n", b"out\n"]
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == -signal.SIGINT
        assert process.stderr.read() == b""


def test_a_machine_without_git_is_told_of_it_in_words_and_in_json(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    done = call("run", "document", "--repo", str(tmp_path), "--dry-run", "--json")
    assert (done.exit_code, done.stderr) == (2, "error: git is not here\n  Install git, or add its folder to PATH.\n")
    assert json.loads(done.stdout) == {
        "error": "git is not here",
        "hint": "Install git, or add its folder to PATH.",
        "exit_code": 2,
    }


def test_an_output_on_a_full_disk_is_no_bug_and_no_finding() -> None:
    with open("/dev/full", "wb") as full:
        done = subprocess.run([*QODEBASE, "--help"], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert (done.returncode, done.stderr) == (2, "error: the output: No space left on device\n")


def test_json_is_json_whatever_stdout_can_write() -> None:
    code = "from qodebase.commands.support.console import put_json\nput_json({'name': 'M\\u00fcller \\U0001f600'})"
    environment = {**os.environ, "PYTHONIOENCODING": "latin-1:backslashreplace"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, env=environment, check=True)
    assert json.loads(done.stdout.decode("latin-1")) == {"name": "Müller \U0001f600"}


def test_standard_streams_that_a_caller_has_closed_are_no_bug_and_no_place_for_a_file(tmp_path: Path) -> None:
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
    code = (
        "import os, sys\n"
        "from qodebase.cli import _fill_closed_streams\n"
        "_fill_closed_streams()\n"
        "with open('kept', 'w') as kept:\n"
        "    print('said'), print('told', file=sys.stderr), sys.stdout.isatty(), os.write(1, b'x'), os.write(2, b'x')\n"
    )
    closed = 'exec "$0" -c "$1" verify . <&- >&- 2>&-'
    done = subprocess.run(["sh", "-c", closed, sys.executable, code], cwd=tmp_path, check=False)
    assert (done.returncode, (tmp_path / "kept").read_bytes()) == (0, b"")
    words = ["sh", "-c", 'exec "$0" -c "$1" verify . >&-', sys.executable, QODEBASE[2]]
    told = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (told.returncode, "Traceback" in told.stderr, "is no git repository" in told.stderr) == (2, False, True)


@pytest.mark.parametrize(
    "words",
    ["status --json", "run --json", "run nothing --json", "run document --workers many --json", "sttus --json"],
)
def test_a_command_that_is_misused_says_so_in_json_too(
    words: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["qodebase", *words.split()])
    monkeypatch.setattr("signal.signal", lambda number, handler: None)
    with pytest.raises(SystemExit) as end:
        main()
    out, err = capfd.readouterr()
    said = json.loads(out)
    assert (end.value.code, said["exit_code"]) == (2, 2)
    assert said["error"] in " ".join(err.split())
    assert said["hint"]
