"""Who made a change before the run, as commits write persons."""

from __future__ import annotations

import re

from qodebase.intent import Intent
from qodebase.trunk.batch import Person

_LINE = re.compile(r"(?P<name>[^<>\n]+) <(?P<mail>[^<>\n]*)> (?P<time>\d{1,18}) (?P<zone>[+-]\d{4})")
_CRUD = re.compile(r"[<>\x00-\x1f\x7f]")


def author_line(name: str, mail: str, time: str, zone: str) -> str:
    """Return an author as git writes one; what no commit can hold is left out of it.

    >>> author_line("Ada <b>", "ada@example.org", "1700000000", "+0100")
    'Ada b <ada@example.org> 1700000000 +0100'
    """
    name, mail = (_CRUD.sub("", text).strip() for text in (name, mail))
    line = f"{name or mail or 'unknown'} <{mail}> {time} {zone}"
    return line if _LINE.fullmatch(line) else f"{name or mail or 'unknown'} <{mail}> 0 +0000"


def author_of(intent: Intent) -> Person | None:
    """Return who made an intent's change before the run, or None where nobody did."""
    found = _LINE.fullmatch(intent.given.author) if intent.given is not None else None
    if found is None:
        return None
    return Person(name=found["name"].strip(), mail=found["mail"], time=int(found["time"]), zone=found["zone"])
