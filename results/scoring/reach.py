"""What a test can reach: the modules of the tree that its file imports, and those that they import.

Imports are found in the text, without parsing: a line that only looks like one widens the reach, which costs time and
changes no verdict. A source that could reach further (it imports by a computed name, or opens files) reaches all.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from functools import lru_cache
from itertools import chain

from qodebase.edits import blob_id
from qodebase.paths import RepoPath
from results.scoring.worker import pieces

_FROM = re.compile(rb"\bfrom[ \t]+([.\w]+)[ \t]+import[ \t]*(\((?:#[^\n]*|[^)#])*\)|(?:[^\n\\]|\\\r?\n)*)")
_IMPORT = re.compile(rb"(?:^|[;:])[ \t]*import[ \t]+((?:[^\n\\;#]|\\\r?\n)*)", re.MULTILINE)
_TORN = re.compile(rb"import[ \t]*\([^)]*^(?:def|async|class|@)", re.MULTILINE)
"""An import whose names stand where the lines of a definition would begin."""

_NO_NAME = re.compile(rb"#[^\n]*|\bas[ \t]+\w+")
_NAME = re.compile(rb"[^\W\d]\w*")
_DOTTED = re.compile(rb"\.*[^\W\d][\w.]*|\.+")
_FURTHER = re.compile(
    rb"\b(?:importlib|import_module|pkgutil|runpy|sys\.modules|read_text|read_bytes)\b"
    rb"|\b(?:__import__|open|exec|eval)[ \t]*\("
)

Reach = frozenset[RepoPath] | None
"""Every path whose content, or absence, may change what a test does; None: everything."""


Blob = Callable[[RepoPath], str | None]
"""What a tree holds at a path, by id."""


class Imports:
    """Read and remember what contents import, by their ids."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, RepoPath], tuple[RepoPath, ...] | None] = {}

    def of(self, path: RepoPath, id: str, content: bytes) -> tuple[RepoPath, ...] | None:
        """Return where a tree may hold what a module imports; None where that cannot be told."""
        key = (id, path)
        if key not in self._known:
            parts = [content] if _TORN.search(content) else pieces(content)
            found = [_imported(path, part) for part in parts]
            known = [places for places in found if places is not None]
            self._known[key] = tuple(dict.fromkeys(chain(*known))) if len(known) == len(found) else None
        return self._known[key]


def reach(
    path: RepoPath,
    source: bytes,
    blob: Callable[[RepoPath], str | None],
    content: Callable[[str], bytes],
    known: Imports,
) -> Reach:
    """Return what a test file reaches in a tree.

    Args:
        path, source: the test file; it is no part of the reach.
        blob, content: the tree, and what an id names.
        known: what was read before.
    """
    seen: set[RepoPath] = set()
    todo = [(path, id_of(source), source)]
    while todo:
        found = known.of(*todo.pop())
        if found is None:
            return None
        for place in found:
            if place not in seen:
                seen.add(place)
                id = blob(place)
                if id is not None:
                    todo.append((place, id, content(id)))
    return frozenset(seen)


@lru_cache(maxsize=8192)
def id_of(source: bytes) -> str:
    """Return a content's id; that of a test file is asked for again and again."""
    return blob_id(source)


@lru_cache(maxsize=1 << 15)
def _imported(path: RepoPath, part: bytes) -> tuple[RepoPath, ...] | None:
    """Return where a tree may hold what a part of a module imports; versions of a module share most of their parts."""
    if _FURTHER.search(part):
        return None
    names = (name for name in _names(path, part) if not _is_pythons(name))
    return tuple(dict.fromkeys(place for name in names for place in _places(name)))


def _is_pythons(name: bytes) -> bool:
    return name.partition(b".")[0].decode(errors="replace") in sys.stdlib_module_names


def _places(name: bytes) -> Iterator[RepoPath]:
    parts = name.split(b".")
    for depth in range(1, len(parts) + 1):
        stem = b"/".join(parts[:depth])
        yield RepoPath(stem + b"/__init__.py")
        yield RepoPath(stem + b".py")


def _names(path: RepoPath, content: bytes) -> Iterator[bytes]:
    for found in _FROM.finditer(content):
        module = _absolute(found[1], path)
        if module:
            yield module
        for name in _NAME.findall(_NO_NAME.sub(b"", found[2])):
            yield module + b"." + name if module else name
    for found in _IMPORT.finditer(content):
        for one in _DOTTED.findall(_NO_NAME.sub(b"", found[1])):
            if not one.startswith(b"."):
                yield one


def _absolute(name: bytes, path: RepoPath) -> bytes:
    """Return the module that ``from NAME import`` means in a file; empty for the root."""
    plain = name.lstrip(b".")
    dots = len(name) - len(plain)
    if dots == 0:
        return plain
    package = path.split(b"/")[:-dots] if dots else []
    return b".".join([*package, *([plain] if plain else [])])
