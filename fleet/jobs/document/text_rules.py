"""Text rules: what a header may not say, because a compiler, an interpreter or a tool would act on it.

A rule names a pattern and what takes its place. A text that a rule still finds after all replacements is refused.
All of them were seen to break a real tool.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

MAX_CHARACTERS = 8000
CONTROL = "control character"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Rule:
    """One thing that a header may not hold: its name, how it is found, and the harmless spelling of it.

    ``needles`` are lower-case; where none of them occurs the pattern cannot match and is not tried. A rule equals
    only itself.
    """

    name: str
    needles: tuple[str, ...]
    pattern: re.Pattern[str]
    harmless: str

    def applies(self, lowered: str) -> bool:
        """Return whether the rule could match a text, given in lower case."""
        return any(needle in lowered for needle in self.needles)


def rule(name: str, needles: str, pattern: str, harmless: str) -> Rule:
    """Return a rule; ``needles`` are separated by blanks, ``harmless`` may name groups, case is ignored."""
    return Rule(
        name=name,
        needles=tuple(needles.split()),
        pattern=re.compile(pattern, re.IGNORECASE),
        harmless=harmless,
    )


@lru_cache
def _needles(rules: tuple[Rule, ...]) -> tuple[tuple[str, Rule], ...]:
    """Return the needles of the common rules and of ``rules``, each with its rule, in the rules' order."""
    return tuple((needle, one) for one in (*COMMON, *rules) for needle in one.needles)


def _possible(lowered: str, rules: tuple[Rule, ...]) -> list[Rule]:
    """Return the rules that could match a text, given in lower case, in their order."""
    found = [one for needle, one in _needles(rules) if needle in lowered]
    return list(dict.fromkeys(found)) if len(found) > 1 else found


_CONTROL = re.compile(
    "[\x00-\x09\x0b-\x1f\x7f-\x9f\xad\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u180e\u200b-\u200f"
    "\u2028-\u202e\u2060-\u206f\ud800-\udfff\ufeff\ufff9-\ufffb"
    "\U000110bd\U000110cd\U00013430-\U0001345f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
"""Unicode's controls, format characters (bidirectional ones, zero-width ones, tags), surrogates, line separators."""

COMMON = (
    rule("conflict marker", "<<<<<<< ======= >>>>>>> |||||||", r"(?<!\S)([<>|=])\1{6,}(?!\S)", r"\1\1\1"),
    rule("expanded keyword", "$", r"\$(\w+)(?=[:$])", r"\1"),
    rule("generated marker", "generated", r"@(generated|partially-generated)\b", r"\1"),
    rule("generated marker", "edit modify", r"\bdo\s+not\s+(?:edit|modify)\b", r"leave unedited"),
    rule("generated marker", "generated", r"\bauto(?:matically)?[-\s]*generated\b", "produced"),
    rule("generated marker", "generated", r"\bgenerated(?=\s+(?:by|from|with|using)\b)", "produced"),
    rule("editor mode line", "vi: vim: ex:", r"\b(vim?|ex):\s*", r"\1 "),
    rule("editor mode line", "-*-", r"-\*-", "-"),
    rule("suppression", "noqa nosec nolint", r"\bno(qa|sec|lint)\b", r"no-\1"),
)


def _has_controls(text: str) -> bool:
    """Return whether a text holds what `_CONTROL` finds, which it need not be asked about plain ASCII."""
    if text.isascii() and text.replace("\n", "").isprintable():
        return False
    return _CONTROL.search(text) is not None


def broken_rules(text: str, rules: Sequence[Rule]) -> tuple[str, ...]:
    """Return the names of the rules that ``text`` breaks, the common ones included; each name once."""
    names = [CONTROL] if _has_controls(text) else []
    names += [one.name for one in _possible(text.lower(), tuple(rules)) if one.pattern.search(text)]
    return tuple(dict.fromkeys(names))


def sanitise(text: str, rules: Sequence[Rule]) -> tuple[str, tuple[str, ...]]:
    """Return ``text`` in its harmless spelling and the names of the rules that changed it.

    A replacement can make a new match, so the rules are applied until nothing changes, at most four times; the
    caller asks `broken_rules` afterwards. Line ends become ``\\n``, lines lose their trailing blanks, and what wraps
    the whole text (a code fence, quotes, comment marks) is taken off.
    """
    names: list[str] = []
    clean = unwrapped(_newlines(text))
    if _has_controls(clean):
        names.append(CONTROL)
        clean = _CONTROL.sub("", clean)
    for _ in range(4):
        changed, more = _replaced(clean, rules)
        names += more
        if changed == clean:
            break
        clean = changed
    return _trimmed(clean), tuple(dict.fromkeys(names))


def _replaced(text: str, rules: Sequence[Rule]) -> tuple[str, list[str]]:
    names: list[str] = []
    lowered = text.lower()
    if not _possible(lowered, tuple(rules)):
        return text, names
    for entry in (*COMMON, *rules):
        if not entry.applies(lowered):
            continue
        text, count = entry.pattern.subn(entry.harmless, text)
        if count:
            names.append(entry.name)
            lowered = text.lower()
    return text, names


def unwrapped(text: str) -> str:
    """Return ``text`` without the code fence, docstring quotes or comment marks that a model put around all of it."""
    inner = text.strip()
    for pattern in (_FENCE, _QUOTES, _BLOCK):
        match = pattern.fullmatch(inner)
        if match:
            inner = match["inner"].strip("\n").rstrip()
            if pattern is _BLOCK:
                inner = re.sub(r"^[ \t]*\*(?!\*)[ \t]?", "", inner, flags=re.MULTILINE)
    return _trimmed(inner)


_FENCE = re.compile(r"```[\w+-]*\n(?P<inner>(?:(?!```).)*)```", re.DOTALL)
_QUOTES = re.compile(r'[rRuU]?(?P<mark>"""|\'\'\')(?P<inner>(?:(?!(?P=mark)).)*)(?P=mark)', re.DOTALL)
_BLOCK = re.compile(r"/\*[*!]?(?P<inner>(?:(?!\*/).)*)\*/", re.DOTALL)
_LINE_ENDS = ("\r\n", "\r", "\u0085", "\u2028", "\u2029", "\v", "\f")


def _newlines(text: str) -> str:
    for end in _LINE_ENDS:
        text = text.replace(end, "\n")
    return text.replace("\t", "    ")


def _trimmed(text: str) -> str:
    lines = "\n".join([line.rstrip() for line in text.split("\n")])
    if "\n\n\n" in lines:
        lines = re.sub(r"\n{3,}", "\n\n", lines)
    return lines.strip("\n").rstrip()
