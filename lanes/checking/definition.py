"""What defines a check in the code itself, so that a change cannot edit what judges it."""

from __future__ import annotations

import configparser
import hashlib
import os
import tomllib
from collections.abc import Hashable, Iterator
from functools import cached_property
from typing import Any

from lanes.checking.checkout import laid_files
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


class Definition:
    """What defines one check: for tests these are the selected files, everything in the test folder around them, in a
    selected folder what looks like tests, every ``conftest.py``, and pytest's settings where they differ."""

    def __init__(self, check: Check) -> None:
        self.check = check
        self._named = matcher(check.from_main) if check.from_main else None
        self._free = matcher(check.may_edit) if check.may_edit else None
        self.paths = frozenset(one.partition("::")[0].rstrip("/") for one in check.tests)
        self.laid = laid_files(check.files)
        self._selected = {RepoPath(os.fsencode(path)) for path in self.paths}
        self.bare = frozenset(self._selected.difference(check.files))
        self._around = {folder for folder in map(_test_folder, self._selected) if folder}

    @cached_property
    def surroundings(self) -> Hashable:
        """Return what must be the same for checks that run in one process; a command shares one with nobody."""
        if self.check.command:
            return self
        # The folders of tests come first where modules are searched for.
        folders = frozenset(path.rpartition("/")[0] if path.endswith(".py") else path for path in self.paths)
        shown = frozenset((path, text) for path, text in self.check.files.items() if path not in self._selected)
        return folders, shown, frozenset(self.check.environ.items()), self.check.limits

    def may_edit(self, path: RepoPath) -> bool:
        """Return whether a path is taken from the changes in any case."""
        return self._free is not None and self._free(path)

    def from_main(self, touched: Touched) -> dict[RepoPath, Node | None]:
        """Return what the check must find as main has it although the judged changes touch it; None: not there."""
        return {path: touched.code.base.node(path) for path in touched.paths if self._holds(path, touched)}

    def fingerprint(self, code: Code) -> str:
        """Return a digest of what defines tests on main, so that what ran there need not be run again."""
        digest = hashlib.sha256(repr(self.check).encode())
        for path in self._entries():
            found = code.base.node(path) or code.base.folder(path)
            digest.update(b"%s\0%s\0" % (path, b"" if found is None else found.id))
        return digest.hexdigest()

    def _holds(self, path: RepoPath, touched: Touched) -> bool:
        if path in self.check.files or self.may_edit(path):
            return False
        if self._named is not None and self._named(path):
            return True
        return bool(self.check.tests) and (path in touched.settings or self._is_test(path))

    def _is_test(self, path: RepoPath) -> bool:
        if path in self._selected or any(path.startswith(around) for around in self._around):
            return True
        *folders, name = path.split(b"/")
        if not (_FOLDERS.intersection(folders) or name.startswith(b"test_") or name.endswith(b"_test.py")):
            return False
        return any(path.startswith(selected + b"/") for selected in self._selected)

    def _entries(self) -> Iterator[bytes]:
        """Yield paths whose entries on main stand for all that defines it; a folder stands for what is in it."""
        for selected in sorted(self._selected):
            yield _test_folder(selected).rstrip(b"/") or selected
            parts = selected.split(b"/")
            for depth in range(len(parts)):
                above = b"".join(part + b"/" for part in parts[:depth])
                for name in (*_WHOLE, *_TABLES):
                    yield above + name


class Touched:
    """The paths that the judged changes touch, and which of them say how tests are run."""

    def __init__(self, code: Code) -> None:
        self.code = code
        self.paths = [RepoPath(path) for path in differing(code.tree, code.base)]
        self.settings = {path for path in self.paths if _is_setting(path, code)}


def _is_setting(path: RepoPath, code: Code) -> bool:
    name = path.rpartition(b"/")[2]
    if name in _TABLES:
        return bool(_table(path, code, code.tree) != _table(path, code, code.base))
    return name in _WHOLE


def _test_folder(selected: RepoPath) -> bytes:
    """Return the outermost test folder that holds a selected path, with a slash, or nothing."""
    parts = selected.split(b"/")
    for number, part in enumerate(parts):
        if part in _FOLDERS:
            return b"/".join(parts[: number + 1]) + b"/"
    return b""


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
