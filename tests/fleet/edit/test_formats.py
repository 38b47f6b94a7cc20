"""How answers are read: whole files, search/replace blocks, unified diffs; and how each refusal is named."""

from __future__ import annotations

import contextlib
import difflib
import random
import time

import pytest

from fleet.jobs.edit.answers import BadAnswer
from fleet.jobs.edit.formats import asking, parse, says_no_change
from qodebase.intent import Ending
from qodebase.paths import RepoPath

A, B = RepoPath(b"app/a.py"), RepoPath(b"docs/b.md")
ONE = {A: "import os\n\n\ndef one():\n    return 1\n\n\ndef two():\n    return 1\n"}
TWO = {A: "a = 1\n", B: "# Title\n\ntext\n"}


def refused(form: str, answer: str, files: dict[RepoPath, str]) -> tuple[str, Ending]:
    with pytest.raises(BadAnswer) as caught:
        parse(form, answer, files)
    return caught.value.why, caught.value.ending


def test_a_whole_file_is_the_one_fenced_block_whatever_is_said_around_it() -> None:
    assert parse("whole", "Sure!\n\n```python\nx = 1\n```\nDone.", ONE) == {A: "x = 1\n"}
    assert parse("whole", "~~~\r\nx = 1\r\n~~~", ONE) == {A: "x = 1\n"}
    assert parse("whole", "```\n```", {A: ""}) == {A: ""}


def test_a_longer_fence_holds_shorter_ones() -> None:
    answer = "````markdown\n# T\n\n```sh\nls\n```\n````"
    assert parse("whole", answer, {B: ""}) == {B: "# T\n\n```sh\nls\n```\n"}


@pytest.mark.parametrize(
    "answer",
    [
        "app/a.py\n```\na = 2\n```\ndocs/b.md\n```\n# T\n```",
        "**`app/a.py`**:\n\n```python\na = 2\n```\n### docs/b.md\n```md\n# T\n```",
        "```python app/a.py\na = 2\n```\n```md path=docs/b.md\n# T\n```",
        "File: ./app/a.py\n```\na = 2\n```\npath: `docs/b.md`\n```\n# T\n```",
    ],
)
def test_of_several_files_each_block_names_its_own(answer: str) -> None:
    assert parse("whole", answer, TWO) == {A: "a = 2\n", B: "# T\n"}


def test_only_the_files_that_are_named_are_edited() -> None:
    assert parse("whole", "docs/b.md\n```\n# T\n```", TWO) == {B: "# T\n"}


@pytest.mark.parametrize(
    ("answer", "files", "why"),
    [
        ("x = 1", ONE, "no fenced block"),
        ("```\nx = 1", ONE, "the fenced block is not closed: was the answer cut off?"),
        ("```\nx\n```\nor\n```\ny\n```", ONE, "block 1 does not say which file it is; there are 2 blocks"),
        ("```\nx\n```", TWO, "block 1 does not say which file it is; there are 2 files"),
        ("app/a.py\n```\nx\n```\napp/a.py\n```\ny\n```", TWO, "two blocks for app/a.py"),
    ],
)
def test_what_is_no_whole_file_says_why(answer: str, files: dict[RepoPath, str], why: str) -> None:
    assert refused("whole", answer, files) == (why, Ending.NO_ANSWER)


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("app/other.py", "outside its scope: app/other.py"),
        ("setup.py", "outside its scope: setup.py"),
        ("../a.py", "unsafe path ../a.py: it has the part .."),
        ("/etc/passwd", "unsafe path /etc/passwd: it begins or ends with a slash"),
        (".git/config", "unsafe path .git/config: it names git's own folder"),
        ("app/.GIT/x", "unsafe path app/.GIT/x: it names git's own folder"),
    ],
)
def test_what_names_another_file_is_refused_in_every_form(name: str, why: str) -> None:
    assert refused("whole", f"{name}\n```\nx\n```", ONE) == (why, Ending.REFUSED)
    blocks = f"{name}\n<<<<<<< SEARCH\nimport os\n=======\n>>>>>>> REPLACE"
    assert refused("blocks", blocks, ONE) == (why, Ending.REFUSED)
    diff = f"--- {name}\n+++ {name}\n@@ -1 +1 @@\n-import os\n+import re\n"
    assert refused("diff", diff, ONE) == (why, Ending.REFUSED)


def block(search: str, replace: str) -> str:
    return f"<<<<<<< SEARCH\n{search}=======\n{replace}>>>>>>> REPLACE\n"


