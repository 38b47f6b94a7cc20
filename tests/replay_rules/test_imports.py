"""Imports of both sides, united."""

from __future__ import annotations

import random

import pytest

from replay_rules.imports import rule
from tests.support.three_ways import content, inserted, three, why


def test_statements_of_both_sides_are_kept_and_sorted_where_all_are_sorted() -> None:
    collision = inserted(b"import abc\nimport sys\n", b"import sys", b"import re\n", b"import os\n")
    assert content(rule(collision)) == b"import abc\nimport os\nimport re\nimport sys\n"


def test_an_unsorted_block_takes_mains_first() -> None:
    collision = inserted(b"import sys\nimport abc\n", b"", b"import re\n", b"import os\n")
    assert content(rule(collision)) == b"import sys\nimport abc\nimport re\nimport os\n"


def test_names_of_a_statement_over_several_lines_are_united_with_their_comments() -> None:
    base = b"from x import (\n    a,\n    d,\n)\n"
    collision = inserted(base, b"    d", b"    b,  # why\n", b"    c,\n")
    assert content(rule(collision)) == b"from x import (\n    a,\n    b,  # why\n    c,\n    d,\n)\n"


def test_one_side_broke_the_statement_into_lines_and_the_other_added_a_name() -> None:
    outcome = rule(
        three(b"from x import a, d\n", b"from x import (\n    a,\n    b,\n    d,\n)\n", b"from x import a, c, d\n")
    )
    assert content(outcome) == b"from x import (\n    a,\n    b,\n    c,\n    d,\n)\n"


def test_new_statements_from_one_module_become_one() -> None:
    collision = inserted(b"import os\n", b"", b"from x import b\n", b"from x import c\n")
    assert content(rule(collision)) == b"import os\nfrom x import b, c\n"


def test_the_same_import_of_both_sides_is_there_once() -> None:
    base = b"import os\n"
    outcome = rule(three(base, base + b"import re\nimport sys\n", base + b"import sys\n"))
    assert content(outcome) == base + b"import re\nimport sys\n"


def test_statements_with_one_name_each_stay_so() -> None:
    collision = inserted(
        b"from x import a\nfrom x import d\n", b"from x import d", b"from x import b\n", b"from x import c\n"
    )
    assert content(rule(collision)) == b"".join(b"from x import %c\n" % name for name in b"abcd")


def test_named_imports_of_scripts_are_united() -> None:
    base = b'import { a } from "x";\n'
    outcome = rule(three(base, base.replace(b"a }", b"a, b }"), base.replace(b"a }", b"a, c }"), b"m.ts"))
    assert content(outcome) == b'import { a, b, c } from "x";\n'


def test_imports_inside_of_a_block_are_united() -> None:
    base = b"if TYPE_CHECKING:\n    from x import A\n"
    collision = inserted(base, b"", b"    from y import B\n", b"    from z import C\n")
    assert content(rule(collision)) == base + b"    from y import B\n    from z import C\n"


@pytest.mark.parametrize(
    ("base", "main", "change", "path"),
    [
        (b"import os\n", b"import os\nfrom x import f\n", b"import os\nfrom y import f\n", b"m.py"),
        (b"import os\n", b"import os\nfrom x import *\n", b"import os\nfrom y import *\n", b"m.py"),
        (b"", b'import "a.css";\n', b'import "b.css";\n', b"m.js"),
        (b"f();\n", b'import "a.css";\nf();\n', b'import "b.css";\nf();\n', b"m.js"),
        (b"from x import a, b\n", b"from x import a\n", b"from x import a, b, c\n", b"m.py"),
        (b"import os\n", b"import os\nimport re\n", b"import os\nsetup()\n", b"m.py"),
        (b"from x import a\n", b"from x import a, b as c\n", b"from x import a, d as c\n", b"m.py"),
    ],
)
def test_what_may_be_meant_otherwise_is_declined(base: bytes, main: bytes, change: bytes, path: bytes) -> None:
    assert why(rule(three(base, main, change, path)))


def test_nothing_is_lost_of_generated_imports() -> None:
    dice = random.Random(5)
    modules = [f"m{number:02}" for number in range(40)]
    for _ in range(40):
        chosen = sorted(dice.sample(modules, 12))
        parts = {name: dice.choice(("base", "main", "change")) for name in chosen}
        sides = [
            "".join(f"import {name}\n" for name in chosen if parts[name] in ("base", side))
            for side in ("base", "main", "change")
        ]
        if not all(side in parts.values() for side in ("base", "main", "change")):
            continue
        outcome = rule(three(*(f"{side}\n\nX = 1\n".encode() for side in sides)))
        wanted = "".join(f"import {name}\n" for name in chosen)
        if "only" not in getattr(outcome, "why", "") and "kind" not in getattr(outcome, "why", ""):
            assert content(outcome) == f"{wanted}\n\nX = 1\n".encode()


def test_imports_that_both_sides_keep_in_order_stay_in_order() -> None:
    base = b"import os\nfrom typing import Dict\nfrom typing import List\n\nx = 1\n"
    main, change = (
        base.replace(b"List\n", b"List\n" + text)
        for text in (b"from typing import Tuple\n", b"from typing import Set\nfrom typing import Union\n")
    )
    wanted = base.replace(
        b"List\n", b"List\nfrom typing import Set\nfrom typing import Tuple\nfrom typing import Union\n"
    )
    assert content(rule(three(base, main, change))) == wanted


def test_a_package_bound_by_a_module_of_it_is_not_bound_to_something_else() -> None:
    base = b"import re\n\n\nx = 1\n"
    module, name = base.replace(b"re\n", b"re\nimport os.path\n"), base.replace(b"re\n", b"re\nfrom my import os\n")
    for sides in ((module, name), (name, module)):
        assert "other imports" in why(rule(three(base, *sides)))
    both = content(rule(three(base, module, base.replace(b"re\n", b"re\nimport os\n"))))
    assert both.count(b"import os") == 2
