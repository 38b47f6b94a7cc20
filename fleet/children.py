"""What a Python process that a run starts beside itself finds: the modules that this one finds, and no keys."""

from __future__ import annotations

import os
import sys

from fleet.scrub import names_key

_KEPT = ("PATH", "HOME", "TMPDIR", "TZ", "LANG", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")
_KEPT_KINDS = ("LC_", "PYTHON")


def command(module: str) -> tuple[str, ...]:
    """Return the words that run a module; what lies in the folder that this process was started in is none."""
    return sys.executable, "-P", "-m", module


def environment() -> dict[str, str]:
    """Return the variables of a process that is this one's own."""
    kept = {name: value for name, value in os.environ.items() if name in _KEPT or name.startswith(_KEPT_KINDS)}
    return kept | _modules()


def environment_without_keys() -> dict[str, str]:
    """Return the variables of a process with libraries in it that may have settings of their own: all but keys."""
    return {name: value for name, value in os.environ.items() if not names_key(name)} | _modules()


def _modules() -> dict[str, str]:
    return {"PYTHONPATH": os.pathsep.join(os.path.abspath(place) for place in sys.path)}
