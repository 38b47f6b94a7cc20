"""The answer format: for each file that changes, its new and changed definitions, whole.

::

    FILE shop/orders.py
    RENAME late_fee delay_fee
    REMOVE old_fee
    ```python
    def delay_fee(kind, amount=0):
        return amount * 3
    ```

A definition is a function, a class, a constant or an import at the top level. One that the file has is replaced where
it stands; a new one goes behind the definition that stands before it in the block, else a constant goes before the
first function and anything else to the end of the file. RENAME says that the block's definition of the second name
takes the place of the first. A task of one file needs no FILE line. Only lines that differ become hunks.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import accumulate

from fleet.jobs.tasks.definitions import IMPORT, Definition, NoPython, Outline, outline_of, split_lines
from qodebase.change import Hunk, Patch
from qodebase.paths import RepoPath
from replay_rules.hunks import hunks

FORMAT = """\
Answer in this form, for each file that changes:

FILE path/of/the/file.py
```python
every definition that is new or changed, whole
```

A definition is a function, a class, a constant or an import at the top level of the file. One that the file has already
is replaced where it stands. A new one goes behind the definition that stands before it in your block, so repeat an
unchanged one to say where. Between FILE and the block you may write lines `RENAME old new`, where the block's
definition `new` takes the place of `old`, and `REMOVE name`. Leave out what does not change. Where what the task is
about is not there any more, answer with one line: GONE and why."""

_FILE = re.compile(r"^[#*\s]*FILE:?\s+`?([^`*]*[/.][^`*]*?)`?[:*\s]*$")
_ORDER = re.compile(r"^\W*(RENAME|REMOVE):?\s+`?(\w+)`?(?:\s+(?:to\s+|->\s*)?`?(\w+)`?)?\W*$")
_GONE = re.compile(r"^\W*GONE\b:?(.*)")
_FENCE = re.compile(r"^\s*(```+|~~~+)")


class BadAnswer(ValueError):
    """An answer that is no change; the message says why."""


class OutOfScope(BadAnswer):
    """An answer that changes a file that is not among those of its task."""


class SaysGone(BadAnswer):
    """An answer that says that what the task is about is not there any more."""


@dataclass(kw_only=True)
class Section:
    """What an answer says about one file."""

    code: str = ""
    renames: dict[str, str] = field(default_factory=dict)
    removes: list[str] = field(default_factory=list)


def render(sections: Mapping[RepoPath, Section]) -> str:
    """Return the answer's text."""
    out = []
    for path, section in sections.items():
        out.append(f"FILE {path.text}")
        out += [f"RENAME {old} {new}" for old, new in section.renames.items()]
        out += [f"REMOVE {name}" for name in section.removes]
        out += [f"```python\n{section.code.rstrip()}\n```", ""]
    return "\n".join(out)


def read(answer: str, paths: tuple[RepoPath, ...]) -> dict[RepoPath, Section]:
    """Read an answer's text.

    Raises:
        BadAnswer: it has no block, a block without a file, or a file that is none of ``paths``.
    """
    found: dict[RepoPath, Section] = {}
    known = {path.text: path for path in paths}
    here = paths[0] if len(paths) == 1 else None
    fence = ""
    for line in answer.replace("\r\n", "\n").split("\n"):
        mark = _FENCE.match(line)
        if fence:
            if mark and mark[1].startswith(fence) and not line.strip().strip("`~"):
                fence = ""
            elif here is not None:
                found[here].code += f"{line}\n"
        elif mark:
            if here is None:
                raise BadAnswer("a block of code stands below no FILE line")
            fence = mark[1]
            found.setdefault(here, Section())
        elif named := _FILE.match(line):
            name = named[1].removeprefix("./")
            if name not in known:
                raise OutOfScope(f"outside its scope: {name}")
            here = known[name]
        elif (order := _ORDER.match(line)) and here is not None:
            section = found.setdefault(here, Section())
            if order[1] == "REMOVE":
                section.removes.append(order[2])
            elif order[3]:
                section.renames[order[2]] = order[3]
    if fence:
        raise BadAnswer("its last block of code has no end")
    if not found and (gone := _GONE.match(answer)):
        raise SaysGone(gone[1].strip() or "what the task is about")
    if not found:
        raise BadAnswer("it holds no block of code")
    return found


def apply(path: RepoPath, source: str, section: Section) -> Patch:
    """Return the hunks that put a section's definitions into a file.

    Raises:
        BadAnswer: the code does not parse or holds other statements; it names what is not there; or nothing changes.
    """
    try:
        old, new = outline_of(source), outline_of(section.code)
    except NoPython as error:
        raise BadAnswer(f"the code for {path.text} does not parse: {error}") from None
    if new.others:
        line = new.lines[new.others[0]].strip()
        raise BadAnswer(f"the code for {path.text} holds a statement that is no definition: {line[:60]}")
    edits = _Edits(old)
    for name in section.removes:
        edits.remove(_known(path, old, name))
    places = {new_name: old_name for old_name, new_name in section.renames.items()}
    anchor: Definition | None = None
    seen: set[str] = set()
    for definition in new.definitions:
        if definition.kind == IMPORT:
            edits.add_import(new.text(definition))
            continue
        if definition.name in seen:
            raise BadAnswer(f"the code for {path.text} defines {definition.name} twice")
        seen.add(definition.name)
        replaced = places.pop(definition.name, None)
        if replaced:
            there: Definition | None = _known(path, old, replaced)
        else:
            there = None if definition.name in section.renames else old.find(definition.name)
        if there is None:
            edits.insert(definition, new.text(definition), anchor)
        else:
            edits.replace(there, new.text(definition))
            anchor = there
    if places:
        name = next(iter(places))
        raise BadAnswer(f"the code for {path.text} does not define {name}, which something is renamed to")
    return Patch(path=path, hunks=edits.hunks("\r\n" if source.count("\r\n") * 2 > source.count("\n") else "\n"))


