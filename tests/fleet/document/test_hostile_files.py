"""No file makes a language slow, however odd it is."""

from __future__ import annotations

import time

import pytest
from declared_sources import DECLARED

from fleet.jobs.document.languages import languages
from fleet.jobs.document.writing import insert

BUILT = [
    b"#region x\n" + b"// // // // //\n" * 2000,
    b"#!" + b"/**/" * 5000 + b"x\n",
    b"#" * 3000 + b"\nx\n",
    b"/*" * 30_000,
    b"//\n" * 8000 + b"x\n",
    b"// \\ \\ \\ " * 10_000 + b"\nx\n",
    b"/// <summary>[a](" * 2000 + b"\nclass A {}\n",
    b"namespace a { " * 1000 + b"int x() {}\n",
    b"// Copyright (c) 2020 X\n// \n" * 1000 + b"package a\n",
    b"=begin\n" * 500,
]
SUFFIXES = sorted({name.rpartition(".")[2] for name in DECLARED})


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_no_odd_file_takes_a_language_long(suffix: str) -> None:
    language = next(one for one in languages().values() if b"." + suffix.encode() in one.grammars)
    for content in BUILT:
        started = time.process_time()
        path = b"a." + suffix.encode()
        insert(path, content, "Describe the widgets of this file.")
        language.outline(path, content)
        assert time.process_time() - started < 3, content[:40]
