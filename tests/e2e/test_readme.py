"""The README's commands work as they stand there, in order, in one folder."""

from __future__ import annotations

import doctest
import importlib.util
import os
import re
import sys
import textwrap
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from world import Shell, make_small

from qodebase.commands.support.reproducing import reproducible_names
from results.reproduced_runs import reproduced_run

README = Path(__file__).parents[2] / "README.md"
_FENCE = re.compile(
    r"^(?P<indent> *)(?P<fence>`{3,})(?P<language>\S*) *(?P<file>[^\n]*)\n(?P<text>.*?)^(?P=indent)(?P=fence)\s*$",
    re.MULTILINE | re.DOTALL,
)
_VIEWS = "from asgiref.sync import iscoroutinefunction, sync_to_async\n\n\nASYNC = iscoroutinefunction(sync_to_async)\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """A fenced block: its language, its text, the line of the README that it begins on, and the file that it shows."""

    language: str
    text: str
    line: int
    file: str = ""

    @property
    def commands(self) -> list[str]:
        """Return the lines behind ``$ ``; one that ends with a backslash goes on."""
        joined = self.text.replace("\\\n", " ")
        return [line[2:] for line in joined.splitlines() if line.startswith("$ ")]


def blocks_of(text: str) -> list[Block]:
    """Return the fenced blocks of a Markdown text in order."""
    return [
        Block(
            language=found["language"],
            text=textwrap.dedent(found["text"]),
            line=text.count("\n", 0, found.start()) + 1,
            file=found["file"],
        )
        for found in _FENCE.finditer(text)
    ]


def run(command: list[str] | str, shell: Shell, block: Block) -> None:
    """Run a command in the folder; fail where it does not end with 0."""
    import subprocess

    path = os.pathsep.join([str(shell.folder / "bin"), os.environ["PATH"]])
    done = subprocess.run(
        command,
        shell=isinstance(command, str),
        cwd=shell.folder,
        env={**shell.environment, "PATH": path, "GIT_PAGER": "cat"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, f"README line {block.line}: {command}\n{done.stderr.decode(errors='replace')}"


@pytest.fixture
def place(shell: Shell) -> Shell:
    """A folder with a repository in ``code`` and this checkout's qodebase first on the path."""
    make_small(shell.folder / "code", 12)
    script = shell.folder / "bin" / "qodebase"
    script.parent.mkdir()
    script.write_text(f"#!{sys.executable}\nfrom qodebase.cli import main\n\nmain()\n")
    script.chmod(0o755)
    return shell


def test_every_command_and_every_program_of_the_readme_ends_well(place: Shell) -> None:
    ran = []
    for block in blocks_of(README.read_text(encoding="utf-8")):
        if block.language == "console":
            assert block.commands, f"README line {block.line}: a console block without a command"
            for command in block.commands:
                run(command, place, block)
        elif block.language == "python" and not block.file:
            run([sys.executable, "-c", block.text], place, block)
        else:
            continue
        ran.append(block.language)
    assert {"console", "python"} <= set(ran)


def test_every_job_file_of_the_readme_is_one_that_runs(place: Shell) -> None:
    blocks = blocks_of(README.read_text(encoding="utf-8"))
    code = place.folder / "code"
    (code / "src").mkdir()
    (code / "src" / "views.py").write_text(_VIEWS)
    for block in blocks:
        if block.file:
            (place.folder / block.file).write_text(block.text)
    found = {tomllib.loads(block.text)["job"]: block for block in blocks if block.language == "toml"}
    first = next(iter(found.values()))
    run("git -C code mv part0.py src && git -C code add . && git -C code commit --quiet --message move", place, first)
    for job, block in found.items():
        (place.folder / f"{job}.toml").write_text(block.text)
        run(f"OPENAI_API_KEY=none qodebase run {job}.toml --dry-run", place, block)
    run("qodebase run edit.toml --out edited && qodebase verify edited --full", place, found["edit"])
    run("git -C edited/repo.git grep -q 'from inspect import iscoroutinefunction' main -- src", place, found["edit"])


def test_the_rule_of_the_readme_is_one_whose_example_holds(tmp_path: Path) -> None:
    (text,) = (
        block.text
        for block in blocks_of(README.read_text(encoding="utf-8"))
        if block.language == "python" and "def rule(" in block.text
    )
    file = tmp_path / "word_list.py"
    file.write_text(text)
    spec = importlib.util.spec_from_file_location("word_list", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    failed, tried = doctest.testmod(module)
    assert (failed, tried) == (0, 4)


def test_every_path_that_the_readme_names_is_there() -> None:
    text = README.read_text(encoding="utf-8")
    named = {path for path in re.findall(r"`([a-z_]+/[\w/]+\.(?:py|md))`", text) if "NAME" not in path}
    assert named
    assert {path for path in named if not (README.parent / path).exists()} == set()


def test_the_readme_has_the_figures_of_every_recorded_reproduction() -> None:
    text = README.read_text(encoding="utf-8")
    recorded = [run for name in reproducible_names() if (run := reproduced_run(name)) is not None]
    assert recorded
    rows = [f"| `{run['command']}` | {'; '.join(map(told, run['rows']))} |" for run in recorded]
    assert [row for row in rows if row not in text] == []
    assert text.count("| `qodebase reproduce ") == len(rows)


def told(row: dict[str, Any]) -> str:
    """Return a figure as the README has it: here, and in brackets as published."""
    here, published = ("-" if row[side] is None else shown(row[side]) for side in ("here", "published"))
    return f"{row['figure'].replace('_', ' ')} {here} ({published})"


def shown(value: float) -> str:
    """Return a number with as many digits as are worth reading."""
    if value == int(value) or value >= 1000:
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 1 else f"{value:.3f}"


def test_blocks_are_read_with_their_lines_and_continued_commands() -> None:
    text = "one\n\n```console\n$ a \\\n  b\nprinted\n$ c\n```\n\n````python\nx = '''```'''\n````\n"
    first, second = blocks_of(text)
    assert (first.language, first.line, first.commands) == ("console", 3, ["a    b", "c"])
    assert (second.language, second.line, second.text) == ("python", 10, "x = '''```'''\n")
