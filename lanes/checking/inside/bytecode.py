"""Compiled modules that many checks share, made by a process that runs no code of theirs.

Checks read them and cannot write them, so no check can put code under another one.
"""

from __future__ import annotations

import contextlib
import fnmatch
import hashlib
import importlib.util
import os
import py_compile
import resource
import sys
import time
from pathlib import Path

_MOST_BYTES, _MOST_S = 256 << 10, 2
_SHARED, _MOST_SHARED = "shared", 1024
_TESTS = ("test_*.py", "*_test.py", "conftest.py")


def prepare(folder: str, prefix: str, modules: list[str], *, plain: bool, memory_bytes: int) -> None:
    """Compile modules of a folder, unless that was done from the same text; tests as pytest rewrites them, or plain.

    What is not rewritten is compiled once for all folders: Python tells a module by itself where it was loaded from.
    A small text may be long work for the compiler: where one takes too long, this process is ended.

    Args:
        folder: where the code lies, without links in its path.
        prefix: where compiled modules are kept; becomes this process's own.
        modules: paths in the folder; what is no module of a usual size is passed over.
        memory_bytes: of this process meanwhile.
    """
    sys.pycache_prefix = prefix
    _limit(resource.RLIMIT_AS, memory_bytes)
    for name in modules:
        path = os.path.join(folder, name)
        if os.path.realpath(path) != path or not name.endswith(".py"):
            continue
        _limit(resource.RLIMIT_CPU, int(time.process_time()) + _MOST_S)
        # What cannot be compiled here fails in the check, with a message.
        with contextlib.suppress(OSError, SyntaxError, ValueError, RecursionError, MemoryError, OverflowError):
            _compile(path, prefix, plain=plain)
    _limit(resource.RLIMIT_CPU, resource.RLIM_INFINITY)
    _limit(resource.RLIMIT_AS, resource.RLIM_INFINITY)


def _limit(kind: int, most: int) -> None:
    """Set a limit that can be lifted again; one that is there already stays the highest."""
    hard = resource.getrlimit(kind)[1]
    within = [one for one in (most, hard) if one != resource.RLIM_INFINITY]
    resource.setrlimit(kind, (min(within, default=resource.RLIM_INFINITY), hard))


def _compile(path: str, prefix: str, *, plain: bool) -> None:
    if os.path.getsize(path) > _MOST_BYTES:
        return
    text = Path(path).read_bytes()
    test = not plain and any(fnmatch.fnmatch(os.path.basename(path), pattern) for pattern in _TESTS)
    compiled = _rewritten_at(path) if test else importlib.util.cache_from_source(path)
    digest = hashlib.sha256(text).hexdigest()
    made_from = f"{compiled}.from"
    with contextlib.suppress(OSError):
        if Path(made_from).read_text() == digest:
            return
    os.makedirs(os.path.dirname(compiled), exist_ok=True)
    Path(made_from).write_text("")
    with contextlib.suppress(FileNotFoundError):
        os.unlink(compiled)
    if test:
        _rewrite(path, compiled)
    else:
        _link(os.path.join(prefix, _SHARED, digest), path, compiled)
    os.chmod(compiled, 0o644)
    Path(made_from).write_text(digest)


def _link(shared: str, path: str, compiled: str) -> None:
    if not os.path.exists(shared):
        folder = os.path.dirname(shared)
        os.makedirs(folder, exist_ok=True)
        _forget(folder)
        # Several processes may be at this, each with the same number in a namespace of its own.
        made = f"{shared}.{os.urandom(8).hex()}"
        mode = py_compile.PycInvalidationMode.CHECKED_HASH
        py_compile.compile(path, made, doraise=True, quiet=2, invalidation_mode=mode)
        os.rename(made, shared)
    os.link(shared, compiled)


def _forget(folder: str) -> None:
    """Remove the older half of what no folder holds any more, once there is much of it."""
    if len(os.listdir(folder)) <= _MOST_SHARED:
        return
    with os.scandir(folder) as entries:
        unused = [(found.st_mtime, entry.path) for entry in entries if (found := entry.stat()).st_nlink == 1]
    for _, path in sorted(unused)[: len(unused) // 2]:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path)


def _rewritten_at(path: str) -> str:
    from _pytest.assertion import rewrite

    return str(rewrite.get_cache_dir(Path(path)) / (os.path.basename(path)[:-3] + rewrite.PYC_TAIL))


def _rewrite(path: str, compiled: str) -> None:
    """Do what pytest does when it imports a test; versions that tell texts apart by their time are left alone."""
    from _pytest.assertion import rewrite

    made_from, code = rewrite._rewrite_test(Path(path), None)  # type: ignore[arg-type]
    if isinstance(made_from, bytes):
        with open(compiled, "wb") as out:
            rewrite._write_pyc_fp(out, made_from, code)
