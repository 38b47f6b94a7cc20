"""Python: a module docstring behind the shebang, coding line, licence and file-wide directives, before all else."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from fleet.jobs.document.encoding import read_run, run_encoding
from fleet.jobs.document.language import BOM, Ending, Language, NoPlace, Place
from fleet.jobs.document.layout import laid_out
from fleet.jobs.document.leading import Item, Role, plain_role, spot_among
from fleet.jobs.document.text_rules import rule

if TYPE_CHECKING:
    from replay_rules.parsing import Parsed

WIDTH = 88
MAX_LINES = 500

_LINE = re.compile(rb"[ \t\f]*(?P<comment>#[^\r\n]*)?(?P<newline>\r\n|\n|\r|\Z)")
_COOKIE = re.compile(rb"[ \t\f]*#.*?coding[:=][ \t]*(?P<codec>[-\w.]+)")
_TOOLS = rb"mypy|pyright|pytype|pylint|flake8|ruff|isort|yapf|fmt|cython|distutils|coverage|pragma|nosec|noqa|nopep8"
_DIRECTIVE = re.compile(
    rb"#\s*(?:type:\s*ignore|(?:" + _TOOLS + rb")\b\s*(?:[:=]|$)|-\*-|(?:vim?|ex):|///|cspell:|%)", re.IGNORECASE
)
_NEXT = re.compile(rb"#\s*(?:pylint:\s*disable-next|noinspection\b)", re.IGNORECASE)
_BLOCK_START = re.compile(rb"(?:def|class|async[ \t]+def)\b|@")
_OWN_DOC = re.compile(
    rb"(?P<class_own>^[ \t]+__doc__[ \t]*=(?!=))|(?<![\w.'\"])__doc__(?![\w'\"])|"
    rb"(?:globals|vars|locals)\(\)\s*[\[.(\w]+\s*['\"]__doc__|(?:modules\[__name__\]|__main__)\.__doc__",
    re.MULTILINE,
)
_BLANKS = re.compile(rb"(?:[ \t\f]|\\\r?\n)*+")
_INSIDE = re.compile(rb"(?:[ \t\f\r\n]|\\\r?\n|#[^\r\n]*)*+")
_STRING = re.compile(
    rb"(?P<prefix>[A-Za-z]{0,2})"
    rb"(?:\"\"\"(?:[^\\]|\\.)*?\"\"\"|'''(?:[^\\]|\\.)*?'''"
    rb"|\"(?:[^\"\\\r\n]|\\(?:\r\n|.))*+\"|'(?:[^'\\\r\n]|\\(?:\r\n|.))*+')",
    re.DOTALL,
)
_STRING_START = re.compile(rb"(?P<prefix>[A-Za-z]{0,2})[\"']")
_RUN = re.compile(r'\n{0,3}(?P<raw>r?)"""(?P<body>(?:(?!""").)+)"""\n{1,4}', re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Top:
    """The top of a file: its leading comments, the blank lines before them, where code starts, its codec."""

    items: Sequence[Item]
    blanks: int
    code: int
    codec: str


class Python(Language):
    """Python's rules; ``ast`` is asked nowhere, because it follows the running Python and not the file's."""

    name = "python"
    grammars: ClassVar[Mapping[bytes, str]] = {b".py": "python", b".pyw": "python", b".pyi": "python"}
    declarations = (b".pyi",)
    ahead = frozenset({"comment"})
    outline_module = "fleet.jobs.document.languages.outline_python"
    header_apart = True
    rules = (
        rule("closing quotes", '"""', r'"{3,}', "'''"),
        rule("trailing backslash", "\\", r"\\+\s*\Z", ""),
        rule("doctest prompt", ">>>", r">>>+", ">>"),
        rule("encoding line", "coding: coding=", r"coding[:=]\s*", "coding "),
        rule("directive", "#", r"#\s*(" + _TOOLS.decode() + r")\s*[:=]\s*", r"\1 "),
        rule("directive", "isort:", r"\bisort:\s*", "isort "),
        rule("directive", "///", r"#\s*///", "# //"),
        rule("type comment", "ignore", r"\btype:\s*ignore\b", "type ignore"),
    )

    def find_place(self, content: bytes) -> Place | NoPlace:
        """Return where the module docstring goes, or why there is none to write."""
        top = _top(content)
        if isinstance(top, NoPlace):
            return top
        encoding = _encoding(content, top.codec)
        if encoding is None:
            return NoPlace(ending=Ending.ENCODING, reason=f"its bytes cannot be read and extended as {top.codec}")
        documented = _documented(content, top.code)
        if documented is not None:
            return documented
        spot = spot_among(top.items, len(BOM) if content.startswith(BOM) else 0, top.blanks)
        wanted = 2 if _BLOCK_START.match(content, top.code) else 1
        return Place(
            offset=spot.offset,
            after=spot.after,
            blank_before=1 if spot.follows_comment else 0,
            blank_after=max(0, wanted - spot.blanks),
            newline="\r\n" if b"\r\n" in content[: content.find(b"\n") + 1] else "\n",
            encoding=encoding,
        )

    def render(self, text: str, place: Place) -> bytes:
        """Return ``text`` as a docstring: on one line if it fits, else with the closing quotes on their own line."""
        raw = "r" if "\\" in text else ""
        lines = laid_out(text, WIDTH, first=len(raw) + 3)
        one = len(lines) == 1 and len(raw) + len(lines[0]) + 6 <= WIDTH and not lines[0].endswith('"')
        body = lines[0] if one else "\n".join([*lines, ""])
        run = "\n" * place.blank_before + f'{raw}"""{body}"""' + "\n" * (1 + place.blank_after)
        return run.replace("\n", place.newline).encode(place.encoding)

    def body_of(self, run: bytes, place: Place) -> str | None:
        """Return the text of the docstring that ``run`` is, None if it is not exactly one string of its own."""
        text = read_run(run, place.encoding, place.newline)
        if text is None:
            return None
        match = _RUN.fullmatch(text)
        if match is None:
            return None
        body = match["body"]
        if body.endswith(('"', "\\")) or ("\\" in body and not match["raw"]) or not body.strip():
            return None
        return body

    def stands_alone(self, parsed: Parsed, start: int, end: int) -> bool:
        """Return whether these bytes are one string that is a statement of its own."""
        node = parsed.root.descendant_for_byte_range(start, end)
        kinds = []
        while node is not None and (node.start_byte, node.end_byte) == (start, end):
            kinds.append(node.type)
            node = node.parent
        return kinds in (["string"], ["string", "expression_statement"]) and (
            node is not None and node.type in ("module", "ERROR")
        )


def _top(content: bytes) -> _Top | NoPlace:
    at = len(BOM) if content.startswith(BOM) else 0
    codec = "utf-8"
    cookie = None
    comments: list[tuple[int, int, bytes]] = []
    number = 0
    first_blanks = 0
    while match := _LINE.match(content, at):
        if at == len(content):
            return NoPlace(ending=Ending.EMPTY, reason="it holds no code")
        if match["newline"] == b"\r":
            return NoPlace(ending=Ending.NO_PLACE, reason="its lines end with a lone carriage return")
        if number < 2 and cookie is None and (cookie := _COOKIE.match(match[0])):
            codec = _codec(cookie["codec"].decode())
            comments.append((at, match.end(), b"coding"))
        elif match["comment"] is not None:
            comments.append((at, match.end(), match["comment"]))
        elif not comments:
            first_blanks += 1
        number += 1
        at = match.end()
    problem = _first_line_problem(content, at, number)
    if problem:
        return NoPlace(ending=Ending.NO_PLACE, reason=problem)
    if content.startswith(BOM) and run_encoding(codec) != "utf-8":
        return NoPlace(ending=Ending.ENCODING, reason=f"it starts with a UTF-8 mark and declares {codec}")
    return _Top(items=tuple(_items(content, comments, at)), blanks=first_blanks, code=at, codec=codec)


def _first_line_problem(content: bytes, at: int, number: int) -> str:
    line = re.compile(rb"[^\r\n]*(\r\n|\n|\r)?").match(content, at)
    assert line is not None
    if line[1] == b"\r":
        return "its lines end with a lone carriage return"
    indent = line[0].rpartition(b"\f")[2]
    if indent[:1] in (b" ", b"\t"):
        return "its first statement is indented"
    if number == 0 and _COOKIE.match(content, line.end()):
        return "a coding line stands below its first statement"
    return ""


def _codec(name: str) -> str:
    """Return the codec that a coding line names, editors' line-end suffixes taken off (as ``tokenize`` does)."""
    short = name[:12].lower().replace("_", "-")
    if short == "utf-8" or short.startswith("utf-8-"):
        return "utf-8"
    if short.startswith(("latin-1", "iso-8859-1", "iso-latin-1")) and short[-2:] != "15":
        return name if re.fullmatch(r"iso-8859-1\d", short) else "iso-8859-1"
    return name


def _encoding(content: bytes, codec: str) -> str | None:
    if content.isascii() and codec == "utf-8" and not content.startswith(BOM):
        return "ascii"
    encoding = run_encoding(codec)
    if encoding is not None:
        try:
            content.decode(codec)
        except UnicodeDecodeError:
            return None
    return encoding


def _items(content: bytes, comments: Sequence[tuple[int, int, bytes]], code: int) -> Iterator[Item]:
    groups: list[tuple[Role | None, list[tuple[int, int, bytes]]]] = []
    for entry in comments:
        alone = _line_role(entry)
        fits = groups and groups[-1][0] is None and alone is None and groups[-1][1][-1][1] == entry[0]
        if fits:
            groups[-1][1].append(entry)
        else:
            groups.append((alone, [entry]))
    starts = [lines[0][0] for _, lines in groups] + [code]
    for (alone, lines), following in zip(groups, starts[1:], strict=True):
        end = lines[-1][1]
        yield Item(
            start=lines[0][0],
            end=end,
            role=alone or _role([line for _, _, line in lines[:MAX_LINES]]),
            blanks=content.count(b"\n", end, following),
        )


def for_tools(comment: bytes) -> bool:
    """Return whether one comment line speaks to a tool and not to people."""
    return any(pattern.match(comment) for pattern in (_DIRECTIVE, _NEXT, _COOKIE))


def _line_role(entry: tuple[int, int, bytes]) -> Role | None:
    start, _, line = entry
    if line == b"coding":
        return Role.CODING
    if line.startswith(b"#!") and start in (0, len(BOM)):
        return Role.SHEBANG
    return Role.NEXT if _NEXT.match(line) else None


def _role(lines: Sequence[bytes]) -> Role:
    if any(_DIRECTIVE.match(line) for line in lines):
        return Role.DIRECTIVE
    return plain_role([line.lstrip(b"#") for line in lines])


def _documented(content: bytes, code: int) -> NoPlace | None:
    begins = _string_statement(content, code)
    if begins is not None:
        return begins
    if b"__doc__" in content and any(match["class_own"] is None for match in _OWN_DOC.finditer(content)):
        return NoPlace(ending=Ending.DOCUMENTED, reason="it assigns or reads __doc__")
    return None


def _string_statement(content: bytes, at: int) -> NoPlace | None:
    """Return why a first statement that begins with a plain string takes no docstring before it, None if it does.

    A statement of nothing but plain strings, in parentheses or not, is the docstring, ``""`` too. One that only
    begins with a plain string (``"..." % name``) is left alone, as compilers have taken some of them for one.
    """
    depth = 0
    skip = _BLANKS
    plain = False
    while True:
        at = _end(skip, content, at)
        if content[at : at + 1] == b"(" and not plain:
            depth += 1
            skip = _INSIDE
            at += 1
        elif start := _STRING_START.match(content, at):
            if set(start["prefix"].lower()) & set(b"fbt"):
                return None
            string = _STRING.match(content, at)
            if string is None:
                return NoPlace(ending=Ending.NO_PLACE, reason="its first string does not end")
            plain = True
            at = string.end()
        elif not plain:
            return None
        elif depth and content[at : at + 1] == b")":
            depth -= 1
            skip = _INSIDE if depth else _BLANKS
            at += 1
        elif not depth and content[at : at + 1] in (b"", b"\n", b"\r", b";", b"#"):
            return NoPlace(ending=Ending.DOCUMENTED, reason="it has a module docstring")
        else:
            return NoPlace(ending=Ending.NO_PLACE, reason="its first statement begins with a string")


def _end(pattern: re.Pattern[bytes], content: bytes, at: int) -> int:
    match = pattern.match(content, at)
    return match.end() if match else at


LANGUAGE = Python()
