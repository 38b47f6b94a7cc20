from __future__ import annotations

from pathlib import Path

import pytest

from fleet.jobs.document.prompting import OWN, BadPrompt, read_template

FILLED = {"path": "a.py", "language": "Python", "used_by": "b.py", "replay": "", "text": "x = '{path}'\n"}


def test_the_jobs_own_prompt_tells_first_and_asks_then() -> None:
    system, asked = read_template("").messages(**FILLED)
    assert (system.role, asked.role) == ("system", "user")
    assert system.text == OWN.read_text().partition("---\n")[0]
    assert asked.text.startswith("File: a.py (Python)\nUsed by: b.py\n")


def test_what_is_filled_in_is_left_as_it_is() -> None:
    assert "x = '{path}'" in read_template("").messages(**FILLED)[1].text


def test_a_file_of_the_users_is_the_prompt(tmp_path: Path) -> None:
    file = tmp_path / "my.md"
    file.write_text("Be kind.\n---\nSay what {path} is for, {twice}:\n---\n{text}")
    system, asked = read_template(str(file)).messages(**FILLED)
    assert system.text == "Be kind.\n"
    assert asked.text == "Say what a.py is for, {twice}:\n---\nx = '{path}'\n"


def test_without_a_line_between_them_all_is_the_question(tmp_path: Path) -> None:
    file = tmp_path / "my.md"
    file.write_text("What is this?\n{text}")
    (asked,) = read_template(str(file)).messages(**FILLED)
    assert (asked.role, asked.text) == ("user", "What is this?\nx = '{path}'\n")


@pytest.mark.parametrize(
    ("content", "said"), [(None, "cannot be read"), (b"\xff{text}", "no UTF-8"), (b"{text}\n---\n{path}", "not show")]
)
def test_a_file_that_can_be_no_prompt_says_why(tmp_path: Path, content: bytes | None, said: str) -> None:
    file = tmp_path / "my.md"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(BadPrompt, match=said):
        read_template(str(file))
