"""Ways to spoil a file while a header is put into it; each gives bytes that a proof must not accept."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A file before, its honest header ``run`` at ``offset``, and chance."""

    path: bytes
    before: bytes
    offset: int
    run: bytes
    chance: random.Random

    @property
    def python(self) -> bool:
        """Return whether the file is Python."""
        return self.path.endswith(b".py")

    @property
    def ahead(self) -> bytes:
        """Return the bytes before the place."""
        return self.before[: self.offset]

    @property
    def behind(self) -> bytes:
        """Return the bytes behind the place."""
        return self.before[self.offset :]

    def with_run(self, run: bytes) -> bytes:
        """Return the file with another run in the same place."""
        return self.ahead + run + self.behind

    def with_text(self, text: str) -> bytes:
        """Return the file with ``text`` as a further line in the header's text."""
        at = self.run.index(b"Mark")
        return self.with_run(self.run[:at] + text.encode("utf-8", "surrogatepass") + b" " + self.run[at:])

    def with_code(self, behind: bytes) -> bytes:
        """Return the file with the honest run and other bytes behind it."""
        return self.ahead + self.run + behind


Spoil = Callable[[Case], bytes | None]
KINDS: dict[str, Spoil] = {}


def _kind(spoil: Spoil) -> Spoil:
    KINDS[spoil.__name__.strip("_")] = spoil
    return spoil


def spoilt(case: Case) -> Iterator[tuple[str, bytes]]:
    """Yield each kind that applies to a case, with the spoilt file."""
    honest = case.with_run(case.run)
    for name, spoil in KINDS.items():
        after = spoil(case)
        if after is not None and after != honest:
            yield name, after


def _places(case: Case, pattern: bytes) -> list[re.Match[bytes]]:
    return list(re.finditer(pattern, case.behind, re.MULTILINE))


def _replaced(case: Case, pattern: bytes, by: Callable[[bytes], bytes]) -> bytes | None:
    found = _places(case, pattern)
    if not found:
        return None
    match = case.chance.choice(found)
    return case.with_code(case.behind[: match.start()] + by(match[0]) + case.behind[match.end() :])


@_kind
def _nothing_inserted(case: Case) -> bytes | None:
    return case.before


@_kind
def _final_newline_dropped(case: Case) -> bytes | None:
    return case.with_code(case.behind.rstrip(b"\r\n")) if case.behind.endswith(b"\n") else None


@_kind
def _final_newline_added(case: Case) -> bytes | None:
    return case.with_code(case.behind + b"\n")


@_kind
def _line_ends_changed(case: Case) -> bytes | None:
    honest = case.with_run(case.run)
    return honest.replace(b"\r\n", b"\n") if b"\r\n" in honest else honest.replace(b"\n", b"\r\n")


@_kind
def _one_line_end_changed(case: Case) -> bytes | None:
    return _replaced(case, rb"\r?\n", lambda old: b"\n" if old == b"\r\n" else b"\r\n")


@_kind
def _run_with_other_line_ends(case: Case) -> bytes | None:
    run = case.run
    return case.with_run(run.replace(b"\r\n", b"\n") if b"\r\n" in run else run.replace(b"\n", b"\r\n"))


@_kind
def _run_with_one_other_line_end(case: Case) -> bytes | None:
    return case.with_run(case.run.replace(b"Mark", b"Mark\n" if b"\r\n" in case.run else b"Mark\r\n", 1))


@_kind
def _lone_carriage_return(case: Case) -> bytes | None:
    return case.with_text("one\rtwo")


@_kind
def _mark_dropped(case: Case) -> bytes | None:
    honest = case.with_run(case.run)
    return honest[3:] if honest.startswith(BOM) else None


@_kind
def _mark_added(case: Case) -> bytes | None:
    return None if case.before.startswith(BOM) else BOM + case.with_run(case.run)


@_kind
def _mark_in_the_run(case: Case) -> bytes | None:
    return case.with_run(BOM + case.run)


@_kind
def _name_changed(case: Case) -> bytes | None:
    return _replaced(case, rb"[A-Za-z_]\w+", lambda old: old + b"x")


@_kind
def _letter_case_changed(case: Case) -> bytes | None:
    return _replaced(case, rb"[A-Za-z]", bytes.swapcase)


@_kind
def _number_changed(case: Case) -> bytes | None:
    return _replaced(case, rb"\d+", lambda old: old + b"0")


@_kind
def _operator_changed(case: Case) -> bytes | None:
    return _replaced(case, rb"[=+\-*<>]", lambda old: b"-" if old == b"+" else b"+")


