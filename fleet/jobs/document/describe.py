"""Describe a file from its own structure: the text that the model ``outline`` answers with.

It says only what structure, names and comments tell. The same input gives the same text.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from fleet.jobs.document import describe_plain, describe_shapes, describe_tests
from fleet.jobs.document.describe_facts import Facts, facts_of
from fleet.jobs.document.describe_words import fitting, is_test_path, listed, place_name, safe
from fleet.jobs.document.languages.outline import Outline
from fleet.jobs.document.languages.outline_text import is_safe
from fleet.jobs.document.usage import Neighbour

_MOST_LINES = 12
_COLUMNS = 86
_COOKIE = re.compile(r"coding\s*[:=]", re.IGNORECASE)
_HEAD = re.compile(r"- (?!Also |Further|Constants|Functions|Helpers|from )([\w.$]+)")


def describe(
    path: bytes,
    outline: Outline,
    used_by: Sequence[bytes] = (),
    uses: Sequence[Neighbour] = (),
    siblings: Sequence[bytes] = (),
) -> str:
    """Return the header documentation of a file as plain text.

    The first paragraph is the summary, one sentence; paragraphs are parted by an empty line, list items begin with
    ``- `` and stand on one line each: the caller wraps. Every line is safe in a comment of any language.

    Args:
        path: the file in its repository.
        outline: what the file holds.
        used_by: the files that import it.
        uses: the files of the tree that it imports.
        siblings: the names of the files and folders beside it.
    """
    facts = facts_of(path, outline, tuple(used_by), tuple(uses), tuple(siblings))
    shaped = describe_shapes.shaped(facts)
    if shaped is None and describe_tests.is_test(facts):
        shaped = describe_tests.described(facts)
    if shaped is None:
        shaped = describe_plain.described(facts)
    summary, body = shaped
    head = _cleaned(summary, facts) or _cleaned(f"{facts.title}.", facts) or "Source file."
    blocks = [_cleaned(block, facts) for block in (*map(_short, body), _closing(facts))]
    return "\n\n".join([head, *(block for block in blocks if block)])


def _short(block: str) -> str:
    """Return a list cut to about a dozen lines of text; what no longer fits is only named."""
    lines = block.split("\n")
    room = _MOST_LINES
    for at, line in enumerate(lines):
        room -= 1 + len(line) // _COLUMNS
        if room < 0 and at and line.startswith("- "):
            heads = [found[1] for one in lines[at:] if (found := _HEAD.match(one))]
            return "\n".join([*lines[:at], *([f"- Further: {fitting(heads, 150)}."] if heads else [])])
    return block


def _cleaned(block: str, facts: Facts) -> str:
    """Drop the lines of a block that could mean something to a tool; undo tags where JSDoc would read them."""
    lines = []
    for line in block.split("\n"):
        text = _COOKIE.sub("coding -", " ".join(line.split()))
        if not facts.python:
            text = re.sub(r"(?<![\w.])@(?=\w)", "", text)
        if text and is_safe(text):
            lines.append(text)
    return "\n".join(lines)


def _closing(facts: Facts) -> str:
    """Return the last paragraph: how the file is run, what it builds on, who uses it."""
    outline = facts.outline
    parts = []
    if outline.options:
        parts.append(f"Takes the arguments {fitting(safe(outline.options), 100)}.")
    if outline.main and facts.stem != "__main__":
        called = safe([name for name in outline.main_calls if name != "unittest.main"])
        if called:
            parts.append(f"Run as a script, it calls {listed(called, 3)}.")
        elif not outline.is_test:
            parts.append("It can be run as a script.")
    if facts.builds_on and not facts.recipe:
        parts.append(f"Builds on {listed(facts.builds_on, 3)}.")
    if facts.used_by:
        ordered = sorted(facts.used_by, key=lambda path: (is_test_path(path), path))
        names = safe([place_name(path) for path in ordered])
        parts.append(f"Used by {listed(names, 3)}.")
    return " ".join(parts)
