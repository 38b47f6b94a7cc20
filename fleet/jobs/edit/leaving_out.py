"""Answers that leave a part of the text out, with a line that stands for it."""

from __future__ import annotations

import re

_WHAT = r"rest|remain\w*|existing|other|previous|unchanged|same|omitted|original|code|content|text|file"
_DOTS = r"(?:\.{3}|…)"
_MARK = r"\s*(?:\#+|//+|/\*+|--|<!--|;+|%+|\*)?\s*"
_STANDS_FOR = re.compile(
    rf"""
    {_MARK} [(\[]? {_DOTS} \s* [(\[]? (?:[\w'-]+\s+){{0,4}}? (?:{_WHAT})\b [^"']{{0,80}}
    | {_MARK} [(\[]? (?:keep\s+|all\s+)? (?:the\s+)? (?:rest|remainder|remaining|existing|previous|other)\b
      [\w\s]{{0,60}} (?:{_DOTS} .{{0,40}} | (?:unchanged|omitted|(?:the\s+)?same|as\s+before)\b [^\w]{{0,10}})
    """,
    re.IGNORECASE | re.VERBOSE,
)
_SURELY = re.compile(rf".*{_DOTS}.*|.*\b(?:rest|remainder|remaining)\b.*", re.IGNORECASE)
_LONGEST = 200


def left_out(before: str, after: str) -> str:
    """Return a line of ``after`` that stands for text of ``before`` that was left out; empty: there is none.

    A line that stood there before says nothing, nor does one in a text that has lost no line; in a text that has not
    become shorter it must speak of a rest, or have dots.
    """
    old, new = before.split("\n"), after.split("\n")
    there = set(old)
    if there - {""} <= set(new):
        return ""
    shorter = len(new) < len(old)
    lines = (line for line in new if len(line) <= _LONGEST and line not in there)
    found = (line for line in lines if _STANDS_FOR.fullmatch(line) and (shorter or _SURELY.fullmatch(line)))
    return next((line.strip() for line in found), "")
