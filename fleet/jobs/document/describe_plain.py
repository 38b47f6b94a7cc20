"""Headers of files without a shape of their own: a summary, the main symbols, what happens on loading."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from fleet.jobs.document import describe_symbols
from fleet.jobs.document.describe_facts import Facts
from fleet.jobs.document.describe_words import capital, fitting, listed, safe, words
from fleet.jobs.document.languages.outline import Call, Kind, Symbol
from fleet.jobs.document.languages.outline_text import cut_sentence, is_safe

_SUMMARY = 86
_MOST_ITEMS = 7
_MOST_METHODS = 5
_LONGEST_PARAGRAPH = 500
_PREDICATE = re.compile(r"^(is|has|can|should|will|was|are)(?=[A-Z_])|^on[A-Z]")


def described(facts: Facts) -> tuple[str, list[str]]:
    """Return the summary and the paragraphs about one file.

    The summary is, in this order: the file's own first comment, the sentence of the symbol that the file is about,
    a sentence from names.
    """
    leading = facts.outline.leading
    main = facts.main_symbol
    sentence = capital(cut_sentence(leading[0])) if leading else ""
    own = describe_symbols.own_sentence(main) if main is not None else ""
    body: list[str] = []
    known = False
    if sentence and len(sentence) <= _SUMMARY + 30:
        summary = sentence
        rest = leading[0][len(sentence) :].strip()
        body += [text for text in (rest, *leading[1:2]) if len(text) > 20 and len(text) < _LONGEST_PARAGRAPH]
    elif own and len(own) <= _SUMMARY + 10:
        summary, known = own, True
    else:
        summary = topic(facts)
        if leading and len(leading[0]) < _LONGEST_PARAGRAPH:
            body.append(leading[0])
    items = _items(facts, known=known, summary=summary)
    if items:
        body.append("\n".join(f"- {text}" for text in items))
    effect = on_loading(facts.outline.calls)
    if effect:
        body.append(effect)
    return summary, body


def topic(facts: Facts) -> str:
    """Return a summary from names alone: what the file is called, where it lies, what it defines."""
    main = facts.main_symbol
    if main is not None and not main.summary and main.kind is not Kind.CONSTANT and len(facts.shown) <= 3:
        return _topic_of(main, facts)
    names = [symbol.name for symbol in facts.shown if symbol.kind is not Kind.CONSTANT]
    names = names or [symbol.name for symbol in facts.shown]
    title = facts.title
    if not names or (len(names) == 1 and words(names[0]) == words(facts.stem)):
        return f"{title}." if " " in title or facts.python or facts.script else f"{title} file."
    return f"{title}: {fitting(names, max(_SUMMARY - len(title) - 14, 20))}."


def _topic_of(main: Symbol, facts: Facts) -> str:
    """Return the name of the symbol that a file is about in words: a class as a thing, a function as an order."""
    named = capital(words(main.name)) or main.name
    if main.kind is Kind.FUNCTION:
        if _PREDICATE.match(main.name) or " " not in named:
            return f"Define {describe_symbols.heading(main)}{facts.area}."
        return f"{named}{facts.area}."
    if main.label and is_safe(main.label):
        return f"{named}: {main.label}."
    return f"{named}{facts.area}."


def _items(facts: Facts, *, known: bool, summary: str) -> list[str]:
    raised: dict[str, list[str]] = {}
    for symbol in facts.outline.symbols:
        for error in symbol.raises:
            if symbol.name != error:
                raised.setdefault(error, []).append(symbol.name)
    main = facts.main_symbol
    if main is not None and len(facts.shown) == 1 and main.kind in (Kind.CLASS, Kind.INTERFACE):
        return _single_class(main, known=known, raised_by=raised.get(main.name, ()))
    chosen, left, values = _chosen(facts)
    return _texts(facts, chosen, left, values, raised, known=known, summary=summary)


def _chosen(facts: Facts) -> tuple[list[Symbol], list[Symbol], list[Symbol]]:
    """Return the symbols that get an item each, those that are only named, and the constants; in source order."""
    rest = [symbol for symbol in facts.shown if symbol.kind is not Kind.CONSTANT]
    values = [symbol for symbol in facts.shown if symbol.kind is Kind.CONSTANT]
    documented = [symbol for symbol in values if symbol.summary]
    if len(rest) + len(documented) <= _MOST_ITEMS:
        rest += documented
        values = [symbol for symbol in values if not symbol.summary]
    if not rest and len(values) <= 4:
        rest, values = values, []
    order = {symbol.name: at for at, symbol in enumerate(facts.shown)}
    ranked = sorted(rest, key=lambda s: (not s.summary, s.kind is not Kind.CLASS, order[s.name]))
    chosen = sorted(ranked[:_MOST_ITEMS], key=lambda s: order[s.name])
    return chosen, ranked[_MOST_ITEMS:], values


def _texts(
    facts: Facts,
    chosen: Sequence[Symbol],
    left: Sequence[Symbol],
    values: Sequence[Symbol],
    raised: Mapping[str, Sequence[str]],
    *,
    known: bool,
    summary: str,
) -> list[str]:
    main = facts.main_symbol
    roomy = len(chosen) <= 4
    texts = []
    bare = []
    for one in chosen:
        told = known and main is not None and one.name == main.name
        text = describe_symbols.item(one, known=told, raised_by=raised.get(one.name, ()), roomy=roomy)
        head = text.removesuffix(".")
        if head == describe_symbols.heading(one):
            bare.append(head)
        else:
            texts.append(text)
    if len(bare) == 1 and bare[0] not in summary:
        texts.append(f"{bare[0]}.")
    elif len(bare) > 1:
        texts.append(f"{'Also ' if texts else ''}{fitting(bare, 200)}.")
    if left:
        texts.append(f"Further: {fitting([one.name for one in left], 150)}.")
    if values:
        texts.append(f"Constants: {describe_symbols.constants(values)}.")
    return texts


def _single_class(main: Symbol, *, known: bool, raised_by: Sequence[str]) -> list[str]:
    """Return the items of a file that is one class: the class, then its documented methods, then the others' names."""
    methods = describe_symbols.methods_of(main)
    told = [method for method in methods if method.summary][:_MOST_METHODS]
    texts = []
    if not told:
        text = describe_symbols.item(main, known=known, raised_by=raised_by)
        if not known or ":" in text:
            texts.append(text)
        return texts
    if not known or main.bases:
        sentence = "" if known else describe_symbols.own_sentence(main)
        texts.append(f"{describe_symbols.heading(main)}{': ' + sentence if sentence else '.'}")
    for method in told:
        signature = method.signature if len(method.signature) <= 50 and is_safe(method.signature) else "(...)"
        texts.append(f"{method.name}{signature}: {capital(method.summary)}")
    others = [method.name for method in methods if method not in told]
    if others:
        texts.append(f"Further methods: {fitting(others, 150)}.")
    return texts


def on_loading(calls: Sequence[Call]) -> str:
    """Return what a file does when it is loaded: its calls with what they are given, grouped by the function."""
    grouped: dict[str, list[str]] = {}
    for call in calls:
        if call.name.startswith(("__", "console.", "print", "warnings.", "logging.basicConfig")):
            continue
        names = [one for one in call.arguments if re.fullmatch(r"[A-Za-z_$][\w.$]*", one)]
        given = next((one for one in names if one[0].isupper()), names[-1] if names else "")
        grouped.setdefault(call.name, []).append(given)
    shown = []
    for name, arguments in list(grouped.items())[:4]:
        told = fitting(safe(arguments), 70, len(set(arguments) - {""}))
        shown.append(f"{name}{' with ' + told if told else ''}")
    return f"On loading it calls {listed(safe([*shown]), 4, len(grouped))}." if shown else ""