@pytest.mark.parametrize("form", ["whole", "diff"])
def test_what_an_answer_calls_a_file_is_told_in_few_printable_characters(form: str) -> None:
    name = "b/\x1b[2J" + "x" * 100_000 + "/y"
    answer = f"```{name}\nx\n```" if form == "whole" else f"--- {name}\n+++ {name}\n@@ -1 +1 @@\n-a\n+b\n"
    why, ending = refused(form, answer, ONE)
    assert ending is Ending.REFUSED
    assert len(why) < 500
    assert why.isprintable()


def test_blocks_replace_lines_that_stand_once_and_may_be_several_in_any_order() -> None:
    raised = block("def two():\n    return 1\n", "def two():\n    return 2\n")
    answer = f"```\n{raised}```\nand\n" + block("import os\n", "")
    assert parse("blocks", answer, ONE) == {A: "\n\ndef one():\n    return 1\n\n\ndef two():\n    return 2\n"}


def test_blanks_at_the_ends_of_searched_lines_do_not_matter() -> None:
    assert parse("blocks", block("import os  \n", "import re\n"), ONE)[A].startswith("import re\n\n")


def test_a_line_of_equals_in_the_text_is_told_from_the_middle_of_a_block() -> None:
    files = {B: "Title\n=======\n\ntext\n"}
    assert parse("blocks", block("Title\n=======\n", "Other\n=====\n"), files) == {B: "Other\n=====\n\ntext\n"}
    assert parse("blocks", block("text\n", "Sub\n=======\n"), files) == {B: "Title\n=======\n\nSub\n=======\n"}


def test_an_empty_search_fills_an_empty_file() -> None:
    assert parse("blocks", block("", "x = 1\n"), {A: ""}) == {A: "x = 1\n"}


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ("nothing", "no search/replace block"),
        ("<<<<<<< SEARCH\nimport os\n=======\nimport re\n", "block 1 is not closed: was the answer cut off?"),
        ("<<<<<<< SEARCH\nimport os\n>>>>>>> REPLACE\n", "block 1 has no line ======="),
        (block("import sys\n", ""), "block 1 searches for what app/a.py does not hold: import sys"),
        (block("", "x\n"), "block 1 searches for nothing, and app/a.py is not empty"),
        (
            block("    return 1\n", "    return 2\n"),
            "block 1 searches for what stands 2 times in app/a.py (lines 5, 9): return 1",
        ),
        (block("import os\n\n", "") + block("import os\n", ""), "block 2 overlaps another one"),
        (
            "<<<<<<< SEARCH\nimport os\n=======\nimport re\n" + block("def one():\n", "def none():\n"),
            "block 1 is not closed: another one begins in it",
        ),
        (
            block("import os\n", "import re\n") + "  " + block("def one():\n", "def none():\n"),
            "a line looks like one of a block and is none: <<<<<<< SEARCH",
        ),
        (
            block("import os\n", "") + "<<<<<<< ORIGINAL\ndef one():\n=======\n>>>>>>> UPDATED\n",
            "a line looks like one of a block and is none: <<<<<<< ORIGINAL",
        ),
    ],
)
def test_what_is_no_block_says_which_and_why(answer: str, why: str) -> None:
    assert refused("blocks", answer, ONE) == (why, Ending.NO_ANSWER)


def test_blocks_of_several_files_follow_the_name_above_them() -> None:
    second = block("text\n", "words\n") + block("# Title\n", "# T\n")
    answer = "app/a.py\n" + block("a = 1\n", "a = 2\n") + "\n`docs/b.md`\n" + second
    assert parse("blocks", answer, TWO) == {A: "a = 2\n", B: "# T\n\nwords\n"}
    assert refused("blocks", block("a = 1\n", ""), TWO)[0] == "block 1 does not say which file it is; there are 2"


def test_a_diff_is_placed_by_its_lines_whatever_its_numbers_say() -> None:
    hunk = "@@ -70,9 +71,2 @@ def two\n def two():\n-    return 1\n+    return 2\n"
    answer = f"```diff\n--- a/app/a.py\n+++ b/app/a.py\n{hunk}```"
    assert parse("diff", answer, ONE) == {A: ONE[A].replace("two():\n    return 1", "two():\n    return 2")}


