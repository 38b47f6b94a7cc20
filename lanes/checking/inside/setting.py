"""The process that is to run tests in a folder, and what that folder says about how."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

from lanes.checking.inside.imports import listen
from lanes.checking.inside.looks import hear_looks
from lanes.checking.inside.reads import Reads

# Also what Python brings and pytest does not load: a module of the tree may have the same name.
_OURS = ("lanes", "qodebase", "ctypes", "mmap", "py_compile", "resource")
_SETTINGS = {
    "pytest.ini": "",
    ".pytest.ini": "",
    "pytest.toml": "",
    ".pytest.toml": "",
    "pyproject.toml": "[tool.pytest",
    "tox.ini": "[pytest]",
    "setup.cfg": "[tool:pytest]",
}


@contextmanager
def heard(folder: str) -> Iterator[Reads]:
    """Make this process one that runs tests in a folder, and hear what it reads."""
    for name in list(sys.modules):
        if name.partition(".")[0] in _OURS:
            del sys.modules[name]
    tempfile.tempdir = None
    sys.dont_write_bytecode = True
    sys.path.insert(0, folder)
    sys.argv = ["pytest"]
    reads = Reads(folder)
    sys.addaudithook(reads.hear)
    hear_looks(reads)
    listen(reads)
    yield reads
    sys.stdout.flush()
    sys.stderr.flush()


def has_settings(folder: str, selection: list[str]) -> bool:
    """Return whether the tree has settings for pytest, which else would look for some in the folders above."""
    paths = [os.path.join(folder, *one.partition("::")[0].split("/")) for one in selection]
    at = os.path.commonpath(paths)
    at = at if os.path.isdir(at) else os.path.dirname(at)
    while at == folder or at.startswith(folder + "/"):
        for name, mark in _SETTINGS.items():
            try:
                with open(os.path.join(at, name), encoding="utf-8", errors="replace") as text:
                    if mark in text.read():
                        return True
            except OSError:
                continue
        at = os.path.dirname(at)
    return False
