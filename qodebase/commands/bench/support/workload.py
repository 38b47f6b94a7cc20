"""The synthetic work of the landing bench: a repository, and changes to it in every form that a side reads."""

from __future__ import annotations

import os
import random
import shutil
import struct
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import BinaryIO

import msgspec

from qodebase.change import REGULAR
from qodebase.commands.bench.support.code_text import CodeText
from qodebase.edits import blob_id
from qodebase.errors import QodebaseError
from qodebase.git_environment import unconfigured_environment

PERSON = ("Bench Agent", "agent@bench.invalid")
TIME = 1_700_000_000
RUN = "bench"
INDEX = b"docs/API_INDEX.md"
INDEX_MOST = 6000
"""One index file is quadratic: so many changes already make a stream of a gigabyte for fast-import."""

_FILES_OF_A_FOLDER = 10
_AREAS = 60
_BASE = b"# Index\n\n"


class GitFailed(QodebaseError):
    """A git command of the bench that failed."""

    exit_code = 1


class Kind(StrEnum):
    """What the changes touch."""

    SPREAD = "spread"
    INDEX = "index"


class Job(msgspec.Struct, frozen=True, kw_only=True, array_like=True):
    """One change: a path's content before and after, its line of the index (may be empty), its note."""

    number: int
    path: bytes
    before: bytes
    replaces: str
    content: bytes
    line: bytes
    note: bytes

    @property
    def subject(self) -> str:
        """Return the first line of its commit's message."""
        return f"Document and tidy {self.path.decode()}"

    @property
    def trailers(self) -> tuple[tuple[str, str], ...]:
        """Return the trailers of its commit."""
        return (
            ("Qodebase-Run", RUN),
            ("Qodebase-Intent", f"i{self.number}"),
            ("Qodebase-Attempt", "1"),
            ("Qodebase-Lane", f"lane-{self.number % 16}"),
            ("Qodebase-Train", f"t{self.number // 64}"),
            ("Qodebase-Replay", "0"),
        )

    @property
    def message(self) -> bytes:
        """Return the whole message, as the trunk writes it."""
        lines = "".join(f"{key}: {value}\n" for key, value in self.trailers)
        return f"{self.subject}\n\n{lines}".encode()


@dataclass(frozen=True, slots=True, kw_only=True)
class Workload:
    """A prepared piece of work.

    Attributes:
        base: a bare repository with one commit on main, packed as a clone is.
        jobs: the changes, each with its length before it.
        tip: the commit that all changes start from.
    """

    base: Path
    jobs: Path
    tip: str
    files: int
    changes: int
    kind: Kind

    def read(self) -> Iterator[Job]:
        """Yield the changes."""
        with open(self.jobs, "rb") as file:
            yield from read_jobs(file)

    def copy(self, target: Path) -> Path:
        """Return a copy of the base repository; packs are linked, for nobody writes into a pack."""
        shutil.copytree(self.base, target, copy_function=_link_pack)
        return target


def read_jobs(file: BinaryIO) -> Iterator[Job]:
    """Yield the changes of an open file."""
    decoder = msgspec.msgpack.Decoder(Job)
    while head := file.read(4):
        yield decoder.decode(file.read(struct.unpack(">L", head)[0]))


def git(repository: Path, *words: str, input: bytes | None = None, stdin: BinaryIO | None = None) -> bytes:
    """Run git without anybody's configuration and return what it prints.

    Raises:
        GitFailed: with git's own words.
    """
    command = ["git", "-c", "core.fsync=none", "-c", "gc.auto=0", "-C", str(repository), *words]
    done = subprocess.run(
        command,
        env=environment(),
        stdin=subprocess.DEVNULL if input is None and stdin is None else stdin,
        input=input,
        capture_output=True,
        check=False,
    )
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip()[-1000:]
        raise GitFailed(f"git {words[0]} failed: {said}", hint="Is there room in the bench's folder?")
    return done.stdout


def environment() -> dict[str, str]:
    """Return an environment in which git is nobody's in particular."""
    name, mail = PERSON
    who = {f"GIT_{role}_{what}": value for role in ("AUTHOR", "COMMITTER") for what, value in
           (("NAME", name), ("EMAIL", mail), ("DATE", f"{TIME} +0000"))}  # fmt: skip
    return unconfigured_environment() | who


