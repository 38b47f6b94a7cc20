"""What was just found out of headers: whoever writes one and whoever proves it ask about the same bytes."""

from __future__ import annotations

from functools import lru_cache

from fleet.jobs.document.language import Language, NoPlace, Place
from fleet.jobs.document.text_rules import broken_rules

_KEPT = 128
"""Contents whose place is kept; each is held with it, so their sizes add up."""


@lru_cache(_KEPT)
def place_in(language: Language, content: bytes) -> Place | NoPlace:
    """Return where the header of ``content`` goes, or why it takes none; a pure function of the bytes."""
    return language.find_place(content)


@lru_cache(_KEPT)
def broken_in(language: Language, run: bytes, place: Place) -> tuple[str, ...] | None:
    """Return the text rules that a run breaks, None if it is not one comment alone; a pure function of the bytes."""
    body = language.body_of(run, place)
    return None if body is None else broken_rules(body, language.rules)
