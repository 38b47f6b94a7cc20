"""Python packages: what an ``__init__`` passes on, what an ``__main__`` runs."""

from __future__ import annotations

import re

from fleet.jobs.document import describe_tests
from fleet.jobs.document.describe_facts import Facts
from fleet.jobs.document.describe_words import Text, bullets, capital, fitting, listed, safe
from fleet.jobs.document.languages.outline import Import, Kind, Symbol


def package(facts: Facts) -> Text | None:
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
    return summary, bullets(sources(facts, passed, own))


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


def sources(facts: Facts, passed: list[Import], own: list[Symbol]) -> list[str]:
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
