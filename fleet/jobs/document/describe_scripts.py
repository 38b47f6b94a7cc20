"""Shapes of script modules: definitions of languages, lists of exports, registrations, loaders, tables."""

from __future__ import annotations

import re

from fleet.jobs.document.describe_facts import Facts
from fleet.jobs.document.describe_packages import sources
from fleet.jobs.document.describe_words import (
    Text,
    base_name,
    bullets,
    capital,
    counted,
    fitting,
    listed,
    place_name,
    safe,
    words,
)
from fleet.jobs.document.languages.outline import Call, Item, Kind


def language(facts: Facts) -> Text | None:
    language = next(
        (s for s in facts.outline.symbols if s.name == "language" and any(i.name == "tokenizer" for i in s.items)), None
    )
    if language is None:
        return None
    items = {one.name: one for one in language.items}
    conf = next((s for s in facts.outline.symbols if s.name == "conf"), None)
    texts = []
    if conf is not None and conf.size:
        parts = [f"{i.name} ({listed(i.children, 2)})" if i.name == "comments" else i.name for i in conf.items]
        texts.append(f"conf: {fitting(safe(parts), 130)}.")
    lists = [
        f"{counted(one.size, 'entry', 'entries')} in {one.name}" + _some(one)
        for one in language.items
        if one.size and one.name != "tokenizer" and one.name != "brackets"
    ]
    if lists:
        texts.append(f"language: {fitting(safe(lists), 230)}.")
    states = items["tokenizer"]
    if states.size:
        texts.append(f"tokenizer: {fitting(safe(states.children), 80, states.size)} ({counted(states.size, 'state')}).")
    keys = [key for key in ("tokenPostfix", "defaultToken", "ignoreCase") if key in items]
    marks = [f"{key} {items[key].value}" for key in keys if len(items[key].value) > 2]
    if marks:
        texts.append(f"Settings: {listed(safe(marks), 4)}.")
    comment = next((i for i in (conf.items if conf else ()) if i.name == "comments"), None)
    words_of = f"Language definition of {facts.stem}: editor configuration and tokenizer rules."
    if comment is None:
        words_of = f"Language definition of {facts.stem}: tokenizer rules."
    return words_of, bullets(texts)


def _some(one: Item) -> str:
    names = [child for child in one.children if re.fullmatch(r"[\w.@-]+", child)][:3]
    return f" ({', '.join(names)}{', ...' if one.size > len(names) else ''})" if names else ""


def passed_on(facts: Facts) -> Text | None:
    """A script module that only passes on what others export."""
    outline = facts.outline
    if (
        not facts.script
        or not outline.reexports
        or outline.calls
        or any(s.kind is not Kind.CONSTANT for s in facts.shown)
    ):
        return None
    names = [name for one in outline.reexports for name in one.names]
    modules = dict.fromkeys(base_name(one.module) for one in outline.reexports)
    plain_names = [name for name in names if name != "*"]
    where = listed(list(modules), 2)
    if plain_names:
        summary = f"Re-export {fitting(plain_names, max(70 - len(where), 20))} from {where}."
    else:
        summary = f"Re-export everything from {where}."
    texts = sources(facts, list(outline.reexports), []) if len(modules) > 1 else []
    if len(modules) == 1 and len(plain_names) > 4:
        texts = [f"{fitting(plain_names, 400)}."]
    if facts.shown:
        texts.append(f"Defines {fitting([s.name for s in facts.shown], 120)}.")
    return summary, bullets(texts)


def registration(facts: Facts) -> Text | None:
    """A file that hands settings to one function, and defines next to nothing."""
    outline = facts.outline
    calls = [call for call in outline.calls if any(one.name in ("id", "name") for one in call.items)]
    if not facts.script or not calls or any(s.kind in (Kind.CLASS, Kind.FUNCTION) for s in facts.shown):
        return None
    if len({call.name for call in calls}) > 1:
        return None
    named = [(_setting(call, "id") or _setting(call, "name"), call) for call in calls]
    texts = []
    for name, call in named[:4]:
        lists = [one for one in call.items if one.size and one.name not in ("id", "loader")]
        told = "; ".join(f"{words(one.name)} {fitting(safe(one.children), 70, one.size)}" for one in lists)
        if told:
            texts.append(f"{name}: {told}." if len(named) > 1 else f"{capital(told)}.")
    verb = capital(words(calls[0].name)) + ("s" if len(calls) > 1 else "")
    lazy = [base_name(one.module) for one in outline.imports if one.lazy]
    summary = f"{verb} {listed([name for name, _ in named], 4)}" + (
        f", loading {listed(lazy, 2)} on first use." if lazy else "."
    )
    return summary, bullets(texts) if len(named) > 1 else [texts[0]] if texts else []


def _setting(call: Call, key: str) -> str:
    return next((one.value.strip("\"'`") for one in call.items if one.name == key), "")


def loader(facts: Facts) -> Text | None:
    """A file that imports others for what they do when loaded."""
    outline = facts.outline
    effects = [one for one in outline.imports if not one.names and not one.module.endswith((".css", ".scss"))]
    if not facts.script or facts.shown or outline.reexports or not effects or len(effects) < len(outline.imports) / 2:
        return None
    names = [base_name(one.module) for one in effects]
    subject = facts.folder.rpartition("/")[2] if facts.stem in ("register", "index") else words(facts.stem)
    if facts.stem.startswith("register"):
        summary = f"Register {subject} by loading {fitting(names, 50)}."
    else:
        summary = f"Load {fitting(names, 60)} for what {'it does' if len(names) == 1 else 'they do'} on loading."
    texts = []
    for one in facts.uses[:8]:
        labels = safe(one.labels)
        told = one.summary or (
            f"registers {listed(labels, 4)}." if labels else f"defines {listed(one.names, 4)}." if one.names else ""
        )
        if told:
            texts.append(f"{place_name(one.path)}: {told}")
    return summary, bullets(texts)


def bundle(facts: Facts) -> Text | None:
    """One long list of texts."""
    if len(facts.shown) != 1 or facts.outline.tests:
        return None
    only = facts.shown[0]
    if only.kind is not Kind.CONSTANT or only.size < 200 or only.summary:
        return None
    names = safe([one.name for one in only.items if 2 < len(one.name) < 30])
    summary = f"Table {only.name} for {facts.stem}: {counted(only.size, 'entry', 'entries')}."
    return summary, [f"The first entries: {fitting(names[:8], 150)}."] if names else []
