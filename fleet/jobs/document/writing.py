"""Putting a header into a file: sanitise the text, write it as a run, insert the run at the file's place."""

from __future__ import annotations

from dataclasses import dataclass

from fleet.jobs.document.encoding import fitted
from fleet.jobs.document.known_places import broken_in, place_in
from fleet.jobs.document.language import Ending, Language, NoPlace, Place
from fleet.jobs.document.languages import language_of
from fleet.jobs.document.text_rules import MAX_CHARACTERS, sanitise


@dataclass(frozen=True, slots=True, kw_only=True)
class Inserted:
    """A file with its header: ``run`` stands at ``offset``; ``sanitised`` names the text rules that changed it."""

    content: bytes
    offset: int
    run: bytes
    sanitised: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """Nothing was inserted, and why."""

    reason: str


def insert(path: bytes, content: bytes, text: str) -> Inserted | Refused:
    """Return ``content`` with ``text`` as its header, or why that cannot be done.

    The text is plain: paragraphs with blank lines between them, list items behind ``-``. What a text rule forbids
    is written harmlessly and named; what stays forbidden is refused.
    """
    language = language_of(path)
    if language is None:
        return Refused(reason="unsupported language")
    place = place_in(language, content)
    if isinstance(place, NoPlace):
        return Refused(reason=f"{place.ending.value}: {place.reason}")
    if len(text) > MAX_CHARACTERS:
        return Refused(reason=f"the text is longer than {MAX_CHARACTERS} characters")
    return _inserted(language, place, content, text)


def _inserted(language: Language, place: Place, content: bytes, text: str) -> Inserted | Refused:
    clean, names = sanitise(text, language.rules)
    plain = fitted(clean, place.encoding)
    if plain is None:
        return Refused(reason=f"the text has characters that {place.encoding} cannot hold")
    if plain != clean:
        clean, more = sanitise(plain, language.rules)
        names = tuple(dict.fromkeys((*names, "encoding", *more)))
    if not any(char.isalnum() for char in clean):
        return Refused(reason="the text is empty")
    run = language.render(clean, place)
    broken = broken_in(language, run, place)
    if broken is None:
        return Refused(reason="the text does not stay inside of one comment")
    if broken:
        return Refused(reason=f"the text breaks a rule: {', '.join(broken)}")
    offset = place.offset
    after = content[:offset] + run + content[offset:]
    again = place_in(language, after)
    if not isinstance(again, NoPlace) or again.ending is not Ending.DOCUMENTED:
        return Refused(reason="the text does not read as documentation")
    return Inserted(content=after, offset=offset, run=run, sanitised=names)
