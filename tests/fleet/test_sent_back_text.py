from __future__ import annotations

from fleet.sent_back_text import MOST_CHARACTERS, bounded, with_sent_back
from qodebase.events import SentBack
from qodebase.ports import Message, Prompt

PROMPT = Prompt(
    messages=(Message(role="system", text="Be brief."), Message(role="user", text="Do it.")),
    max_output_tokens=7,
    facts={"scripted": "done"},
)


def test_the_next_attempt_is_told_why_the_last_was_sent_back_before_the_jobs_own_question() -> None:
    told = with_sent_back(PROMPT, SentBack(attempt=2, reason="checks failed", detail="a.py was moved by edit-1"))
    assert told.messages[0] == PROMPT.messages[0]
    assert told.messages[1].role == "user"
    assert told.messages[1].text.startswith("Attempt 2 ")
    assert told.messages[1].text.endswith("\n\nDo it.")
    assert "checks failed" in told.messages[1].text
    assert "a.py was moved by edit-1" in told.messages[1].text
    assert (told.max_output_tokens, told.facts) == (7, {**PROMPT.facts, "attempt": 3})
    assert told.digest != PROMPT.digest


def test_a_reason_without_detail_is_told_alone() -> None:
    assert "What it met" not in with_sent_back(PROMPT, SentBack(attempt=1, reason="no")).messages[1].text


def test_a_long_text_keeps_both_its_ends() -> None:
    text = "first line\n" + "x" * 50_000 + "\nlast line"
    cut = bounded(text)
    assert len(cut) <= MOST_CHARACTERS
    assert cut.startswith("first line\n")
    assert cut.endswith("\nlast line")
    assert "not shown" in cut
    assert bounded("short") == "short"
