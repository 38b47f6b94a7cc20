"""The answer format: definitions by name, put where they belong as minimal hunks."""

from __future__ import annotations

import pytest

from fleet.jobs.tasks.answers import BadAnswer, OutOfScope, SaysGone, Section, apply, read, render
from qodebase.change import patched
from qodebase.paths import RepoPath

PATH = RepoPath(b"shop/orders.py")
OTHER = RepoPath(b"shop/carts.py")

SOURCE = '''"""Orders."""

from __future__ import annotations

from shop import units

LIMIT = 3


# Explains late.
@units.cached
def late(amount):
    """Return it."""
    step = amount * 2
    return step


def early(amount):
    return amount
'''


def applied(code: str, source: str = SOURCE, **section: object) -> str:
    return patched(source.encode(), apply(PATH, source, Section(code=code, **section)).hunks).decode()  # type: ignore[arg-type]


def test_a_changed_function_becomes_hunks_of_the_lines_that_differ() -> None:
    code = '@units.cached\ndef late(amount):\n    """Return it."""\n    step = amount * 5\n    return step\n'
    patch = apply(PATH, SOURCE, Section(code=code))
    assert [(hunk.length, hunk.text) for hunk in patch.hunks] == [(22, b"    step = amount * 5\n")]
    assert applied(code) == SOURCE.replace("* 2", "* 5")


def test_a_new_function_goes_behind_the_definition_before_it_in_the_block() -> None:
    new = "def middle(amount):\n    return 0\n"
    late = SOURCE[SOURCE.index("@units") : SOURCE.index("\n\n\ndef early") + 1]
    assert applied(f"{late}\n\n{new}") == SOURCE.replace("def early", f"{new}\n\ndef early")
    assert applied(new) == f"{SOURCE}\n\n{new}"


def test_new_constants_and_imports_go_to_the_top() -> None:
    assert applied("MOST = 9\n") == SOURCE.replace("# Explains", "MOST = 9\n\n\n# Explains")
    assert applied("from shop import dates\n") == SOURCE.replace("units\n\n", "units\nfrom shop import dates\n\n")
    assert applied("import os\n", '"""A module\n\nof two."""\n') == '"""A module\n\nof two."""\nimport os\n'
    with pytest.raises(BadAnswer, match="changes nothing"):
        applied("from shop import units\n")


def test_a_constant_is_replaced_and_a_definition_removed() -> None:
    assert applied("LIMIT = 4\n") == SOURCE.replace("= 3", "= 4")
    assert applied("", removes=["early"]) == SOURCE.replace("\n\n\ndef early(amount):\n    return amount", "")


def test_a_renamed_definition_stays_where_it_stood() -> None:
    code = "def soon(amount):\n    return amount\n"
    assert applied(code, renames={"early": "soon"}) == SOURCE.replace("early", "soon")
    alias = f"{code}\n\nearly = soon\n"
    assert applied(alias, renames={"early": "soon"}) == SOURCE.replace("early", "soon") + "\n\nearly = soon\n"
    with pytest.raises(BadAnswer, match="does not define soon"):
        applied("LIMIT = 4\n", renames={"early": "soon"})


def test_line_ends_and_a_missing_last_one_are_kept() -> None:
    windows = SOURCE.replace("\n", "\r\n")
    assert applied("LIMIT = 4\n", windows) == windows.replace("= 3", "= 4")
    assert (
        applied("def g():\n    return 1\n", "def f():\n    return 0")
        == "def f():\n    return 0\n\n\ndef g():\n    return 1\n"
    )


@pytest.mark.parametrize(
    ("code", "section", "why"),
    [
        ("def late(:\n", {}, "does not parse"),
        ("print('hello')\n", {}, "no definition"),
        ("def f():\n    return 1\n\n\ndef f():\n    return 2\n", {}, "twice"),
        ("", {"removes": ["never"]}, "has no never any more"),
        ("def f():\n    return 1\n", {"renames": {"never": "f"}}, "has no never any more"),
        ("LIMIT = 3\n", {}, "changes nothing"),
    ],
)
def test_code_that_is_no_change_is_refused_with_the_reason(code: str, section: dict[str, object], why: str) -> None:
    with pytest.raises(BadAnswer, match=why):
        applied(code, **section)


def test_an_answer_reads_back_as_it_was_rendered() -> None:
    sections = {PATH: Section(code="A = 1\n", renames={"B": "A"}), OTHER: Section(code="C = 1\n", removes=["D"])}
    assert read(render(sections), (PATH, OTHER)) == sections


@pytest.mark.parametrize(
    "answer",
    [
        "```python\nA = 1\n```",
        "Here it is:\n\n```\nA = 1\n```\nThat is all.",
        "### FILE: `shop/orders.py`\n\n~~~py\nA = 1\n~~~",
        "**FILE shop/orders.py**\n````\nA = 1\n````",
    ],
)
def test_the_forms_that_models_use_are_read(answer: str) -> None:
    assert read(answer, (PATH,)) == {PATH: Section(code="A = 1\n")}


@pytest.mark.parametrize(
    ("answer", "kind", "why"),
    [
        ("I cannot do that.", BadAnswer, "no block"),
        ("FILE shop/carts.py\n```python\nA = 1\n", BadAnswer, "no end"),
        ("```python\nA = 1\n```", BadAnswer, "below no FILE"),
        ("FILE ../etc/passwd\n```\nA = 1\n```", OutOfScope, "outside its scope: ../etc/passwd"),
        ("GONE late_fee was removed", SaysGone, "late_fee was removed"),
    ],
)
def test_an_answer_that_is_none_is_told_apart(answer: str, kind: type[BadAnswer], why: str) -> None:
    with pytest.raises(kind, match=why):
        read(answer, (PATH, OTHER))
