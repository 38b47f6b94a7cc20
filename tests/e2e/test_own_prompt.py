"""A prompt of the user's: it is what is sent, and a run goes on only with the one it began with."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from world import call, expect_clean

JOB = """
job = "document"
repo = "../code"
model = "scripted"

[document]
prompt = "my.md"
"""


@pytest.fixture
def place(here: Path, small: Path) -> Path:
    """The current folder with a repository in ``code`` and a job file in ``jobs``."""
    shutil.copytree(small, here / "code")
    (here / "jobs").mkdir()
    (here / "jobs" / "docs.toml").write_text(JOB)
    (here / "jobs" / "my.md").write_text("Be kind.\n---\nWhat is {path} for?\n{text}")
    return here


def test_a_prompt_beside_the_job_file_is_sent_and_frozen_by_what_it_says(place: Path) -> None:
    shown = call("run", "jobs/docs.toml", "--show-prompt", "part0.py").out
    assert "--- system\nBe kind.\n" in shown
    assert "--- user\nWhat is part0.py for?\ndef part0():" in shown
    assert call("run", "jobs/docs.toml", "-o", "one", "--sample", "1", "--json").code == 0
    assert "What is part" in call("log", "one", call("log", "one", "--json").data["intents"][0]["intent"]).out
    prompt = place / "jobs" / "my.md"
    said = prompt.read_text()
    prompt.write_text("Be unkind.\n---\n{text}")
    refused = call("resume", "one")
    assert refused.code == 2
    assert "the job document has changed since the freeze" in refused.err
    prompt.unlink()
    assert "cannot be read" in call("resume", "one").err
    expect_clean(place / "one")
    prompt.write_text(said)
    assert call("resume", "one", "--json").data["ledger"]["landed"] == 3
    expect_clean(place / "one")


def test_a_prompt_on_the_command_line_is_relative_to_the_current_folder(place: Path) -> None:
    words = ("run", "document", "--repo", "code", "--model", "scripted", "--show-prompt", "part0.py", "--prompt")
    assert "Be kind." in call(*words, "jobs/my.md").out
    done = call(*words, "my.md")
    assert done.code == 2
    assert "my.md cannot be read" in done.err
