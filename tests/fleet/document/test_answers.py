"""What models answered to the document job, small ones above all, and what of it is documentation."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator

import pytest

from fleet.jobs.document.answers import ADDRESS, BARE, BREAKS, CODE, ECHO, FENCE, LOOP, TALK, fault_of
from fleet.jobs.document.job import Document
from fleet.jobs.document.prompting import read_template
from fleet.jobs.document.settings import Settings
from qodebase.change import REGULAR
from qodebase.collision import Entry
from qodebase.edits import blob_id
from qodebase.intent import Ending
from qodebase.paths import CommitId, RepoPath
from qodebase.ports import Accepted, Unusable

FILE = b'''\
import geometry

class Box:
    """Holds what is put into it (https://boxes.example/rules)."""

    def put(self, thing):
        self.things.append(thing)
        return len(self.things)
'''
ASKED = read_template("").text


def fault(text: str) -> str:
    return fault_of(text, FILE, ASKED)


@pytest.mark.parametrize(
    "text",
    [
        "Boxes that hold things.",
        "Debugger basics",
        "Boxes by the rules of https://boxes.example/rules, and no others.",
        "The code uses a decorator to make a loop that runs in debug mode. It allows running functions inside of it, "
        "and `__all__` holds the names of all functions that `run` can use, which makes the code easier to read.",
        "Boxes, and how they are filled.\n\n- `Box`: holds things.\n- `put(thing)`: adds one; returns how many.\n"
        "- `take()`: the last one.",
        "Box: a container.\n\nUse it so:\n\n    box = Box()\n    box.put(1)\n\nThings come out by name.",
        "Commands for browsers.\n\n- Chrome: open, open with autoraise false, open new and open new tab.\n"
        "- Mozilla: open, open with autoraise false, open new and open new tab.\n"
        "- Galeon: open, open with autoraise false, open new and open new tab.",
        "Package test.imports.data.circular.parent.\n\n"
        "Builds on test.imports.data.circular.parent.child. Used by test.imports.data.circular.parent.child.",
        "Thanks to its cache, reading a box twice costs nothing.",
        "This is the main entry point: it reads settings and starts the server.",
        "Please see `Box` first.\nReturn values are counts.\nImports follow the arrows of the layout.",
        "Return codes of the tool; from zero, which means that all is well, to nine.",
        "for example files, and the loader that reads them.",
        "Kisten für Dinge, die man später wieder braucht.",
        "箱子保存东西",
        "x" * 9000 + ":",
    ],
)
def test_documentation_passes(text: str) -> None:
    assert fault(text) == ""


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("Box:\n```python\nclass Box:\n    pass\n```", FENCE),
        ("```python\nimport asyncio", FENCE),
        ("box.py", BARE),
        ("Box", BARE),
        ("...", BARE),
        ("- \n- \n- ", BARE),
        ("Sure! This file holds boxes.", TALK),
        ("Here is the documentation for the file:\n\nBoxes that hold things.", TALK),
        ("Here's a short header comment for you:\nBoxes.", TALK),
        ("**I'm sorry**, but I can't see the file. Could you paste it here?", TALK),
        ("As an AI language model, I cannot read files.", TALK),
        ("Please provide the file that I shall document.", TALK),
        ("The first paragraph is one sentence that shows a section about boxes.", TALK),
        ("Boxes. The rest of the file is not shown because it does not show up on the page.", TALK),
        ("Boxes and their uses. The next paragraphs contain more on boxes.", TALK),
        ("The following code demonstrates how to create a box.", TALK),
        ("The following documentation contains a list of boxes that can be used.", TALK),
        ("The first paragraph is one sentence of at most 80 characters that says what boxes are.", ECHO),
        (
            "Boxes.\nDo not repeat licences, do not praise, do not mention that the file lacked documentation.",
            ECHO,
        ),
        ("import asyncio\nfrom asyncio import queue\n\nasync def main():\n    await asyncio.sleep(1)", CODE),
        ('def put(self, thing):\n    """Add a thing and return how many there are then."""', CODE),
        ("# Boxes that hold things", CODE),
        ("const box = require('box');\nbox.put(1);", CODE),
        ("class Box:\nThis class holds things.", CODE),
        ("import asyncio.sleep(10)  # to avoid an infinite loop\ndef async_func() -> NoneType:\nIt waits.", CODE),
        ("The file contains a single line that defines a box with several methods:", BREAKS),
        ("More on boxes stands at https://docs.example/boxes (https://docs.example/more).", ADDRESS),
        ("The box.\ndef put(self, thing):\nself.things.append(thing)\nreturn len(self.things)", CODE),
    ],
)
def test_what_is_no_documentation_is_named(text: str, reason: str) -> None:
    assert fault(text) == reason


def test_a_text_that_goes_round_in_circles_is_a_loop() -> None:
    sentence = "The module also supports programming with promises, which makes it easy to handle several tasks. "
    assert fault(sentence) == ""
    assert fault(sentence * 2) == LOOP
    assert fault("The box holds things.\n" * 3) == LOOP
    words = "it reads the box and then it writes the box and then "
    assert fault(f"Boxes. {words * 4}") == LOOP
    assert fault("Boxes:\n\n" + "- `Box`: holds all things.\n" * 3) == LOOP


def test_a_text_loops_exactly_where_counting_all_of_it_says_so() -> None:
    def counted(lines: list[str]) -> bool:
        if max(Counter(line for line in lines if len(line.split()) > 2).values()) > 2:
            return True
        words = " ".join(lines).split()
        runs = Counter(zip(words, words[1:], words[2:], words[3:], strict=False))
        once = sum(1 for count in runs.values() if count == 1)
        return len(words) >= 30 and once < 0.6 * runs.total()

    chance = random.Random(7)
    found = Counter[bool]()
    for _ in range(400):
        pool = [f"word{number}" for number in range(chance.randrange(2, 60))]
        lines = [" ".join(chance.choices(pool, k=6)) for _ in range(chance.randrange(3, 9))]
        lines += chance.choices(lines, k=chance.randrange(3))
        loops = counted(lines)
        assert (fault_of("\n".join(lines), b"", "") == LOOP) is loops
        found[loops] += 1
    assert min(found[True], found[False]) > 20


def test_lines_taken_from_the_file_are_no_documentation() -> None:
    held = b"The quick brown fox\nJumps over a lazy dog\nAnd is seen no more\nEver again by anyone\n"
    assert fault_of(held.decode(), held, ASKED) == CODE
    assert fault_of("A fox that jumps.\n\nThe quick brown fox", held, ASKED) == ""


class OneFile:
    """A tree with one file."""

    commit = CommitId("1" * 40)

    def entry(self, path: RepoPath) -> Entry | None:
        return Entry(REGULAR, blob_id(FILE)) if path == b"box.py" else None

    def read(self, path: RepoPath) -> bytes:
        return {b"box.py": FILE}[path]

    def walk(self) -> Iterator[tuple[RepoPath, Entry]]:
        yield RepoPath(b"box.py"), Entry(REGULAR, blob_id(FILE))


def accepted(answer: str, *, screen: bool) -> Accepted | Unusable:
    job = Document(Settings(index="", screen=screen))
    job.open(OneFile())
    (intent,) = job.intents()
    return job.accept(intent, answer, OneFile())


def test_the_job_ends_an_intent_whose_answer_is_no_documentation() -> None:
    code = "```python\nimport geometry\n\nBox().put(1)\n```"
    assert accepted(code, screen=True) == Unusable(ending=Ending.NO_ANSWER, why="not documentation: it is code")
    assert isinstance(accepted("```\nBoxes that hold things.\n```", screen=True), Accepted)


def test_a_user_may_take_answers_as_they_are() -> None:
    code = "Boxes:\n\n```python\nBox().put(1)\n```"
    assert accepted(code, screen=True) == Unusable(ending=Ending.NO_ANSWER, why=f"not documentation: {FENCE}")
    assert isinstance(accepted(code, screen=False), Accepted)
