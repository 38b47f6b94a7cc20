"""A small real codebase with odd files, the command line, and what a run left behind."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import sysconfig
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

from qodebase.cli import make_app

CONSOLE = (sys.executable, "-c", "from qodebase.cli import main; main()")
"""The command line as a process, without needing the installed script."""

FOLDERS = {"json": 6, "asyncio": 24, "importlib": 6, "multiprocessing": 24, "unittest": 6}
"""How many files of the standard library go into the codebase from each folder, the first by name."""

CRLF = b"import os\r\n\r\n\r\ndef crlf():\r\n    return os.sep\r\n"
LATIN = "# -*- coding: latin-1 -*-\nNAME = 'Müller'\n\n\ndef latin():\n    return NAME\n".encode("latin-1")
BOM = b"\xef\xbb\xbfdef marked():\n    return 1\n"
SCRIPT = b"#!/usr/bin/env python3\nimport sys\n\n\ndef main():\n    sys.exit(0)\n"
NO_NEWLINE = b"def cut():\n    return 'no newline at the end'"
WEB = b"'use strict';\n\nexport function shown(text) {\n  return text.trim();\n}\n"

ODD: dict[bytes, tuple[bytes, int]] = {
    b"odd/with space.py": (b"def spaced():\n    return 1\n", 0o644),
    b"odd/caf\xe9.py": (b"def not_utf8():\n    return 2\n", 0o644),
    "odd/naïve.py".encode(): (b"def utf8():\n    return 3\n", 0o644),
    b'odd/"quoted".py': (b"def quoted():\n    return 4\n", 0o644),
    b"odd/new\nline.py": (b"def two_lines():\n    return 5\n", 0o644),
    b"odd/-dash.py": (b"def dashed():\n    return 6\n", 0o644),
    b"odd/crlf.py": (CRLF, 0o644),
    b"odd/latin.py": (LATIN, 0o644),
    b"odd/bom.py": (BOM, 0o644),
    b"odd/script.py": (SCRIPT, 0o755),
    b"odd/cut.py": (NO_NEWLINE, 0o644),
    b"web/shown.js": (WEB, 0o644),
    b"web/types.ts": (b"export interface Shape {\n  area(): number;\n}\n", 0o644),
}
"""Files that each ask for some care: names, line ends, encodings, modes, no final newline; all lack a header."""

EXCLUDED: dict[bytes, tuple[bytes, int]] = {
    b"odd/empty.py": (b"", 0o644),
    b"odd/said.py": (b'"""Is documented."""\nNAME = 1\n', 0o644),
    b"vendor/theirs.py": (b"def theirs():\n    return 7\n", 0o644),
    b"made_pb2.py": (b"MADE = 1\n", 0o644),
    b"data.txt": (b"no code\n", 0o644),
}


def git(repository: Path, *words: str | bytes | Path, check: bool = True) -> str:
    """Run git in a repository, away from the settings of the machine, and return what it prints."""
    done = subprocess.run(["git", "-C", repository, *words], capture_output=True, check=False, env=git_environment())
    if check and done.returncode != 0:
        raise AssertionError(f"git {words} failed: {done.stderr.decode(errors='replace')}")
    return done.stdout.decode(errors="surrogateescape")


def git_environment() -> dict[str, str]:
    """Return an environment with a person for commits and nobody's own settings."""
    person = {"NAME": "Ada", "EMAIL": "ada@example.org", "DATE": "1700000000 +0000"}
    return {
        **os.environ,
        **{f"GIT_{role}_{key}": value for role in ("AUTHOR", "COMMITTER") for key, value in person.items()},
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
    }


def make_codebase(path: Path) -> Path:
    """Make a repository of some sixty files of the standard library and the odd ones."""
    library = Path(sysconfig.get_path("stdlib"))
    for folder, most in FOLDERS.items():
        for file in sorted((library / folder).glob("*.py"))[:most]:
            target = path / folder / file.name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(file.read_bytes())
    for name, (content, mode) in {**ODD, **EXCLUDED}.items():
        file = Path(os.fsdecode(os.fsencode(path) + b"/" + name))
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
        file.chmod(mode)
    (path / "odd" / "link.py").symlink_to("script.py")
    git(path, "init", "--quiet", "--initial-branch", "main")
    git(path, "config", "core.autocrlf", "false")
    git(path, "add", "--all", "--force", ".")
    git(path, "commit", "--quiet", "--message", "The code")
    git(path, "notes", "--ref=review", "add", "--message", "someone's own note", "HEAD")
    return path


def make_small(path: Path, files: int = 3) -> Path:
    """Make a repository of a few files without headers."""
    path.mkdir(parents=True)
    for number in range(files):
        (path / f"part{number}.py").write_text(f"def part{number}():\n    return {number}\n")
    git(path, "init", "--quiet", "--initial-branch", "main")
    git(path, "add", "--all")
    git(path, "commit", "--quiet", "--message", "The code")
    return path


