"""Which licence a file says that it is under, as SPDX identifiers."""

from __future__ import annotations

import re
from collections.abc import Iterable
from fnmatch import fnmatchcase

_HEAD = 16_384
_TAG = re.compile(rb"SPDX-License-Identifier:[ \t]*([A-Za-z0-9.+:() -]+)")
_WORDS = frozenset({"and", "or", "with"})
_GNU = re.compile(
    r"terms (?:and conditions )?of (version \d(?:\.\d)? of )?the gnu "
    r"(affero |lesser |library )?general public licen[cs]e(.{0,250})"
)
_BARE_GNU = re.compile(r"(?:a|l)?gpl-\d\.\d|gfdl-\d\.\d")
_VERSION = re.compile(r"(?:version|v) ?(\d(?:\.\d)?)")
_NOTICES = (
    ("Apache-2.0", re.compile(r"licensed under the apache license,? version 2\.0")),
    ("MPL-2.0", re.compile(r"terms of the mozilla public license,? (?:v\.?|version) ?2\.0")),
    ("EPL-2.0", re.compile(r"terms of the eclipse public license,? (?:v\.?|version)? ?2\.0")),
    ("MIT", re.compile(r"permission is hereby granted,? free of charge,? to any person")),
    ("BSD-3-Clause", re.compile(r"redistribution and use in source and binary forms.*neither the name")),
    ("BSD-2-Clause", re.compile(r"redistribution and use in source and binary forms(?!.*neither the name)")),
)


def licences_of(content: bytes) -> tuple[str, ...]:
    """Return the SPDX identifiers of a file: those of its ``SPDX-License-Identifier`` tags, else of its notice.

    Only the first 16 KiB are looked at. Notices are told by the wording that the SPDX licence list gives for files
    under a GNU licence, Apache-2.0, MPL-2.0, EPL-2.0, MIT and BSD; a file without either has none here, whatever the
    repository's own licence is.
    """
    head = content[:_HEAD]
    tags = [match[1].decode() for match in _TAG.finditer(head)]
    if tags:
        return tuple(dict.fromkeys(name for tag in tags for name in _names(tag)))
    text = " ".join(re.sub(r"[^\w.,()+]+", " ", head.decode("utf-8", "replace")).split()).lower()
    return (*_gnu(text), *(name for name, notice in _NOTICES if notice.search(text)))


def is_listed(licence: str, listed: Iterable[str]) -> bool:
    """Return whether an identifier is one of those listed.

    Case does not count, ``*`` stands for anything, and ``GPL-3.0`` also means its -only, -or-later and + forms. Of a
    file's own identifiers, the old ``GPL-3.0`` is ``GPL-3.0-only``, and ``GPL-3.0+`` is ``GPL-3.0-or-later``.
    """
    name = _today(licence.lower())
    bare = name.removesuffix("-only").removesuffix("-or-later")
    return any(
        fnmatchcase(spelled, entry.lower()) or spelled == _ending_written_out(entry.lower())
        for entry in listed
        for spelled in (licence.lower(), name, bare)
    )


def _today(name: str) -> str:
    """Return an identifier as SPDX writes it since it gave the old ones of GNU licences up."""
    return f"{name}-only" if _BARE_GNU.fullmatch(name) else _ending_written_out(name)


def _ending_written_out(name: str) -> str:
    return f"{name[:-1]}-or-later" if name.endswith("+") else name


def _names(expression: str) -> list[str]:
    return [word for word in re.split(r"[() ]+", expression) if word and word.lower() not in _WORDS]


def _gnu(text: str) -> list[str]:
    found = []
    for ahead, kind, rest in _GNU.findall(text):
        version = _VERSION.search(ahead or rest)
        number = version[1] if version else "1.0"
        later = not version or "later version" in rest
        initial = {"affero ": "A", "lesser ": "L", "library ": "L"}.get(kind, "")
        form = "or-later" if later else "only"
        found.append(f"{initial}GPL-{number if '.' in number else f'{number}.0'}-{form}")
    return list(dict.fromkeys(found))
