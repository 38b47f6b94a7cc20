"""Find jobs: a module of this folder that defines ``JOB``, an entry point in ``qodebase.jobs``, or any Python file."""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import pkgutil
import sys
from dataclasses import MISSING, fields
from pathlib import Path
from types import ModuleType
from typing import Any

import fleet.jobs
from qodebase.codec import BadData, convert
from qodebase.errors import QodebaseError
from qodebase.installed import JOB_MODULE, added, importing
from qodebase.ports import Job

GROUP = "qodebase.jobs"
_OWN = {"registry"}


class UnknownJob(QodebaseError):
    """A job that is not there, or a file that holds none."""


def job_names() -> list[str]:
    """Return the names of all installed jobs, sorted; none is imported."""
    ours = {module.name for module in pkgutil.iter_modules(fleet.jobs.__path__)} - _OWN
    return sorted(ours | {point.name for point in added(GROUP)})


def load_job(name: str, *, file: str = "") -> type[Any]:
    """Import one job and return its class, which has a settings type ``Settings`` (a dataclass).

    Args:
        name: an installed job; empty with ``file``.
        file: a Python file that defines ``JOB``.

    Raises:
        UnknownJob: there is no such job; the message lists those there are.
        CannotImport: what another package adds, or the file, fails.
    """
    if file:
        module = _module_from(Path(file))
    elif name in {module.name for module in pkgutil.iter_modules(fleet.jobs.__path__)} - _OWN:
        module = importlib.import_module(f"fleet.jobs.{name}")
    else:
        for point in added(GROUP).select(name=name):
            with importing(f"{point.value}, the job {name},"):
                found = point.load()
            return _checked(found, name)
        raise UnknownJob(f"no job {name!r}", hint=f"There are: {', '.join(job_names())}; or give --job FILE.py.")
    return _checked(getattr(module, "JOB", None), file or name)


def make_job(kind: type[Any], settings: dict[str, Any], *, source: str) -> Job:
    """Make a job from plain settings.

    Raises:
        BadData: a setting that the job does not have, or a value that it does not take; the message names both.
    """
    known = {field.name for field in fields(kind.Settings)}
    for key in settings:
        if key not in known:
            raise BadData(f"{source}: no setting {key!r}", hint=f"Allowed: {', '.join(sorted(known))}.")
    needed = [
        field.name
        for field in fields(kind.Settings)
        if field.default is MISSING and field.default_factory is MISSING and field.name not in settings
    ]
    if needed:
        raise BadData(f"{source}: {', '.join(needed)} must be set")
    job: Job = kind(convert(settings, kind.Settings, source=source))
    return job


def code_digest(module: ModuleType) -> str:
    """Return the SHA-256 over a job's own files (code and prompts), 64 hex digits."""
    return digest_of_file(Path(module.__file__ or ""))


def digest_of_file(origin: Path) -> str:
    """Return the SHA-256 of a job's file, or of its whole folder where it is an ``__init__.py``."""
    folder = origin.parent if origin.name == "__init__.py" else None
    files = sorted([*folder.rglob("*.py"), *folder.rglob("*.md")]) if folder else [origin]
    digest = hashlib.sha256()
    for file in files:
        digest.update(file.name.encode() + b"\0" + file.read_bytes() + b"\0")
    return digest.hexdigest()


def _module_from(file: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"{JOB_MODULE}{file.stem}", file)
    if not file.is_file() or spec is None or spec.loader is None:
        raise UnknownJob(f"no job file {file}", hint="A job file is a Python file that defines JOB.")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    writes, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    try:
        # A folder of the user's is only read.
        with importing(f"the job file {file}"):
            spec.loader.exec_module(module)
    finally:
        sys.dont_write_bytecode = writes
    return module


def _checked(found: Any, name: str) -> type[Any]:
    if not isinstance(found, type) or not hasattr(found, "Settings"):
        raise UnknownJob(f"{name} defines no JOB", hint="JOB is a class with a dataclass `Settings`; see the README.")
    return found