@_kind
def _space_added(case: Case) -> bytes | None:
    return _replaced(case, rb" ", lambda old: b"  ")


@_kind
def _space_removed(case: Case) -> bytes | None:
    return _replaced(case, rb" ", lambda old: b"")


@_kind
def _space_to_tab(case: Case) -> bytes | None:
    return _replaced(case, rb" ", lambda old: b"\t")


@_kind
def _trailing_space_added(case: Case) -> bytes | None:
    return _replaced(case, rb"\r?$", lambda old: b" " + old)


@_kind
def _quote_changed(case: Case) -> bytes | None:
    return _replaced(case, rb"['\"]", lambda old: b"'" if old == b'"' else b'"')


@_kind
def _comment_removed(case: Case) -> bytes | None:
    return _replaced(case, rb"[ \t]*#.*$" if case.python else rb"[ \t]*(?://.*$|/\*.*?\*/)", lambda old: b"")


@_kind
def _comment_edited(case: Case) -> bytes | None:
    return _replaced(case, rb"#.*$" if case.python else rb"//.*$|/\*.*?\*/", lambda old: old.replace(b" ", b"  ", 1))


@_kind
def _comment_added(case: Case) -> bytes | None:
    mark = b"# more\n" if case.python else b"// more\n"
    return _replaced(case, rb"\n", lambda old: old + mark)


@_kind
def _line_removed(case: Case) -> bytes | None:
    return _replaced(case, rb"^[^\n]*\n", lambda old: b"")


@_kind
def _line_doubled(case: Case) -> bytes | None:
    return _replaced(case, rb"^[^\n]*\n", lambda old: old + old)


@_kind
def _blank_line_added_below(case: Case) -> bytes | None:
    found = _places(case, rb"^\S[^\n]*\n")
    if not found:
        return None
    match = case.chance.choice(found)
    return case.with_code(case.behind[: match.end()] + b"\n" + case.behind[match.end() :])


@_kind
def _lines_swapped(case: Case) -> bytes | None:
    lines = case.behind.splitlines(keepends=True)
    pairs = [at for at in range(len(lines) - 1) if lines[at] != lines[at + 1]]
    if not pairs:
        return None
    at = case.chance.choice(pairs)
    lines[at], lines[at + 1] = lines[at + 1], lines[at]
    return case.with_code(b"".join(lines))


@_kind
def _cut_short(case: Case) -> bytes | None:
    return case.with_code(case.behind[: case.chance.randrange(len(case.behind))])


@_kind
def _leading_comments_removed(case: Case) -> bytes | None:
    return case.run + case.behind if case.ahead.strip(BOM) else None


@_kind
def _one_leading_line_removed(case: Case) -> bytes | None:
    lines = case.ahead.splitlines(keepends=True)
    if not lines:
        return None
    del lines[case.chance.randrange(len(lines))]
    return b"".join(lines) + case.run + case.behind


@_kind
def _leading_comments_below(case: Case) -> bytes | None:
    return case.run + case.ahead + case.behind if case.ahead else None


@_kind
def _placed_elsewhere(case: Case) -> bytes | None:
    starts = [match.end() for match in re.finditer(rb"\n", case.before)]
    wrong = [
        at for at in starts if at != case.offset and case.before[min(at, case.offset) : max(at, case.offset)].strip()
    ]
    if not wrong:
        return None
    at = case.chance.choice(wrong)
    return case.before[:at] + case.run + case.before[at:]


@_kind
def _placed_one_byte_off(case: Case) -> bytes | None:
    at = case.offset + 1
    return case.before[:at] + case.run + case.before[at:]


@_kind
def _placed_at_the_end(case: Case) -> bytes | None:
    return case.before + case.run


@_kind
def _header_twice(case: Case) -> bytes | None:
    return case.with_run(case.run + case.run)


@_kind
def _line_comment_beside_it(case: Case) -> bytes | None:
    return case.with_run(case.run + (b"# more\n" if case.python else b"// more\n"))


@_kind
def _line_comments_instead(case: Case) -> bytes | None:
    return case.with_run(b"# Describe the widgets.\n\n" if case.python else b"// Describe the widgets.\n\n")


@_kind
def _code_behind_it(case: Case) -> bytes | None:
    return case.with_run(case.run + b"x = 1\n")


@_kind
def _code_before_it(case: Case) -> bytes | None:
    return case.with_run(b"x = 1;\n" + case.run)


