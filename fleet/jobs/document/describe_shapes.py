"""Kinds of files that have a shape of their own: packages, migrations, formats, routes, registrations, bundles."""

from __future__ import annotations

import re

from fleet.jobs.document import describe_tests
from fleet.jobs.document.describe_facts import Facts
from fleet.jobs.document.describe_words import capital, counted, fitting, listed, place_name, safe, words
from fleet.jobs.document.languages.outline import Call, Import, Item, Kind, Symbol
from fleet.jobs.document.languages.outline_text import is_safe

Text = tuple[str, list[str]]


def shaped(facts: Facts) -> Text | None:
    """Return the header of a file that has one of the known shapes, or None."""
    for shape in (
        _migration,
        _formats,
        _command,
        _routes,
        _language,
        _package,
        _passed_on,
        _registration,
        _loader,
        _bundle,
    ):
        text = shape(facts)
        if text is not None:
            return text
    return None


def _bullets(texts: list[str]) -> list[str]:
    return ["\n".join(f"- {text}" for text in texts)] if texts else []


def _migration(facts: Facts) -> Text | None:
    migration = next((s for s in facts.outline.symbols if s.name == "Migration" and s.kind is Kind.CLASS), None)
    if migration is None or not any("Migration" in base for base in migration.bases):
        return None
    fields = {member.name: member for member in migration.members}
    operations = fields.get("operations")
    steps = [_step(one) for one in operations.items] if operations else []
    app = facts.folder.rpartition("/migrations")[0].rpartition("/")[2] or facts.package
    steps = safe(steps)
    total = operations.size if operations else 0
    summary = f"Migration {facts.stem} of {app}"
    brief = [step.partition(" (")[0].partition(" with ")[0] for step in steps] if total > 1 else steps
    summary += f": {fitting(brief, max(84 - len(summary), 30), total)}." if steps else " without operations."
    notes = []
    if brief != steps or total > 2:
        notes.append(f"Operations, in order: {fitting(steps, 400, total)}.")
    needs = [".".join(one.children) for one in (fields["dependencies"].items if "dependencies" in fields else ())]
    if needs := safe(needs):
        notes.append(f"Runs after {listed(needs, 4)}.")
    if "replaces" in fields:
        replaced = safe([".".join(one.children) for one in fields["replaces"].items])
        notes.append(f"Replaces {listed(replaced, 4, fields['replaces'].size)}.")
    if "initial" in fields:
        notes.append("Marked as an initial migration.")
    functions = [s for s in facts.shown if s.kind is Kind.FUNCTION]
    if functions:
        notes.append(f"Functions: {listed([_told(s) for s in functions], 4)}.")
    return summary, [" ".join(notes)] if notes else []


def _told(symbol: Symbol) -> str:
    return (
        f"{symbol.name} ({symbol.summary[0].lower()}{symbol.summary[1:].rstrip('.')})"
        if symbol.summary
        else symbol.name
    )


def _step(one: Item) -> str:
    """Return an operation as an order: "create model Book with 3 fields", "add field Author.age (IntegerField)"."""
    name = words(one.name.rpartition(".")[2]).replace("run python", "run").replace("run SQL", "run SQL")
    what = ".".join(child for child in one.children[:2] if re.fullmatch(r"[\w.]+", child))
    kind = one.value.rpartition(".")[2]
    if name.startswith("create model"):
        fields = safe(one.inner)
        told = f" with {counted(one.size, 'field')}" if one.size else ""
        return f"{name} {what.split('.')[0]}{told}" + (f" ({fitting(fields, 60, one.size)})" if fields else "")
    return f"{name} {what}".strip() + (f" ({kind})" if kind and "field" in name else "")


def _formats(facts: Facts) -> Text | None:
    if facts.stem != "formats" or not any(s.name.endswith("_FORMAT") for s in facts.outline.symbols):
        return None
    locale = facts.folder.rpartition("/")[2]
    single = [
        f"{s.name} {_plain(s.value)}" for s in facts.shown if s.kind is Kind.CONSTANT and not s.size and _plain(s.value)
    ]
    many = [f"{s.name} ({s.size})" for s in facts.shown if s.size]
    body = []
    if single:
        body.append(f"Sets {fitting(single, 420)}.")
    if many:
        body.append(f"Accepted input formats: {listed(many, 6)}.")
    return f"Date, time and number formats of the locale {locale}.", [" ".join(body)] if body else []


def _plain(value: str) -> str:
    inner = value[1:-1] if value[:1] in "\"'" else value
    if value.isdigit():
        return value
    return f'"{inner}"' if inner.strip() and is_safe(inner) and '"' not in inner else ""


