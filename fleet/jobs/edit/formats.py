"""The forms that an answer may have: whole files, search/replace blocks, a unified diff.

Each is read strictly. What is meant must be said to the letter and at one place; anything else is no answer, and the
reason names the block and the line.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence

from fleet.jobs.edit.answers import (
    BadAnswer,
    Fenced,
    Files,
    Splice,
    around_own_fences,
    fenced_blocks,
    joined,
    lines_of,
    name_above,
    name_behind,
    said,
    spliced,
)
from fleet.jobs.edit.blanks import places, replaced
from fleet.jobs.edit.leaving_out import left_out
from fleet.jobs.edit.unified import parse_diff
from fleet.jobs.edit.wholeness import fault_of_whole
from qodebase.paths import RepoPath

_SEARCH = re.compile(r"<{5,9} ?SEARCH\s*")
_MIDDLE = re.compile(r"={7}\s*")
_MISCOUNTED = re.compile(r"={5,9}\s*")
_REPLACE = re.compile(r">{5,9} ?REPLACE\s*")
_STRAY = re.compile(r"\s*(?:<{5,}|>{5,})[^<>]*")
"""What looks like a line of a block and, outside of all blocks, is none."""
_NO_CHANGE = re.compile(r"\W*no changes?\W*", re.IGNORECASE)
_SHOWN_LINES = 5

ASKING: Mapping[str, str] = {
    "whole": "Answer with the whole new text of {each} in one fenced code block{behind}, its fence longer than any in "
    "the text. Leave nothing out. If nothing is to be changed, answer NO CHANGE.",
    "blocks": "Answer with one block for each place that is to be changed{behind}:\n\n<<<<<<< SEARCH\nlines as they "
    "stand there, enough of them to be found only once\n=======\nthe lines that take their place\n>>>>>>> REPLACE\n\n"
    "If nothing is to be changed, answer NO CHANGE.",
    "diff": "Answer with a unified diff in one fenced code block, with `--- a/path`, `+++ b/path` and three unchanged "
    "lines around each change. If nothing is to be changed, answer NO CHANGE.",
}
"""What the model is told about each form."""


def asking(form: str, files: int) -> str:
    """Return what the model is told about the form of its answer."""
    many = files > 1
    behind = ", below a line with nothing but its path" if many else ""
    return ASKING[form].format(each="each file that is to be changed" if many else "the file", behind=behind)


def says_no_change(answer: str) -> bool:
    """Return whether an answer says, as it was told to, that nothing is to be changed."""
    return _NO_CHANGE.fullmatch(said(answer)) is not None


def parse(form: str, answer: str, files: Files) -> dict[RepoPath, str]:
    """Return the new texts of the files that an answer edits.

    Raises:
        BadAnswer: it is no edit in this form, or of something else than these files.
    """
    found = _PARSERS[form](said(answer), files)
    for path, text in found.items():
        if files[path].strip() and not text.strip():
            raise BadAnswer(f"nothing is left of {path.text}; a file can be edited, not taken away")
        if line := left_out(files[path], text):
            raise BadAnswer(f"{path.text} is not whole, a line stands for what was left out: {line[:80]}")
    return found


def parse_whole(answer: str, files: Files) -> dict[RepoPath, str]:
    """Read whole files, each in a fenced block; where there are several files, or blocks, each names its own."""
    nested = around_own_fences(answer, next(iter(files.values()))) if len(files) == 1 else None
    blocks = [nested] if nested else fenced_blocks(answer)
    if not blocks:
        raise BadAnswer("no fenced block")
    found: dict[RepoPath, Fenced] = {}
    unnamed = []
    for number, block in enumerate(blocks, 1):
        path = name_behind(block.info, files) or name_above(block.above, files)
        if path is None:
            unnamed.append((number, block))
        elif path in found:
            raise BadAnswer(f"two blocks for {path.text}")
        else:
            found[path] = block
    if not found and len(unnamed) == 1 and len(files) == 1:
        found[next(iter(files))] = unnamed.pop()[1]
    texts = {path: _whole(path, block, files[path]) for path, block in found.items()}
    if unnamed:
        several = f"; there are {len(blocks)} blocks" if len(files) == 1 else f"; there are {len(files)} files"
        raise BadAnswer(f"block {unnamed[0][0]} does not say which file it is{several}")
    return texts


def _whole(path: RepoPath, block: Fenced, before: str) -> str:
    text = joined(block.lines)
    if fault := fault_of_whole(path, before, text, block.info):
        raise BadAnswer(f"the block for {path.text} {fault}")
    return text


def parse_blocks(answer: str, files: Files) -> dict[RepoPath, str]:
    """Read search/replace blocks; each is of the file named above it, or of the file of the block before it."""
    splices: defaultdict[RepoPath, list[Splice]] = defaultdict(list)
    lines = answer.split("\n")
    path = next(iter(files)) if len(files) == 1 else None
    at = after = number = 0
    while at < len(lines):
        if not _SEARCH.fullmatch(lines[at]):
            if _STRAY.fullmatch(lines[at]):
                raise BadAnswer(f"a line looks like one of a block and is none: {lines[at].strip()[:80]}")
            at += 1
            continue
        number += 1
        end = next((end for end in range(at, len(lines)) if _REPLACE.fullmatch(lines[end])), None)
        if end is None:
            raise BadAnswer(f"block {number} is not closed: was the answer cut off?")
        path = name_above(lines[after:at], files) or path
        if path is None:
            raise BadAnswer(f"block {number} does not say which file it is; there are {len(files)}")
        splices[path].append(_splice(number, lines[at + 1 : end], path, files[path]))
        at = after = end + 1
    if not number:
        raise BadAnswer("no search/replace block")
    return {path: spliced(files[path], wanted) for path, wanted in splices.items()}


def _splice(number: int, inside: Sequence[str], path: RepoPath, text: str) -> Splice:
    """Return where a block's text stands and what takes its place.

    Where the searched text may hold lines ``=======`` itself, the longest one that the file holds is meant.
    """
    what = f"block {number}"
    lines = lines_of(text)
    if any(_SEARCH.fullmatch(line) and line not in lines for line in inside):
        raise BadAnswer(f"{what} is not closed: another one begins in it")
    sign = _MIDDLE if any(map(_MIDDLE.fullmatch, inside)) else _MISCOUNTED
    middles = [at for at, line in enumerate(inside) if sign.fullmatch(line)]
    if not middles:
        raise BadAnswer(f"{what} has no line =======")
    del middles[sum(1 for line in lines if sign.fullmatch(line)) + 1 :]
    if not lines and middles[0] == 0:
        return Splice(start=0, length=0, lines=tuple(inside[1:]), what=what)
    fitting = [(middle, places(lines, inside[:middle])) for middle in middles if middle]
    if not fitting:
        raise BadAnswer(f"{what} searches for nothing, and {path.text} is not empty")
    middle, found = next((one for one in reversed(fitting) if one[1]), fitting[0])
    if len(found) == 1:
        ((start, width),) = found.items()
        new = replaced(lines[start : start + middle], inside[:middle], inside[middle + 1 :], width)
        return Splice(start=start, length=middle, lines=tuple(new), what=what)
    if not found and (bare := _without_blank_ends(inside, middle)) != inside:
        return _splice(number, bare, path, text)
    sought = " / ".join(inside[: min(middle, 2)]).strip()[:80]
    if not found:
        raise BadAnswer(f"{what} searches for what {path.text} does not hold: {sought}")
    shown = ", ".join(str(at + 1) for at in sorted(found)[:_SHOWN_LINES])
    raise BadAnswer(f"{what} searches for what stands {len(found)} times in {path.text} (lines {shown}): {sought}")


def _without_blank_ends(inside: Sequence[str], middle: int) -> Sequence[str]:
    """Return a block's lines without a blank one that both of its sides begin, or end, with; models add such."""
    search, new = inside[:middle], inside[middle + 1 :]
    if not any(line.strip() for line in search) or not new:
        return inside
    if not search[0].strip() and not new[0].strip():
        return [*search[1:], inside[middle], *new[1:]]
    if not search[-1].strip() and not new[-1].strip():
        return [*search[:-1], inside[middle], *new[:-1]]
    return inside


_PARSERS: Mapping[str, Callable[[str, Files], dict[RepoPath, str]]] = {
    "whole": parse_whole,
    "blocks": parse_blocks,
    "diff": parse_diff,
}
