"""Files whose shape Django prescribes: migrations, formats of a locale, commands, routes."""

from __future__ import annotations

import re

from fleet.jobs.document.describe_facts import Facts
from fleet.jobs.document.describe_words import Text, bullets, counted, fitting, listed, safe, words
from fleet.jobs.document.languages.outline import Item, Kind, Symbol
from fleet.jobs.document.languages.outline_text import is_safe


def migration(facts: Facts) -> Text | None:
    migration = next((s for s in facts.outline.symbols if s.name == "Migration" and s.kind is Kind.CLASS), None)
    if migration is None or not any("Migration" in base for base in migration.bases):
        return None
    fields = {member.name: member for member in migration.members}
    operations = fields.get("operations")
    steps = [_step(one) for one in operations.items] if operations else []
    app = facts.folder.removesuffix("/migrations").rpartition("/")[2]
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
    if name == "run":
        return f"run {' and back '.join(child for child in one.children[:2])}"
    what = ".".join(child for child in one.children[:2] if re.fullmatch(r"[\w.]+", child))
    kind = one.value.rpartition(".")[2]
    if name.startswith("create model"):
        fields = safe(one.inner)
        told = f" with {counted(one.size, 'field')}" if one.size else ""
        return f"{name} {what.split('.')[0]}{told}" + (f" ({fitting(fields, 60, one.size)})" if fields else "")
    if not kind or "field" not in name:
        return f"{name} {what}".strip()
    settings = safe(one.inner)
    return f"{name} {what} ({kind}{' with ' + listed(settings, 3) if settings else ''})"


def formats(facts: Facts) -> Text | None:
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


def command(facts: Facts) -> Text | None:
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
    return summary, bullets(texts[:6])


def routes(facts: Facts) -> Text | None:
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