def prepare(folder: Path, *, files: int, changes: int, kind: Kind, seed: int, scale: float = 1.0) -> Workload:
    """Make the repository and the changes; ``scale`` shortens the files."""
    chance = random.Random(seed)
    text = CodeText(chance)
    base = folder / "base.git"
    base.mkdir(parents=True)
    git(base, "init", "-q", "--bare", "-b", "main", ".")
    paths = [_path(number) for number in range(files)]
    touched = _chosen(chance, files, changes)
    contents = _make_base(base, paths, text, kind, set(touched), scale)
    jobs = folder / "jobs"
    with open(jobs, "wb") as out:
        for number, at in enumerate(touched):
            old = contents[at]
            new = contents[at] = text.edited(old)
            line = b"- `%s` `symbol_%d` function\n" % (paths[at], number) if kind is Kind.INDEX else b""
            job = Job(
                number=number, path=paths[at], before=old, replaces=blob_id(old), content=new, line=line,
                note=_note(number, paths[at], chance),
            )  # fmt: skip
            packed = msgspec.msgpack.encode(job)
            out.write(struct.pack(">L", len(packed)) + packed)
    tip = git(base, "rev-parse", "main").decode().strip()
    return Workload(base=base, jobs=jobs, tip=tip, files=files, changes=changes, kind=kind)


def _path(number: int) -> bytes:
    folder = number // _FILES_OF_A_FOLDER
    return b"src/area_%02d/package_%03d/module_%05d.py" % (folder % _AREAS, folder // _AREAS, number)


def _chosen(chance: random.Random, files: int, changes: int) -> list[int]:
    """Return which file each change touches: every file once, in random order, before one comes again."""
    chosen: list[int] = []
    while len(chosen) < changes:
        chosen += chance.sample(range(files), min(files, changes - len(chosen)))
    return chosen


def _make_base(
    base: Path, paths: list[bytes], text: CodeText, kind: Kind, wanted: set[int], scale: float
) -> dict[int, bytes]:
    """Write the first commit, packed as a clone is, and return the contents that the changes start from."""
    contents = {}
    stream = base / "stream"
    with open(stream, "wb") as out:
        name, mail = PERSON
        out.write(f"commit refs/heads/main\ncommitter {name} <{mail}> {TIME} +0000\ndata 4\nbase\n".encode())
        for number, path in enumerate(paths):
            content = text.file(text.size(scale)) or b"# empty\n"
            if number in wanted:
                contents[number] = content
            out.write(b"M 100644 inline %s\ndata %d\n%s\n" % (path, len(content), content))
        if kind is Kind.INDEX:
            out.write(b"M 100644 inline %s\ndata %d\n%s\n" % (INDEX, len(_BASE), _BASE))
    with open(stream, "rb") as file:
        git(base, "fast-import", "--quiet", "--depth=0", stdin=file)
    stream.unlink()
    git(base, "repack", "-q", "-a", "-d", "-f")
    return contents


def _note(number: int, path: bytes, chance: random.Random) -> bytes:
    """Return a note as long and as varied as a record is."""
    from qodebase.paths import CommitId
    from qodebase.record import Record, Times, Usage, write_note

    at = float(TIME + number // 1000)
    record = Record(
        run=RUN, intent=f"i{number}", asked=f"Document and tidy {path.decode()}", agent=f"agent-{number % 997}",
        model="simulated", attempt=1, replay=0, lane=f"lane-{number % 16}", train=f"t{number // 64}",
        base=CommitId(chance.randbytes(20).hex()), parent=CommitId(chance.randbytes(20).hex()),
        tree=chance.randbytes(20).hex(), verdict="green", checks=(), collisions=(),
        symbols=(f"{path.decode()}#symbol_{number}",),
        plan={"prompt": chance.randbytes(20).hex(), "answer": chance.randbytes(20).hex()},
        usage=Usage(calls=1, input_tokens=chance.randrange(9000), output_tokens=chance.randrange(900)),
        times=Times(admitted=at, answered=at + 1, queued=at + 1, landed=at + 2), simulated=True,
    )  # fmt: skip
    return write_note(record)


def _link_pack(source: str, target: str) -> None:
    if source.endswith((".pack", ".idx", ".rev")):
        os.link(source, target)
    else:
        shutil.copy2(source, target)


__all__ = ["INDEX", "INDEX_MOST", "REGULAR", "GitFailed", "Job", "Kind", "Workload", "git", "prepare", "read_jobs"]