def test_the_number_of_a_hunk_chooses_among_equal_places() -> None:
    answer = "@@ -9 +9 @@\n-    return 1\n+    return 2\n"
    assert parse("diff", answer, ONE)[A].endswith("def two():\n    return 2\n")
    why = "hunk 1 fits 2 places of app/a.py (lines 5, 9): return 1"
    assert refused("diff", "@@ @@\n-    return 1\n+    return 2\n", ONE) == (why, Ending.NO_ANSWER)


def test_a_fence_in_the_text_does_not_end_a_hunk_that_is_miscounted() -> None:
    files = {B: "# T\nold\n```\nx\n```\n"}
    answer = "```diff\n@@ -1,9 +1,9 @@\n # T\n-old\n+new\n ```\n-x\n+y\n ```\n```\n"
    assert parse("diff", answer, files) == {B: "# T\nnew\n```\ny\n```\n"}


def test_a_hunk_behind_the_name_of_another_file_is_not_of_the_file_before() -> None:
    first = "--- a/app/a.py\n+++ b/app/a.py\n@@ -1 +1 @@\n-a = 1\n+a = 2\n"
    answer = first + "diff --git a/docs/b.md b/docs/b.md\n@@ -2 +2 @@\n-b = 1\n+b = 2\n"
    files = {A: "a = 1\nb = 1\n", B: "b = 1\n"}
    assert refused("diff", answer, files)[0] == "hunk 2 does not say which file it is; there are 2"


@pytest.mark.parametrize(
    "line",
    [
        "# ... rest of the file unchanged ...",
        "    // ... existing code ...",
        "/* … remaining styles … */",
        "[rest of the file unchanged]",
        "# The rest of the code remains the same.",
    ],
)
def test_an_answer_that_leaves_text_out_and_says_so_is_no_edit(line: str) -> None:
    why = f"app/a.py is not whole, a line stands for what was left out: {line.strip()}"
    assert refused("whole", f"```\nimport re\n{line}\n```", ONE) == (why, Ending.NO_ANSWER)
    cut = block("def one():\n    return 1\n\n\ndef two():\n", f"{line}\n")
    assert refused("blocks", cut, ONE) == (why, Ending.NO_ANSWER)


@pytest.mark.parametrize("line", ["    ...", "# the rest is passed on", "x = tuple[int, ...]", "print('... the rest')"])
def test_a_line_that_only_looks_like_one_for_text_left_out_is_text(line: str) -> None:
    assert parse("whole", f"```\n{line}\n```", ONE) == {A: f"{line}\n"}


def test_a_line_for_text_left_out_that_stood_there_before_is_text() -> None:
    line = "# ... rest of the file unchanged ..."
    assert parse("whole", f"```\n{line}\n```", {A: f"{line}\nx = 1\n"}) == {A: f"{line}\n"}


@pytest.mark.parametrize(
    "line", ["# ... existing code ...", "# ... rest of the code unchanged ...", "# The rest of the file is unchanged"]
)
def test_an_answer_may_leave_text_out_though_it_has_grown(line: str) -> None:
    grown = "".join(f"x{number} = 1\n" for number in range(20))
    why = f"app/a.py is not whole, a line stands for what was left out: {line}"
    assert refused("whole", f"```\n{grown}{line}\n```", ONE) == (why, Ending.NO_ANSWER)
    added = f"{ONE[A]}{line}\n"
    assert parse("whole", f"```\n{added}```", ONE) == {A: added}
    kept = ONE[A].replace("1", "2") + "# Keep the existing behaviour unchanged.\n"
    assert parse("whole", f"```\n{kept}```", ONE) == {A: kept}


@pytest.mark.parametrize(
    ("inside", "fault"),
    [
        ("--- a/app/a.py\n+++ b/app/a.py\n@@ -1 +1 @@\n-import os\n+import re", "is a diff"),
        ("diff --git a/app/a.py b/app/a.py\n", "is a diff"),
        ("@@ -1,2 +1,2 @@\n-import os\n+import re", "is a diff"),
        ("<<<<<<< SEARCH\nimport os\n=======\nimport re\n>>>>>>> REPLACE", "is search/replace blocks"),
        ("1 import re\n2\n4 def one():\n5     return 1", "has numbers before its lines"),
        ("  1| import re\n  2|\n  3| def one():", "has numbers before its lines"),
    ],
)
def test_what_is_answered_in_another_form_is_no_whole_file(inside: str, fault: str) -> None:
    assert refused("whole", f"```\n{inside}\n```", ONE) == (f"the block for app/a.py {fault}", Ending.NO_ANSWER)


