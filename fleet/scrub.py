"""Keys blotted out of texts that others wrote: errors of providers and libraries, tracebacks."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable, Mapping
from urllib.parse import quote

_BLOT = "[secret]"
_SHORTEST = 4
_NO_CHANCE = 16
_VARIABLE = re.compile(r"(?i)(?:key|token|secret|passw|credential)")
_FORMS = (
    re.compile(r"(?i)(\b(?:bearer|basic) )(?=[^\s\"']*\d)[^\s\"',;]{8,}"),
    re.compile(
        r"(?i)((?:api[-_ ]?key|authorization|(?:access|auth|session)[-_]token|secret|password)[\"']?\s*[:=]\s*"
        r"(?:b?[\"'])?(?:bearer |basic )?+)(?!\[secret\])[^\s\"',;&}\])]+"
    ),
    re.compile(r"(?i)([?&](?:key|token|sig|signature)=)[^\s\"'&]+"),
    re.compile(r"(://)[^\s/:@]+:[^\s/@]+(?=@)"),
)
"""Where a key stands by its form: what comes before it is kept."""


class Scrub:
    """Blot out known keys in every spelling that they travel in, and whatever stands where keys stand."""

    def __init__(self, keys: Iterable[str] = ()) -> None:
        spelled = {form for key in keys if len(key) >= _SHORTEST for form in _spellings(key)}
        self._keys = sorted(spelled, key=len, reverse=True)

    def __call__(self, text: str) -> str:
        """Return the text without keys."""
        for key in self._keys:
            text = text.replace(key, _BLOT)
        for form in _FORMS:
            text = form.sub(rf"\1{_BLOT}", text)
        return text

    def holds_key(self, text: str) -> bool:
        """Return whether a text holds a known key that is too long to stand there by chance."""
        return any(len(key) >= _NO_CHANCE and key in text for key in self._keys)


def names_key(variable: str) -> bool:
    """Return whether a variable is named like one that holds a key."""
    return _VARIABLE.search(variable) is not None


def keys_in(environ: Mapping[str, str]) -> tuple[str, ...]:
    """Return the values of variables that are named like keys, those too short to be one left out."""
    return tuple(value for name, value in environ.items() if names_key(name) and len(value.strip()) >= 8)


def _spellings(key: str) -> set[str]:
    bare = key.strip()
    coded = base64.b64encode(bare.encode("utf-8", "replace")).decode()
    return {key, bare, quote(bare, safe=""), repr(bare)[1:-1], coded}
