"""The proof that a file got one header and that not one token of its code changed.

The place is computed again from the bytes before. The bytes on both sides of it must be equal, the run in between
must lex alone as exactly one comment or docstring, and the text rules must hold in it. Where only comments and whole
blank lines stand before the place, no token can meet the run and that is enough. Elsewhere, or when asked, both
sides are parsed: the leaves outside of the run must be equal, no more errors may be found than before (healthy files
have some), and the run must be one comment (or one string statement ahead of all code) of its own. Where it was only
asked for, a file that had errors before tells nothing: a parser that guesses may guess otherwise behind a comment.
"""

from __future__ import annotations

from dataclasses import dataclass

from fleet.jobs.document.known_places import broken_in, place_in
from fleet.jobs.document.language import Ending, Language, NoPlace, Place
from fleet.jobs.document.languages import language_of
from replay_rules.parsing import Leaf, parse


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
    place = place_in(language, before)
    if isinstance(place, NoPlace):
        return Broken(reason=f"the file takes no header: {place.reason}")
    length = len(after) - len(before)
    reason = _bytes_differ(place, before, after, length) or _run_is_wrong(language, place, after, length)
    if reason:
        return Broken(reason=reason)
    parse = full or place.needs_reparse
    if parse:
        reason = _trees_differ(language, path, before, after, place, length)
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
    if not _is_set_off(place, run):
        return "the blank lines around the header differ from the place's"
    broken = broken_in(language, run, place)
    if broken is None:
        return "the run alone is not exactly one comment or docstring"
    if broken:
        return f"the text breaks a rule: {', '.join(broken)}"
    again = place_in(language, after)
    if not isinstance(again, NoPlace) or again.ending is not Ending.DOCUMENTED:
        return "the run does not document the file"
    return ""


def _is_set_off(place: Place, run: bytes) -> bool:
    newline = place.newline.encode()
    header = run.strip(b"\r\n")
    lead = newline * (place.blank_before + place.breaks_line)
    return run == lead + header + newline * (1 + place.blank_after)


def _trees_differ(language: Language, path: bytes, before: bytes, after: bytes, place: Place, length: int) -> str:
    grammar, offset = language.grammar(path), place.offset
    old = parse(grammar, before)
    if old.has_error and not place.needs_reparse:
        return ""
    new = parse(grammar, after)
    if new.has_error and new.faults() > old.faults():
        return "the file has more parse errors than before"
    run = after[offset : offset + length]
    start = offset + len(run) - len(run.lstrip())
    if not language.stands_alone(new, start, offset + len(run.rstrip())):
        return "the run is not parsed as one header of its own"
    ahead, behind = _split(list(new.leaves()), offset, length)
    if any(leaf.kind not in language.ahead for leaf in ahead):
        return "code stands before the run"
    if ahead + behind != list(old.leaves()):
        return "the leaves outside of the run changed"
    return ""


def _split(leaves: list[Leaf], offset: int, length: int) -> tuple[list[Leaf], list[Leaf]]:
    """Return the leaves before and behind the run, the latter moved back to where they stood without it."""
    ahead = [leaf for leaf in leaves if leaf.end <= offset]
    behind = [
        Leaf(kind=leaf.kind, start=leaf.start - length, end=leaf.end - length)
        for leaf in leaves
        if leaf.start >= offset + length
    ]
    return ahead, behind
