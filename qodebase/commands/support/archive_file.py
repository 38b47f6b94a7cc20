"""An archive: one tar file with a run's folder, its repository as a git bundle, and the digests of both.

Its members stand in the order of their names, without owners and times, so the same run makes the same file. Whoever
reads one trusts nothing of it: names, kinds, sizes and digests are looked at before a file is used.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import lzma
import os
import re
import shutil
import tarfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Any, Literal

from qodebase.codec import convert
from qodebase.errors import QodebaseError
from qodebase.private_files import make_private, private

BUNDLE = "repository.bundle"
FOLDER = "run"
_MANIFEST = "archive.json"
_VERSION = 1
_SUFFIXES: Mapping[str, Literal["gz", "xz", ""]] = {".tar.gz": "gz", ".tgz": "gz", ".tar.xz": "xz", ".tar": ""}
_NAME = re.compile(rf"{BUNDLE}|{FOLDER}(?:/[A-Za-z0-9_-][A-Za-z0-9._-]*){{1,6}}")
_MOST_MEMBERS = 100_000
_ROOM = 256 << 20
_MOST_GROWTH = 200
"""A run's journal shrinks to about a twentieth; an archive that grows by much more is a bomb."""
_CHUNK = 1 << 20


class BadArchive(QodebaseError):
    """A file that is no archive of a run, or one that must not be unpacked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """What an archive says of itself.

    Attributes:
        run: the run's id.
        product: the version that wrote it.
        branch, base, tip, tree: the branch, where the run began and ended on it, and the tree of its end.
        prompts: whether the texts of prompts are there.
        files: every other member, with its SHA-256.
    """

    run: str
    product: str
    branch: str
    base: str
    tip: str
    tree: str
    prompts: bool
    files: dict[str, str]
    v: int = _VERSION


def write_archive(target: Path, manifest: Manifest, members: Mapping[str, Path]) -> None:
    """Write an archive of files, which appears whole or not at all.

    Raises:
        BadArchive: the name tells no kind of archive, or the file cannot be written.
    """
    kind = _kind(target)
    partial = target.with_name(target.name + ".part")
    digests = {name: _digest(path) for name, path in sorted(members.items())}
    told = json.dumps(asdict(manifest) | {"files": digests}, indent=2).encode() + b"\n"
    try:
        try:
            with _writing(partial, kind) as archive:
                archive.addfile(_member(_MANIFEST, len(told)), io.BytesIO(told))
                for name, path in sorted(members.items()):
                    with path.open("rb") as file:
                        archive.addfile(_member(name, os.fstat(file.fileno()).st_size), file)
            partial.replace(target)
        finally:
            partial.unlink(missing_ok=True)
    except OSError as error:
        raise BadArchive(
            f"{target} cannot be written: {error.strerror}", hint="Make room, or give another file."
        ) from None


def unpack(source: Path, folder: Path) -> Manifest:
    """Unpack an archive into a new folder, and return what it says of itself.

    Raises:
        BadArchive: it cannot be read, is torn, holds anything but the plain files of an archive, is far larger than it
            looks, or a file is not what was written.
    """
    make_private(folder)
    try:
        size = source.stat().st_size
        with tarfile.open(source, "r:*") as archive:
            _extract(archive, folder, most=_ROOM + _MOST_GROWTH * size)
    except (tarfile.TarError, EOFError, zlib.error, lzma.LZMAError, gzip.BadGzipFile) as error:
        raise BadArchive(
            f"{source} is torn, or no archive: {error}", hint="Archive the run again: `qodebase archive RUN FILE`."
        ) from None
    except OSError as error:
        raise BadArchive(
            f"{source} cannot be read: {error.strerror or error}",
            hint="Give a file that `qodebase archive RUN FILE` wrote.",
        ) from None
    return _checked(source, folder)


def _kind(target: Path) -> Literal["gz", "xz", ""]:
    for suffix, kind in _SUFFIXES.items():
        if target.name.endswith(suffix):
            return kind
    raise BadArchive(f"{target.name} tells no kind of archive", hint=f"Let it end with {', '.join(_SUFFIXES)}.")


@contextmanager
def _writing(path: Path, kind: Literal["gz", "xz", ""]) -> Iterator[tarfile.TarFile]:
    """Open a new tar file that only its owner can read; gzip's own header holds no name and no time."""
    with (
        open(path, "wb", opener=private) as raw,
        _packing(raw, kind) as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive,
    ):
        yield archive


