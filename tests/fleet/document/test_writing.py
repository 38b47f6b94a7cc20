"""What a written header looks like, byte for byte, and what is refused."""

from __future__ import annotations

import time

import pytest

from fleet.jobs.document.eligibility import NotEligible, assess
from fleet.jobs.document.language import Ending
from fleet.jobs.document.languages import language_of, languages
from fleet.jobs.document.text_rules import MAX_CHARACTERS
from fleet.jobs.document.writing import Inserted, Refused, insert
from qodebase.change import EXECUTABLE, REGULAR, SUBMODULE, SYMLINK

LONG = "Describe the widgets of this file in one long sentence that goes on until it has to be wrapped."


def _written(path: bytes, content: bytes, text: str) -> bytes:
    found = insert(path, content, text)
    assert isinstance(found, Inserted), found
    return found.content


def test_a_short_docstring_stands_on_one_line() -> None:
    assert _written(b"a.py", b"import os\n", "Sell it.") == b'"""Sell it."""\n\nimport os\n'


def test_a_long_docstring_closes_on_its_own_line() -> None:
    assert _written(b"a.py", b"import os\n", LONG) == (
        b'"""Describe the widgets of this file in one long sentence that goes on until it has to\n'
        b'be wrapped.\n"""\n\nimport os\n'
    )


def test_a_docstring_that_ends_with_a_quote_closes_on_its_own_line() -> None:
    assert _written(b"a.py", b"import os\n", 'Sell "it"') == b'"""Sell "it"\n"""\n\nimport os\n'


def test_a_docstring_with_a_backslash_is_raw() -> None:
    assert _written(b"a.py", b"import os\n", "Match \\d+ only.") == b'r"""Match \\d+ only."""\n\nimport os\n'


@pytest.mark.parametrize("code", [b"def f(): pass\n", b"class A: pass\n", b"@wrap\n", b"async def f(): pass\n"])
def test_two_blank_lines_stand_above_a_definition(code: bytes) -> None:
    assert _written(b"a.py", code, "Sell it.") == b'"""Sell it."""\n\n\n' + code


def test_blank_lines_that_are_there_are_used() -> None:
    assert _written(b"a.py", b"# Copyright 2020 X\n\nimport os\n", "Sell it.") == (
        b'# Copyright 2020 X\n\n"""Sell it."""\n\nimport os\n'
    )
    assert _written(b"a.py", b"# Copyright 2020 X\n\ndef f(): pass\n", "Sell it.") == (
        b'# Copyright 2020 X\n\n"""Sell it."""\n\n\ndef f(): pass\n'
    )


def test_windows_line_ends_and_the_byte_order_mark_stay() -> None:
    assert _written(b"a.py", b"\xef\xbb\xbfimport os\r\n", "Sell it.\n\nTwice.") == (
        b'\xef\xbb\xbf"""Sell it.\r\n\r\nTwice.\r\n"""\r\n\r\nimport os\r\n'
    )


def test_javascript_gets_a_file_block_and_typescript_a_plain_one() -> None:
    assert _written(b"a.js", b"var x;\n", "Sell all of it.\n\n- now") == (
        b"/**\n * @file Sell all of it.\n *\n * - now\n */\n\nvar x;\n"
    )
    assert _written(b"a.ts", b"let x;\n", "Sell all of it.\n\n- now") == (
        b"/*\n * Sell all of it.\n *\n * - now\n */\n\nlet x;\n"
    )


def test_a_file_of_ascii_stays_ascii() -> None:
    assert _written(b"a.js", b"var x;\n", "Sell \u2014 or not.").isascii()
    found = insert(b"a.js", b"var x;\n", "\u65e5\u672c\u8a9e")
    assert found == Refused(reason="the text has characters that ascii cannot hold")
    assert "日本語".encode() in _written(b"a.js", "var x = 'é';\n".encode(), "日本語")


