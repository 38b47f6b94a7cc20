"""What a header says about one symbol: its own first sentence, else what its shape shows."""

from __future__ import annotations

import re
from collections.abc import Sequence

from fleet.jobs.document.describe_words import capital, counted, fitting, listed, safe
from fleet.jobs.document.languages.outline import Kind, Member, Symbol
from fleet.jobs.document.languages.outline_text import is_safe

_WIDEST_SIGNATURE = 60
_HIDDEN = {"constructor", "toString", "dispose", "toJSON"}
_CALLED = re.compile(r"^(?:\w+\.)*(\w+)\(")
_LITERAL = re.compile(r"^(-?\d[\w.]*|True|False|None|null|true|false|\"[^\"]*\"|'[^']*'|[A-Za-z_][\w.]*)$")


def merged(symbols: Sequence[Symbol]) -> list[Symbol]:
    """Return each name once: the definition that is documented, else the one with most to say; overloads count once."""
    best: dict[str, Symbol] = {}
    for symbol in symbols:
        held = best.get(symbol.name)
        if held is None or _richness(symbol) > _richness(held):
            best[symbol.name] = symbol
    return list(best.values())


def _richness(symbol: Symbol) -> tuple[bool, int, int]:
    return bool(symbol.summary), len(symbol.members) + symbol.size, symbol.kind is not Kind.CONSTANT


def heading(symbol: Symbol) -> str:
    """Return the name as a list item opens with it: with parameters for a function, with bases for a class."""
    if symbol.kind is Kind.FUNCTION:
        signature = symbol.signature if len(symbol.signature) <= _WIDEST_SIGNATURE else _shortened(symbol.signature)
        signature = signature if is_safe(signature) else "(...)"
        return f"{symbol.name}{signature}"
    bases = safe([base.rpartition(".")[2] for base in symbol.bases])
    if symbol.kind in (Kind.CLASS, Kind.INTERFACE) and bases and sum(map(len, bases)) <= _WIDEST_SIGNATURE:
        return f"{symbol.name}({', '.join(bases)})"
    return symbol.name


def _shortened(signature: str) -> str:
    kept: list[str] = []
    for part in signature[1:-1].split(", "):
        if sum(map(len, kept)) + len(part) > _WIDEST_SIGNATURE - 10 or not re.fullmatch(r"[\w*?$.]+(=[\w.-]*)?", part):
            break
        kept.append(part)
    return f"({', '.join([*kept, '...'])})"


def methods_of(symbol: Symbol) -> list[Member]:
    """Return the public methods that say something about a class, the documented and the inherited ones alike."""
    seen: dict[str, Member] = {}
    for member in symbol.members:
        if member.method and member.public and member.name not in _HIDDEN and is_safe(member.name):
            seen.setdefault(member.name, member)
    return list(seen.values())


def fields_of(symbol: Symbol) -> list[Member]:
    """Return the public fields of a class."""
    return [m for m in symbol.members if not m.method and m.public and is_safe(m.name) and m.name != "Meta"]


def item(symbol: Symbol, *, known: bool = False, raised_by: Sequence[str] = (), roomy: bool = True) -> str:
    """Return the text of a list item about one symbol.

    Args:
        symbol: the symbol.
        known: its own sentence stands in the summary already.
        raised_by: functions of the file that raise it.
        roomy: whether a documented class may name its methods too.
    """
    head = heading(symbol)
    if symbol.kind is Kind.CONSTANT and symbol.value and not symbol.summary and not symbol.size:
        text = value_of(symbol)
        return f"{head} = {text}." if text else f"{head}."
    sentence = "" if known else own_sentence(symbol)
    detail = shape(symbol, raised_by)
    if not sentence:
        return f"{head}: {detail}." if detail else f"{head}."
    if roomy and symbol.kind in (Kind.CLASS, Kind.INTERFACE) and (names := [m.name for m in methods_of(symbol)]):
        sentence = f"{sentence} Methods: {fitting(names, 60)}."
    return f"{head}: {sentence}"


def own_sentence(symbol: Symbol) -> str:
    """Return the symbol's own first sentence, cleaned of its name in front."""
    sentence = re.sub(rf"^`?{re.escape(symbol.name)}`?(\([^)]*\))?\s*[-:–]+\s+", "", symbol.summary)
    return capital(sentence)


