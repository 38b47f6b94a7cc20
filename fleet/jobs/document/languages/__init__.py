"""The languages that the document job writes in, one module each, found by listing this folder."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from types import MappingProxyType

from fleet.jobs.document.language import Language


@cache
def languages() -> Mapping[str, Language]:
    """Return every language by its name: each module here that holds a ``LANGUAGE``."""
    found = {}
    for module in iter_modules(__path__):
        if module.name.startswith(("_", "outline")):
            continue
        language: Language = import_module(f"{__name__}.{module.name}").LANGUAGE
        found[language.name] = language
    return MappingProxyType(found)


def language_of(path: bytes) -> Language | None:
    """Return the language of a path by its suffix, None if the job knows none."""
    _, dot, suffix = path.rpartition(b"/")[2].lower().rpartition(b".")
    return _by_suffix().get(dot + suffix)


@cache
def _by_suffix() -> Mapping[bytes, Language]:
    return {suffix: language for language in languages().values() for suffix in language.grammars}
