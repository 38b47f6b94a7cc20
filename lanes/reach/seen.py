"""What stands anywhere in a statement, as far as it says at which names the code may look."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field

from lanes.reach.looking import ABOUT_NAMES, ASKING, FORMATTING, NAMED_BESIDE, OF_CODE

_LINE_OF_A_FILTER = {"simplefilter": 2, "filterwarnings": 4}
"""How many arguments of these stand before the line at which a warning is meant."""
_WRITING = frozenset(("encoding", "fileno", "flush", "isatty", "write", "writelines"))
"""By these a file is only written to."""
_OF_ITSELF = frozenset(("cls", "self"))
"""What a method calls its class and its object."""
_SHOWS_LINES = sys.version_info >= (3, 13)
"""Whether among the members that Python hands to a class of classes is the line of the class."""
_PLAIN_CLASSES = frozenset(("ABCMeta", "EnumMeta", "EnumType", "type"))


@dataclass(slots=True)
class Seen:
    """What stands anywhere in a statement.

    Attributes:
        imports: the modules that it asks for, by the first part of their names.
        asked: the names that it asks for by a text.
        whole: the names of what it uses as a whole, not only to reach something in it.
        renames: what is imported under another name: its own one, and that.
        globals: the names that functions in it may bind in the module.
        puts: the names that it binds in something, if that is not the own object of a class.
        texts: the texts that it holds.
        takes_all: whether it imports all names of a module.
        looks: whether it looks at names, or shows lines, by more than a word.
    """

    imports: set[str] = field(default_factory=set)
    asked: set[str] = field(default_factory=set)
    whole: set[str] = field(default_factory=set)
    renames: set[tuple[str, str]] = field(default_factory=set)
    globals: set[str] = field(default_factory=set)
    puts: set[str] = field(default_factory=set)
    texts: list[str] = field(default_factory=list)
    takes_all: bool = False
    looks: bool = False


def seen_in(node: ast.stmt) -> Seen:
    """Return what stands in a statement.

    In ``f(a.b)`` is ``b`` used as a whole, and ``a`` is not; neither is it in ``f(getattr(a, "b"))``.
    """
    seen = Seen()
    todo: list[ast.AST] = [node]
    while todo:
        one = todo.pop()
        if isinstance(one, ast.Attribute):
            todo.extend(_take_attribute(one, seen))
        elif isinstance(one, ast.Name):
            if isinstance(one.ctx, ast.Load):
                seen.whole.add(one.id)
        elif isinstance(one, ast.Constant):
            if isinstance(one.value, str):
                seen.texts.append(one.value)
        elif isinstance(one, ast.Call):
            todo.extend(_take_call(one, seen))
        else:
            _take_statement(one, seen)
            todo.extend(ast.iter_child_nodes(one))
    return seen


def _take_attribute(node: ast.Attribute, seen: Seen) -> Iterator[ast.AST]:
    """Take what is reached by names, one after the other; yield that from which it is reached, if that has no name."""
    seen.whole.add(node.attr)
    bound = not isinstance(node.ctx, ast.Load)
    if bound and not (isinstance(node.value, ast.Name) and node.value.id in _OF_ITSELF):
        seen.puts.add(node.attr)
    one: ast.AST = node
    while isinstance(one, ast.Attribute):
        by, one = one.attr, one.value
        # A text that is put together may name everything.
        seen.looks |= by in FORMATTING and not isinstance(one, ast.Constant)
        name = _last_name(one)
        # Whoever puts something in its place reads all that is written there.
        seen.looks |= (bound and by == "stderr") or (name == "stderr" and (bound or by not in _WRITING))
        if (by.startswith("__") and by not in ABOUT_NAMES) or (name == "__code__" and by not in OF_CODE):
            seen.whole.add(name)
    if not isinstance(one, ast.Name):
        yield one


def _take_call(node: ast.Call, seen: Seen) -> Iterator[ast.AST]:
    """Take a call; yield what is to be looked at in it."""
    if name := _asked(node):
        seen.asked.add(name)
        seen.whole.add(name)
        seen.looks |= name in FORMATTING
        yield from node.args[2:]
        return
    function = _last_name(node.func)
    if function in _LINE_OF_A_FILTER:
        unknown = (isinstance(one, ast.Starred) for one in node.args), (one.arg is None for one in node.keywords)
        seen.looks |= any(map(any, unknown)) or len(node.args) > _LINE_OF_A_FILTER[function]
    yield node.func
    yield from node.args
    # What is only written there says nothing of what else is.
    shown = function == "print"
    yield from (one.value for one in node.keywords if not (shown and one.arg == "file" and _is_stderr(one.value)))


def _is_stderr(node: ast.expr) -> bool:
    return isinstance(node, ast.Attribute) and node.attr == "stderr" and isinstance(node.value, ast.Name)


def _asked(node: ast.Call) -> str:
    """Return the name for which a call asks something that stands there; else the empty text."""
    match node:
        case ast.Call(func=ast.Name(id=function), args=[ast.Name(), ast.Constant(value=str(name)), *_], keywords=[]):
            return name if function in ASKING else ""
    return ""


def _take_statement(node: ast.AST, seen: Seen) -> None:
    if isinstance(node, ast.Global):
        seen.globals.update(node.names)
    elif isinstance(node, ast.Import | ast.ImportFrom):
        _take_import(node, seen)
    elif isinstance(node, ast.ClassDef):
        seen.looks |= _SHOWS_LINES and _is_given_members(node)
    elif isinstance(node, ast.MatchClass):
        seen.whole.update(node.kwd_attrs)
        seen.looks |= not FORMATTING.isdisjoint(node.kwd_attrs)


def _is_given_members(node: ast.ClassDef) -> bool:
    """Return whether a class makes classes in a way of its own, or is made in such a way."""
    if any(_last_name(base) in _PLAIN_CLASSES for base in node.bases):
        return True
    return any(one.arg in ("metaclass", None) and _last_name(one.value) not in _PLAIN_CLASSES for one in node.keywords)


def _last_name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _take_import(node: ast.Import | ast.ImportFrom, seen: Seen) -> None:
    modules = [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        modules = [node.module or ""]
        seen.takes_all |= node.names[0].name == "*"
    if isinstance(node, ast.Import) or not node.level:
        seen.imports.update(module.partition(".")[0] for module in modules)
    # A module of this name would be taken for what every class has.
    seen.looks |= any("__init__" in name for name in (*modules, *(alias.name for alias in node.names)))
    seen.looks |= any((alias.asname or alias.name) in _OF_ITSELF for alias in node.names)
    seen.looks |= any(alias.asname and not NAMED_BESIDE.isdisjoint(alias.name.split(".")) for alias in node.names)
    seen.renames |= {(alias.name.rpartition(".")[2], alias.asname) for alias in node.names if alias.asname}
