"""Runs that do not look at the whole tree first."""

from __future__ import annotations

from pathlib import Path

from world import call, expect_clean, git, ledger_of

WORDS = ("run", "document", "--repo", "code", "--no-usage")


def test_prompts_do_not_say_who_uses_a_file_and_all_else_is_as_ever(here: Path, small: Path) -> None:
    (here / "code").symlink_to(small)
    shown = call(*WORDS, "--show-prompt", "part0.py").out
    assert "Used by: not looked at" in shown
    assert "Used by: no file" in call(*WORDS[:-1], "--show-prompt", "part0.py").out
    call(*WORDS, "-o", "one", "--model", "scripted")
    assert ledger_of(here / "one") == {"landed": 3}
    assert "`part0` function" in git(here / "one" / "repo.git", "show", "main:docs/API_INDEX.md")
    expect_clean(here / "one")


def test_a_program_that_needs_more_than_the_text_is_refused_before_the_run_is_frozen(here: Path, small: Path) -> None:
    (here / "code").symlink_to(small)
    for words in ((), ("--model", "outline"), ("--model", "scripted", "--escalate-model", "outline")):
        done = call(*WORDS, "-o", "one", *words)
        assert done.code == 2
        assert "--usage" in done.err
    assert not (here / "one").exists()
