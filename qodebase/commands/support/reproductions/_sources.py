"""Codebases to work on: parts of repositories, packages of registries, made-up files."""

from __future__ import annotations

import random
import shutil
import subprocess
import sysconfig
import tarfile
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from qodebase.commands.bench.support.script_text import ScriptText
from qodebase.commands.bench.support.workload import PERSON, TIME, git
from qodebase.commands.support.reproductions._asked import Ask

if TYPE_CHECKING:
    from qodebase.code import CommitTree

_EDITOR = "monaco-editor"
_PATIENCE_S = 180.0
_LEFT_OUT = frozenset({"__pycache__", "site-packages", "dist-packages"})


class Codebase(NamedTuple):
    """A repository, and what it is in words."""

    name: str
    repository: Path
    what: str


def editor_code(ask: Ask) -> Codebase:
    """Return the part of VS Code's ``src/vs`` that its editor's package holds, or made-up files where it is not had."""
    code = ask.sources / f"{_EDITOR}.git"
    what = f"{_EDITOR}'s esm/vs, the compiled part of src/vs that npm has"
    if not code.is_dir() and not ask.offline:
        ask.say(f"fetching {_EDITOR} from npm")
        _fetch(code)
    if code.is_dir():
        return Codebase(_EDITOR, part_of(code, ask), what)
    return Codebase("made-up", made_up(ask.space / "made-up.git", ask.sized(4064), seed=ask.seed), "made-up JavaScript")


def python_codebases(ask: Ask, *, count: int) -> list[Codebase]:
    """Return the running Python's library and the largest packages that are installed beside it."""
    library = Path(sysconfig.get_path("stdlib"))
    packages = [folder for folder in Path(sysconfig.get_path("purelib")).iterdir() if folder.is_dir()]
    largest = sorted(((len(_sources(folder)), folder.name, folder) for folder in packages), reverse=True)
    folders = [("python", library), *((name, folder) for _, name, folder in largest[: count - 1])]
    found = []
    for name, folder in folders:
        files = _every(_sources(folder), ask.scale)
        pairs = [(file.relative_to(folder).as_posix(), file.read_bytes()) for file in files]
        found.append(Codebase(name, made(ask.space / f"{name}.git", pairs), f"{name} ({len(pairs)} files)"))
    return found


def part_of(repository: Path, ask: Ask) -> Path:
    """Return a repository with so much of another one's files as the scale says, evenly taken; all of them: itself."""
    if ask.scale >= 1:
        return repository
    with code_of(repository) as tree:
        paths = [path for path, entry in tree.walk() if entry.mode in (0o100644, 0o100755)]
        pairs = [(path.decode(errors="surrogateescape"), tree.read(path)) for path in _every(paths, ask.scale)]
    return made(ask.space / f"part-of-{repository.resolve().name.removesuffix('.git')}.git", pairs)


@contextmanager
def code_of(repository: Path) -> Iterator[CommitTree]:
    """Open the newest code of a repository's branch."""
    from qodebase.code import CommitTree
    from qodebase.source import inspect
    from qodebase.trunk.reader import Reader

    source = inspect(repository)
    with Reader(source.git) as reader:
        yield CommitTree(reader, source.commit)


def made_up(repository: Path, files: int, *, seed: int, areas: int = 12) -> Path:
    """Return a repository of made-up JavaScript, every file different, in so many folders."""
    text = ScriptText(random.Random(seed))
    pairs = ((f"area{at % areas:02d}/script{at:05d}.js", text.file(at, text.size())) for at in range(files))
    return made(repository, pairs)


def made(repository: Path, files: Iterable[tuple[str, bytes]]) -> Path:
    """Make a bare repository with one commit of these files."""
    repository.mkdir(parents=True)
    git(repository, "init", "-q", "--bare", "-b", "main", ".")
    name, mail = PERSON
    with tempfile.TemporaryFile() as stream:
        stream.write(f"commit refs/heads/main\ncommitter {name} <{mail}> {TIME} +0000\ndata 4\nbase\n".encode())
        for path, content in files:
            quoted = path.encode(errors="surrogateescape").replace(b"\\", b"\\\\").replace(b'"', b'\\"')
            stream.write(b'M 100644 inline "%s"\ndata %d\n%s\n' % (quoted, len(content), content))
        stream.flush()
        stream.seek(0)
        git(repository, "fast-import", "--quiet", stdin=stream)
    return repository


def _every(things: list, share: float) -> list:  # type: ignore[type-arg]
    """Return a share of a list, evenly spread, at least one."""
    count = min(len(things), max(1, round(len(things) * share)))
    return [things[at * len(things) // count] for at in range(count)] if things else []


def _sources(folder: Path) -> list[Path]:
    files = (file for file in folder.rglob("*.py") if not _LEFT_OUT & set(file.relative_to(folder).parts))
    return sorted(file for file in files if file.is_file() and not file.is_symlink())


def _fetch(code: Path) -> None:
    """Make a repository of the editor's package; where npm or its registry is not to be had, there is none."""
    npm = shutil.which("npm")
    if npm is None:
        return
    with tempfile.TemporaryDirectory(prefix="qodebase-npm-") as space:
        command = [npm, "pack", _EDITOR, "--pack-destination", space, "--silent"]
        try:
            done = subprocess.run(
                command, cwd=space, capture_output=True, check=False, timeout=_PATIENCE_S, stdin=subprocess.DEVNULL
            )
        except (OSError, subprocess.TimeoutExpired):
            return
        packed = next(Path(space).glob("*.tgz"), None)
        if done.returncode != 0 or packed is None:
            return
        with tarfile.open(packed) as archive:
            members = [one for one in archive if one.isfile() and one.name.startswith("package/esm/vs/")]
            pairs = [(one.name.removeprefix("package/"), _content(archive, one)) for one in members]
        part = made(code.with_suffix(".part"), pairs)
        part.rename(code)


def _content(archive: tarfile.TarFile, member: tarfile.TarInfo) -> bytes:
    file = archive.extractfile(member)
    assert file is not None, "a file has content"
    return file.read()