@pytest.mark.parametrize("text", ["", "  \n\t\n", "...", '"""', "/** */", "\u200b\x00", "-----"])
def test_a_text_without_words_is_refused(text: str) -> None:
    assert isinstance(insert(b"a.py", b"import os\n", text), Refused)


def test_a_text_that_would_be_taken_for_a_licence_is_refused() -> None:
    found = insert(b"a.ts", b"let x;\n", "Copyright 2020 Somebody. All rights reserved.")
    assert found == Refused(reason="the text does not read as documentation")


def test_a_text_without_end_is_refused() -> None:
    found = insert(b"a.py", b"import os\n", "word " * MAX_CHARACTERS)
    assert found == Refused(reason=f"the text is longer than {MAX_CHARACTERS} characters")


def test_a_second_header_is_refused() -> None:
    for path, content in ((b"a.py", b"import os\n"), (b"a.js", b"var x;\n"), (b"a.tsx", b"let x;\n")):
        once = _written(path, content, LONG)
        found = insert(path, once, LONG)
        assert isinstance(found, Refused)
        assert found.reason.startswith("already documented: ")


def test_the_mode_and_the_size_have_their_own_endings() -> None:
    def ending(mode: int, max_bytes: int = 100) -> Ending | None:
        found = assess(b"a.py", b"import os\n", mode, max_bytes=max_bytes)
        return found.ending if isinstance(found, NotEligible) else None

    assert ending(SYMLINK) is Ending.SYMLINK
    assert ending(SUBMODULE) is Ending.SUBMODULE
    assert ending(REGULAR) is ending(EXECUTABLE) is None
    assert ending(REGULAR, max_bytes=9) is Ending.TOO_LARGE
    assert ending(REGULAR, max_bytes=10) is None


def test_every_language_file_of_the_folder_is_found_and_has_grammars_for_its_suffixes() -> None:
    assert {"javascript", "python", "typescript"} <= set(languages())
    for name, language in languages().items():
        assert language.name == name
        for suffix, grammar in language.grammars.items():
            assert language_of(b"some/dir.d/File" + suffix.upper()) is language
            assert language.grammar(b"some/dir.d/File" + suffix) == grammar
    assert language_of(b"README") is None
    assert language_of(b"py") is None
    assert language_of(b"dir.py/README") is None


def test_the_outline_of_a_file_comes_from_its_language() -> None:
    for path, content in ((b"a.py", b"def f(): pass\n"), (b"a.tsx", b"export const f = () => <p/>;\n")):
        language = language_of(path)
        assert language is not None
        assert [symbol.name for symbol in language.outline(path, content).symbols] == ["f"]


@pytest.mark.parametrize(
    "content",
    [
        b"\n" * 180_000 + b"x",
        b" " * 180_000 + b"x",
        b"/*" + b"\n" * 180_000 + b"*/ x",
        b"/*" + b" *" * 90_000 + b" x */ x",
        b"/* x" + b" " * 180_000 + b"y */\nx",
        b"#" + b" " * 180_000 + b"y\nx",
        b"# y\n" * 45_000 + b"x",
        b"// y\n" * 36_000 + b"x",
        b"//\n\n" * 45_000 + b"x",
        b"var" + b" " * 180_000 + b"x",
        b"(" * 180_000 + b"'x'",
        b"'x' " * 45_000,
        b'"""' + b"\\" * 180_000,
        b"__doc__" * 24_000,
        b"\\\n" * 90_000 + b"'x'",
        b"/*" * 90_000,
        b"copyright " * 18_000,
        b"# copyright " * 15_000 + b"\nx",
    ],
    ids=lambda content: repr(content[:12]),
)
def test_no_hostile_file_takes_long(content: bytes) -> None:
    started = time.process_time()
    for path in (b"a.py", b"a.js", b"a.ts"):
        assess(path, content, REGULAR)
    assert time.process_time() - started < 5
