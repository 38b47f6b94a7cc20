"""What a Python process that this one starts beside itself finds: the modules that this one finds, and no keys."""

from __future__ import annotations

import os
import sys

_KEPT = ("PATH", "HOME", "TMPDIR", "TZ", "LANG", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")
_KEPT_KINDS = ("LC_", "PYTHON")


def command(module: str) -> tuple[str, ...]:
    """Return the words that run a module; what lies in the folder that this process was started in is none."""
    return sys.executable, "-P", "-m", module


def environment() -> dict[str, str]:
    """Return the variables of a process that is this one's own."""
    kept = {name: value for name, value in os.environ.items() if name in _KEPT or name.startswith(_KEPT_KINDS)}
    return kept | modules()


def modules() -> dict[str, str]:
    """Return the variable that lets a child find the modules that this process finds."""
    return {"PYTHONPATH": os.pathsep.join(os.path.abspath(place) for place in sys.path)}


def processors() -> int:
    """Return how many processors this process and its children may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