def test_a_file_that_is_such_itself_may_be_answered_whole() -> None:
    patch = RepoPath(b"fix.patch")
    text = "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n"
    assert parse("whole", f"```diff\n{text}```", {patch: "old\n"}) == {patch: text}
    table = "1 one\n2 two\n3 three\n"
    assert parse("whole", f"```\n{table}4 four\n```", {B: table}) == {B: f"{table}4 four\n"}
    manual = "<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE\n"
    assert parse("whole", f"```\n{manual}c\n```", {B: manual}) == {B: f"{manual}c\n"}


def test_a_text_with_fences_may_stand_in_a_fence_that_is_no_longer_than_they_are() -> None:
    text = "# T\n\n```sh\nls\n```\nmore\n\n```\nout\n```\n"
    changed = text.replace("more", "less")
    assert parse("whole", f"Here:\n```markdown\n{changed}```\nDone.", {B: text}) == {B: changed}
    assert parse("whole", f"````markdown\n{changed}````\n", {B: text}) == {B: changed}
    two = "```markdown\n# A\n```\nor\n```markdown\n# B\n```\n"
    assert refused("whole", two, {B: "```sh\nls\n```\n"})[0].endswith("there are 2 blocks")
    cut = f"```markdown\n{changed}"
    assert refused("whole", cut, {B: text})[1] is Ending.NO_ANSWER


def test_thoughts_before_an_answer_are_none_of_it() -> None:
    thought = "<think>\nPerhaps\n```\nx = 0\n```\n</think>\n\n"
    assert parse("whole", f"{thought}```\nx = 1\n```", ONE) == {A: "x = 1\n"}
    assert parse("blocks", thought + block("import os\n", "import re\n"), ONE)[A].startswith("import re\n")
    assert says_no_change(f"{thought}NO CHANGE")


def test_a_middle_of_a_block_may_be_miscounted() -> None:
    for sign in ("=====", "======", "========"):
        told = block("import os\n", "import re\n").replace("=======", sign)
        assert parse("blocks", told, ONE)[A].startswith("import re\n\n")
    files = {B: "Sub\n=====\ntext\n"}
    assert parse("blocks", block("Sub\n=====\n", "Top\n=====\n"), files) == {B: "Top\n=====\ntext\n"}


def test_no_form_empties_a_file() -> None:
    why = ("nothing is left of app/a.py; a file can be edited, not taken away", Ending.NO_ANSWER)
    files = {A: "x = 1\n"}
    assert refused("whole", "```\n\n```", files) == why
    assert refused("blocks", block("x = 1\n", ""), files) == why
    assert refused("diff", "--- a/app/a.py\n+++ b/app/a.py\n@@ -1 +0,0 @@\n-x = 1\n", files) == why


def test_blank_lines_around_what_is_sought_may_be_miscounted() -> None:
    wanted = {A: ONE[A].replace("def one", "def uno")}
    told = block("\n\n\n\ndef one():\n\n", "\n\n\n\ndef uno():\n\n")
    assert parse("blocks", told, ONE) == wanted
    hunk = "@@ -9,9 +9,9 @@\n \n \n \n-def one():\n+def uno():\n     return 1\n \n \n \n"
    assert parse("diff", f"```diff\n--- a/app/a.py\n+++ b/app/a.py\n{hunk}```", ONE) == wanted
    uneven = block("\n\n\n\ndef one():\n", "def uno():\n")
    assert refused("blocks", uneven, ONE)[0].startswith("block 1 searches for what app/a.py does not hold")


def test_an_endless_line_or_block_takes_no_time() -> None:
    began = time.process_time()
    assert parse("whole", "a/" * 200_000 + "\n```\nx\n```", ONE) == {A: "x\n"}
    files = {B: "Title\n=======\n" * 20 + "text\n" * 3000}
    assert refused("blocks", block("=======\n" * 3000, ""), files)[0].startswith("block 1 ")
    assert time.process_time() - began < 2


def test_removed_lines_that_look_like_headers_are_lines() -> None:
    files = {A: "select\n-- old\n++ x\nend\n"}
    diff = "--- a/app/a.py\n+++ b/app/a.py\n@@ -1,4 +1,4 @@\n select\n--- old\n-++ x\n+-- new\n+++ y\n end\n"
    assert parse("diff", diff, files) == {A: "select\n-- new\n++ y\nend\n"}


