"""What a run or a bench was made with and on, kept beside its figures: no names of hosts or people, and no keys."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import re
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

import qodebase
from qodebase.children import processors
from qodebase.events import Answered, Event
from qodebase.private_files import private

FILE = "environment.json"


def environment(command: Sequence[str] | None = None) -> dict[str, Any]:
    """Return the product, its dependencies, and this machine as it is now.

    Args:
        command: the command line; None: this process's own.
    """
    root = Path(qodebase.__path__[0]).parent
    return {
        "at": time.time(),
        "product": _fields("qodebase", "Version")[0],
        "product_commit": _commit_of(root),
        "lock_digest": _digest_of(root / "requirements.lock"),
        "packages": _packages(),
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "git": _said("git", "--version").removeprefix("git version "),
        "system": f"{platform.system()} {platform.machine()}",
        "cpu": _cpu(),
        "cpus": processors(),
        "memory_bytes": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        "load": list(os.getloadavg()),
        "command": _harmless(sys.argv if command is None else command),
    }


def keep_environment(folder: Path, told: Mapping[str, Any]) -> None:
    """Write an environment into a folder, for its owner only."""
    with open(folder / FILE, "w", encoding="utf-8", opener=private) as out:
        json.dump(told, out, indent=2)
        out.write("\n")


class NamedModels:
    """Hears a sitting's events, and adds to the run's environment what providers called the models that answered."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._named: dict[str, None] = {}

    def __call__(self, event: Event) -> None:
        """Hear an event."""
        if isinstance(event, Answered) and event.named:
            self._named[event.named] = None

    def keep(self) -> None:
        """Write down the names that are new; a run without an environment stays without one."""
        file = self._folder / FILE
        if not self._named or not file.exists():
            return
        told = json.loads(file.read_bytes())
        models = told.setdefault("models", {})
        known = dict.fromkeys(models.get("named_by_provider", []))
        if self._named.keys() - known.keys():
            models["named_by_provider"] = list(known | self._named)
            keep_environment(self._folder, told)


@cache
def _commit_of(root: Path) -> str:
    """Return the commit that the product was checked out at, with ``-dirty`` where files differ; empty if installed."""
    if not (root / ".git").exists():
        return ""
    return _said("git", "-C", str(root), "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*")


def _digest_of(lock: Path) -> str:
    return hashlib.sha256(lock.read_bytes()).hexdigest() if lock.is_file() else ""


def _packages() -> dict[str, str]:
    """Return the installed versions of the packages that the product names itself."""
    found = {}
    for line in _fields("qodebase", "Requires-Dist"):
        if "extra ==" in line:
            continue
        name = line.replace("<", ">").replace("=", ">").partition(">")[0].strip()
        try:
            found[name] = _fields(name, "Version")[0]
        except PackageNotFoundError:
            continue
    return found


def _fields(package: str, field: str) -> list[str]:
    """Return the values of a field of a package's metadata, whose long description is not looked at."""
    of = distribution(package)
    heading = (of.read_text("METADATA") or of.read_text("PKG-INFO") or "").partition("\n\n")[0]
    return re.findall(rf"^{field}: *(.*\S)", heading, re.MULTILINE)


def _cpu() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    models = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(models, platform.processor())


def _harmless(command: Sequence[str]) -> list[str]:
    """Return a command line without keys of the environment, the home folder and the user's name in it."""
    from fleet.scrub import Scrub, keys_in

    scrub = Scrub(keys_in(os.environ))
    home = str(Path.home())
    words = [Path(command[0]).name, *command[1:]] if command else []
    return [scrub(word).replace(home, "~") if len(home) > 1 else scrub(word) for word in words]


def _said(*command: str) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    except OSError:
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""
