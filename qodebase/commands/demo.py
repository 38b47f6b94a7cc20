"""`qodebase demo`: the main job on a real codebase, with no key, and what came of it."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from qodebase.commands.support.console import put, reporting, say
from qodebase.errors import QodebaseError

ENOUGH = 1000
"""Source files that make a codebase large enough for the demo."""

_LEFT_OUT = shutil.ignore_patterns("__pycache__", "site-packages", "dist-packages", "config-*", "*.so", "*.a", "*.o")
_OTHER = "django"


class NoCodebase(QodebaseError):
    """A machine on which no codebase for the demo is to be had."""


def register(app: typer.Typer) -> None:
    """Add the command."""

    @app.command()
    @reporting
    def demo(
        repo: Annotated[Path | None, typer.Option(metavar="PATH", help="Use this repository instead.")] = None,
        workers: Annotated[int, typer.Option("--workers", "-w", min=1, help="How many agents.")] = 1000,
    ) -> int:
        """Document Python's standard library, with no key.

        A thousand agents each document one file and add its lines to one shared index; then the run is audited.
        """
        from qodebase.commands.run import begun
        from qodebase.commands.support.at_work import work
        from qodebase.commands.support.opening import HOME
        from qodebase.commands.support.options import CommonOptions

        HOME.mkdir(exist_ok=True)
        source = repo or a_codebase(HOME / "demo-source")
        say(f"documenting {source} with {workers} agents; each also adds its lines to one shared index")
        folder = begun(CommonOptions(repo=source, workers=workers), "document", "", {}, named="demo")
        assert folder is not None, "nothing but a run was asked for"
        return work(folder, first=True, limit=None, json=False) or _show(folder.root)


def a_codebase(folder: Path) -> Path:
    """Return a git repository of the running Python's standard library, or of Django where that is a small one.

    Raises:
        NoCodebase: neither is to be had.
    """
    if _is_whole(folder):
        return folder
    # Made beside its place and moved there whole: another demo may begin at the same moment.
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f"{folder.name}-", ignore_cleanup_errors=True) as space:
        made = Path(space) / "code"
        _make(made)
        if not _is_whole(folder):
            shutil.rmtree(folder, ignore_errors=True)
            with contextlib.suppress(OSError):
                made.rename(folder)
    if not _is_whole(folder):
        raise NoCodebase(f"{folder} cannot be written", hint="Give a repository of yours: --repo PATH.")
    return folder


def _is_whole(folder: Path) -> bool:
    return (folder / ".git").is_dir() and _git(folder, "rev-parse", "HEAD") != ""


def _make(folder: Path) -> None:
    library = Path(sysconfig.get_path("stdlib"))
    files = [file for file in library.rglob("*.py") if not {"site-packages", "dist-packages"} & set(file.parts)]
    if len(files) >= ENOUGH:
        _commit(folder, lambda: shutil.copytree(library, folder, ignore=_LEFT_OUT), f"Python {sys.version.split()[0]}")
    else:
        say(f"this Python's standard library has only {len(files)} source files; taking {_OTHER}'s")
        with tempfile.TemporaryDirectory() as space:
            tree = _downloaded(Path(space))
            _commit(folder, lambda: shutil.copytree(tree, folder), tree.name)


def _downloaded(space: Path) -> Path:
    """Fetch and unpack Django's sources from the package registry."""
    words = ["download", "--quiet", "--no-deps", "--no-binary", _OTHER, "--dest", str(space), _OTHER]
    done = subprocess.run([sys.executable, "-m", "pip", *words], capture_output=True, text=True, check=False)
    archives = list(space.glob("*.tar.gz"))
    if not archives:
        said = done.stderr.strip().splitlines()[-1:] or ["pip gave no file"]
        raise NoCodebase(f"no codebase for the demo: {said[0]}", hint="Give a repository of yours: --repo PATH.")
    with tarfile.open(archives[0]) as archive:
        # Python 3.11.4 is the first that looks what an archive asks for.
        safely: dict[str, Any] = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}
        archive.extractall(space / "tree", **safely)
    return next((space / "tree").iterdir())


def _commit(folder: Path, fill: Callable[[], object], message: str) -> None:
    """Make a repository of what ``fill`` puts into a folder."""
    fill()
    _git(folder, "init", "--quiet", "--initial-branch", "main")
    _git(folder, "add", "--all", "--force", ".")
    who = ("-c", "user.name=qodebase demo", "-c", "user.email=demo@qodebase.invalid", "-c", "commit.gpgSign=false")
    _git(folder, *who, "commit", "--quiet", "--no-verify", "--message", message)


def _git(folder: Path, *words: str) -> str:
    from qodebase.git_environment import FORMATS

    environment = {**os.environ, **FORMATS}
    done = subprocess.run(["git", "-C", folder, *words], capture_output=True, text=True, check=False, env=environment)
    if done.returncode != 0 and words[0] != "rev-parse":
        raise NoCodebase(f"git {words[0]} failed: {done.stderr.strip()}", hint="Is git set up on this machine?")
    return done.stdout.strip() if done.returncode == 0 else ""


def _show(out: Path) -> int:
    """Audit the run and show one landed file with its note; return the exit code."""
    from qodebase.commands.support.shown import shown_changes
    from qodebase.commands.verify import audit_lines, audit_of
    from qodebase.runs import RunFolder

    put("\n$ qodebase verify " + str(out))
    audit = audit_of(str(out))
    put("\n".join(audit_lines(audit)))
    folder = RunFolder(out)
    landed = [change for change in shown_changes(folder, limit=40) if change.commit]
    if landed:
        commit = landed[-1].commit
        put(f"\n$ git log --notes=qodebase --patch -1 {commit[:12]}")
        put(_git(folder.repository, "log", "--notes=qodebase", "--patch", "--max-count=1", commit))
    return 0 if audit.ok else 1