def state_of(folder: Path) -> dict[str, str]:
    """Return the digest, mode and modification time of everything below a folder, git's own files included."""
    found = {}
    for path in sorted(folder.rglob("*")):
        status = path.lstat()
        content = b""
        if path.is_symlink():
            content = os.fsencode(os.readlink(path))
        elif path.is_file():
            content = path.read_bytes()
        digest = hashlib.sha256(content).hexdigest()
        found[os.fsdecode(path.relative_to(folder))] = f"{digest} {status.st_mode:o} {status.st_mtime_ns}"
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """A command that has ended."""

    code: int
    out: str
    err: str

    @property
    def data(self) -> Any:
        """Return the JSON document on stdout."""
        return json.loads(self.out)


@dataclass(frozen=True, slots=True)
class Shell:
    """A folder to work in, with an answer cache of its own."""

    folder: Path

    @property
    def environment(self) -> dict[str, str]:
        """Return the environment of commands: no key, no colour, no settings of the machine."""
        kept = {name: value for name, value in git_environment().items() if not name.endswith("_API_KEY")}
        return {**kept, "QODEBASE_CACHE": str(self.folder / "cache"), "NO_COLOR": "1", "COLUMNS": "200"}

    def __call__(self, *words: str | Path, code: int | None = 0, env: dict[str, str] | None = None) -> Done:
        """Run qodebase; fail where it does not end with ``code`` (None: with any)."""
        done = subprocess.run(
            [*CONSOLE, *words],
            cwd=self.folder,
            env={**self.environment, **(env or {})},
            capture_output=True,
            check=False,
            timeout=300,
        )
        out, err = (stream.decode(errors="replace") for stream in (done.stdout, done.stderr))
        if code is not None and done.returncode != code:
            raise AssertionError(f"{words} ended with {done.returncode}, not {code}\n{out}\n{err}")
        return Done(code=done.returncode, out=out, err=err)

    def start(self, *words: str | Path, env: dict[str, str] | None = None) -> subprocess.Popen[bytes]:
        """Begin a command; what it prints is kept in ``out`` and ``err`` files of the folder."""
        with (self.folder / "out").open("wb") as out, (self.folder / "err").open("wb") as err:
            return subprocess.Popen(
                [*CONSOLE, *words], cwd=self.folder, env={**self.environment, **(env or {})}, stdout=out, stderr=err
            )


def events_of(run: Path) -> list[dict[str, Any]]:
    """Return the whole lines of a run's journal as plain data."""
    lines = (run / "journal.jsonl").read_bytes().split(b"\n")[:-1]
    return [json.loads(line) for line in lines]


def of_kind(run: Path, kind: str) -> list[dict[str, Any]]:
    """Return the events of one kind."""
    return [event for event in events_of(run) if event["kind"] == kind]


def ledger_of(run: Path) -> dict[str, int]:
    """Return how many intents ended how, by the journal and the frozen intents alone."""
    intents = [json.loads(line) for line in (run / "intents.jsonl").read_bytes().splitlines()]
    endings = {intent["id"]: intent.get("ending", "pending") for intent in intents}
    for event in events_of(run):
        if event["kind"] == "landed":
            endings[event["intent"]] = "landed"
        elif event["kind"] == "ended":
            endings[event["intent"]] = event["ending"]
    return dict(Counter(endings.values()))


def call(*words: str | Path) -> Done:
    """Run qodebase in this process, which is quicker than a process of its own; a bug is raised."""
    result = CliRunner().invoke(make_app(), [str(word) for word in words], prog_name="qodebase")
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return Done(code=result.exit_code, out=result.stdout, err=result.stderr)


def expect_clean(run: Path, *, full: bool = False) -> None:
    """Fail where an audit of the run finds anything."""
    done = call("verify", run, "--json", *(["--full"] if full else []))
    audit = done.data
    assert done.code == 0, [check for check in audit["checks"] if not check["ok"]]
    assert audit["ok"]
    assert audit["not_checked"] == []


def expect_each_once(run: Path) -> None:
    """Fail where an intent did not end exactly once, or a call has neither an answer nor was cut off."""
    kinds = {kind: Counter(event["intent"] for event in of_kind(run, kind)) for kind in ("landed", "ended")}
    endings = kinds["landed"] + kinds["ended"]
    assert set(endings.values()) <= {1}
    assert "pending" not in ledger_of(run)
    asked = Counter(event["call"] for event in of_kind(run, "asked"))
    closed = Counter(event["call"] for kind in ("answered", "cut off") for event in of_kind(run, kind))
    assert asked == closed
    assert set(asked.values()) == {1}


def expect_nothing_asked_twice(run: Path) -> None:
    """Fail where an intent was asked about more often than its calls were cut off, and once more."""
    cut = Counter(event["intent"] for event in of_kind(run, "cut off"))
    asked = Counter(event["intent"] for event in of_kind(run, "asked") if event["purpose"] == "fresh")
    assert {intent: count - cut[intent] for intent, count in asked.items() if count - cut[intent] != 1} == {}
