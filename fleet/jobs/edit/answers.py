"""What an answer may not be, and how it names the files that it edits."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from qodebase.intent import Ending
from qodebase.paths import RepoPath
from qodebase.trunk.naming import fault_of_path

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})[ \t]*([^`]*)$")
_LABEL = re.compile(r"(?:file(?:name)?|path)\s*[:=]\s*", re.IGNORECASE)
_NO_PATH = re.compile(r"[\s:]|[/.]\Z")
_FILE_NAME = re.compile(r"[\w-]+\.[A-Za-z]\w*")
_TOLD = 200
_DECORATION = " \t#*>`'\":"

Files = Mapping[RepoPath, str]
"""The texts that an answer may edit, with plain line ends; empty for a file that is not there yet."""


class BadAnswer(ValueError):
    """An answer that is no edit, and the ending that it is for its intent."""

    def __init__(self, why: str, ending: Ending = Ending.NO_ANSWER) -> None:
        super().__init__(why)
        self.why = why
        self.ending = ending


def forbidden(why: str) -> BadAnswer:
    """Return what ends an intent as refused: the answer wants what no answer may."""
    return BadAnswer(why, Ending.REFUSED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fenced:
    """A fenced block: the words behind its opening fence, the lines above it, its own lines."""

    info: str
    above: tuple[str, ...]
    lines: tuple[str, ...]


def fenced_blocks(answer: str) -> list[Fenced]:
    """Return the fenced blocks of an answer, by CommonMark's rules: a longer fence may hold shorter ones.

    Raises:
        BadAnswer: the last one is not closed.
    """
    found: list[Fenced] = []
    above: list[str] = []
    lines = iter(answer.split("\n"))
    for line in lines:
        opening = _FENCE.match(line)
        if opening is None:
            above.append(line)
            continue
        inside: list[str] = []
        for inner in lines:
            closing = _FENCE.match(inner)
            if closing and not closing[2].strip() and closing[1].startswith(opening[1]):
                break
            inside.append(inner)
        else:
            raise BadAnswer("the fenced block is not closed: was the answer cut off?")
        found.append(Fenced(info=opening[2].strip(), above=tuple(above), lines=tuple(inside)))
        above = []
    return found


def said(answer: str) -> str:
    """Return an answer with plain line ends, without the thoughts that some models tell before it.

    >>> said("<think>\\nHm.\\n</think>\\nYes.\\n")
    'Yes.\\n'
    """
    plain = answer.replace("\r\n", "\n")
    thoughts, end, rest = plain.partition("</think>\n")
    return rest.lstrip("\n") if end and thoughts.lstrip().startswith("<think>") else plain


def around_own_fences(answer: str, text: str) -> Fenced | None:
    """Return the block from the first to the last fence of an answer, where those between are a text's own ones.

    So models answer that do not choose a longer fence for a text that has fences itself.
    """
    lines = answer.split("\n")
    fences = [at for at, line in enumerate(lines) if is_fence(line)]
    own = [line.rstrip() for line in text.split("\n") if is_fence(line)]
    if not own or [lines[at].rstrip() for at in fences[1:-1]] != own:
        return None
    opening, closing = _FENCE.match(lines[fences[0]]), _FENCE.match(lines[fences[-1]])
    if not opening or not closing or closing[2].strip() or not closing[1].startswith(opening[1]):
        return None
    above, inside = lines[: fences[0]], lines[fences[0] + 1 : fences[-1]]
    return Fenced(info=opening[2].strip(), above=tuple(above), lines=tuple(inside))


def fenced(text: str) -> str:
    """Return a text in a fenced block that `fenced_blocks` reads back; its last line ends."""
    runs = (len(found[0]) for found in re.finditer("`{3,}", text))
    fence = "`" * (max(runs, default=2) + 1)
    return f"{fence}\n{joined(lines_of(text))}{fence}"


def is_fence(line: str) -> bool:
    """Return whether a line opens or closes a fenced block."""
    return _FENCE.match(line) is not None


def fence_behind(line: str, fence: str) -> str:
    """Return the fence of the block that is open behind a line, where ``fence`` was before it; empty: none is."""
    found = _FENCE.match(line)
    if found is None or not fence:
        return found[1] if found else fence
    return "" if not found[2].strip() and found[1].startswith(fence) else fence


def name_above(lines: Sequence[str], files: Files, most: int = 2) -> RepoPath | None:
    """Return the file that one of the last lines names, alone or as ``File: name``; None where none does.

    Raises:
        BadAnswer: one names a file that is not to be edited.
    """
    told = [line for line in lines if line.strip() and not is_fence(line)][-most:]
    return next((path for line in reversed(told) if (path := name_in(line, files)) is not None), None)


def name_in(line: str, files: Files) -> RepoPath | None:
    """Return the file that a line names and nothing else, decorated or as ``File: name``; see `name_above`."""
    bare = _LABEL.sub("", line.strip(_DECORATION)).strip(_DECORATION)
    known = _known(bare, files)
    return named(bare, files) if known is None and _is_meant_as_path(bare) else known


def _is_meant_as_path(text: str) -> bool:
    """Return whether what stands alone is meant as a path: it has folders, or an ending."""
    return _FILE_NAME.fullmatch(text) is not None if "/" not in text else _NO_PATH.search(text) is None


def name_behind(info: str, files: Files) -> RepoPath | None:
    """Return the file that a word behind a fence names: a path, or ``path=name``; see `name_above`."""
    for word in info.split():
        found = _known(word, files)
        if found is not None or "/" in word or "=" in word:
            return found or named(word.rpartition("=")[2].strip("\"'"), files)
    return None


def named(text: str, files: Files) -> RepoPath:
    """Return the file of this name.

    Raises:
        BadAnswer: it is not to be edited.
    """
    known = _known(text, files)
    if known is not None:
        return known
    path = RepoPath(text.encode(errors="replace"))
    fault = fault_of_path(path)
    told = path.text if len(path.text) <= _TOLD else f"{path.text[:_TOLD]}..."
    raise forbidden(f"unsafe path {told}: {fault}" if fault else f"outside its scope: {told}")


def _known(text: str, files: Files) -> RepoPath | None:
    return next((path for path in files if path.text == text.removeprefix("./")), None)


def lines_of(text: str) -> list[str]:
    """Return a text's lines; the end of the last one is not kept."""
    lines = text.split("\n")
    return lines[:-1] if not lines[-1] else lines


def joined(lines: Iterable[str]) -> str:
    """Return lines as a text, each with its end."""
    return "".join(f"{line}\n" for line in lines)


@dataclass(frozen=True, slots=True, kw_only=True)
class Splice:
    """Lines that take the place of ``length`` lines from ``start`` on; ``what`` names who wants it, for errors."""

    start: int
    length: int
    lines: tuple[str, ...]
    what: str


def spliced(text: str, splices: Iterable[Splice]) -> str:
    """Return a text with every splice made.

    Raises:
        BadAnswer: two of them overlap.
    """
    lines = lines_of(text)
    out: list[str] = []
    at = 0
    for splice in sorted(splices, key=lambda one: one.start):
        if splice.start < at:
            raise BadAnswer(f"{splice.what} overlaps another one")
        out += lines[at : splice.start]
        out += splice.lines
        at = splice.start + splice.length
    return joined([*out, *lines[at:]])
