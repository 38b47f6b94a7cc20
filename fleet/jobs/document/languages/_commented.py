"""What languages share whose header is a comment: behind licences and file-wide directives, before all code.

A language more says what a comment is (`Lexis`), how its header is written (`Frame`), and which comments at the top
of a file mean something (`Marks`); the rest is here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from fleet.jobs.document.encoding import read_run
from fleet.jobs.document.language import BOM, Ending, Language, NoPlace, Place
from fleet.jobs.document.languages._leading_comments import (
    ENDLESS,
    NEVER,
    Comment,
    Lexis,
    is_blank_line,
    leading_comments,
)
from fleet.jobs.document.languages.outline import Outline
from fleet.jobs.document.languages.outline_declared import Declared, outlined
from fleet.jobs.document.layout import laid_out
from fleet.jobs.document.leading import Item, Role, is_licence, plain_role, spot_among
from fleet.jobs.document.text_rules import rule

if TYPE_CHECKING:
    from replay_rules.parsing import Parsed

WIDTH = 80
_LETTER = re.compile(rb"\w")
_WORD = re.compile(rb"[A-Za-z\x80-\xff]{2,}")
_BOILERPLATE = re.compile(rb"\bpart of\b|\bproject\b|\.\w{1,4}\s*\Z|https?://|[-*=_/#]{5}", re.IGNORECASE)
_WORDS_BESIDE = 8
_LONGEST_PROSE = 8000


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """How a header is written: the line that opens it, what starts each of its lines, the line that closes it.

    ``opener`` and ``closer`` are empty for line comments. ``tag`` goes before the first word of the text.
    """

    opener: str = ""
    prefix: str
    closer: str = ""
    tag: str = ""

    def pattern(self) -> re.Pattern[str]:
        """Return what a run must be as a whole; the group ``lines`` holds its text with the prefixes on."""
        lines = rf"(?P<lines>(?:{re.escape(self.prefix)}(?: [^\n]*)?\n)+)"
        opener = re.escape(self.opener) + r"\n" if self.opener else ""
        closer = re.escape(self.closer) + r"\n" if self.closer else ""
        return re.compile(rf"\n{{0,3}}{opener}{lines}{closer}\n{{0,3}}")


BLOCK_FRAME = Frame(opener="/*", prefix=" *", closer=" */")
BLOCK_RULES = (
    rule("closing mark", "*/", r"\*/", "* /"),
    rule("nested comment", "/*", r"/\*", "/ *"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Marks:
    r"""Which comments at the top of a file mean something, as patterns that are matched with the comment marks on.

    ``directive`` is searched in each comment and speaks of the whole file, so that the header goes below it;
    ``next_line`` is matched at its start and speaks of the line below. ``alone`` makes a line comment an item of its
    own. ``header`` says that a comment is about the file, ``symbol`` that a ``/**`` block is about what stands below.
    ``licence`` is a notice that the common words miss. What ``tied`` matches belongs to the next declaration,
    blank lines between or not, so that the header goes above it. ``file_code`` is code which nobody documents by
    itself: prose directly above it is about the file, if it is a block or has ``file_lines`` lines. Line comments need
    ``header_lines`` lines to be a header. Comments of fewer than ``block_words`` or ``line_words`` words are no prose.
    With ``beside_licence``, a comment that holds a licence and says something besides is about the file.
    """

    directive: re.Pattern[bytes] = NEVER
    next_line: re.Pattern[bytes] = NEVER
    alone: re.Pattern[bytes] = NEVER
    header: re.Pattern[bytes] = NEVER
    symbol: re.Pattern[bytes] = NEVER
    licence: re.Pattern[bytes] = NEVER
    tied: re.Pattern[bytes] = NEVER
    file_code: re.Pattern[bytes] = NEVER
    file_lines: int = 2
    header_lines: int = 1
    block_words: int = 2
    line_words: int = 2
    beside_licence: bool = True

    def for_tools(self, comment: bytes) -> bool:
        """Return whether one comment, marks on, speaks to a tool and not to people."""
        alone = self.next_line.match(comment) or self.alone.match(comment)
        return alone is not None or self.directive.search(comment) is not None


class Commented(Language):
    """A language whose header is one comment; see the module."""

    lexis: ClassVar[Lexis]
    frame: ClassVar[Frame]
    marks: ClassVar[Marks]
    reader: ClassVar[type[Declared]]
    _run: ClassVar[re.Pattern[str]]
    _prefix: ClassVar[re.Pattern[str]]

    def __init_subclass__(cls) -> None:
        """Prepare the patterns of a run."""
        if hasattr(cls, "frame"):
            cls._run = cls.frame.pattern()
            cls._prefix = re.compile(rf"^{re.escape(cls.frame.prefix)} ?", re.MULTILINE)

    def find_place(self, content: bytes) -> Place | NoPlace:
        """Return where the header goes, or why it takes none."""
        if content.startswith((b"\xff\xfe", b"\xfe\xff")):
            return NoPlace(ending=Ending.ENCODING, reason="it is UTF-16")
        start = len(BOM) if content.startswith(BOM) else 0
        found = leading_comments(content, start, self.lexis)
        if isinstance(found, NoPlace):
            return found
        comments, code = found
        items = tuple(self._items(content, comments, code))
        documented = self._documented(content, items, code)
        if documented is not None:
            return documented
        free = self._free(content, items)
        first = items[0].start if items else code
        spot = spot_among(free, start, content.count(b"\n", start, first))
        return Place(
            offset=spot.offset,
            after=spot.after,
            needs_reparse=spot.breaks_line,
            breaks_line=spot.breaks_line,
            blank_before=1 if spot.follows_comment else 0,
            blank_after=0 if is_blank_line(content, spot.offset) else 1,
            newline="\r\n" if b"\r\n" in content[: content.find(b"\n") + 1] else "\n",
            encoding=_encoding(content),
        )

    def render(self, text: str, place: Place) -> bytes:
        """Return ``text`` as a comment in the language's frame."""
        frame = self.frame
        lines = self.lines(frame.tag + text)
        inner = [f"{frame.prefix} {line}".rstrip() for line in lines]
        comment = "\n".join([*filter(None, [frame.opener]), *inner, *filter(None, [frame.closer])])
        before = place.blank_before + place.breaks_line
        run = "\n" * before + comment + "\n" * (1 + place.blank_after)
        return run.replace("\n", place.newline).encode(place.encoding)

    def lines(self, text: str) -> list[str]:
        """Return the lines of a header, wrapped, without their prefix."""
        return laid_out(text, WIDTH - len(self.frame.prefix) - 1)

    def body_of(self, run: bytes, place: Place) -> str | None:
        """Return the text of the comment that ``run`` is, None if it is not exactly one in the language's frame."""
        text = read_run(run, place.encoding, place.newline)
        match = self._run.fullmatch(text) if text is not None else None
        if text is None or match is None:
            return None
        if self.frame.opener and (text.count("*/") != 1 or text.count("/*") != 1):
            return None
        if place.breaks_line and not text.startswith("\n"):
            return None
        body = self._prefix.sub("", match["lines"])
        tag = self.frame.tag
        if not body.startswith(tag) or not body[len(tag) :].strip():
            return None
        return body[len(tag) :]

    def stands_alone(self, parsed: Parsed, start: int, end: int) -> bool:
        """Return whether these bytes are one block comment, or line comments and nothing else."""
        node = parsed.root.descendant_for_byte_range(start, end)
        if node is None:
            return False
        parts = [node] if node.type.endswith("comment") else node.children
        found = [part for part in parts if part.start_byte < end and part.end_byte > start]
        lines = 1 if self.frame.opener else parsed.content.count(b"\n", start, end) + 1
        if len(found) != lines or found[0].start_byte != start or not end <= found[-1].end_byte <= end + 2:
            return False
        return all(part.type.endswith("comment") for part in found)

    def outline(self, path: bytes, content: bytes) -> Outline:
        """Return the outline of a file; an endless comment is not parsed, for grammars take long over it."""
        if leading_comments(content, 0, self.lexis) == ENDLESS:
            return Outline(language=self.grammar(path), lines=content.count(b"\n"), has_error=True)
        return outlined(self.reader, self.marks, self.grammar(path), content, self.prose(content))

    def prose(self, content: bytes) -> str:
        """Return what the first comments say about the file."""
        found = leading_comments(content, len(BOM) if content.startswith(BOM) else 0, self.lexis)
        if isinstance(found, NoPlace):
            return ""
        items = list(self._items(content, *found))
        told = [
            content[item.start : min(item.end, item.start + _LONGEST_PROSE)].decode(errors="replace")
            for at, item in enumerate(items)
            if item.role in (Role.PROSE, Role.HEADER)
            and (item.blanks or at < len(items) - 1)
            and not self.marks.tied.match(content, item.start)
        ]
        return "\n\n".join(self.reader.plain(text.strip()) for text in told)

    def _free(self, content: bytes, items: Sequence[Item]) -> Sequence[Item]:
        """Return the items above the first that is tied to a declaration."""
        tied = (at for at, item in enumerate(items) if self.marks.tied.match(content, item.start))
        return items[: next(tied, len(items))]

    def _items(self, content: bytes, comments: Sequence[Comment], code: int) -> Iterator[Item]:
        """Yield the items: a block comment each, line comments on touching lines together, next-line ones apart."""
        at = 0
        while at < len(comments):
            last = at
            role = self._role([comments[at].text], comments[at].block)
            if not comments[at].block and role not in (Role.SHEBANG, Role.NEXT) and not self._alone(comments[at]):
                while last + 1 < len(comments) and self._joins(content, comments[last], comments[last + 1]):
                    last += 1
                role = self._role([comment.text for comment in comments[at : last + 1]], False)
            end = comments[last].end
            following = comments[last + 1].start if last + 1 < len(comments) else code
            yield Item(
                start=comments[at].start,
                end=end,
                role=role,
                blanks=content.count(b"\n", end, following),
                block=comments[at].block,
                closes_line=comments[last].closes_line,
            )
            at = last + 1

    def _alone(self, comment: Comment) -> bool:
        return self.marks.alone.match(comment.text) is not None

    def _joins(self, content: bytes, first: Comment, second: Comment) -> bool:
        between = content[first.end : second.start]
        if second.block or not first.closes_line or between.strip() or b"\n" in between:
            return False
        marks = self.marks
        if marks.tied.match(first.text) is not None or marks.tied.match(second.text) is not None:
            return marks.tied.match(first.text) is not None and marks.tied.match(second.text) is not None
        return not marks.next_line.match(second.text) and not self._alone(second)

    def _role(self, texts: Sequence[bytes], block: bool) -> Role:
        marks = self.marks
        whole = b"\n".join(texts)
        if whole.startswith(b"#!") and self.lexis.shebang.match(whole):
            return Role.SHEBANG
        if marks.next_line.match(whole):
            return Role.NEXT
        if any(marks.directive.search(text) for text in texts):
            return Role.HEADER if marks.header.search(whole) else Role.DIRECTIVE
        if marks.header.search(whole) and (block or len(texts) >= marks.header_lines):
            return Role.HEADER
        if marks.licence.search(whole):
            return Role.LICENCE
        lines = [self.bare(line) for line in whole.split(b"\n")]
        role = plain_role(lines, marks.block_words if block else marks.line_words)
        if role is Role.LICENCE and marks.beside_licence and _tells_beside_licence(lines):
            return Role.HEADER
        if role is Role.PROSE and whole.startswith(b"/**") and marks.symbol.search(whole):
            return Role.SYMBOL
        return role

    def bare(self, line: bytes) -> bytes:
        """Return a line of a comment without its marks."""
        return line.strip(b" \t\r\n\v\f/*!#")

    def _documented(self, content: bytes, items: Sequence[Item], code: int) -> NoPlace | None:
        """Return that the file has a header already, None if it has none.

        Prose set off by a blank line is a header. Prose directly above code belongs to that code, but for code which
        nobody documents by itself.
        """
        above = self.marks.file_code.match(content, code) is not None
        for number, item in enumerate(items):
            if item.role is Role.HEADER:
                return NoPlace(ending=Ending.DOCUMENTED, reason="it has a file header")
            attached = number == len(items) - 1 and item.blanks == 0
            long = item.block or content.count(b"\n", item.start, item.end) >= self.marks.file_lines
            tied = self.marks.tied.match(content, item.start) is not None
            if item.role is Role.PROSE and item.closes_line and not tied and (not attached or (above and long)):
                return NoPlace(ending=Ending.DOCUMENTED, reason="it starts with a comment about the file")
        return None


def _tells_beside_licence(lines: Sequence[bytes]) -> bool:
    """Return whether a comment says something in words above its licence or below it."""
    paragraphs: list[list[bytes]] = [[]]
    for line in lines:
        if _LETTER.search(line):
            paragraphs[-1].append(line)
        elif paragraphs[-1]:
            paragraphs.append([])
    notices = [at for at, paragraph in enumerate(paragraphs) if is_licence(b"\n".join(paragraph))]
    sides = (paragraphs[: notices[0]], paragraphs[notices[-1] + 1 :]) if notices else (paragraphs,)
    return any(_words(line for paragraph in side for line in paragraph) >= _WORDS_BESIDE for side in sides)


def _words(lines: Iterable[bytes]) -> int:
    return sum(len(_WORD.findall(line)) for line in lines if not _BOILERPLATE.search(line))


def _encoding(content: bytes) -> str:
    if content.isascii():
        return "ascii"
    try:
        content.decode()
    except UnicodeDecodeError:
        return "ascii"
    return "utf-8"