def _command(facts: Facts) -> Text | None:
    command = next((s for s in facts.outline.symbols if s.name == "Command" and s.kind is Kind.CLASS), None)
    if command is None or "/management/commands" not in "/" + facts.folder:
        return None
    fields = {member.name: member for member in command.members}
    told = fields["help"].value if "help" in fields else ""
    told = re.sub(r"^\(?[\"']+|[\"']+$", "", told)
    base = listed(safe([base.rpartition(".")[2] for base in command.bases]), 2)
    summary = f"Management command {facts.stem}"
    summary += f": {told.rstrip('.')}." if told and is_safe(told) else f", a {base}." if base else "."
    texts = []
    methods = [member for member in command.members if member.method and member.name not in ("handle", "__init__")]
    if methods := [m for m in methods if m.public and m.name != "add_arguments"]:
        texts.append(f"Command: {fitting([m.name for m in methods if m.public], 100)} and handle.")
    texts += [f"{one.name}: {one.summary}" for one in facts.shown if one is not command and one.summary]
    return summary, _bullets(texts[:6])


def _routes(facts: Facts) -> Text | None:
    patterns = [s for s in facts.outline.symbols if s.name.endswith("urlpatterns") or s.name.endswith("_patterns")]
    if not any(s.name == "urlpatterns" for s in patterns):
        return None
    routes = [one for s in patterns for one in s.items]
    total = sum(s.size for s in patterns)
    names = safe([_route(one) for one in routes])
    app = next((s.value.strip("\"'") for s in facts.outline.symbols if s.name == "app_name"), "")
    summary = (
        f"URL configuration of {facts.package}"
        if facts.stem == "urls"
        else f"URL configuration {facts.stem} of {facts.package}"
    )
    summary += f" ({counted(total, 'pattern')})." if total else "."
    notes = []
    if names:
        notes.append(f"Routes: {fitting(names, 240, total)}.")
    if app:
        notes.append(f"The namespace is {app}.")
    handlers = [s for s in facts.shown if s.name.startswith("handler") and s.value]
    if handlers:
        notes.append(f"Error handlers: {listed([s.name for s in handlers], 4)}.")
    views = [s.name for s in facts.shown if s.kind in (Kind.FUNCTION, Kind.CLASS)]
    if views:
        notes.append(f"Views defined here: {listed(views, 5)}.")
    return summary, [" ".join(notes)] if notes else []


def _route(one: Item) -> str:
    children = [child for child in one.children if child]
    if not children:
        return ""
    first = children[0] if is_safe(children[0]) else ""
    rest = [child for child in children[1:] if re.fullmatch(r"[\w.:-]+", child)]
    return f"{first} ({rest[-1]})" if first and rest else first or (rest[-1] if rest else "")


def _language(facts: Facts) -> Text | None:
    language = next(
        (s for s in facts.outline.symbols if s.name == "language" and any(i.name == "tokenizer" for i in s.items)), None
    )
    if language is None:
        return None
    items = {one.name: one for one in language.items}
    conf = next((s for s in facts.outline.symbols if s.name == "conf"), None)
    texts = []
    if conf is not None and conf.size:
        texts.append(f"conf: {fitting(safe([i.name for i in conf.items]), 100)}.")
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
    return words_of, _bullets(texts)


def _some(one: Item) -> str:
    names = [child for child in one.children if re.fullmatch(r"[\w.@-]+", child)][:3]
    return f" ({', '.join(names)}{', ...' if one.size > len(names) else ''})" if names else ""


def _package(facts: Facts) -> Text | None:
    """A Python package's ``__init__`` that mostly passes names on, or an ``__main__``."""
    if not facts.python:
        return None
    if facts.stem == "__main__" and not facts.outline.leading and not facts.shown:
        package = facts.package or "the package"
        calls = safe([call.name for call in facts.outline.calls] + list(facts.outline.main_calls))
        if calls == ["unittest.main"]:
            return f"Run the tests of {package} as a script.", _beside(facts)
        return f"Run {package} as a script" + (f": calls {listed(calls[-3:], 3)}." if calls else "."), []
    if {s.name for s in facts.shown} <= {"load_tests", "doctests"} and facts.shown:
        if facts.stem == "__main__":
            return f"Run the tests of {facts.package} as a script.", _beside(facts)
        if facts.stem == "__init__":
            return f"Load the tests of {facts.package}.", _beside(facts)
        told = " as doctests" if any(s.name == "doctests" for s in facts.outline.symbols) else ""
        return f"Tests for {describe_tests.subject_of(facts)}, gathered{told} by load_tests.", []
    if facts.stem != "__init__" or facts.outline.leading:
        return None
    passed = _passed(facts)
    own = [s for s in facts.shown if s.kind is not Kind.CONSTANT]
    total = sum(len(one.names) for one in passed)
    if not total or len(own) > total:
        return None
    names = [name for one in passed for name in one.names if name != "*"]
    summary = (
        f"Public interface of {facts.package}: {fitting(names, max(74 - len(facts.package), 20), len(names))}."
        if names
        else f"Public interface of {facts.package}."
    )
    return summary, _bullets(_sources(facts, passed, own))