@_kind
def _code_on_its_line(case: Case) -> bytes | None:
    return case.with_run(case.run.rstrip() + b"; x = 1\n")


@_kind
def _code_instead(case: Case) -> bytes | None:
    return case.with_run(b"import os\n" if case.python else b"void 0;\n")


@_kind
def _glued_to_the_code(case: Case) -> bytes | None:
    return case.with_run(case.run.rstrip(b"\r\n"))


@_kind
def _indented(case: Case) -> bytes | None:
    start = len(case.run) - len(case.run.lstrip(b"\r\n"))
    return case.with_run(case.run[:start] + b" " + case.run[start:])


@_kind
def _semicolon_behind_it(case: Case) -> bytes | None:
    return case.with_run(case.run.rstrip() + b";\n")


@_kind
def _closer_in_the_text(case: Case) -> bytes | None:
    return case.with_text('"""' if case.python else "*/")


@_kind
def _closer_and_code_in_the_text(case: Case) -> bytes | None:
    return case.with_text('"""; import os; """' if case.python else "*/ alert(1); /*")


@_kind
def _opener_in_the_text(case: Case) -> bytes | None:
    return None if case.python else case.with_text("src/* and more")


@_kind
def _never_closed(case: Case) -> bytes | None:
    return case.with_run(case.run.replace(b'"""', b"", 1) if case.python else case.run.replace(b"*/", b"**"))


@_kind
def _closed_by_four_quotes(case: Case) -> bytes | None:
    if not case.python:
        return None
    head, _, tail = case.run.rpartition(b'"""')
    return case.with_run(head.rstrip() + b'""""' + tail)


@_kind
def _backslash_at_the_end(case: Case) -> bytes | None:
    if not case.python:
        return None
    head, _, tail = case.run.rpartition(b'"""')
    return case.with_run(head.rstrip() + b'\\"""' + tail)


@_kind
def _escape_in_the_text(case: Case) -> bytes | None:
    return case.with_text(case.chance.choice(["\\d", "\\N{x}", "\\x", "\\u12"])) if case.python else None


@_kind
def _prefixed_string(case: Case) -> bytes | None:
    if not case.python:
        return None
    prefix = case.chance.choice([b"f", b"b", b"rb", b"F", b"x = "])
    return case.with_run(case.run.replace(b'"""', prefix + b'"""', 1))


@_kind
def _string_expression(case: Case) -> bytes | None:
    return case.with_run(case.run.rstrip() + b".strip()\n") if case.python else None


@_kind
def _live_text(case: Case) -> bytes | None:
    python = [">>> import os", "# type: ignore", "coding: utf-7", "# mypy: ignore-errors", "isort: skip_file", "# noqa"]
    script = ["@ts-nocheck", "@jsx h", "@flow", "eslint-disable", "sourceMappingURL=x", "@license", "@internal"]
    return case.with_text(case.chance.choice(python if case.python else script))


@_kind
def _generated_marker(case: Case) -> bytes | None:
    return case.with_text(case.chance.choice(["@generated", "DO NOT EDIT", "Generated by hand", "auto-generated"]))


@_kind
def _invisible_character(case: Case) -> bytes | None:
    return case.with_text(
        case.chance.choice(["\u2028", "\u2029", "\u202e", "\u200b", "\ufeff", "\x00", "\x0b", "\x85"])
    )


@_kind
def _bytes_of_another_encoding(case: Case) -> bytes | None:
    utf8 = case.run.replace(b"Mark", b"M\xc3\xa4rk", 1)
    latin = case.run.replace(b"Mark", b"M\xe4rk", 1)
    try:
        case.before.decode()
    except UnicodeDecodeError:
        return case.with_run(utf8)
    return case.with_run(utf8 if case.before.isascii() else latin)


@_kind
def _empty_text(case: Case) -> bytes | None:
    return case.with_run(b'""""""\n\n' if case.python else b"/**/\n\n")


@_kind
def _text_of_a_licence_comment(case: Case) -> bytes | None:
    return None if case.python else case.with_run(b"/*! Describe the widgets of this file. */\n\n")


@_kind
def _merged_line(case: Case) -> bytes | None:
    return _replaced(case, rb"\r?\n", lambda old: b"")


@_kind
def _whole_file_replaced(case: Case) -> bytes | None:
    return case.with_code(b"pass\n" * (len(case.behind) // 5 + 1))


@_kind
def _reindented(case: Case) -> bytes | None:
    return _replaced(case, rb"^[ ]+(?=\S)", lambda old: old + b"    ")
