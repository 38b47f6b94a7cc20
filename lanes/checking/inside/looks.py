"""Who asks whether a file is there and what it is, told to `Reads`: the interpreter has no audit events for that."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from functools import wraps
from typing import Any

from lanes.checking.inside.reads import Reads

_KNOWN = (os.supports_dir_fd, os.supports_effective_ids, os.supports_fd, os.supports_follow_symlinks)


def hear_looks(reads: Reads) -> None:
    """Tell of every look at a path of this process from now on."""
    for really in (os.stat, os.lstat, os.access, os.readlink):
        heard = _heard(really, reads)
        for functions in _KNOWN:
            if really in functions:
                functions.add(heard)
        setattr(os, really.__name__, heard)


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
