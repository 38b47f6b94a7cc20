"""The outline of a source file: what its own structure, names and comments say, language by language the same."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Kind(StrEnum):
    """What a top-level symbol is."""

    CLASS = "class"
    FUNCTION = "function"
    CONSTANT = "constant"
    TYPE = "type"
    INTERFACE = "interface"
    ENUM = "enum"
    NAMESPACE = "namespace"


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One element of a literal: a list's string, a dictionary's key, a call in a list of calls.

    ``children`` holds the first names inside (a call's arguments, an inner list's strings) and ``size`` how many
    there are in all; ``inner`` are the first names in a list that a call is given, or the
    short named arguments of a call that it is given.
    """

    name: str
    value: str = ""
    children: tuple[str, ...] = ()
    size: int = 0
    inner: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """A method or a field of a class, interface or enum; ``items`` are the elements of a field's literal."""

    name: str
    method: bool
    signature: str = ""
    summary: str = ""
    public: bool = True
    value: str = ""
    items: tuple[Item, ...] = ()
    size: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Symbol:
    """A top-level definition. ``line`` counts from 1; ``signature`` is the text between and with the parentheses.

    ``summary`` is the first sentence of its own documentation, or of the comment directly above. ``exported`` says
    that the file hands it out by name (``__all__``, ``export``, ``module.exports``).
    """

    name: str
    kind: Kind
    line: int
    public: bool
    exported: bool = False
    signature: str = ""
    returns: str = ""
    summary: str = ""
    bases: tuple[str, ...] = ()
    decorators: tuple[str, ...] = ()
    members: tuple[Member, ...] = ()
    raises: tuple[str, ...] = ()
    uses: tuple[str, ...] = ()
    value: str = ""
    items: tuple[Item, ...] = ()
    size: int = 0
    label: str = ""
    asynchronous: bool = False
    generator: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Import:
    """An import as the file writes it; relative Python modules keep their dots.

    ``names`` is empty where the module is imported whole (Python) or for its effect alone; ``lazy`` marks an import
    that runs later (``import("x")``).
    """

    module: str
    names: tuple[str, ...] = ()
    line: int = 0
    lazy: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A call at the top level, with its plain arguments (names and strings) and the keys of an object among them."""

    name: str
    arguments: tuple[str, ...] = ()
    items: tuple[Item, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Outline:
    """What a file holds, in source order.

    ``documentation`` is the first sentence of the header documentation that it has already, ``leading`` the prose of
    the comments at its top (no licence, no directive), a paragraph each. ``exports`` is what it hands out by name
    (``__all__``), None when it does not say. ``options`` are the command-line arguments that it declares, ``tests``
    counts its test functions.
    """

    language: str
    symbols: tuple[Symbol, ...] = ()
    imports: tuple[Import, ...] = ()
    reexports: tuple[Import, ...] = ()
    exports: tuple[str, ...] | None = None
    calls: tuple[Call, ...] = ()
    documentation: str = ""
    leading: tuple[str, ...] = ()
    shebang: bool = False
    main: bool = False
    main_calls: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    tests: int = 0
    lines: int = 0
    has_error: bool = False

    @property
    def is_test(self) -> bool:
        """Return whether the file defines tests."""
        return self.tests > 0


@dataclass(frozen=True, slots=True, kw_only=True)
class PublicName:
    """A public top-level name with the first sentence that documents it, or an empty string."""

    name: str
    kind: Kind
    summary: str = ""


_WEIGHT = {
    Kind.CLASS: 0,
    Kind.INTERFACE: 0,
    Kind.FUNCTION: 0,
    Kind.ENUM: 1,
    Kind.TYPE: 1,
    Kind.NAMESPACE: 1,
    Kind.CONSTANT: 2,
}


def public_names(outline: Outline) -> tuple[PublicName, ...]:
    """Return the public top-level names, overloads once, the ones that a reader looks for first at the front.

    Definitions that carry their own documentation come first (the author found them worth a sentence), then classes
    and functions, then types and enums, then constants; among equals the order of the file, which is the author's.
    Names that are only passed on (imported and listed in ``__all__``) come last, in the order of that list.
    """
    best: dict[str, Symbol] = {}
    for symbol in outline.symbols:
        if symbol.public and (symbol.name not in best or (symbol.summary and not best[symbol.name].summary)):
            best[symbol.name] = symbol
    order = list(best)
    ranked = sorted(best.values(), key=lambda s: (not s.summary, _WEIGHT[s.kind], order.index(s.name)))
    return tuple(PublicName(name=s.name, kind=s.kind, summary=s.summary) for s in ranked)
