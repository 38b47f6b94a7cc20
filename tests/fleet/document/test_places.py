"""The place of a header, written by hand for each trap: the mark ◆ stands where it belongs."""

from __future__ import annotations

import pytest

from fleet.jobs.document.eligibility import Eligible, NotEligible, assess
from fleet.jobs.document.language import Ending
from fleet.jobs.document.proof import Proven, prove
from fleet.jobs.document.writing import Inserted, insert
from qodebase.change import REGULAR

MARK = "◆".encode()
TEXT = "Describe the widgets of this module in a few words."

PYTHON = {
    "plain code": "◆import os\n",
    "behind a shebang": "#!/usr/bin/env python3\n◆import os\n",
    "behind a shebang and a coding line": "#!/usr/bin/python\n# -*- coding: utf-8 -*-\n◆import os\n",
    "behind a coding line below another comment": "# A tool.\n# vim: set fileencoding=latin-1 :\n◆import os\n",
    "behind a byte order mark": "\ufeff◆import os\n",
    "behind a byte order mark and a coding line": "\ufeff# coding: utf-8\n◆import os\n",
    "before a future import": "◆from __future__ import annotations\n\nimport os\n",
    "behind a licence, before a future import": (
        "# Copyright 2020 Somebody\n# All rights reserved.\n◆\nfrom __future__ import annotations\n"
    ),
    "behind a licence of several paragraphs": (
        "# Copyright (C) 2001 Somebody\n\n# This program is free software; you can redistribute it.\n\n"
        "# It comes WITHOUT ANY WARRANTY.\n◆\nimport os\n"
    ),
    "behind a licence directly above the code": "# Copyright 2020 Somebody\n◆import os\n",
    "before a comment that belongs to the first symbol": "◆# The largest value.\nLIMIT = 3\n",
    "between a licence and the first symbol's comment": (
        "# SPDX-License-Identifier: MIT\n◆\n# The largest value.\nLIMIT = 3\n"
    ),
    "behind a comment set off by a blank line": "# Wrapper around the C module.\n◆\nimport os\n",
    "behind a whole-file type ignore": "# type: ignore\n◆import os\n",
    "behind a whole-file type ignore below prose": "# Nothing of this is typed.\n# type: ignore\n◆import os\n",
    "behind a mypy line": "# mypy: ignore-errors\n◆import os\n",
    "behind a pylint line of the file": "# pylint: disable=invalid-name\n◆import os\n",
    "before a pylint line for the next line": "◆# pylint: disable-next=invalid-name\nx = 1\n",
    "behind a licence, before a pylint line for the next line": (
        "# Copyright 2020 Somebody\n◆# pylint: disable-next=invalid-name\nx = 1\n"
    ),
    "behind an isort line": "# isort: skip_file\n◆import os\n",
    "behind inline script metadata": '# /// script\n# dependencies = ["x"]\n# ///\n◆import os\n',
    "before blank lines at the top": "◆\n\nimport os\n",
    "before a form feed": "◆\x0cimport os\n",
    "behind a licence, before a form feed of its own": "# Copyright 2020 Somebody\n◆\x0c\nimport os\n",
    "before a formatted string": '◆f"{1}"\n',
    "before a bytes literal": '◆b"bytes"\n',
    "before a string joined with a formatted one": '◆"a" f"{1}"\n',
    "before an attribute of that name": "◆import os\nprint(os.__doc__)\n",
    "before a decorator": "◆@decorate\ndef f(): pass\n",
    "before a continued first line": "◆\\\nimport os\n",
    "with Windows line ends": "# Copyright 2020 Somebody\r\n◆\r\nimport os\r\n",
    "in a file without a final newline": "◆import os",
    "before Python 2": '◆print "x"\n',
    "before a coding line that comes too late": "\n\n# coding: latin-1\n◆\nimport os\n",
}

