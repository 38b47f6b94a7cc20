"""Places of headers that were just computed: whoever writes a header and whoever proves it ask about the same bytes."""

from __future__ import annotations

from functools import lru_cache

from fleet.jobs.document.language import Language, NoPlace, Place

_KEPT = 128
"""Contents whose place is kept; each is held with it, so their sizes add up."""


@lru_cache(_KEPT)
def place_in(language: Language, content: bytes) -> Place | NoPlace:
    """Return where the header of ``content`` goes, or why it takes none; a pure function of the bytes."""
    return language.find_place(content)
