"""Whether main changed a function that an intent is about."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache

from qodebase.change import SUBMODULE, Change
from qodebase.edits import materialise
from qodebase.intent import Intent
from qodebase.paths import RepoPath
from qodebase.ports import Tree
from results.scoring.worker import pieces


def touched(symbols: Iterable[str], base: Tree, now: Tree) -> bool:
    """Return whether a function in the change's scope changed on main since its base.

    *Touched*: a function in the change's scope changed on main since its base. A function changed where its text,
    decorators included, is another, it is gone, or it has come; where only its place in the file is another, or what
    stands around it, it did not.

    Args:
        symbols: the functions of the scope as ``path#name``, see `scope_of`.
        base, now: main at the change's base, and where it was to land.
    """
    return any(_changed(symbol, base, now) for symbol in symbols)


def scope_of(intent: Intent, change: Change, base: Tree) -> tuple[str, ...]:
    """Return the functions in a change's scope, as ``path#name``.

    Room is left by "scope": it is what the intent claims, else what the change says that it touches, else every
    definition that is another one in the change than in its base.
    """
    return intent.symbols or change.symbols or tuple(_edited(change, base))


def _edited(change: Change, base: Tree) -> Iterator[str]:
    for path, edit in materialise(change, base).items():
        before = _definitions_in(base, path)
        after = {} if edit is None else _definitions(path, edit.content)
        yield from (
            f"{path.text}#{name}" for name in before.keys() | after.keys() if before.get(name) != after.get(name)
        )


def _changed(symbol: str, base: Tree, now: Tree) -> bool:
    text, _, name = symbol.rpartition("#")
    path = RepoPath.parse(text)
    if base.entry(path) == now.entry(path):
        return False
    return _definitions_in(base, path).get(name) != _definitions_in(now, path).get(name)


def _definitions_in(tree: Tree, path: RepoPath) -> Mapping[str, tuple[bytes, ...]]:
    entry = tree.entry(path)
    return {} if entry is None or entry.mode == SUBMODULE else _definitions(path, tree.read(path))


@lru_cache(maxsize=512)
def _definitions(path: RepoPath, content: bytes) -> Mapping[str, tuple[bytes, ...]]:
    from replay_rules.grammars import language_of

    language = language_of(path)
    found: defaultdict[str, tuple[bytes, ...]] = defaultdict(tuple)
    for piece in _whole_pieces(content) if language == "python" else [content]:
        for name, text in _texts(language, piece) if language else ():
            found[name] = (*found[name], text)
    return found


def _whole_pieces(content: bytes) -> list[bytes]:
    """Return a module's top-level definitions apart where each is a module of its own, for most of them are known."""
    found = pieces(content)
    return found if all(map(_compiles, found)) else [content]


@lru_cache(maxsize=1 << 14)
def _compiles(piece: bytes) -> bool:
    try:
        ast.parse(piece)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


@lru_cache(maxsize=1 << 14)
def _texts(language: str, piece: bytes) -> list[tuple[str, bytes]]:
    from replay_rules.symbols import definitions

    return [(one.qualified, piece[one.start : one.end]) for one in definitions(language, piece)]