SCRIPT = {
    "plain code": "◆import x from 'y';\n",
    "behind a shebang": "#!/usr/bin/env node\n◆const x = 1;\n",
    "before use strict": '◆"use strict";\nvar x;\n',
    "behind a licence, before use strict": "/* Copyright 2020 Somebody */\n◆'use strict';\n",
    "behind a pinned licence": "/*! a library v1 */\n◆\nvar x;\n",
    "behind a licence tag": "/**\n * @license\n * Some name\n */\n◆\nvar x;\n",
    "behind a licence in line comments": "// Copyright 2020 Somebody\n// All rights reserved.\n◆\nvar x;\n",
    "behind a type-check switch": "// @ts-check\n◆const x = 1;\n",
    "behind a type-check switch turned off": "// @ts-nocheck\n◆\nconst x = 1;\n",
    "behind triple-slash references": (
        '/// <reference types="node" />\n/// <reference lib="dom" />\n◆import x from "y";\n'
    ),
    "behind a jest docblock": "/**\n * @jest-environment jsdom\n */\n◆\ntest('x', () => {});\n",
    "behind a flow docblock": "/**\n * @flow strict\n */\n◆import x from 'y';\n",
    "behind a flow line": "// @flow\n◆import x from 'y';\n",
    "behind a pragma for markup": "/** @jsx h */\n◆import { h } from 'preact';\n",
    "behind a file-wide lint switch": "/* eslint-disable no-console */\n◆import x from 'y';\n",
    "behind lint globals": "/* global window, document */\n◆var x;\n",
    "before a lint switch for the next line": "◆// eslint-disable-next-line no-var\nvar x;\n",
    "before an expected error": "◆// @ts-expect-error no types\nimport x from 'y';\n",
    "before an ignored error": "/* Copyright 2020 Somebody */\n◆\n// @ts-ignore\nimport x from 'y';\n",
    "before a formatter switch for the next line": "◆// prettier-ignore\nconst x = [1,0];\n",
    "before a coverage switch for the next line": "◆/* istanbul ignore next */\nfunction f() {}\n",
    "before the first symbol's block": "◆/** Adds two numbers and returns their whole sum. */\nfunction add(a, b) {}\n",
    "before the first symbol's block set off by a blank line": (
        "/**\n * Adds two numbers and gives the sum.\n * @param {number} a one\n */\n◆\nfunction add(a, b) {}\n"
    ),
    "before an import's licence further down": (
        "◆import x from 'y';\n/*\n * Copyright 2020 Somebody\n */\nconst z = 1;\n"
    ),
    "before an HTML-like comment": "◆<!-- hide from old browsers\nvar x;\n//-->\n",
    "before a source map line at the end": "◆var x;\n//# sourceMappingURL=x.js.map\n",
    "behind a byte order mark": "\ufeff◆var x;\n",
    "before a webpack comment in code": "◆import(/* webpackChunkName: 'a' */ './a');\n",
    "behind a licence on the line of the code": "/*! a library | MIT License */◆var x;\n",
    "before a type on the line of the code": "◆/** @type {X} */ const x = 1;\n",
    "before a heading of one word": "// Constants\n◆\nconst x = 1;\n",
    "behind commented-out code": "// import a from 'b';\n// foo();\n◆\nimport x from 'y';\n",
    "behind a user script's head": "// ==UserScript==\n// @name x\n// ==/UserScript==\n◆\nvar x;\n",
    "with Windows line ends": "// Copyright 2020 Somebody\r\n◆\r\nvar x;\r\n",
    "in a file without a final newline": "◆var x",
    "before blank lines at the top": "◆\n\nvar x;\n",
}


def _cases() -> list[tuple[str, str, str]]:
    cases = [(f"python {name}", "pkg/module.py", text) for name, text in PYTHON.items()]
    for suffix in ("js", "ts"):
        cases += [(f"{suffix} {name}", f"src/module.{suffix}", text) for name, text in SCRIPT.items()]
    return cases


def _bytes(text: str) -> tuple[bytes, int]:
    content = text.encode()
    return content.replace(MARK, b""), content.index(MARK)


@pytest.mark.parametrize(("path", "marked"), [case[1:] for case in _cases()], ids=[case[0] for case in _cases()])
def test_the_header_goes_where_a_person_would_put_it(path: str, marked: str) -> None:
    content, offset = _bytes(marked)
    found = assess(path.encode(), content, REGULAR)
    assert isinstance(found, Eligible), found
    assert found.place.offset == offset, (content[: found.place.offset], content[:offset])
    inserted = insert(path.encode(), content, TEXT)
    assert isinstance(inserted, Inserted), inserted
    assert inserted.content == content[:offset] + inserted.run + content[offset:]
    assert isinstance(prove(path.encode(), content, inserted.content, full=True), Proven)
    assert isinstance(assess(path.encode(), inserted.content, REGULAR), NotEligible)


