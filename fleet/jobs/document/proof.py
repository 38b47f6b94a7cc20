"""The proof that a file got one header and that not one token of its code changed.

The place is computed again from the bytes before. The bytes on both sides of it must be equal, the run in between
must lex alone as exactly one comment or docstring, and the text rules must hold in it. Where only comments and whole
blank lines stand before the place, no token can meet the run and that is enough. Elsewhere, or when asked, both
sides are parsed: the leaves outside of the run and the error flag must be equal, and the run must be one comment (or
one string statement ahead of all code) of its own.
"""

from __future__ import annotations

from dataclasses import dataclass

from fleet.jobs.document.language import Ending, Language, NoPlace, Place
from fleet.jobs.document.languages import language_of
from fleet.jobs.document.text_rules import broken_rules


@dataclass(frozen=True, slots=True, kw_only=True)
class Proven:
    """The file differs by one header of ``length`` bytes at ``offset``; ``reparsed`` says whether a parser looked."""

    offset: int
    length: int
    reparsed: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Broken:
    """The bytes differ by something else than one header in its place; ``reason`` names the first thing found."""

    reason: str


def prove(path: bytes, before: bytes, after: bytes, *, full: bool = False) -> Proven | Broken:
    """Return whether ``after`` is ``before`` with one header; ``full`` parses both sides whatever the place.

    Costs well under a millisecond without parsing and, in both cases, grows with the size of the file.
    """
    language = language_of(path)
    if language is None:
        return Broken(reason="unsupported language")
    place = language.find_place(before)
    if isinstance(place, NoPlace):
        return Broken(reason=f"the file takes no header: {place.reason}")
    length = len(after) - len(before)
    reason = _bytes_differ(place, before, after, length) or _run_is_wrong(language, place, after, length)
    if reason:
        return Broken(reason=reason)
    parse = full or place.needs_reparse
    if parse:
        reason = _trees_differ(language, path, before, after, place.offset, length)
        if reason:
            return Broken(reason=reason)
    return Proven(offset=place.offset, length=length, reparsed=parse)


def _bytes_differ(place: Place, before: bytes, after: bytes, length: int) -> str:
    if length <= 0:
        return "nothing was inserted"
    if after[: place.offset] != before[: place.offset]:
        return "the bytes before the place differ"
    if after[place.offset + length :] != before[place.offset :]:
        return "the bytes after the place differ"
    return ""


def _run_is_wrong(language: Language, place: Place, after: bytes, length: int) -> str:
    run = after[place.offset : place.offset + length]
    body = language.body_of(run, place)
    if body is None:
        return "the run alone is not exactly one comment or docstring"
    broken = broken_rules(body, language.rules)
    if broken:
        return f"the text breaks a rule: {', '.join(broken)}"
    again = language.find_place(after)
    if not isinstance(again, NoPlace) or again.ending is not Ending.DOCUMENTED:
        return "the run does not document the file"
    return ""


def _trees_differ(language: Language, path: bytes, before: bytes, after: bytes, offset: int, length: int) -> str:
    from replay_rules.parsing import parse

    grammar = language.grammar(path)
    old, new = parse(grammar, before), parse(grammar, after)
    if old.has_error != new.has_error:
        return "the error flag changed"
    run = after[offset : offset + length]
    start = offset + len(run) - len(run.lstrip())
    if not language.stands_alone(new, start, offset + len(run.rstrip())):
        return "the run is not parsed as one header of its own"
    outside = [leaf for leaf in new.leaves() if leaf.end <= offset or leaf.start >= offset + length]
    moved = [
        (leaf.kind, leaf.start - length, leaf.end - length)
        if leaf.start >= offset + length
        else (leaf.kind, leaf.start, leaf.end)
        for leaf in outside
    ]
    if moved != [(leaf.kind, leaf.start, leaf.end) for leaf in old.leaves()]:
        return "the leaves outside of the run changed"
    return ""