def _packing(raw: IO[bytes], kind: Literal["gz", "xz", ""]) -> AbstractContextManager[Any]:
    if kind == "gz":
        return gzip.GzipFile(filename="", mode="wb", fileobj=raw, compresslevel=6, mtime=0)
    if kind == "xz":
        return lzma.LZMAFile(raw, "wb", preset=3)
    return nullcontext(raw)


def _member(name: str, size: int) -> tarfile.TarInfo:
    member = tarfile.TarInfo(name)
    member.size = size
    member.mode = 0o600
    return member


def _extract(archive: tarfile.TarFile, folder: Path, *, most: int) -> None:
    seen: set[str] = set()
    whole = 0
    for member in archive:
        _refuse_odd(member, seen)
        seen.add(member.name)
        whole += member.size
        if whole > most or len(seen) > _MOST_MEMBERS:
            raise BadArchive(f"the archive unpacks to more than {most >> 20} MiB: no run does", hint=_HOSTILE)
        _take_out(archive, member, folder)
    _read_out(archive, most=most - whole)


def _take_out(archive: tarfile.TarFile, member: tarfile.TarInfo, folder: Path) -> None:
    """Write a plain file as one that only its owner can read, whatever the archive says of it."""
    content = archive.extractfile(member)
    assert content is not None
    target = folder / member.name
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with open(target, "xb", opener=private) as out:
        shutil.copyfileobj(content, out)


def _read_out(archive: tarfile.TarFile, *, most: int) -> None:
    """Read what follows the last member, so that a compressed file proves that it is whole."""
    assert archive.fileobj is not None
    while chunk := archive.fileobj.read(_CHUNK):
        most -= len(chunk)
        if most < 0:
            raise BadArchive("the archive goes on for far too long after its end", hint=_HOSTILE)


_HOSTILE = "Nothing of it was run. Do not use it unless you know where it comes from."


def _refuse_odd(member: tarfile.TarInfo, seen: set[str]) -> None:
    shown = repr(member.name[:200])
    if not member.isreg() or member.issparse():
        raise BadArchive(f"the archive holds {shown}, which is no plain file", hint=_HOSTILE)
    if member.name != _MANIFEST and not _NAME.fullmatch(member.name):
        raise BadArchive(f"the archive holds {shown}, which is no part of a run", hint=_HOSTILE)
    if member.name in seen:
        raise BadArchive(f"the archive holds {shown} twice", hint=_HOSTILE)


def _checked(source: Path, folder: Path) -> Manifest:
    again = "It was changed or torn: archive the run again with `qodebase archive RUN FILE`."
    try:
        told: Any = json.loads((folder / _MANIFEST).read_bytes())
    except (OSError, ValueError):
        raise BadArchive(f"{source} is no archive of a run: it holds no {_MANIFEST}", hint=again) from None
    manifest = convert(told, Manifest, source=f"{source}: {_MANIFEST}")
    if manifest.v != _VERSION:
        raise BadArchive(f"{source} was written by another qodebase ({manifest.product})", hint="Use that one.")
    found = {file.relative_to(folder).as_posix() for file in folder.rglob("*") if file.is_file()} - {_MANIFEST}
    for name in sorted(found ^ set(manifest.files)):
        raise BadArchive(f"{source}: {name!r} is {'not listed' if name in found else 'missing'}", hint=again)
    for name, digest in manifest.files.items():
        if _digest(folder / name) != digest:
            raise BadArchive(f"{source}: {name} is not what was written", hint=again)
    return manifest


def _digest(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
    return digest.hexdigest()
