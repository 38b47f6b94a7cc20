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


DECLARED = {
    "a.go": {
        "plain code": "◆package a\n",
        "behind a licence": "// Copyright 2020 Somebody\n◆\npackage a\n",
        "behind a licence directly above the package": "// Copyright 2020 Somebody\n◆package a\n",
        "behind build constraints": "//go:build linux\n// +build linux\n◆\npackage a\n",
        "behind a licence and build constraints": "// Copyright 2020 Somebody\n\n//go:build linux\n◆\npackage a\n",
        "before a constraint that does not count, to keep it so": "◆// +build ignore\npackage a\n",
        "behind a generate line": "//go:generate stringer -type=A\n◆\npackage a\n",
        "behind a debug line": "//go:debug panicnil=1\n◆package main\n",
        "before a cgo preamble": '◆package a\n\n/*\n#include <stdio.h>\n*/\nimport "C"\n',
        "behind a byte order mark": "\ufeff◆package a\n",
        "with Windows line ends": "// Copyright 2020 Somebody\r\n◆\r\npackage a\r\n",
    },
    "a.rs": {
        "plain code": "◆fn main() {}\n",
        "before an inner attribute": "◆#![allow(dead_code)]\nfn main() {}\n",
        "before an inner attribute that is no shebang": "◆#!\n[allow(dead_code)]\nfn main() {}\n",
        "behind a shebang": "#!/usr/bin/env run\n◆fn main() {}\n",
        "behind a licence": "// Copyright 2020 Somebody\n◆\nuse std::fmt;\n",
        "behind nested comments": "/* Copyright 2020 /* X */ Somebody */\n◆\nuse std::fmt;\n",
        "before the first symbol's text": "◆/// A queue.\nstruct Queue;\n",
        "before the first symbol's text set off by a blank line": "◆/// A queue of all items.\n\nstruct Queue;\n",
        "between a licence and the first symbol's text": "// Copyright 2020 X\n◆/// A queue.\nstruct Queue;\n",
        "before a licence below the first symbol's text": "◆/// A queue.\n\n// Copyright 2020 X\n\nstruct Q;\n",
        "before a macro": "◆test_suite! { a }\n",
    },
    "A.java": {
        "plain code": "◆package a;\n",
        "behind a licence": "/*\n * Copyright 2020 Somebody\n */\n◆package a;\n",
        "behind a licence that is written as Javadoc": "/**\n * Copyright 2020 Somebody\n */\n◆\npackage a;\n",
        "before the text of a class without a package": "◆/** A queue. */\nclass A {}\n",
        "behind a style switch": "// CHECKSTYLE:OFF\n◆\npackage a;\n",
    },
    "a.kt": {
        "before an annotation of the file": '◆@file:JvmName("A")\npackage a\n',
        "behind a licence with nested comments": "/* Copyright 2020 /* b */ X */\n◆\npackage a\n",
        "behind a shebang": "#!/usr/bin/env kotlinc\n◆println()\n",
        "before an inspection of the next line": "◆//noinspection ALL\nval a = 3\n",
    },
    "a.c": {
        "before an include": "◆#include <stdio.h>\n",
        "behind a licence": "/* Copyright 2020 Somebody */\n◆\n#include <stdio.h>\n",
        "behind a licence whose lines are spliced": "// Copyright 2020 Somebody \\\nand others\n◆int x;\n",
        "behind a mode line": "/* -*- mode: c -*- */\n◆#include <stdio.h>\n",
        "before a function's comment": "◆/* Add one to the number. */\nint f(int a);\n",
        "before a function's Doxygen comment": "◆/// Adds one.\nint f(int a);\n",
    },
    "a.h": {
        "before an include guard": "◆#ifndef A_H\n#define A_H\n#endif\n",
        "before a pragma": "/* Copyright 2020 Somebody */\n◆#pragma once\n",
    },
    "a.cc": {
        "before an include": "◆#include <vector>\n",
        "behind a licence": "// Copyright 2020 Somebody\n// All rights reserved.\n◆\n#include <vector>\n",
        "behind a formatter switch": "// clang-format off\n◆int x;\n",
        "behind a test's line": "// RUN: %clang %s\n◆\nint x;\n",
    },
    "a.cs": {
        "before a definition": "◆#define FAST\nusing System;\n",
        "behind a licence in a region": "#region License\n// Copyright 2020 X\n#endregion\n◆\nusing System;\n",
        "before a region of code": "◆#region Usings\nusing System;\n#endregion\n",
        "behind a copyright tag": '// <copyright file="a.cs">\n// Somebody\n// </copyright>\n◆\nusing System;\n',
        "behind a byte order mark, with Windows line ends": "\ufeff◆using System;\r\n",
        "before XML documentation": "◆/// <summary>A queue of items.</summary>\n\nclass A {}\n",
    },
    "a.swift": {
        "behind the tools version": "// swift-tools-version:5.3\n◆import PackageDescription\n",
        "behind Xcode's file head": "//\n//  a.swift\n//  Shop\n//\n//  Created by Some Body on 1.\n//\n◆\nimport A\n",
        "behind a file-wide lint switch": "// swiftlint:disable all\n◆import A\n",
        "before a lint switch for the next line": "◆// swiftlint:disable:next x\nlet a = 3\n",
        "before a section mark": "// Copyright 2020 X\n◆\n// MARK: - Queue\n\nclass A {}\n",
        "before the first symbol's text": "◆/// A queue of all items.\n\nclass A {}\n",
        "behind a shebang": "#!/usr/bin/swift\n◆import A\n",
    },
    "a.rb": {
        "plain code": "◆class A; end\n",
        "behind a magic comment": "# frozen_string_literal: true\n◆\nclass A; end\n",
        "between a magic comment and the class's text": "# frozen_string_literal: true\n◆# A queue.\nclass A; end\n",
        "behind a shebang and magic comments": "#!/usr/bin/ruby\n# encoding: utf-8\n# typed: true\n◆class A; end\n",
        "behind magic comments on both sides of a licence": (
            "# encoding: utf-8\n# Copyright 2020 X\n# frozen_string_literal: true\n◆\nclass A; end\n"
        ),
        "behind an editor's line": "# -*- coding: utf-8; mode: ruby -*-\n◆class A; end\n",
        "behind a lint switch": "# rubocop:disable all\n◆class A; end\n",
        "behind a licence in a block": "=begin\nCopyright 2020 Somebody\n=end\n◆\nclass A; end\n",
        "behind a documentation switch": "# :stopdoc:\n◆\nclass A; end\n",
    },
}