NOT_ELIGIBLE = [
    ("a.py", '"""Doc."""\nimport os\n', Ending.DOCUMENTED),
    ("a.py", '"" \nimport os\n', Ending.DOCUMENTED),
    ("a.py", 'r"""Doc."""\n', Ending.DOCUMENTED),
    ("a.py", 'u"Doc."\n', Ending.DOCUMENTED),
    ("a.py", '("Doc.")\nimport os\n', Ending.DOCUMENTED),
    ("a.py", '(  # why\n  "Doc"\n  "more"\n)\nimport os\n', Ending.DOCUMENTED),
    ("a.py", '"one" "two"; import os\n', Ending.DOCUMENTED),
    ("a.py", "'one' \\\n'two'\n", Ending.DOCUMENTED),
    ("a.py", '# Copyright 2020 X\n\n# more\n"""Doc."""\n', Ending.DOCUMENTED),
    ("a.py", '\\\n"""Doc."""\n', Ending.DOCUMENTED),
    ("a.py", '\x0c"""Doc."""\n', Ending.DOCUMENTED),
    ("a.py", 'import os\n__doc__ = "x"\n', Ending.DOCUMENTED),
    ("a.py", "import argparse\nargparse.ArgumentParser(description=__doc__)\n", Ending.DOCUMENTED),
    ("a.py", "import sys\nprint(globals()['__doc__'])\n", Ending.DOCUMENTED),
    ("a.py", "import sys\nprint(sys.modules[__name__].__doc__)\n", Ending.DOCUMENTED),
    ("a.py", '"%s" % 3\n', Ending.NO_PLACE),
    ("a.py", '"a" + "b"\n', Ending.NO_PLACE),
    ("a.py", '"""never ends\n', Ending.NO_PLACE),
    ("a.py", "  import os\n", Ending.NO_PLACE),
    ("a.py", "import os\rimport sys\r", Ending.NO_PLACE),
    ("a.py", "# one\rimport sys\r", Ending.NO_PLACE),
    ("a.py", "import x\n# coding: latin-1\n", Ending.NO_PLACE),
    ("a.py", "# coding: no-such-codec\nimport os\n", Ending.ENCODING),
    ("a.py", "# coding: utf-7\nimport os\n", Ending.ENCODING),
    ("a.py", "# coding: unicode_escape\nimport os\n", Ending.ENCODING),
    ("a.py", "\ufeff# coding: latin-1\nimport os\n", Ending.ENCODING),
    ("a.py", "# Only a comment\n# Copyright 2020 X\n", Ending.EMPTY),
    ("a.py", "", Ending.EMPTY),
    ("a.py", " \n\n", Ending.EMPTY),
    ("a.pyi", "x: int\n", Ending.DECLARATIONS),
    ("a.py", "# @generated by hand\nx = 1\n", Ending.GENERATED),
    ("a.py", "# Generated by Django 4.2 on 2023-01-01\n\nimport os\n", Ending.GENERATED),
    ("api_pb2.py", "import os\n", Ending.GENERATED),
    ("a.py", "x = 1\0\n", Ending.BINARY),
    ("pkg/_vendor/a.py", "x = 1\n", Ending.VENDORED),
    ("third_party/a.py", "x = 1\n", Ending.VENDORED),
    ("node_modules/a/index.js", "var x;\n", Ending.VENDORED),
    ("a.min.js", "var x;\n", Ending.MINIFIED),
    ("a.js", "var x=1;" * 500, Ending.MINIFIED),
    ("a.js", "/** @fileoverview All about it. */\nvar x;\n", Ending.DOCUMENTED),
    ("a.js", "/**\n * All about the widgets of this file.\n */\n\nvar x;\n", Ending.DOCUMENTED),
    ("a.js", "/* All about the widgets of this file. */\nimport x from 'y';\n", Ending.DOCUMENTED),
    ("a.js", "// All about the widgets of this file,\n// in two lines.\n\nvar x;\n", Ending.DOCUMENTED),
    ("a.js", "/* Copyright 2020 X */\n\n/* All about the widgets of this file. */\n\nvar x;\n", Ending.DOCUMENTED),
    ("a.js", "/* never ends\nvar x;\n", Ending.NO_PLACE),
    ("a.js", "// a\rvar x;\r", Ending.NO_PLACE),
    ("a.js", "// note\u2028var x;\n", Ending.NO_PLACE),
    ("a.js", "// nothing\n/* at all */\n", Ending.EMPTY),
    ("a.ts", "/** @packageDocumentation */\nexport * from './a';\n", Ending.DOCUMENTED),
    ("a.d.ts", "declare const x: number;\n", Ending.DECLARATIONS),
    ("a.ts", "/* THIS FILE IS AUTO-GENERATED. DO NOT EDIT. */\nexport {};\n", Ending.GENERATED),
    ("a.rs", "fn main() {}\n", Ending.LANGUAGE),
    ("Makefile", "all:\n", Ending.LANGUAGE),
]


@pytest.mark.parametrize(("path", "text", "ending"), NOT_ELIGIBLE)
def test_a_file_that_takes_no_header_has_its_own_ending(path: str, text: str, ending: Ending) -> None:
    found = assess(path.encode(), text.encode(), REGULAR)
    assert isinstance(found, NotEligible)
    assert found.ending is ending
    assert found.reason
    assert not isinstance(insert(path.encode(), text.encode(), TEXT), Inserted) or ending not in (
        Ending.DOCUMENTED,
        Ending.NO_PLACE,
        Ending.EMPTY,
        Ending.ENCODING,
        Ending.LANGUAGE,
    )
