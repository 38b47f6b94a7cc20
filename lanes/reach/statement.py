"""One statement at the top level of a Python module: what it does when the module is imported, and its words."""

from __future__ import annotations

import ast
import builtins
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

from lanes.reach.looking import looks, looks_as_a_whole
from lanes.reach.seen import Seen, seen_in

_WORD = re.compile(r"[^\W\d]\w*")
# Python's names hold marks and signs that are no word characters here.
_NAME = re.compile(r"[A-Za-z_\x80-\U0010ffff][\w\x80-\U0010ffff]*")
_PLAIN_TYPES = frozenset(("int", "str", "bool", "float", "bytes", "object"))
_PLAIN_DECORATORS = frozenset(("property", "staticmethod", "classmethod"))
_PLAIN = _PLAIN_TYPES | _PLAIN_DECORATORS

# What pytest looks for in a module, whoever mentions it.
_FOR_PYTEST = """
    collect_ignore collect_ignore_glob load_tests setUpModule setup setup_function setup_module tearDownModule teardown
    teardown_function teardown_module
"""
# What stands for more than its mention: code that Python makes for a class looks there for what Python means by a name.
_NOBODYS_OWN = frozenset((*_FOR_PYTEST.split(), *dir(builtins)))
# By these Python itself looks at a class when it makes it.
_HOOKS = frozenset(
    ("__init_subclass__", "__set_name__", "__class_getitem__", "__slots__", "__classcell__", "__qualname__", "__doc__")
)
_FUTURE = "__future__"

Words = frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """One statement at the top level of a module.

    Attributes:
        text: all of it, and of those that share its line.
        name: what it binds where it does nothing else, whatever other statements do; empty: it does more.
        head: what of such a definition is evaluated when it is bound: defaults and annotations that are no constants.
        early: the same as a statement of its own.
        imports: the modules that it asks for, by the first part of their names, wherever that stands in it.
        imported: whether it only imports.
        future: whether it changes how the module is read.
        prose: whether it is nothing but a constant.
        binds: the names that it may bind.
        shadows: whether it, or a function in it, may bind what is to mean in a module what Python means by it.
        words: every word of it, those in texts and comments too, and of what the texts are.
        whole: words that name something which is used as a whole, not only to reach something in it.
        renames: what is imported under another name: its own one, and that.
        looks: whether it may look at names that are not among its words.
    """

    text: bytes
    name: str
    head: bytes = b""
    early: Statement | None = None
    imports: Words
    imported: bool
    future: bool
    prose: bool
    binds: Words
    shadows: bool
    words: Words
    whole: Words
    renames: frozenset[tuple[str, str]]
    looks: bool


def statements_of(tree: ast.Module, text: bytes) -> tuple[Statement, ...]:
    """Return the statements of a text, which share it where they are several."""
    seen = [seen_in(node) for node in tree.body]
    # A text may be written in parts, or otherwise than by its letters.
    told = _words("\n".join(told for one in seen for told in one.texts))
    words = _words(text.decode(errors="replace")).union(told, *(one.asked for one in seen))
    found = looks(words)
    return tuple(_statement(node, text, words, one, looking=found) for node, one in zip(tree.body, seen, strict=True))


def _statement(node: ast.stmt, text: bytes, words: Words, seen: Seen, *, looking: bool) -> Statement:
    name = _bound_alone(node)
    if name.startswith(("__", "pytest")) or name in _NOBODYS_OWN:
        name = ""
    evaluated = list(_evaluated(node)) if name else []
    head = b"\n".join(b"%s %s" % (mark, ast.unparse(one).encode(errors="replace")) for mark, one in evaluated)
    prose = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    binds = frozenset(_binds(node))
    return Statement(
        text=text,
        name=name,
        head=head,
        early=_early([one for _, one in evaluated], head) if head else None,
        imports=frozenset(seen.imports),
        imported=isinstance(node, ast.Import | ast.ImportFrom) and not seen.takes_all,
        future=isinstance(node, ast.ImportFrom) and node.module == _FUTURE,
        prose=prose,
        binds=binds,
        shadows=not _PLAIN.isdisjoint(binds | seen.globals) or not _PLAIN_DECORATORS.isdisjoint(seen.puts),
        words=frozenset() if prose else words,
        whole=frozenset(seen.whole),
        renames=frozenset(seen.renames),
        looks=not prose and (looking or seen.looks or seen.takes_all or looks_as_a_whole(seen.whole)),
    )


