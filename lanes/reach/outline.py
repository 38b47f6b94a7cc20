"""A Python module as its top-level statements: which of them only bind a name, and which words each of them holds."""

from __future__ import annotations

import ast
import re
import unicodedata
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import dropwhile

from lanes.reach.looking import looks
from replay_rules.kept import kept

_MOST_BYTES = 300_000
_MOST_JOINED = 64
_KEPT_BYTES = 8 << 20
_START = re.compile(rb"^(?=[^\s#)\]}])(?!(?:else|elif|except|finally)\b)", re.MULTILINE)
_WORD = re.compile(r"[^\W\d]\w*")
_PLAIN_TYPES = frozenset(("int", "str", "bool", "float", "bytes", "object"))
_PLAIN_DECORATORS = frozenset(("property", "staticmethod", "classmethod"))
_PLAIN = _PLAIN_TYPES | _PLAIN_DECORATORS

Words = frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """One statement at the top level of a module.

    Attributes:
        text: all of it.
        name: what it binds where it does nothing else, whatever other statements do; empty: it does more.
        head: what of such a definition is evaluated when it is bound: defaults and annotations that are no constants.
        imports: the modules that it asks for, by the first part of their names, wherever that stands in it.
        imported: whether it only imports.
        binds: the names that it may bind.
        words: every word of it, those in texts and comments too.
        whole: words that name something which is used as a whole, not only to reach something in it.
        renames: what is imported under another name: its own one, and that.
        looks: whether it may look at names that are not among its words.
    """

    text: bytes
    name: str
    head: bytes
    imports: Words
    imported: bool
    binds: Words
    words: Words
    whole: Words
    renames: frozenset[tuple[str, str]]
    looks: bool


@dataclass(frozen=True)
class Outline:
    """The statements of a module, in their order."""

    statements: tuple[Statement, ...]

    @cached_property
    def by_name(self) -> dict[str, Statement]:
        """Return the statements that matter only to those who mention a name: by each name that they bind."""
        return {name: one for one in self.statements if one.name or one.imported for name in one.binds}

    @cached_property
    def always(self) -> tuple[Statement, ...]:
        """Return the statements that matter to everybody who imports the module."""
        return tuple(one for one in self.statements if not one.name and not one.imported)


@kept(_KEPT_BYTES)
def outline_of(content: bytes) -> Outline | None:
    """Return the outline of a module; None where Python does not read it, or where a name is bound more than once."""
    if len(content) > _MOST_BYTES or b"\r" in content or b"\0" in content or b"\f" in content:
        return None
    statements: list[Statement] = []
    for piece in _pieces(content):
        if piece is None:
            return None
        statements += piece
    bound = [name for one in statements for name in one.binds]
    # Python wants imports from the future before all others, which a piece does not tell.
    first = 1 if statements and not statements[0].words else 0
    others = dropwhile(lambda one: "__future__" in one.imports, statements[first:])
    late = any("__future__" in one.imports for one in others)
    if len(bound) != len(set(bound)) or late or not _PLAIN.isdisjoint(bound):
        return None
    return Outline(tuple(statements))


def _pieces(content: bytes) -> Iterator[tuple[Statement, ...] | None]:
    """Yield the statements of one piece after the other; None at the end where the last does not parse.

    A piece begins where a line can begin a statement, and is as short as Python takes it for whole: an open bracket, an
    open text, a decorator or a body that is to come ends none.
    """
    starts = [0, *(found.start() for found in _START.finditer(content) if found.start()), len(content)]
    first = 0
    while first < len(starts) - 1:
        piece = None
        last = first
        while piece is None and last < min(first + _MOST_JOINED, len(starts) - 1):
            last += 1
            piece = _read(content[starts[first] : starts[last]])
        yield piece
        first = last


