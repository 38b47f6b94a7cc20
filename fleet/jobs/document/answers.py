"""Which answers are documentation at all: models also loop, write code, talk to whoever asked, repeat the question.

Every reason is one fixed text, so that endings can be counted by it. Where a look cannot tell, the answer passes. Of
1,116 module docstrings that people wrote, 11 are taken for something else (most of them quote code), and 66 name a web
address that their file does not, which people know and models make up.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise

from fleet.jobs.document.text_rules import MAX_CHARACTERS

FENCE = "it holds a code fence"
BARE = "it says nothing"
TALK = "it talks of the question, not of the file"
ECHO = "it repeats the question"
LOOP = "it repeats itself"
CODE = "it is code"
BREAKS = "it breaks off"
ADDRESS = "it names a web address that the file does not"

_ECHO_WORDS = 8
_LOOP_WORDS = 30
_ONCE = 0.6
"""The least share of runs of four words that come only once; half of people's documentation has all of them once."""

_TALK = re.compile(
    r"""
    (?:sure|certainly|of\ course|absolutely|okay|ok|great|thank\ you|thanks)\s*[,.!:]
    | (?:here|below|this)(?:'s|\ is|\ are)\ (?:the|an?|some|your|my)\ (?:\w+\ ){0,4}?
      (?:documentation|docstring|header|comment|summary|text|answer|response|version)s?\b[^.\n]*:
    | (?:i'm|i\ am)\ (?:sorry|an?\ (?:ai|language|assistant)|unable|not\ able|ready|happy|glad|here)\b
    | i\ (?:can't|cannot|can\ not|apologi[sz]e|don't\ have|do\ not\ have|need\ (?:more|you))\b
    | as\ an?\ (?:ai|large\ language|language|helpful)\b
    | (?:please|could\ you|can\ you)\ (?:provide|paste|share|give|send|let\ me)\b
    """,
    re.IGNORECASE | re.VERBOSE,
)
_ASKED = re.compile(
    r"""
    \b(?:first|second|third|last|next|opening)\ paragraphs?\b
    | \brest\ of\ the\ (?:file|code|document\w*)\ (?:is\ not\ shown|can\ be\ found)\b
    | \A(?:the|this)\ (?:following\ )?(?:documentation|docstring|document)\b
    | \bthe\ file\ contains\ documentation\b | \bthe\ following\ code\b
    """,
    re.IGNORECASE | re.VERBOSE,
)
_ASKED_WORDS = ("paragraph", "document", "docstring", "rest of the ", "following code")
"""One of them stands in whatever `_ASKED` finds, which takes long to look for."""

_CODE = re.compile(
    r"""
    (?:async\ )?def\ \w+\(.* | class\ \w+(?:\(.*\))?: | @\w+(?:\.\w+)*(?:\(.*\))?
    | from\ [\w.]+\ import\ .* | import\ [\w.]+(?:\(.*\)|\ as\ \w+)?(?:,\ *[\w.]+)*;?
    | (?:if|elif|for|while|with|except|try|else|finally)\b[^.?!]*: | return\b(?:[^.]*[;)\]}\w])?
    | [\w.\[\]'"]+\ ?[-+*/|&]?=\ ?[^=\s].* | [\w.]+\(.*\)[;:]? | [{}()\[\];,]+ | .*[;{}]
    | (?:const|let|var|function|export|public|private|static|func|package|using|\#include|fn|impl|use)\b.*[;{(]
    | (?:\#|//|/\*|\*/).* | >>>\ .*
    """,
    re.VERBOSE,
)
_CODE_SIGN = re.compile(r"[](){}[;:=@#/>]")
_CODE_WORDS = ("from ", "import ", "return", ",")
"""What `_CODE` finds begins with one of them or has a sign of code."""

_WORD = re.compile(r"[^\W_][\w.'-]*")
_HOST = re.compile(r"https?://([^/\s)>\]]+)")
_COMMENT = re.compile(r"\s(?:#|//) .*")
_SENTENCE_END = re.compile(r"(?<=[.:!?])\s+")


def fault_of(text: str, content: bytes, asked: str) -> str:
    """Return why a text is no documentation of a file, or the empty text.

    Args:
        text: the answer, without what wraps all of it.
        content: the file.
        asked: the prompt, without the file.

    A text that is too long to be a header passes: it is refused where it is written.
    """
    if len(text) > MAX_CHARACTERS:
        return ""
    if "```" in text:
        return FENCE
    words = _WORD.findall(text.lower())
    if len(words) < 2 and text.isascii():
        return BARE
    if not _runs_of(asked).isdisjoint(_runs(words)):
        return ECHO
    if _TALK.match(text.lstrip("*_#> \n\"'")) or _repeats_the_question(text):
        return TALK
    if text.rstrip().endswith(":"):
        return BREAKS
    if any(host.encode("utf-8", "replace") not in content for host in _HOST.findall(text)):
        return ADDRESS
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if _loops(lines):
        return LOOP
    return CODE if _is_code(lines, content) else ""


def _repeats_the_question(text: str) -> bool:
    folded = text.casefold()
    return any(word in folded for word in _ASKED_WORDS) and _ASKED.search(text) is not None


def _loops(lines: Sequence[str]) -> bool:
    """Return whether a line comes three times or, outside of lists, a sentence twice or runs of four words too often.

    Items of a list say the same of different things, so only whole ones are looked at.
    """
    if len(lines) - len(set(lines)) > 1:
        counts = Counter(line for line in lines if len(line.split()) > 2)
        if max(counts.values(), default=0) > 2:
            return True
    prose = [line for line in lines if not line.startswith(("- ", "* "))]
    said = [part for line in prose for part in _SENTENCE_END.split(line)]
    if len(set(said)) < len(said):
        counts = Counter(part for part in said if len(part.split()) > 8)
        if max(counts.values(), default=0) > 1:
            return True
    words = _WORD.findall(" ".join(prose).lower())
    if len(words) < _LOOP_WORDS:
        return False
    pairs = list(pairwise(words))
    runs = list(zip(pairs, pairs[2:], strict=False))
    # Each run that is not the only one of its kind takes at most one kind from those that come once.
    if 2 * len(set(runs)) - len(runs) >= _ONCE * len(runs):
        return False
    once = sum(1 for count in Counter(runs).values() if count == 1)
    return once < _ONCE * len(runs)


def _is_code(lines: Sequence[str], content: bytes) -> bool:
    """Return whether a text begins with code, is mostly code, or is mostly taken from the file."""
    code = [_is_code_line(line) for line in lines]
    if code[0] or 3 * sum(code) > 2 * len(lines):
        return True
    copied = sum(1 for line in lines if len(line) > 12 and line.encode("utf-8", "replace") in content)
    return copied > 2 and 2 * copied > len(lines)


def _is_code_line(line: str) -> bool:
    if _CODE_SIGN.search(line) is None and not line.startswith(_CODE_WORDS):
        return False
    return _CODE.fullmatch(_COMMENT.sub("", line).rstrip()) is not None


@lru_cache(maxsize=4)
def _runs_of(asked: str) -> frozenset[tuple[str, ...]]:
    """Return the runs of eight words in a prompt."""
    return frozenset(_runs(_WORD.findall(asked.lower())))


def _runs(words: Sequence[str]) -> Iterator[tuple[str, ...]]:
    return zip(*(words[at:] for at in range(_ECHO_WORDS)), strict=False)
