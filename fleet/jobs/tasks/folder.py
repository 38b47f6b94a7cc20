"""Tasks in a folder, a subfolder each: ``task.toml``, ``checks/*.py`` and ``hidden/*.py``.

``task.toml`` holds ``text`` (what is asked) and ``paths`` (the files that may change); it may hold ``id`` (else the
subfolder's name), ``kind``, ``targets`` (``path#name``) and ``retires``. The test files are plain test functions.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fleet.jobs.tasks.task import Task, test_names
from qodebase.codec import BadData
from qodebase.errors import QodebaseError
from qodebase.paths import RepoPath
from qodebase.trunk.naming import fault_of_path

FILE = "task.toml"
_TEXTS = ("id", "kind", "text")
_LISTS = ("paths", "targets", "retires")
_NEEDED = ("text", "paths")
_FORM = "A task is a folder with task.toml (`text`, `paths`), checks/*.py and, for a scorer, hidden/*.py."


class NoTaskFolder(QodebaseError):
    """A folder that holds no tasks."""


def load(folder: str) -> tuple[Task, ...]:
    """Read all tasks of a folder, in the order of their names; subfolders without task.toml are passed over.

    Raises:
        NoTaskFolder: there is no such folder, or no task in it.
        BadData: a task is not as it must be; the message names the file and the field.
    """
    root = Path(folder)
    if not root.is_dir():
        raise NoTaskFolder(f"{folder} is no folder", hint=_FORM)
    tasks = tuple(_load_one(file.parent) for file in sorted(root.glob(f"*/{FILE}")))
    if not tasks:
        raise NoTaskFolder(f"{folder} holds no task", hint=_FORM)
    seen: dict[str, str] = {}
    for task, file in zip(tasks, sorted(root.glob(f"*/{FILE}")), strict=True):
        if task.id in seen:
            raise BadData(
                f"{file}: `id` is {task.id!r}, as in {seen[task.id]}", hint="Give each task an id of its own."
            )
        seen[task.id] = str(file)
    return tasks


def save(tasks: tuple[Task, ...], folder: str) -> None:
    """Write tasks into a folder as `load` reads them; recipes are left out."""
    for task in tasks:
        root = Path(folder) / _slug(task.id)
        root.mkdir(parents=True)
        values: dict[str, Any] = {
            "id": task.id,
            "kind": task.kind,
            "text": task.text,
            "paths": [path.text for path in task.paths],
            "targets": list(task.targets),
            "retires": list(task.retires),
        }
        # A JSON text or array of texts is one of TOML, too, but for the character DEL.
        lines = [f"{name} = {json.dumps(value, ensure_ascii=False)}\n" for name, value in values.items()]
        (root / FILE).write_text("".join(lines).replace("\x7f", "\\u007f"), encoding="utf-8")
        for kind, files in (("checks", task.checks), ("hidden", task.hidden)):
            for path, source in files.items():
                (root / kind).mkdir(exist_ok=True)
                (root / kind / path.rpartition(b"/")[2].decode()).write_bytes(source)


def _load_one(folder: Path) -> Task:
    file = folder / FILE
    values = _values(file)
    identity = values.get("id", folder.name)
    checks = _tests(folder, "checks", identity)
    if not checks:
        raise BadData(f"{folder}: no checks/*.py", hint=_FORM)
    return Task(
        id=identity,
        kind=values.get("kind", "task"),
        text=values["text"],
        paths=tuple(_path(file, text) for text in values["paths"]),
        targets=tuple(_target(file, text) for text in values.get("targets", [])),
        checks=checks,
        hidden=_tests(folder, "hidden", identity),
        retires=tuple(values.get("retires", [])),
    )


def _values(file: Path) -> Mapping[str, Any]:
    try:
        values = tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise BadData(f"{file}: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BadData(f"{file}: no TOML: {error}") from None
    for name, value in values.items():
        if name not in (*_TEXTS, *_LISTS):
            raise BadData(f"{file}: unknown field `{name}`", hint=f"Fields: {', '.join((*_TEXTS, *_LISTS))}.")
        if name in _TEXTS and not (isinstance(value, str) and value.strip()):
            raise BadData(f"{file}: `{name}` must be a text")
        if name in _LISTS and not (isinstance(value, list) and all(isinstance(one, str) for one in value)):
            raise BadData(f"{file}: `{name}` must be an array of texts")
    for name in _NEEDED:
        if not values.get(name):
            raise BadData(f"{file}: `{name}` is missing or empty", hint=_FORM)
    return values


def _path(file: Path, text: str) -> RepoPath:
    path = RepoPath(text.encode())
    fault = fault_of_path(path)
    if fault or not text.endswith(".py"):
        raise BadData(
            f"{file}: `paths` holds {text!r}: {fault or 'it is no Python file'}",
            hint="Paths are relative to the repository's root, `shop/orders.py` say.",
        )
    return path


def _target(file: Path, text: str) -> str:
    path, sign, name = text.partition("#")
    if not (path and sign and name):
        raise BadData(f"{file}: `targets` holds {text!r}", hint="Write PATH#NAME, `shop/orders.py#late_fee` say.")
    return text


def _tests(folder: Path, kind: str, identity: str) -> dict[RepoPath, bytes]:
    """Return a task's test files under paths of their own, since those of all tasks are run together."""
    found = {}
    for file in sorted((folder / kind).glob("*.py")):
        source = file.read_bytes()
        try:
            names = test_names(source)
        except (SyntaxError, ValueError) as error:
            raise BadData(f"{file}: no Python: {error}") from None
        if not names:
            raise BadData(f"{file}: no test function", hint="Write plain functions whose names begin with `test`.")
        stem = file.stem if _slug(identity).replace("-", "_") in file.stem else f"{_slug(identity)}_{file.stem}"
        name = f"test_{stem.removeprefix('test_')}".replace("-", "_").replace(".", "_")
        found[RepoPath(f"{kind}/{name}.py".encode())] = source
    return found


def _slug(identity: str) -> str:
    return re.sub(r"[^\w.-]", "_", identity).lstrip(".") or "_"
