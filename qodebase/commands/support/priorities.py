"""Priorities that the user gives to parts of the code, beside those of the job."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from qodebase.errors import QodebaseError
from qodebase.intent import PRIORITIES, Intent
from qodebase.patterns import matcher


class BadPriority(QodebaseError):
    """A priority that is no number from 0 to 255."""


def with_priorities(intents: Iterable[Intent], priorities: Mapping[str, Sequence[str]]) -> list[Intent]:
    """Return intents with the priority of the first pattern, most urgent first, that takes a path of their scope.

    Args:
        priorities: numbers as text, each with path patterns in gitignore syntax; intents of no pattern keep their own.

    Raises:
        BadPriority: a number is none, or is out of range.
    """
    matchers = [(_number(text), matcher(patterns)) for text, patterns in priorities.items()]
    matchers.sort(key=lambda one: one[0])
    return [
        next(
            (
                msgspec.structs.replace(intent, priority=number)
                for number, matches in matchers
                if any(matches(path) for path in intent.scope)
            ),
            intent,
        )
        for intent in intents
    ]


def _number(text: str) -> int:
    if not (text.isascii() and text.isdigit() and int(text) in PRIORITIES):
        raise BadPriority(f"{text!r} is no priority", hint="Write 0 to 255 and a pattern: --priority '10=src/core/**'.")
    return int(text)