def shape(symbol: Symbol, raised_by: Sequence[str] = ()) -> str:
    """Return what the structure of an undocumented symbol shows, without the full stop, or an empty string."""
    if symbol.label and is_safe(symbol.label):
        return symbol.label
    if symbol.kind is Kind.FUNCTION:
        return _function_shape(symbol)
    if symbol.kind is Kind.CONSTANT:
        return value_of(symbol)
    if symbol.kind is Kind.TYPE:
        return symbol.value if len(symbol.value) < 80 and is_safe(symbol.value) else ""
    if symbol.kind is Kind.ENUM or any(re.search(r"(Enum|Flag)$", base) for base in symbol.bases):
        return fitting([m.name for m in symbol.members if not m.method], 90)
    return _class_shape(symbol, raised_by)


def _class_shape(symbol: Symbol, raised_by: Sequence[str]) -> str:
    parts = []
    if raised_by:
        parts.append(f"raised by {listed(raised_by, 3)}")
    methods = methods_of(symbol)
    fields = fields_of(symbol)
    told = [m for m in methods if m.summary]
    if told and len(methods) <= 2:
        parts.append("; ".join(f"{m.name} ({lowered(m.summary)})" for m in told))
    elif methods:
        parts.append(f"{'method' if len(methods) == 1 else 'methods'} {fitting([m.name for m in methods], 90)}")
    if fields and (not methods or len(fields) <= 3):
        parts.append(_fields(fields))
    if not parts and (hooks := [m.name for m in symbol.members if m.method and m.name.startswith("__")]):
        parts.append(f"defines {listed(hooks, 4)}")
    return "; ".join(part for part in parts if part)


def _fields(fields: Sequence[Member]) -> str:
    shown = []
    for one in fields:
        if one.size and not one.value:
            shown.append(f"{one.name} ({counted(one.size, 'entry', 'entries')})")
        elif found := _CALLED.match(one.value):
            shown.append(f"{one.name} ({found[1]})")
        elif one.value and len(one.value) <= 40 and _LITERAL.match(one.value) and is_safe(one.value):
            shown.append(f"{one.name} = {one.value}")
        else:
            shown.append(one.name)
    word = "constant" if all(one.name.isupper() for one in fields) else "field"
    kind = "sets" if all("=" in text for text in shown) else word if len(shown) == 1 else f"{word}s"
    return f"{kind} {fitting(shown, 110)}"


def _function_shape(symbol: Symbol) -> str:
    parts = []
    if (
        symbol.returns
        and symbol.returns not in ("None", "void")
        and len(symbol.returns) < 50
        and is_safe(symbol.returns)
    ):
        parts.append(f"returns {symbol.returns}")
    if symbol.generator:
        parts.append("generator")
    if symbol.asynchronous:
        parts.append("asynchronous")
    shown = safe(symbol.decorators)
    if shown:
        parts.append(f"decorated with {listed(shown, 2)}")
    if symbol.raises:
        parts.append(f"raises {listed(symbol.raises, 3)}")
    return "; ".join(parts)


def value_of(symbol: Symbol) -> str:
    """Return what a constant holds: its short value, or how many entries and the first of them."""
    names = safe([one.name for one in symbol.items])
    if symbol.size:
        if not names:
            return counted(symbol.size, "entry", "entries")
        some = "such as " if symbol.size > 6 else ""
        return f"{counted(symbol.size, 'entry', 'entries')}, {some}{fitting(names[:6], 70)}"
    return symbol.value if symbol.value and len(symbol.value) <= 50 and is_safe(symbol.value) else ""


def constants(symbols: Sequence[Symbol], width: int = 160) -> str:
    """Return one item for many constants, with the values of the few that are short."""
    shown = []
    for one in symbols:
        plain = one.value if len(one.value) <= 24 and _LITERAL.match(one.value) and is_safe(one.value) else ""
        shown.append(f"{one.name} = {plain}" if plain else one.name)
    return fitting(shown, width)


def lowered(sentence: str) -> str:
    """Return a sentence to go inside another one: no full stop, a small first letter unless it is a name."""
    text = sentence.rstrip(".")
    first = text.split(" ", 1)[0]
    return text[0].lower() + text[1:] if first.istitle() else text
