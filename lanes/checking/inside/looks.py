"""Who asks whether a file is there and what it is, and other things that the interpreter has no audit events for."""

from __future__ import annotations

import _posixsubprocess
import importlib
import os
import posix
import stat
import sys
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
_ELSEWHERE = ("call", "create", "exec", "run_func", "run_string")


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
    globber: Any = getattr(sys.modules.get("glob"), "_StringGlobber", None)
    if hasattr(globber, "lstat"):
        # Python 3.13 keeps the function that was there when it was loaded.
        globber.lstat = staticmethod(os.lstat)
    handed: Any = getattr(sys.modules.get("pathlib._os"), "DirEntryInfo", None)
    if handed is not None:
        # Python 3.14 hands on what a folder's entries tell.
        handed._stat = _of_entry(handed._stat, reads)
    _posixsubprocess.fork_exec = _starting(_posixsubprocess.fork_exec, reads)


def hear_certificates(ssl: ModuleType, reads: Reads) -> None:
    """Tell of the files that contexts of encryption load from now on."""
    for name in _CERTIFICATES:
        setattr(ssl.SSLContext, name, _loading(getattr(ssl.SSLContext, name), reads))


def hear_interpreters(module: ModuleType, reads: Reads) -> None:
    """Tell of code that is run in other interpreters from now on: what is done there is not heard.

    Python 3.14 loads the module for this along with `concurrent.futures`.
    """
    for name in _ELSEWHERE:
        really = vars(module).get(name)
        if really is not None and not hasattr(really, "__wrapped__"):
            setattr(module, name, _starting(really, reads))


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


def _of_entry(really: Callable[..., Any], reads: Reads) -> Callable[..., Any]:
    @wraps(really)
    def look(self: Any, **words: Any) -> Any:
        __tracebackhide__ = True
        reads.look(self._entry.path, folder=True)
        return really(self, **words)

    return look


def _starting(really: Callable[..., Any], reads: Reads) -> Callable[..., Any]:
    @wraps(really)
    def start(*words: Any, **more: Any) -> Any:
        __tracebackhide__ = True
        reads.all_may_be_read()
        return really(*words, **more)

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