def _cases() -> list[tuple[str, str, str]]:
    cases = [(f"python {name}", "pkg/module.py", text) for name, text in PYTHON.items()]
    for suffix in ("js", "ts"):
        cases += [(f"{suffix} {name}", f"src/module.{suffix}", text) for name, text in SCRIPT.items()]
    for path, texts in DECLARED.items():
        cases += [(f"{path} {name}", f"src/{path}", text) for name, text in texts.items()]
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
    ("a.go", "// Package a sells.\npackage a\n", Ending.DOCUMENTED),
    ("a.go", "// This file holds the queue.\n\npackage a\n", Ending.DOCUMENTED),
    ("a.go", "// Code generated by x. DO NOT EDIT.\n\npackage a\n", Ending.GENERATED),
    ("a.pb.go", "package a\n", Ending.GENERATED),
    ("a.rs", "//! Sells.\nfn main() {}\n", Ending.DOCUMENTED),
    ("a.rs", "/*! Sells. */\nfn main() {}\n", Ending.DOCUMENTED),
    ("a.rs", '#![doc = "Sells."]\nfn main() {}\n', Ending.DOCUMENTED),
    ("a.rs", "[1, 2, 3]\n", Ending.NO_PLACE),
    ("a.rs", "/* /* */ never ends\nfn main() {}\n", Ending.NO_PLACE),
    ("A.java", "/* Sells what the shop has. */\npackage a;\n", Ending.DOCUMENTED),
    ("A.java", "/** Sells what the shop has. */\npackage a;\n", Ending.DOCUMENTED),
    ("A.java", "/* Copyright \\u00a9 X */\npackage a;\n", Ending.NO_PLACE),
    ("a.kt", "/* /* */ never ends\npackage a\n", Ending.NO_PLACE),
    ("a.c", "/** @file a.c */\nint x;\n", Ending.DOCUMENTED),
    (
        "a.c",
        "/* Hash tables that grow.\n * They hold what the shop sells, by its number.\n"
        " *\n * Copyright 2020 X\n */\nint x;\n",
        Ending.DOCUMENTED,
    ),
    ("a.c", "// Copyright 2020 X ??/\nint x;\n", Ending.NO_PLACE),
    ("a.c", "/* Copyright 2020 *\\\n/ int x; */\n", Ending.NO_PLACE),
    (
        "a.cc",
        "// Copyright 2020 X\n//\n// This file holds hash tables that grow when they must.\n\nint x;\n",
        Ending.DOCUMENTED,
    ),
    ("a.cs", "// <auto-generated/>\nusing System;\n", Ending.GENERATED),
    ("a.Designer.cs", "using System;\n", Ending.GENERATED),
    ("a.cs", "// This file sells\n// what the shop has.\nusing System;\n", Ending.DOCUMENTED),
    ("a.swift", "// Sells what the shop has.\n\nimport A\n", Ending.DOCUMENTED),
    ("a.rb", "# frozen_string_literal: true\n\n# Sells what the shop has.\n\nclass A; end\n", Ending.DOCUMENTED),
    ("a.rb", "=begin\nSells what the shop has.\n=end\n\nclass A; end\n", Ending.DOCUMENTED),
    ("a.rb", "=begin\nnever ends\n", Ending.NO_PLACE),
    ("a.zig", "fn main() {}\n", Ending.LANGUAGE),
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
