"""Compiled modules that many checks share, made by a process that runs no code of theirs.

Checks read them and cannot write them, so no check can put code under another one.
"""

from __future__ import annotations

import contextlib
import fnmatch
import gc
import hashlib
import importlib.util
import marshal
import os
import py_compile
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import CodeType

_MOST_BYTES, _MOST_S = 256 << 10, 2
_SHARED, _MOST_SHARED = "shared", 1024
_HEAD_BYTES = 16
_TESTS = ("test_*.py", "*_test.py", "conftest.py")


def prepare(folder: str, prefix: str, modules: list[str], *, plain: bool, memory_bytes: int) -> None:
    """Compile modules of a folder, unless that was done from the same text; tests as pytest rewrites them, or plain.

    Each text is compiled once for all folders. Python tells a module by itself where it was loaded from; to what was
    rewritten that is told here.
    A small text may be long work for the compiler: where one takes too long, this process is ended.

    Args:
        folder: where the code lies, without links in its path.
        prefix: where compiled modules are kept; becomes this process's own.
        modules: paths in the folder; what is no module of a usual size is passed over.
        memory_bytes: of this process meanwhile.
    """
    sys.pycache_prefix = prefix
    _limit(resource.RLIMIT_AS, memory_bytes)
    # Syntax trees are many objects and no rings.
    gc.disable()
    for name in modules:
        path = os.path.join(folder, name)
        if os.path.realpath(path) != path or not name.endswith(".py"):
            continue
        _limit(resource.RLIMIT_CPU, int(time.process_time()) + _MOST_S)
        # What cannot be compiled here fails in the check, with a message.
        with contextlib.suppress(OSError, SyntaxError, ValueError, RecursionError, MemoryError, OverflowError):
            _compile(path, prefix, plain=plain)
    gc.enable()
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
    shared = os.path.join(prefix, _SHARED, hashlib.sha256(text).hexdigest())
    if not plain and any(fnmatch.fnmatch(os.path.basename(path), pattern) for pattern in _TESTS):
        _rewritten(f"{shared}.rewritten", path)
    else:
        _link(shared, path, importlib.util.cache_from_source(path))


def _link(shared: str, path: str, compiled: str) -> None:
    with contextlib.suppress(FileNotFoundError):
        if os.path.samefile(shared, compiled):
            return
    with contextlib.suppress(FileNotFoundError):
        os.unlink(compiled)
    if not os.path.exists(shared):
        mode = py_compile.PycInvalidationMode.CHECKED_HASH
        _share(shared, lambda made: py_compile.compile(path, made, doraise=True, quiet=2, invalidation_mode=mode))
    os.makedirs(os.path.dirname(compiled), exist_ok=True)
    os.link(shared, compiled)


def _share(shared: str, make: Callable[[str], object]) -> None:
    """Make a file that many folders share, whole or not at all."""
    folder = os.path.dirname(shared)
    os.makedirs(folder, exist_ok=True)
    _forget(folder)
    # Several processes may be at this, each with the same number in a namespace of its own.
    made = f"{shared}.{os.urandom(8).hex()}"
    make(made)
    os.chmod(made, 0o644)
    os.rename(made, shared)


def _forget(folder: str) -> None:
    """Remove the older half of what no folder holds any more, once there is much of it."""
    if len(os.listdir(folder)) <= _MOST_SHARED:
        return
    with os.scandir(folder) as entries:
        unused = [(found.st_mtime, entry.path) for entry in entries if (found := entry.stat()).st_nlink == 1]
    for _, path in sorted(unused)[: len(unused) // 2]:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path)


def _rewritten(shared: str, path: str) -> None:
    """Do what pytest does when it imports a test; versions that tell texts apart by their time are left alone."""
    from _pytest.assertion import rewrite

    compiled = str(rewrite.get_cache_dir(Path(path)) / (os.path.basename(path)[:-3] + rewrite.PYC_TAIL))
    made_from = f"{compiled}.from"
    with contextlib.suppress(OSError):
        if Path(made_from).read_text() == shared:
            return
    os.makedirs(os.path.dirname(compiled), exist_ok=True)
    Path(made_from).write_text("")
    with contextlib.suppress(FileNotFoundError):
        os.unlink(compiled)
    if not os.path.exists(shared):
        _rewrite(shared, path)
    with contextlib.suppress(FileNotFoundError):
        words = Path(shared).read_bytes()
        code = _moved(marshal.loads(words[_HEAD_BYTES:]), path)
        Path(compiled).write_bytes(words[:_HEAD_BYTES] + marshal.dumps(code))
        os.chmod(compiled, 0o644)
    Path(made_from).write_text(shared)


def _rewrite(shared: str, path: str) -> None:
    from _pytest.assertion import rewrite

    made_from, code = rewrite._rewrite_test(Path(path), None)  # type: ignore[arg-type]

    def write(made: str) -> None:
        with open(made, "wb") as out:
            rewrite._write_pyc_fp(out, made_from, code)

    if isinstance(made_from, bytes):
        _share(shared, write)


def _moved(code: CodeType, path: str) -> CodeType:
    """Return code as it is where its text lies at another path."""
    inner = tuple(_moved(one, path) if isinstance(one, CodeType) else one for one in code.co_consts)
    return code.replace(co_filename=path, co_consts=inner)
