from __future__ import annotations

from fleet.jobs.document.languages.outline import Outline
from fleet.jobs.document.languages.outline_ecmascript import outline as script
from fleet.jobs.document.languages.outline_python import outline as module
from fleet.jobs.document.usage import Usage, usage_of


def used(files: dict[bytes, bytes]) -> Usage:
    outlines: dict[bytes, Outline] = {}
    for path, content in files.items():
        grammar = "typescript" if path.endswith(b".ts") else "javascript"
        outlines[path] = module(content) if path.endswith(b".py") else script(content, grammar)
    return usage_of(outlines)


def test_python_imports_find_modules_packages_and_submodules() -> None:
    usage = used(
        {
            b"shop/__init__.py": b"from .till import Till\n",
            b"shop/till.py": b"",
            b"shop/deep/__init__.py": b"",
            b"shop/deep/one.py": b"from ..till import Till\nfrom . import two\nfrom ... import nothing\n",
            b"shop/deep/two.py": b"import shop.deep.one\n",
            b"main.py": b"import shop.till as t\nfrom shop import deep, Till\nimport os\n",
        }
    )
    assert usage.used_by(b"shop/till.py") == (b"main.py", b"shop/__init__.py", b"shop/deep/one.py")
    assert usage.used_by(b"shop/__init__.py") == (b"main.py",)
    assert usage.used_by(b"shop/deep/__init__.py") == (b"main.py",)
    assert usage.used_by(b"shop/deep/two.py") == (b"shop/deep/one.py",)
    assert usage.used_by(b"shop/deep/one.py") == (b"shop/deep/two.py",)
    assert usage.used_by(b"main.py") == ()


def test_a_source_folder_and_tests_beside_it_are_joined() -> None:
    usage = used(
        {
            b"src/shop/__init__.py": b"",
            b"src/shop/till.py": b"",
            b"tests/helpers.py": b"",
            b"tests/test_till.py": b"from shop.till import Till\nimport helpers\n",
        }
    )
    assert usage.used_by(b"src/shop/till.py") == (b"tests/test_till.py",)
    assert usage.used_by(b"tests/helpers.py") == (b"tests/test_till.py",)


def test_a_module_inside_of_a_package_is_no_top_level_name() -> None:
    usage = used({b"shop/__init__.py": b"", b"shop/json.py": b"", b"shop/till.py": b"import json\n"})
    assert usage.used_by(b"shop/json.py") == ()


def test_of_two_modules_of_one_name_the_nearer_is_meant() -> None:
    usage = used(
        {
            b"a/lib/__init__.py": b"",
            b"a/lib/x.py": b"",
            b"b/lib/__init__.py": b"",
            b"b/lib/x.py": b"",
            b"b/app/run.py": b"from lib import x\n",
        }
    )
    assert usage.used_by(b"b/lib/x.py") == (b"b/app/run.py",)
    assert usage.used_by(b"a/lib/x.py") == ()


def test_scripts_are_found_by_suffix_index_and_source_of_a_compiled_name() -> None:
    usage = used(
        {
            b"src/a.ts": b"import { B } from './b.js';\nimport c from './c';\nimport './d/';\nexport * from '../e';\n",
            b"src/b.ts": b"",
            b"src/c/index.js": b"const x = require('../b');\nimport('../d/index.mjs');\n",
            b"src/d/index.mjs": b"",
            b"e.js": b"import React from 'react';\n",
        }
    )
    assert usage.used_by(b"src/b.ts") == (b"src/a.ts", b"src/c/index.js")
    assert usage.used_by(b"src/c/index.js") == (b"src/a.ts",)
    assert usage.used_by(b"src/d/index.mjs") == (b"src/a.ts", b"src/c/index.js")
    assert usage.used_by(b"e.js") == (b"src/a.ts",)


def test_a_file_knows_what_the_files_that_it_imports_say_of_themselves() -> None:
    usage = used(
        {
            b"a.py": b"import b, c\n",
            b"b.py": b"'''Keep the books. And more.'''\n",
            b"c.py": b"class C:\n    '''A thing of note.'''\ndef d(): pass\n",
        }
    )
    assert [(one.path, one.summary, one.names) for one in usage.uses(b"a.py")] == [
        (b"b.py", "Keep the books.", ()),
        (b"c.py", "C: A thing of note.", ("C", "d")),
    ]


def test_siblings_are_the_files_and_folders_beside_a_file() -> None:
    usage = used({b"p/__init__.py": b"", b"p/a.py": b"", b"p/q/r/b.py": b"", b"c.py": b""})
    assert usage.siblings(b"p/__init__.py") == (b"a.py", b"q")
    assert usage.siblings(b"c.py") == (b"p",)
    assert usage.siblings(b"p/q/r/b.py") == ()


def test_the_order_of_the_files_changes_nothing() -> None:
    files = {b"%d.py" % n: b"import a\n" for n in range(20)} | {b"a.py": b""}
    turned = dict(reversed(files.items()))
    assert used(files).used_by(b"a.py") == used(turned).used_by(b"a.py") == tuple(sorted(files)[:-1])


def test_odd_imports_lead_nowhere_and_raise_nothing() -> None:
    usage = used(
        {
            b"a.py": b"from ...... import b\nfrom . import *\nimport a\n",
            b"\xff/b.js": b"import '../../../../x';\nimport '';\nimport '.';\nimport '/';\nimport '\xff';\n",
        }
    )
    assert usage.used_by(b"a.py") == ()
