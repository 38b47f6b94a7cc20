"""Text rules: what a header may not say, because a compiler, an interpreter or a tool would act on it.

A rule names a pattern and what takes its place. A text that a rule still finds after all replacements is refused.
All of them were seen to break a real tool.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

MAX_CHARACTERS = 8000
CONTROL = "control character"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One thing that a header may not hold: its name, how it is found, and the harmless spelling of it."""

    name: str
    pattern: re.Pattern[str]
    harmless: str


def rule(name: str, pattern: str, harmless: str) -> Rule:
    """Return a rule; ``pattern`` matches line by line and ignores case, ``harmless`` may name its groups."""
    return Rule(name=name, pattern=re.compile(pattern, re.IGNORECASE | re.MULTILINE), harmless=harmless)


COMMON = (
    rule("conflict marker", r"(?<!\S)([<>|=])\1{6,}(?!\S)", r"\1\1\1"),
    rule("expanded keyword", r"\$(\w+)(?=[:$])", r"\1"),
    rule("generated marker", r"@(generated|partially-generated)\b", r"\1"),
    rule("generated marker", r"\bdo\s+not\s+(?:edit|modify)\b", r"leave unedited"),
    rule("generated marker", r"\bauto(?:matically)?[-\s]*generated\b", "produced"),
    rule("generated marker", r"\bgenerated(?=\s+(?:by|from|with|using)\b)", "produced"),
    rule("editor mode line", r"\b(vim?|ex)(?=:)", r"\1 "),
    rule("editor mode line", r"-\*-", "-"),
    rule("suppression", r"\bno(qa|sec|lint)\b", r"no-\1"),
)


def broken_rules(text: str, rules: Sequence[Rule]) -> tuple[str, ...]:
    """Return the names of the rules that ``text`` breaks, the common ones included; each name once."""
    names = [CONTROL] if any(_is_control(char) for char in text) else []
    names += [entry.name for entry in (*COMMON, *rules) if entry.pattern.search(text)]
    return tuple(dict.fromkeys(names))


def sanitise(text: str, rules: Sequence[Rule]) -> tuple[str, tuple[str, ...]]:
    """Return ``text`` in its harmless spelling and the names of the rules that changed it.

    A replacement can make a new match, so the rules are applied until nothing changes, at most four times; the
    caller asks `broken_rules` afterwards. Line ends become ``\\n``, lines lose their trailing blanks, and what wraps
    the whole text (a code fence, quotes, comment marks) is taken off.
    """
    names: list[str] = []
    clean = unwrapped(_newlines(text))
    if any(_is_control(char) for char in clean):
        names.append(CONTROL)
        clean = "".join(char for char in clean if not _is_control(char))
    for _ in range(4):
        changed = clean
        for entry in (*COMMON, *rules):
            changed, count = entry.pattern.subn(entry.harmless, changed)
            if count:
                names.append(entry.name)
        if changed == clean:
            break
        clean = changed
    return _trimmed(clean), tuple(dict.fromkeys(names))


def unwrapped(text: str) -> str:
    """Return ``text`` without the code fence, docstring quotes or comment marks that a model put around all of it."""
    inner = text.strip()
    for pattern in (_FENCE, _QUOTES, _BLOCK):
        match = pattern.fullmatch(inner)
        if match:
            inner = match["inner"]
            if pattern is _BLOCK:
                inner = re.sub(r"^[ \t]*\*(?!\*)[ \t]?", "", inner, flags=re.MULTILINE)
    return _trimmed(inner)


_FENCE = re.compile(r"```[\w+-]*\n(?P<inner>(?:(?!```).)*)```", re.DOTALL)
_QUOTES = re.compile(r'[rRuU]?(?P<mark>"""|\'\'\')(?P<inner>(?:(?!(?P=mark)).)*)(?P=mark)', re.DOTALL)
_BLOCK = re.compile(r"/\*[*!]?(?P<inner>(?:(?!\*/).)*)\*/", re.DOTALL)


def _newlines(text: str) -> str:
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    return re.sub("[\u0085\u2028\u2029\v\f]", "\n", text).replace("\t", "    ")


def _trimmed(text: str) -> str:
    lines = "\n".join(line.rstrip() for line in text.split("\n"))
    return re.sub(r"\n{3,}", "\n\n", lines).strip("\n").rstrip()


def _is_control(char: str) -> bool:
    """Return whether a character is a control, a format (bidirectional ones too), a surrogate or a line separator."""
    if " " <= char <= "~" or char == "\n":
        return False
    return unicodedata.category(char) in {"Cc", "Cf", "Cs", "Zl", "Zp"}