def _early(parts: list[ast.expr], head: bytes) -> Statement:
    node = ast.Expr(value=ast.Tuple(elts=parts, ctx=ast.Load()))
    return statements_of(ast.Module(body=[node], type_ignores=[]), head)[0]


def _words(shown: str) -> Words:
    if shown.isascii():
        return frozenset(_WORD.findall(shown))
    shown = unicodedata.normalize("NFKC", shown)
    return frozenset(_WORD.findall(shown)).union(_NAME.findall(shown))


def _bound_alone(node: ast.stmt) -> str:
    """Return the name that a statement binds where it has no other effect and cannot fail; else the empty text."""
    match node:
        case ast.FunctionDef(decorator_list=[], name=name) | ast.AsyncFunctionDef(decorator_list=[], name=name):
            return name
        case ast.ClassDef(decorator_list=[], bases=[], keywords=[], name=name) if _is_plain(node.body):
            # With parameters it is derived from a class of Python's, which looks at its members.
            return "" if getattr(node, "type_params", ()) else name
        case ast.Assign(targets=[ast.Name(id=name)], value=value) if _is_constant(value):
            return name
        case ast.AnnAssign(target=ast.Name(id=name), value=value, annotation=kind) if value and _is_constant(value):
            return name if _is_plain_type(kind) else ""
    return ""


def _is_plain(members: list[ast.stmt]) -> bool:
    """Return whether to make a class of these members runs none of them."""
    first = members[0]
    if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and not _can_be_written(first.value.value):
        return False
    return all(map(_is_member, members))


def _can_be_written(text: object) -> bool:
    """Return whether Python can keep a text as that of a class."""
    return not isinstance(text, str) or not any("\ud800" <= letter <= "\udfff" for letter in text)


def _is_member(node: ast.stmt) -> bool:
    match node:
        case ast.Expr(value=ast.Constant()) | ast.Pass():
            return True
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            plain = all(isinstance(one, ast.Name) and one.id in _PLAIN_DECORATORS for one in node.decorator_list)
            return plain and not any(_evaluated(node)) and _may_be_member(node.name)
        case ast.Assign(targets=[ast.Name(id=name)], value=value):
            return _is_constant(value) and _may_be_member(name)
    return False


def _may_be_member(name: str) -> bool:
    return name not in _HOOKS and name not in _PLAIN_DECORATORS


def _evaluated(node: ast.stmt) -> Iterator[tuple[bytes, ast.expr]]:
    """Yield the annotations and defaults of a function that are more than constants, told apart."""
    if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return
    of = node.args
    named = [*of.posonlyargs, *of.args, *of.kwonlyargs, *filter(None, (of.vararg, of.kwarg))]
    for kind in (node.returns, *(one.annotation for one in named)):
        if kind and not _is_plain_type(kind):
            yield b":", kind
    for value in (*of.defaults, *of.kw_defaults):
        if value and not _is_constant(value):
            yield b"=", value


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


def _binds(node: ast.stmt) -> Iterator[str]:
    """Yield the names that a statement may bind in its module, those within definitions left out.

    Raises:
        ValueError: whether Python takes the statement hangs on others.
    """
    todo: list[ast.AST] = [node]
    while todo:
        one = todo.pop()
        match one:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield name
                continue
            case ast.Import(names=names) | ast.ImportFrom(names=names):
                yield from (alias.asname or alias.name.partition(".")[0] for alias in names)
                continue
            case ast.Global():
                raise ValueError("it forbids what other statements do")
            case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                yield name
            case ast.MatchMapping(rest=str(name)):
                yield name
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
                yield name
        todo.extend(ast.iter_child_nodes(one))