@kept(_KEPT_BYTES)
def _read(piece: bytes) -> tuple[Statement, ...] | None:
    """Return the statements of a piece of a module; None where Python does not take it."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(piece)
            compile(tree, "piece", "exec", dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError):
        return None
    text = piece.strip()
    return tuple(_statement(node, text if len(tree.body) == 1 else _part(piece, node)) for node in tree.body)


def _part(piece: bytes, node: ast.stmt) -> bytes:
    """Return the lines of a statement that shares a piece with others."""
    lines = piece.split(b"\n")
    first = min(node.lineno, *(one.lineno for one in getattr(node, "decorator_list", ())), node.lineno)
    return b"\n".join(lines[first - 1 : node.end_lineno])


def _statement(node: ast.stmt, text: bytes) -> Statement:
    name = _bound_alone(node)
    shown = unicodedata.normalize("NFKC", text.decode(errors="replace"))
    imported = isinstance(node, ast.Import | ast.ImportFrom) and "*" not in shown
    prose = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    words = frozenset() if prose else frozenset(_WORD.findall(shown)) | ({"*"} if _takes_all(node) else set())
    return Statement(
        text=text,
        name="" if name.startswith("__") else name,
        head=_head(node) if name else b"",
        imports=frozenset(_imports(node)),
        imported=imported,
        binds=frozenset(_binds(node)),
        words=words,
        whole=frozenset(_whole(node)),
        renames=frozenset(_renames(node)),
        looks=looks(words),
    )


def _takes_all(node: ast.stmt) -> bool:
    return any(alias.name == "*" for one in ast.walk(node) if isinstance(one, ast.ImportFrom) for alias in one.names)


def _bound_alone(node: ast.stmt) -> str:
    """Return the name that a statement binds where it has no other effect and cannot fail; else the empty text."""
    match node:
        case ast.FunctionDef(decorator_list=[], name=name) | ast.AsyncFunctionDef(decorator_list=[], name=name):
            return name
        case ast.ClassDef(decorator_list=[], bases=[], keywords=[], name=name) if all(map(_is_member, node.body)):
            return name
        case ast.Assign(targets=[ast.Name(id=name)], value=value) if _is_constant(value):
            return name
        case ast.AnnAssign(target=ast.Name(id=name), value=value, annotation=kind) if value and _is_constant(value):
            return name if _is_plain_type(kind) else ""
    return ""


def _is_member(node: ast.stmt) -> bool:
    match node:
        case ast.Expr(value=ast.Constant()) | ast.Pass():
            return True
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            plain = all(isinstance(one, ast.Name) and one.id in _PLAIN_DECORATORS for one in node.decorator_list)
            return plain and not _head(node) and not _is_hook(node.name)
        case ast.Assign(targets=[ast.Name(id=name)], value=value):
            return _is_constant(value) and not _is_hook(name)
    return False


def _is_hook(name: str) -> bool:
    """Return whether Python itself looks at a class by such a member when it makes the class."""
    return name in ("__init_subclass__", "__set_name__", "__class_getitem__", "__slots__", "__classcell__")


def _head(node: ast.AST) -> bytes:
    """Return the defaults and annotations of a function that are more than constants."""
    if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return b""
    of = node.args
    named = [*of.posonlyargs, *of.args, *of.kwonlyargs, *filter(None, (of.vararg, of.kwarg))]
    kinds = [one for one in (node.returns, *(one.annotation for one in named)) if one and not _is_plain_type(one)]
    values = [one for one in (*of.defaults, *of.kw_defaults) if one and not _is_constant(one)]
    return "\n".join(map(ast.unparse, (*kinds, *values))).encode(errors="replace")


def _is_plain_type(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) or (isinstance(node, ast.Name) and node.id in _PLAIN_TYPES)


def _is_constant(node: ast.expr) -> bool:
    """Return whether an expression is a constant, or a container of such."""
    match node:
        case ast.Constant():
            return True
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float())):
            return True
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            return all(map(_is_constant, parts))
        case ast.Set(elts=parts):
            return all(isinstance(part, ast.Constant) for part in parts)
        case ast.Dict(keys=keys, values=values):
            return all(isinstance(key, ast.Constant) for key in keys) and all(map(_is_constant, values))
    return False


def _imports(node: ast.stmt) -> Iterator[str]:
    for one in ast.walk(node):
        if isinstance(one, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in one.names)
        elif isinstance(one, ast.ImportFrom) and not one.level:
            yield (one.module or "").partition(".")[0]


def _renames(node: ast.stmt) -> Iterator[tuple[str, str]]:
    for one in ast.walk(node):
        if isinstance(one, ast.Import | ast.ImportFrom):
            yield from ((alias.name.rpartition(".")[2], alias.asname) for alias in one.names if alias.asname)


def _binds(node: ast.stmt) -> Iterator[str]:
    """Yield the names that a statement may bind in its module, those within definitions left out."""
    match node:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            yield name
            return
        case ast.Import(names=names) | ast.ImportFrom(names=names):
            yield from (alias.asname or alias.name.partition(".")[0] for alias in names)
            return
        case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
            yield name
    for below in ast.iter_child_nodes(node):
        yield from _binds(below)  # type: ignore[arg-type]


def _whole(node: ast.AST) -> Iterator[str]:
    """Yield the words of a statement that are no way to something else: ``b`` in ``f(a.b)``, and not ``a``."""
    match node:
        case ast.Attribute(value=value, attr=name):
            yield name
            while isinstance(value, ast.Attribute):
                value = value.value
            if not isinstance(value, ast.Name):
                yield from _whole(value)
            return
        case ast.Name(id=name, ctx=ast.Load()):
            yield name
    for below in ast.iter_child_nodes(node):
        yield from _whole(below)