def _beside(facts: Facts) -> list[str]:
    """Return one paragraph that names the modules and packages of the folder, or none."""
    names = [name.decode(errors="replace") for name in facts.siblings]
    modules = [name.removesuffix(".py") for name in names if name.endswith(".py") and not name.startswith("__")]
    packages = [name for name in names if "." not in name and not name.startswith("__")]
    notes = []
    if modules:
        notes.append(f"Modules: {fitting(safe(modules), 180)}.")
    if packages:
        notes.append(f"Packages: {fitting(safe(packages), 120)}.")
    return [" ".join(notes)] if notes else []


def _passed(facts: Facts) -> list[Import]:
    if facts.outline.reexports:
        return list(facts.outline.reexports)
    mine = facts.package + "."
    inner = [one for one in facts.outline.imports if one.module.startswith(".") or (one.module + ".").startswith(mine)]
    return [one for one in inner if one.names]


def _sources(facts: Facts, passed: list[Import], own: list[Symbol]) -> list[str]:
    merged: dict[str, list[str]] = {}
    for one in passed:
        merged.setdefault(one.module, []).extend(one.names)
    texts = []
    for module, names in list(merged.items())[:8]:
        told = _neighbour_summary(facts, module)
        shown = "everything" if names == ["*"] else fitting(safe(names), 70)
        texts.append(
            f"from {module.strip('.') or 'the package'}: {shown}." + (f" {told}" if told and len(told) < 110 else "")
        )
    if len(merged) > 8:
        texts.append(f"and from {listed([m.strip('.') for m in list(merged)[8:]], 6)}.")
    texts += [
        f"{one.name}{one.signature}{': ' + capital(one.summary) if one.summary else ' is defined here.'}"
        for one in own[:3]
    ]
    return texts


def _neighbour_summary(facts: Facts, module: str) -> str:
    last = re.sub(r"\.(js|ts|mjs|py)$", "", re.split(r"[./](?=[\w-]+(?:\.(?:js|ts|mjs))?$)", module)[-1])
    for one in facts.uses:
        stem = one.path.decode(errors="replace").rpartition("/")[2].partition(".")[0]
        if stem == last and one.summary:
            return one.summary
    return ""


def _passed_on(facts: Facts) -> Text | None:
    """A script module that only passes on what others export."""
    outline = facts.outline
    if facts.python or not outline.reexports or outline.calls or any(s.kind is not Kind.CONSTANT for s in facts.shown):
        return None
    names = [name for one in outline.reexports for name in one.names]
    modules = dict.fromkeys(_base(one.module) for one in outline.reexports)
    plain_names = [name for name in names if name != "*"]
    where = listed(list(modules), 2)
    if plain_names:
        summary = f"Re-export {fitting(plain_names, max(70 - len(where), 20))} from {where}."
    else:
        summary = f"Re-export everything from {where}."
    texts = _sources(facts, list(outline.reexports), []) if len(modules) > 1 else []
    if len(modules) == 1 and len(plain_names) > 4:
        texts = [f"{fitting(plain_names, 400)}."]
    if facts.shown:
        texts.append(f"Defines {fitting([s.name for s in facts.shown], 120)}.")
    return summary, _bullets(texts)


def _base(module: str) -> str:
    return re.sub(r"\.(js|mjs|cjs|ts)$", "", module).rpartition("/")[2] or module


def _registration(facts: Facts) -> Text | None:
    """A file that hands settings to one function, and defines next to nothing."""
    outline = facts.outline
    calls = [call for call in outline.calls if any(one.name in ("id", "name") for one in call.items)]
    if facts.python or not calls or any(s.kind in (Kind.CLASS, Kind.FUNCTION) for s in facts.shown):
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
    lazy = [_base(one.module) for one in outline.imports if one.lazy]
    summary = f"{verb} {listed([name for name, _ in named], 4)}" + (
        f", loading {listed(lazy, 2)} on first use." if lazy else "."
    )
    return summary, _bullets(texts) if len(named) > 1 else [texts[0]] if texts else []


def _setting(call: Call, key: str) -> str:
    return next((one.value.strip("\"'`") for one in call.items if one.name == key), "")


def _loader(facts: Facts) -> Text | None:
    """A file that imports others for what they do when loaded."""
    outline = facts.outline
    effects = [one for one in outline.imports if not one.names and not one.module.endswith((".css", ".scss"))]
    if facts.python or facts.shown or outline.reexports or not effects or len(effects) < len(outline.imports) / 2:
        return None
    names = [_base(one.module) for one in effects]
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
    return summary, _bullets(texts)


def _bundle(facts: Facts) -> Text | None:
    """One long list of texts."""
    if len(facts.shown) != 1 or facts.outline.tests:
        return None
    only = facts.shown[0]
    if only.kind is not Kind.CONSTANT or only.size < 200 or only.summary:
        return None
    names = safe([one.name for one in only.items if 2 < len(one.name) < 30])
    summary = f"Table {only.name} for {facts.stem}: {counted(only.size, 'entry', 'entries')}."
    return summary, [f"The first entries: {fitting(names[:8], 150)}."] if names else []
