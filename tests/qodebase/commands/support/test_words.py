from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
import typer

from qodebase.commands.support.words import read_plainly


def read(kind: Any, words: list[str], option: dict[str, Any], *, plainly: bool) -> str:
    """Return what a command with an option is given for words, or the error."""
    app = typer.Typer(add_completion=False, rich_markup_mode=None)

    def command(value: Any = None) -> None:
        pass

    flag = "--value/--no-value" if kind == bool | None else "--value"
    command.__annotations__["value"] = Annotated[kind, typer.Option(flag, **option)]
    app.command()(command)
    made = typer.main.get_command(app)
    if plainly:
        read_plainly(made)
    try:
        value = made.make_context("command", [*words]).params["value"]
    except typer.BadParameter as error:
        return f"{error.format_message()} ({error.exit_code})"
    return f"{type(value)} {value!r}"


NUMBERS = ["7", "-7", "007", "+7", "1_000", " 7", "7.0", "7.5", "-0.25", "1e3", ".5", "5.", "nan", "inf", "", "x", "٧"]
WORDS = ["plain", "", " spaces ", "é", "-", "true", "on", "off", "ON"]
"""Words as people write them, and those of which only typer knows what to make."""


@pytest.mark.parametrize(
    ("kind", "option", "words"),
    [
        (int | None, {}, NUMBERS),
        (int | None, {"min": 0, "max": 7}, [*NUMBERS, "8", "-1"]),
        (int | None, {"min": 0, "max": 5, "clamp": True}, NUMBERS),
        (float | None, {}, NUMBERS),
        (float | None, {"min": 0, "max": 7}, [*NUMBERS, "7.1"]),
        (str | None, {}, WORDS),
        (list[str] | None, {}, WORDS),
        (Literal["on", "off"] | None, {}, WORDS),
        (bool | None, {}, []),
        (Path | None, {}, [*WORDS, ".", "..", "a//b/./c/", "none/at/all", __file__]),
        (Path | None, {"exists": True}, [".", "none"]),
        (Path | None, {"file_okay": False}, [".", __file__]),
        (Path | None, {"resolve_path": True}, ["."]),
    ],
)
def test_words_are_read_as_typer_reads_them(kind: Any, option: dict[str, Any], words: list[str]) -> None:
    lines = [[], *([f"--value={word}"] for word in words)]
    if kind == bool | None:
        lines += [["--value"], ["--no-value"]]
    if kind == list[str] | None:
        lines += [["--value", "a", "--value", "b"]]
    for line in lines:
        assert read(kind, line, option, plainly=True) == read(kind, line, option, plainly=False)


def test_a_start_does_not_load_the_library_that_typer_reads_words_with(tmp_path: Path) -> None:
    lines = {
        "status none --json": 2,
        "run document --repo . -w 3 --cost-cap 0.5 --cache off --dry-run": 2,
        "bench landing --workload other": 2,
        "models list": 0,
    }
    code = (
        "import sys\nfrom qodebase.cli import make_app\n"
        f"for line, ends in {lines}.items():\n"
        "    try:\n        make_app()(line.split(), prog_name='qodebase')\n"
        "    except SystemExit as end:\n        assert end.code == ends, line\n"
        "    assert 'pydantic' not in sys.modules, line\n"
    )
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, stdout=subprocess.DEVNULL, check=True)
