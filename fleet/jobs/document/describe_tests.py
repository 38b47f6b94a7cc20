"""Headers of test files: what they test, by their cases."""

from __future__ import annotations

import re

from fleet.jobs.document.describe_facts import Facts
from fleet.jobs.document.describe_symbols import lowered
from fleet.jobs.document.describe_words import capital, counted, fitting, is_test_path, listed, safe, words
from fleet.jobs.document.languages.outline import Kind, Symbol
from fleet.jobs.document.languages.outline_text import cut_sentence

_TEST = re.compile(r"test|(?:Test|Fuzz|Benchmark)(?![a-z])")
_MOST_CASES = 6
_SUMMARY = 96


def is_test(facts: Facts) -> bool:
    """Return whether a file holds tests: cases, or test functions at a place where tests are."""
    cases = any(symbol.kind is Kind.CLASS and _tests(symbol) for symbol in facts.outline.symbols)
    return facts.outline.is_test and (cases or is_test_path(facts.path))


def described(facts: Facts) -> tuple[str, list[str]]:
    """Return the summary of a test file and a list of its cases with what each of them tries."""
    cases = [s for s in facts.outline.symbols if s.kind is Kind.CLASS and _tests(s)]
    free = [s for s in facts.outline.symbols if s.kind is Kind.FUNCTION and _TEST.match(s.name)]
    told = cut_sentence(facts.outline.leading[0]) if facts.outline.leading else ""
    body: list[str] = []
    if told and len(told) <= _SUMMARY:
        summary = capital(told)
    else:
        summary = _summary(facts, cases, free)
        if told:
            body.append(told)
    items = _items(facts, cases, free)
    if items:
        body.append("\n".join(f"- {text}" for text in items))
    return summary, body


def _summary(facts: Facts, cases: list[Symbol], free: list[Symbol]) -> str:
    subject = subject_of(facts)
    if len(cases) == 1 and not free and cases[0].summary and len(cases[0].summary) <= _SUMMARY - 10:
        return capital(cases[0].summary)
    count = facts.outline.tests
    names = [_case_words(case.name) for case in cases]
    told = [name for name in dict.fromkeys(names) if name and name.lower() != words(subject.rpartition(".")[2]).lower()]
    if len(told) > 1:
        return f"Tests for {subject}: {fitting(told, max(70 - len(subject), 20))}."
    return f"Tests for {subject}: {counted(count, 'test')}{' of ' + told[0] if told else ''}."


def subject_of(facts: Facts) -> str:
    """Return what a test file tests: the imported module or name that its own name speaks of, else its name."""
    bare = re.sub(r"^_?tests?(_|$)|(^|_)tests?$|[._](spec|test)$|(?<=[a-z0-9])Tests?$", "", facts.stem)
    if not bare or bare == "__init__":
        last = facts.folder.rpartition("/")[2]
        bare = re.sub(r"^tests?_|_tests?$", "", last) or last
    wanted = re.sub(r"\W|_", "", bare).lower()
    for one in facts.outline.imports:
        last = one.module.rpartition(".")[2] if facts.python else re.sub(r"\.\w+$", "", one.module.rpartition("/")[2])
        if last.replace("_", "").lower() == wanted and not one.module.startswith("."):
            return one.module if facts.python else last
        for name in one.names:
            if name.replace("_", "").lower() == wanted:
                return f"{one.module}.{name}" if facts.python and not one.module.startswith(".") else name
    return bare.replace("_", " ")


def _tests(symbol: Symbol) -> list[str]:
    return [member.name for member in symbol.members if member.method and member.name.startswith("test")]


def _case_words(name: str) -> str:
    bare = re.sub(r"^Test_?|_?(Test|Tests|TestCase|TestCases|Mixin)+$", "", name)
    return words(bare)


def _items(facts: Facts, cases: list[Symbol], free: list[Symbol]) -> list[str]:
    room = 150 if len(cases) <= 3 else 80 if len(cases) <= _MOST_CASES else 64
    ranked = sorted(cases, key=lambda case: (not case.summary, -len(_tests(case))))
    chosen = ranked[:_MOST_CASES]
    texts = []
    for case in cases:
        if case not in chosen:
            continue
        tried = fitting(_tried(case), room, len(_tests(case)))
        sentence = "" if case.summary and len(cases) == 1 and not free else case.summary
        texts.append(f"{case.name}: {capital(sentence)} Tries {tried}." if sentence else f"{case.name}: {tried}.")
    left = [case.name for case in cases if case not in chosen]
    if left:
        texts.append(f"Also {fitting(left, 120)}.")
    if free:
        phrases = [_phrase(one.name, one.summary) for one in free]
        texts.append(f"Functions: {fitting(safe(phrases), 220, len(free))}.")
    helpers = [s for s in facts.shown if s.kind in (Kind.CLASS, Kind.FUNCTION) and s not in cases and s not in free]
    helpers = [s for s in helpers if s.name not in ("setUpModule", "tearDownModule", "load_tests", "test_main")]
    if helpers and len(texts) <= _MOST_CASES:
        texts.append(f"Helpers: {listed([one.name for one in helpers], 6)}.")
    return texts


def _tried(case: Symbol) -> list[str]:
    members = [m for m in case.members if m.method and m.name.startswith("test")]
    return safe([_phrase(member.name, member.summary) for member in members])


def _phrase(name: str, summary: str) -> str:
    bare = words(_TEST.sub("", name, count=1).lstrip("_"))
    told = re.sub(r"^(Tests?|Testing|Check|Checks|Verify|Verifies|Ensure|Ensures)( that| for| the|:)? ", "", summary)
    if told and len(told) <= 60 and len(bare.split()) < 3:
        return lowered(told)
    return bare or name
