"""Real Python files of the running interpreter, and files in all languages written for these tests."""

from __future__ import annotations

import random
import sysconfig
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from declared_sources import DECLARED

from fleet.jobs.document.eligibility import Eligible, assess
from qodebase.change import REGULAR


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """One file: its path and bytes."""

    path: bytes
    content: bytes


LICENCE = "/*\n * Copyright 2020 Somebody.\n * Licensed under the MIT License.\n */\n"

SCRIPTS = {
    "queue.js": (
        LICENCE + "'use strict';\n\n// The largest queue.\nconst LIMIT = 16;\n\n/**\n * A queue.\n * @template T\n */\n"
        "class Queue {\n  constructor() {\n    this.items = []; // kept in order\n  }\n\n  push(item) {\n"
        "    if (this.items.length >= LIMIT) throw new Error(`full: ${LIMIT}`);\n    this.items.push(item);\n  }\n}\n\n"
        "module.exports = { Queue };\n"
    ),
    "tool.mjs": (
        "#!/usr/bin/env node\n/* eslint-disable no-console */\nimport { readFile } from 'node:fs/promises';\n\n"
        "// @ts-ignore\nexport const pattern = /\\/\\*.*?\\*\\//g;\n\n"
        "const text = await readFile(process.argv[2], 'utf8');\n"
        "console.log(text.replace(pattern, '/* gone */').length);\n"
    ),
    "view.jsx": (
        "// @flow\nimport React from 'react';\n\nexport default function View({ name }) {\n"
        '  /* what a reader sees */\n  return <p title="a // b">{name} — ok</p>;\n}\n'
    ),
    "types.ts": (
        '/// <reference lib="dom" />\n\n'
        "export interface Point {\n  readonly x: number; // to the right\n  y: number;\n}\n\n"
        "/** Tells whether two points are one. */\nexport function same(a: Point, b: Point): boolean {\n"
        "  return a.x === b.x && a.y === b.y;\n}\n\nexport type Maybe<T> = T | undefined;\n"
    ),
    "panel.tsx": (
        LICENCE + "\nimport * as React from 'react';\n\ninterface Props { title: string }\n\n"
        "export const Panel = ({ title }: Props) => (\n  <section>\n    {/* the heading */}\n    <h1>{title}</h1>\n"
        "  </section>\n);\n"
    ),
    "legacy.cjs": "var a = 1\nvar b = a\n++b\n// done\n<!-- old\nmodule.exports = [a, b]\n",
    "one.js": "/*! one | MIT License */var one=1;\nvar two=2; /* two */\nmodule.exports=one+two;\n",
}

PYTHON = {
    "licence.py": (
        "#!/usr/bin/env python3\n# -*- coding: latin-1 -*-\n# Copyright 2020 Somebody\n\n# type: ignore\n"
        "from __future__ import annotations\n\nNAME = 'K\u00e4se'  # a name\n\n\ndef f(a, b):\n"
        "    # the sum\n    return a + b\n"
    ),
    "plain.py": "import os\n\nLIMIT = 3  # lines\n\n\nclass A:\n    '''A class.'''\n\n    x = \"\\N{BULLET}\"\n",
}


def written() -> Iterator[Source]:
    """Yield the files written for these tests, each also with other line ends, a mark, no final newline."""
    for name, text in (*SCRIPTS.items(), *PYTHON.items(), *DECLARED.items()):
        content = text.encode("latin-1" if "latin-1" in text else "utf-8")
        path = b"src/" + name.encode()
        yield Source(path=path, content=content)
        yield Source(path=path, content=content.replace(b"\n", b"\r\n"))
        yield Source(path=path, content=content.rstrip(b"\n"))
        if "latin-1" not in text and not text.startswith("#!"):
            yield Source(path=path, content=b"\xef\xbb\xbf" + content)


def eligible_modules() -> Iterator[Source]:
    """Yield every file of the running Python's library that takes a header, in order of its path."""
    root = Path(sysconfig.get_path("stdlib"))
    for file in sorted(root.rglob("*.py")):
        path = str(file.relative_to(root)).encode()
        if b"site-packages" in path:
            continue
        content = file.read_bytes()
        if isinstance(assess(path, content, REGULAR), Eligible):
            yield Source(path=path, content=content)


def some_modules(count: int, *, seed: int, max_bytes: int = 30_000) -> list[Source]:
    """Return a seeded sample of the library's eligible files up to a size; it reads no more of them than needed."""
    root = Path(sysconfig.get_path("stdlib"))
    names = sorted(str(file.relative_to(root)) for file in root.rglob("*.py") if "site-packages" not in file.parts)
    random.Random(seed).shuffle(names)
    found: list[Source] = []
    for name in names:
        content = (root / name).read_bytes()
        path = name.encode()
        if 200 < len(content) <= max_bytes and isinstance(assess(path, content, REGULAR), Eligible):
            found.append(Source(path=path, content=content))
            if len(found) == count:
                break
    return found
