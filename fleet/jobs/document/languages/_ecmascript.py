"""What JavaScript and TypeScript share: a block comment behind licences and file-wide directives, before all code."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from fleet.jobs.document.encoding import read_run
from fleet.jobs.document.language import BOM, Ending, Language, NoPlace, Place
from fleet.jobs.document.layout import laid_out
from fleet.jobs.document.leading import BLOCK_WORDS, LINE_WORDS, Item, Role, plain_role, spot_among
from fleet.jobs.document.text_rules import rule

if TYPE_CHECKING:
    from fleet.jobs.document.languages.outline import Outline
    from replay_rules.parsing import Parsed

WIDTH = 80
MAX_COMMENTS = 5000
MAX_READ = 20_000

_END = rb"(?=\n|\r|\xe2\x80[\xa8\xa9]|\Z)"
_BLANK = rb"[ \t\v\f]|\xc2\xa0|\xef\xbb\xbf"
_BLANKS = re.compile(rb"(?:" + _BLANK + rb")*+")
_SPACES = re.compile(rb"(?:" + _BLANK + rb"|\r?\n)*+")
_NEWLINE = re.compile(rb"\r\n|\n|\r|\xe2\x80[\xa8\xa9]")
_SHEBANG = re.compile(rb"#!.*?" + _END, re.DOTALL)
_LINE = re.compile(rb"//.*?" + _END, re.DOTALL)
_BLOCK = re.compile(rb"/\*.*?\*/", re.DOTALL)

_NEXT = re.compile(
    rb"(?:[*/!\s]*)(?:eslint-disable-(?:next-)?line|@ts-(?:ignore|expect-error)|tslint:disable-next-line|"
    rb"(?:istanbul|c8|v8|node:coverage)\s+ignore|prettier-ignore|biome-ignore\b(?!-all)|deno-lint-ignore(?!-file)|"
    rb"dprint-ignore(?!-file)|jshint\s+ignore:line|jscs:ignore|oxlint-disable-next-line|\$Flow\w+|"
    rb"stylelint-disable-next-line|noinspection\b|webpack[A-Z]\w+:|[@#]__\w+__|@vite-ignore)"
)
_DIRECTIVE = re.compile(
    rb"\A[*/!\s]*(?:eslint(?:-env|-disable|-enable)?\b|tslint:|jshint\b|jslint\b|jscs:|globals?\s+\w+|exported\s+\w|"
    rb"/\s*<|biome-ignore-all|deno-(?:lint-ignore|fmt-ignore|coverage-ignore)-file|dprint-ignore-file|oxlint-disable|"
    rb"stylelint-disable|cspell:|spell-?checker|(?:istanbul|v8)\s+ignore\s+file|[#@]\s*source(?:Mapping)?URL=|"
    rb"==/?UserScript==|=\s*require|-\*-|(?:vim?|ex):|prettier-ignore-start|node:coverage\s+(?:disable|enable))|"
    rb"^[*/!\s]{0,80}(?:@ts-(?:no)?check\b|@(?:flow|noflow)\b|@jsx\w*\b|@jest-|@vitest-|@format\b|@prettier\b|"
    rb"@providesModule\b|@emails\b|@cc_on\b|@vue/)",
    re.MULTILINE,
)
_PINNED = re.compile(rb"/\*!|@licen[cs]e\b|@preserve\b")
_HEADER = re.compile(rb"@(?:file|fileoverview|overview|packageDocumentation|module)\b")
_SYMBOL = re.compile(
    rb"@(?:param|returns?|type|typedef|template|callback|enum|class|constructor|extends|implements|private|"
    rb"public|protected|const|function|method|namespace|interface|this|throws|async|export|import|override|name|"
    rb"memberof|suppress|ngdoc|component|property|prop|readonly)\b"
)
_IMPORT = re.compile(
    rb"import\b(?!\s*\()|export\s*(?:\*|\{[^}]*\}\s*from\b)|['\"]use \w+['\"]|"
    rb"(?:var|let|const)\s{1,9}[\w${}\s,:]{1,500}=\s*require\s*\(|require\s*\(|define\s*\("
)
_MARKS = b" \t\r\n\v\f/*!"
_RUN = re.compile(r"\n{0,3}/\*(?P<star>\*?)\n(?P<lines>(?: \*(?: [^\n]*)?\n)+) \*/\n{1,4}")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Comment:
    """One comment: bytes ``start`` to ``end``, its newline included if it ends the line; its first bytes, marks on."""

    start: int
    end: int
    text: bytes
    block: bool
    closes_line: bool


class EcmaScript(Language):
    """The rules of both; ``opener`` starts the block and ``tag`` goes before the first word of its text."""

    opener: ClassVar[str]
    tag: ClassVar[str]
    ahead = frozenset({"comment", "hash_bang_line"})
    outline_module = "fleet.jobs.document.languages.outline_ecmascript"
    rules = (
        rule("closing mark", "*/", r"\*/", "* /"),
        rule("nested comment", "/*", r"/\*", "/ *"),
        rule("inline tag", "{@", r"\{@\w+\s+([^{}]*)\}", r"\1"),
        rule(
            "live tag",
            "@",
            r"@(?=(?:ts-|jsx|flow\b|noflow\b|licen[cs]e\b|preserve\b|cc_on\b|jest-|vitest-|vite-|format\b|prettier\b|"
            r"internal\b|file\b|fileoverview\b|overview\b|module\b|packageDocumentation\b|providesModule\b|"
            r"emails\b|suppress\b|deprecated\b))",
            "",
        ),
        rule("tag", "@", r"(?<![\w`@])(@+[A-Za-z](?:[\w./-]*\w)?)", r"`\1`"),
        rule("tag", "@", r"(?<!\S)@+(?!\S)", "at"),
        rule("pure mark", "@__ #__", r"[@#]__(\w+?)__", r"\1"),
        rule(
            "directive",
            "lint- jshint- jslint- biome-",
            r"\b(eslint|tslint|jshint|jslint|biome|deno-lint|stylelint|oxlint)-(?=\w)",
            r"\1 ",
        ),
        rule("directive", ":", r"\b(tslint|jscs|jshint\s+ignore)\s*:", r"\1 "),
        rule("directive", "-ignore", r"\b(prettier|dprint)-ignore", r"\1 ignore"),
        rule("directive", "ignore", r"\b(istanbul|c8|v8)\s+ignore\b", r"\1, ignore"),
        rule("directive", "webpack", r"\bwebpack([A-Z]\w+):", r"webpack \1"),
        rule("source map", "sourceurl sourcemappingurl", r"\bsource(Mapping)?URL\s*=", r"source \1 "),
        rule("page markup", "</script <!--", r"<(?=/script|!--)", "< "),
    )

    def outline(self, path: bytes, content: bytes) -> Outline:
        """Return the outline of a file, read with the grammar of its suffix."""
        from fleet.jobs.document.languages.outline_ecmascript import outline

        return outline(content, self.grammar(path))

    def find_place(self, content: bytes) -> Place | NoPlace:
        """Return where the header goes, or why it takes none."""
        if content.startswith((b"\xff\xfe", b"\xfe\xff")):
            return NoPlace(ending=Ending.ENCODING, reason="it is UTF-16")
        start = len(BOM) if content.startswith(BOM) else 0
        scanned = _scan(content, start)
        if isinstance(scanned, NoPlace):
            return scanned
        comments, code = scanned
        items = tuple(_items(content, comments, code))
        documented = _documented(content, items, code)
        if documented is not None:
            return documented
        first = items[0].start if items else code
        spot = spot_among(items, start, content.count(b"\n", start, first))
        return Place(
            offset=spot.offset,
            after=spot.after,
            needs_reparse=spot.breaks_line,
            breaks_line=spot.breaks_line,
            blank_before=1 if spot.follows_comment else 0,
            blank_after=0 if _is_blank_line(content, spot.offset) else 1,
            newline="\r\n" if b"\r\n" in content[: content.find(b"\n") + 1] else "\n",
            encoding=_encoding(content),
        )

    def render(self, text: str, place: Place) -> bytes:
        """Return ``text`` as a block comment, each line behind a star."""
        lines = laid_out(self.tag + text, WIDTH - 3)
        comment = "\n".join([self.opener, *(f" * {line}".rstrip() for line in lines), " */"])
        before = place.blank_before + place.breaks_line
        run = "\n" * before + comment + "\n" * (1 + place.blank_after)
        return run.replace("\n", place.newline).encode(place.encoding)

    def body_of(self, run: bytes, place: Place) -> str | None:
        """Return the text of the comment that ``run`` is, None if it is not exactly one block of its own lines."""
        text = read_run(run, place.encoding, place.newline)
        if text is None:
            return None
        match = _RUN.fullmatch(text)
        if match is None or text.count("*/") != 1 or text.count("/*") != 1:
            return None
        if place.breaks_line and not text.startswith("\n"):
            return None
        body = re.sub(r"^ \* ?", "", match["lines"], flags=re.MULTILINE)
        if match["star"] != self.opener[2:] or not body.startswith(self.tag) or not body[len(self.tag) :].strip():
            return None
        return body[len(self.tag) :]

    def stands_alone(self, parsed: Parsed, start: int, end: int) -> bool:
        """Return whether these bytes are exactly one comment."""
        node = parsed.root.descendant_for_byte_range(start, end)
        return node is not None and node.type == "comment" and (node.start_byte, node.end_byte) == (start, end)


def _scan(content: bytes, at: int) -> tuple[list[_Comment], int] | NoPlace:
    """Return the comments ahead of the first code, and where that code starts (the start of its token)."""
    comments: list[_Comment] = []
    shebang = _SHEBANG.match(content, at)
    if shebang:
        comments.append(_comment(content, at, shebang.end(), False))
        at = comments[-1].end
    while True:
        at = _skipped(_SPACES, content, at)
        if at == len(content):
            return NoPlace(ending=Ending.EMPTY, reason="it holds no code")
        if _NEWLINE.match(content, at):
            return NoPlace(ending=Ending.NO_PLACE, reason="its lines end in an unusual way")
        block = content.startswith(b"/*", at)
        if not block and not content.startswith(b"//", at):
            return comments, at
        match = (_BLOCK if block else _LINE).match(content, at)
        if match is None:
            return NoPlace(ending=Ending.NO_PLACE, reason="its first comment does not end")
        comments.append(_comment(content, at, match.end(), block))
        at = comments[-1].end
        if len(comments) > MAX_COMMENTS:
            return NoPlace(ending=Ending.NO_PLACE, reason=f"it starts with over {MAX_COMMENTS} comments")


def _comment(content: bytes, start: int, end: int, block: bool) -> _Comment:
    rest = _skipped(_BLANKS, content, end)
    newline = _NEWLINE.match(content, rest)
    usual = newline is not None and newline[0] in (b"\n", b"\r\n")
    return _Comment(
        start=start,
        end=newline.end() if newline is not None and usual else end,
        text=content[start : min(end, start + MAX_READ)],
        block=block,
        closes_line=usual or rest == len(content),
    )


def _skipped(pattern: re.Pattern[bytes], content: bytes, at: int) -> int:
    match = pattern.match(content, at)
    return match.end() if match else at


def _is_blank_line(content: bytes, at: int) -> bool:
    return content.startswith((b"\n", b"\r\n"), _skipped(_BLANKS, content, at))


def _encoding(content: bytes) -> str:
    if content.isascii():
        return "ascii"
    try:
        content.decode()
    except UnicodeDecodeError:
        return "ascii"
    return "utf-8"


def _items(content: bytes, comments: Sequence[_Comment], code: int) -> Iterator[Item]:
    """Yield the items: a block comment each, line comments on touching lines together, next-line ones apart."""
    at = 0
    while at < len(comments):
        last = at
        role = _role([comments[at].text], comments[at].block)
        if not comments[at].block and role not in (Role.SHEBANG, Role.NEXT):
            while last + 1 < len(comments) and _joins(content, comments[last], comments[last + 1]):
                last += 1
            role = _role([comment.text for comment in comments[at : last + 1]], False)
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


def _joins(content: bytes, first: _Comment, second: _Comment) -> bool:
    if second.block or not first.closes_line or content[first.end : second.start].strip():
        return False
    return b"\n" not in content[first.end : second.start] and not _NEXT.match(second.text)


def _role(texts: Sequence[bytes], block: bool) -> Role:
    whole = b"\n".join(texts)
    if whole.startswith(b"#!"):
        return Role.SHEBANG
    if _NEXT.match(whole):
        return Role.NEXT
    if any(_DIRECTIVE.search(text) for text in texts):
        return Role.HEADER if _HEADER.search(whole) else Role.DIRECTIVE
    if _HEADER.search(whole) and (block or len(texts) > 1):
        return Role.HEADER
    if _PINNED.search(whole):
        return Role.LICENCE
    lines = [line.strip(_MARKS) for line in whole.split(b"\n")]
    role = plain_role(lines, BLOCK_WORDS if block else LINE_WORDS)
    if role is Role.PROSE and whole.startswith(b"/**") and _SYMBOL.search(whole):
        return Role.SYMBOL
    return role


def _documented(content: bytes, items: Sequence[Item], code: int) -> NoPlace | None:
    """Return that the file has a header already, None if it has none.

    Prose set off by a blank line is a header. Prose directly above code belongs to that code, but for a block
    comment above imports or a directive prologue, which nobody documents one by one.
    """
    for number, item in enumerate(items):
        attached = number == len(items) - 1 and item.blanks == 0
        above_imports = item.block and _IMPORT.match(content, code) is not None
        if item.role is Role.HEADER:
            return NoPlace(ending=Ending.DOCUMENTED, reason="it has a file header")
        if item.role is Role.PROSE and item.closes_line and (not attached or above_imports):
            return NoPlace(ending=Ending.DOCUMENTED, reason="it starts with a comment about the file")
    return None
