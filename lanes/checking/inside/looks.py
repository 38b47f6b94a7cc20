"""Who asks whether a file is there and what it is, and other things that the interpreter has no audit events for."""

from __future__ import annotations

import _posixsubprocess
import importlib
import os
import posix
import stat
from collections.abc import Callable
from functools import wraps
from types import ModuleType
from typing import Any

from lanes.checking.inside.reads import Reads

_KNOWN = (os.supports_dir_fd, os.supports_effective_ids, os.supports_fd, os.supports_follow_symlinks)
_LOOKS = (os.stat, os.lstat, os.access, os.readlink)
_QUIET = ModuleType(posix.__name__)
vars(_QUIET).update(vars(posix))
_CERTIFICATES = ("load_cert_chain", "load_dh_params", "load_verify_locations")


def hear_looks(reads: Reads) -> None:
    """Tell of every look at a path of this process from now on, and of programs that are started in a way of their own.

    Python's own imports look in a way that is not heard: what they depend on is known.
    """
    vars(importlib)["_bootstrap_external"]._os = _QUIET
    for really in _LOOKS:
        heard = _heard(really, reads)
        for functions in _KNOWN:
            if really in functions:
                functions.add(heard)
        for module in (os, posix):
            setattr(module, really.__name__, heard)
    _posixsubprocess.fork_exec = _starting(_posixsubprocess.fork_exec, reads)


def hear_certificates(ssl: ModuleType, reads: Reads) -> None:
    """Tell of the files that contexts of encryption load from now on."""
    for name in _CERTIFICATES:
        setattr(ssl.SSLContext, name, _loading(getattr(ssl.SSLContext, name), reads))


def _heard(really: Callable[..., Any], reads: Reads) -> Callable[..., Any]:
    @wraps(really)
    def look(path: Any, *more: Any, **words: Any) -> Any:
        __tracebackhide__ = True
        try:
            found = really(path, *more, **words)
        except OSError:
            reads.look(path, folder=True)
            raise
        reads.look(path, folder=not (isinstance(found, os.stat_result) and stat.S_ISREG(found.st_mode)))
        return found

    return look


def _starting(really: Callable[..., Any], reads: Reads) -> Callable[..., Any]:
    @wraps(really)
    def start(*words: Any) -> Any:
        __tracebackhide__ = True
        reads.all_may_be_read()
        return really(*words)

    return start


def _loading(really: Callable[..., Any], reads: Reads) -> Callable[..., Any]:
    @wraps(really)
    def load(self: Any, *more: Any, **words: Any) -> Any:
        __tracebackhide__ = True
        for path in (*more, *words.values()):
            if isinstance(path, (str, bytes, os.PathLike)):
                reads.add(os.fspath(path))
        # A folder of certificates is looked through when one is asked for.
        if words.get("capath") or len(more) > 1:
            reads.all_may_be_read()
        return really(self, *more, **words)

    return load