def _known(path: RepoPath, outline: Outline, name: str) -> Definition:
    found = outline.find(name)
    if found is None:
        raise BadAnswer(f"{path.text} has no {name} any more, which the answer names")
    return found


class _Edits:
    """Line ranges of a source and what they become."""

    def __init__(self, outline: Outline) -> None:
        self._outline = outline
        self._lines = outline.lines
        self._edits: list[tuple[int, int, list[str]]] = []
        self._inserted: dict[int, list[str]] = {}

    def replace(self, there: Definition, text: str) -> None:
        """Replace a definition by a text; only lines that differ count."""
        own = there
        if not text.startswith("#"):
            while self._lines[own.start].startswith("#"):
                own = own._replace(start=own.start + 1)
        before = [line.rstrip("\r\n").encode() for line in self._lines[own.start : own.end]]
        after = [line.rstrip("\r\n") for line in split_lines(text)]
        for hunk in hunks(before, [line.encode() for line in after]):
            lines = [line.decode() for line in hunk.lines]
            self._edits.append((own.start + hunk.start, own.start + hunk.end, lines))

    def remove(self, there: Definition) -> None:
        """Take a definition out, with the blank lines before it."""
        start = there.start
        while start and not self._lines[start - 1].strip():
            start -= 1
        self._edits.append((start, there.end, []))

    def insert(self, definition: Definition, text: str, anchor: Definition | None) -> None:
        """Put a new definition behind another one, or where its kind goes."""
        lines = [line.rstrip("\r\n") for line in split_lines(text)]
        if anchor is None and definition.kind == "constant":
            first = next((one for one in self._outline.definitions if one.kind in ("function", "class")), None)
            if first is not None:
                self._inserted.setdefault(first.start, []).extend([*lines, "", ""])
                return
        blank = [""] if anchor is not None and anchor.kind == definition.kind == "constant" else ["", ""]
        self._inserted.setdefault(self._end() if anchor is None else anchor.end, []).extend([*blank, *lines])

    def add_import(self, text: str) -> None:
        """Put an import behind the last one, where it is not there yet."""
        imports = [one for one in self._outline.definitions if one.kind == IMPORT]
        if any(self._outline.text(one).strip() == text.strip() for one in imports):
            return
        at = imports[-1].end if imports else self._head()
        self._inserted.setdefault(at, []).extend(line.rstrip("\r\n") for line in split_lines(text))

    def hunks(self, end: str) -> tuple[Hunk, ...]:
        """Return the hunks in bytes of the source.

        Raises:
            BadAnswer: there is none, or a definition is removed and replaced.
        """
        edits = sorted([*self._edits, *((at, at, lines) for at, lines in self._inserted.items())], key=_place)
        if not edits:
            raise BadAnswer("it changes nothing")
        offsets = list(accumulate((len(line.encode()) for line in self._lines), initial=0))
        out: list[Hunk] = []
        reached = 0
        for first, last, lines in edits:
            if first < reached:
                raise BadAnswer("it changes one place twice")
            reached = last
            text = "".join(f"{line}{end}" for line in lines).encode()
            if first == len(self._lines) and self._lines and not self._lines[-1].endswith("\n"):
                text = end.encode() + text
            if out and out[-1].offset + out[-1].length == offsets[first]:
                before = out.pop()
                length = before.length + offsets[last] - offsets[first]
                out.append(Hunk(offset=before.offset, length=length, text=before.text + text))
            else:
                out.append(Hunk(offset=offsets[first], length=offsets[last] - offsets[first], text=text))
        return tuple(out)

    def _end(self) -> int:
        end = len(self._lines)
        while end and not self._lines[end - 1].strip():
            end -= 1
        return end

    def _head(self) -> int:
        """Return the line below the module's docstring and the comments at the top."""
        at = 0
        while at < len(self._lines) and self._lines[at].startswith("#"):
            at += 1
        others = self._outline.others
        if others and others[0] <= at + 1 and self._lines[others[0]].lstrip("rR").startswith(('"', "'")):
            quote = self._lines[others[0]].lstrip("rR")[:3]
            at = others[0]
            if quote in ('"""', "'''") and self._lines[at].count(quote) == 1:
                at += 1
                while at < len(self._lines) and quote not in self._lines[at]:
                    at += 1
            at += 1
        return at


def _place(edit: tuple[int, int, Iterable[str]]) -> tuple[int, int]:
    return edit[0], edit[1]