@pytest.mark.parametrize(
    ("answer", "why", "ending"),
    [
        ("no diff", "no hunk of a unified diff", Ending.NO_ANSWER),
        ("@@ -1 +1 @@\n import os\n", "hunk 1 changes nothing", Ending.NO_ANSWER),
        ("@@ -1 +1 @@\n-import sys\n+import re\n", "hunk 1 does not fit app/a.py: import sys", Ending.NO_ANSWER),
        ("@@ -90,0 +91 @@\n+x\n", "hunk 1 does not say where its lines go", Ending.NO_ANSWER),
        ("@@ -1,3 +1,4 @@\n+import re\n", "hunk 1 does not say where its lines go", Ending.NO_ANSWER),
        (
            "```\n@@ -4,6 +4,6 @@\n def one():\n-    return 1\n+    return 2\n\n\n"
            "def two():\n-    return 1\n+    return 2\n```",
            "a line behind hunk 1 is of no hunk: def two():",
            Ending.NO_ANSWER,
        ),
        (
            "```\n--- a/app/a.py\n+++ b/app/a.py\n-import os\n+import re\n"
            "@@ -8,2 +8 @@\n def two():\n-    return 1\n```\n",
            "a line behind hunk 0 is of no hunk: -import os",
            Ending.NO_ANSWER,
        ),
        (
            "```\n@@ -1,9 +1,9 @@\n-import os\n+import re\n```\n def one():\n-    return 1\n```\n```\n",
            "a line behind hunk 1 is of no hunk: def one():",
            Ending.NO_ANSWER,
        ),
        (
            "```diff\n@@ -1,3 +1,3 @@\n-import os\n+import re\n",
            "the fenced block is not closed: was the answer cut off?",
            Ending.NO_ANSWER,
        ),
        ("--- a/app/a.py\n+++ /dev/null\n@@ -1 +0,0 @@\n-import os\n", "the diff holds a deletion", Ending.REFUSED),
        ("diff --git a/x b/x\nnew file mode 120000\n", "the diff holds a symbolic link", Ending.REFUSED),
        ("diff --git a/x b/x\nGIT binary patch\n", "the diff holds a binary patch", Ending.REFUSED),
        ("rename from app/a.py\nrename to b.py\n", "the diff holds a rename", Ending.REFUSED),
        ("old mode 100644\nnew mode 100755\n", "the diff holds another mode", Ending.REFUSED),
    ],
)
def test_what_is_no_diff_says_which_hunk_and_why(answer: str, why: str, ending: Ending) -> None:
    assert refused("diff", answer, ONE) == (why, ending)


def test_every_diff_of_two_made_texts_gives_the_second_one() -> None:
    chance = random.Random(5)
    for _ in range(300):
        old = [chance.choice(["", "a", "b = 1", "- x", "+ y", "@", "-- z"]) for _ in range(chance.randint(0, 25))]
        new = [line for line in old if chance.random() > 0.2]
        for _ in range(chance.randint(0, 4)):
            new.insert(chance.randint(0, len(new)), chance.choice(["new", "", "a", "++ q"]))
        if old == new or not any(new):
            continue
        lines = difflib.unified_diff(old, new, "a/app/a.py", "b/app/a.py", lineterm="", n=chance.randint(0, 3))
        text, expected = ("".join(f"{line}\n" for line in side) for side in (old, new))
        assert parse("diff", "\n".join(lines) + "\n", {A: text}) == {A: expected}


@pytest.mark.parametrize("form", ["whole", "blocks", "diff"])
def test_no_garbage_is_taken_for_an_edit_of_something_else(form: str) -> None:
    chance = random.Random(form)
    pieces = [
        "```",
        "\n",
        "<<<<<<< SEARCH",
        "=======",
        ">>>>>>> REPLACE",
        "@@ -1 +1 @@",
        "--- a/x",
        "+++ b/x",
        "import os",
    ]
    for _ in range(500):
        answer = "\n".join(chance.choice(pieces) for _ in range(chance.randint(0, 12)))
        with contextlib.suppress(BadAnswer):
            assert set(parse(form, answer, ONE)) == {A}


def test_the_model_is_told_the_form_and_to_name_files_where_there_are_several() -> None:
    assert "one fenced code block, its fence" in asking("whole", 1)
    assert "below a line with nothing but its path" in asking("whole", 2)
    assert "<<<<<<< SEARCH" in asking("blocks", 1)
    assert "unified diff" in asking("diff", 3)
