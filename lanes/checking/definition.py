"""What defines a check in the code itself, so that a change cannot edit what judges it."""

from __future__ import annotations

import configparser
import hashlib
import tomllib
from collections.abc import Iterator
from typing import Any

from lanes.checking.trees import Code
from qodebase.check import Check
from qodebase.paths import RepoPath
from qodebase.patterns import matcher
from qodebase.trunk.differing import differing
from qodebase.trunk.folder import Node
from qodebase.trunk.tree import Tree

_WHOLE = (b"pytest.ini", b".pytest.ini", b"pytest.toml", b".pytest.toml", b"conftest.py")
_TABLES = {b"setup.cfg": "tool:pytest", b"tox.ini": "pytest", b"pyproject.toml": "pytest"}
_FOLDERS = frozenset((b"test", b"tests"))


def from_main(check: Check, code: Code) -> dict[RepoPath, Node | None]:
    """Return what a check must find as main has it although the judged changes touch it; None: main has no such path.

    For tests these are the selected files, everything in the test folder around them, in a selected folder what looks
    like tests, every ``conftest.py``, and pytest's settings where they differ.
    """
    named, free = matcher(check.from_main), matcher(check.may_edit)
    found: dict[RepoPath, Node | None] = {}
    for raw in differing(code.tree, code.base):
        path = RepoPath(raw)
        if path in check.files or free(path):
            continue
        if named(path) or (check.tests and _defines(path, check.tests, code)):
            found[path] = code.base.node(path)
    return found


def fingerprint(name: str, check: Check, code: Code) -> str:
    """Return a digest of what defines a selection of tests on main, so that what ran there need not be run again."""
    digest = hashlib.sha256(repr((name, check)).encode())
    for path in _definition(check):
        found = code.base.node(path) or code.base.folder(path)
        digest.update(b"%s\0%s\0" % (path, b"" if found is None else found.id))
    return digest.hexdigest()


def in_repository(check: Check) -> bool:
    """Return whether some selected tests are the repository's own."""
    return any(selected not in check.files for selected in _selected(check.tests))


def _selected(tests: tuple[str, ...]) -> list[RepoPath]:
    return [RepoPath(one.partition("::")[0].rstrip("/").encode()) for one in tests]


def _defines(path: RepoPath, tests: tuple[str, ...], code: Code) -> bool:
    name = path.rpartition(b"/")[2]
    if name in _WHOLE:
        return True
    if name in _TABLES:
        return bool(_table(path, code, code.tree) != _table(path, code, code.base))
    return any(_is_test(path, selected) for selected in _selected(tests))


def _is_test(path: RepoPath, selected: RepoPath) -> bool:
    around = _test_folder(selected)
    if path == selected or (around and path.startswith(around)):
        return True
    if not path.startswith(selected + b"/"):
        return False
    *folders, name = path.split(b"/")
    return bool(_FOLDERS.intersection(folders)) or name.startswith(b"test_") or name.endswith(b"_test.py")


def _test_folder(selected: RepoPath) -> bytes:
    """Return the outermost test folder that holds a selected path, with a slash, or nothing."""
    parts = selected.split(b"/")
    for number, part in enumerate(parts):
        if part in _FOLDERS:
            return b"/".join(parts[: number + 1]) + b"/"
    return b""


def _definition(check: Check) -> Iterator[bytes]:
    """Yield paths whose entries on main stand for all that defines a selection; a folder stands for what is in it."""
    for selected in _selected(check.tests):
        yield _test_folder(selected).rstrip(b"/") or selected
        parts = selected.split(b"/")
        for depth in range(len(parts)):
            above = b"".join(part + b"/" for part in parts[:depth])
            for name in (*_WHOLE, *_TABLES):
                yield above + name


def _table(path: RepoPath, code: Code, tree: Tree) -> Any:
    """Return pytest's settings in a file that holds others too; the whole text where they cannot be told apart."""
    node = tree.node(path)
    if node is None:
        return None
    text = code.content(node.id).decode(errors="replace")
    name = path.rpartition(b"/")[2]
    try:
        if name == b"pyproject.toml":
            return tomllib.loads(text).get("tool", {}).get("pytest")
        parser = configparser.RawConfigParser()
        parser.read_string(text)
        return dict(parser[_TABLES[name]]) if parser.has_section(_TABLES[name]) else None
    except (tomllib.TOMLDecodeError, configparser.Error):
        return text
