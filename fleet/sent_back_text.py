"""What an agent is told before a job's own question when its last change was sent back."""

from __future__ import annotations

from qodebase.events import SentBack
from qodebase.ports import Message, Prompt

MOST_CHARACTERS = 8_000
"""The most that is kept, and told, of a reason and of its detail: output of checks, texts that clash."""

_CUT = "\n[some lines are not shown]\n"


def with_sent_back(prompt: Prompt, sent_back: SentBack) -> Prompt:
    """Return a job's prompt, made on the newest main, with why the last change was sent back in front.

    Its facts then say which ``attempt`` it asks for.
    """
    *first, last = prompt.messages
    told = Message(role=last.role, text=f"{sent_back_text(sent_back)}\n\n{last.text}")
    asked = prompt.saying((*first, told)).knowing(attempt=(sent_back.attempt or 1) + 1)
    return asked.quoting(sent_back.reason, sent_back.detail)


def sent_back_text(sent_back: SentBack) -> str:
    """Return which attempt was sent back, and why."""
    parts = [
        f"Attempt {sent_back.attempt} at what follows was sent back. Do it again on the newest text of the code, so"
        " that this does not happen again.",
        f"Why it was sent back:\n{sent_back.reason}",
    ]
    if sent_back.detail:
        parts.append(f"What it met:\n{sent_back.detail}")
    return "\n\n".join(parts)


def bounded(text: str) -> str:
    """Return a text with its middle left out where it is too long: a cause stands at either end."""
    if len(text) <= MOST_CHARACTERS:
        return text
    half = (MOST_CHARACTERS - len(_CUT)) // 2
    return text[:half] + _CUT + text[-half:]
