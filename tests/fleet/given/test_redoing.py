"""Asking a model to make a given change again: what it is shown, and what its answer may be."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from fleet.given.redoing import redo_prompt, redone
from fleet.jobs.edit.answers import fenced_blocks
from qodebase.change import REGULAR
from qodebase.collision import Entry
from qodebase.edits import blob_id
from qodebase.intent import Ending, Intent
from qodebase.paths import CommitId, RepoPath
from qodebase.ports import Accepted, Unusable

NOTES = RepoPath(b"notes.md")
INTENT = Intent(id="i", asked="mend the notes", scope=(NOTES,))


class Holding:
    """A fork with one file."""

    commit = CommitId("1" * 40)

    def __init__(self, content: bytes) -> None:
        self._content = content

    def entry(self, path: RepoPath) -> Entry | None:
        """Return what stands at a path."""
        return Entry(REGULAR, blob_id(self._content)) if path == NOTES else None

    def read(self, path: RepoPath) -> bytes:
        """Return the content."""
        return self._content

    def walk(self) -> Iterator[tuple[RepoPath, Entry]]:
        """Yield the file."""
        yield NOTES, Entry(REGULAR, blob_id(self._content))


@pytest.mark.parametrize("text", ["# T\n```\nx\n```\nlast", "one\n", "````\n```\n", "", "no end"])
def test_the_newest_text_is_shown_in_a_fence_that_nothing_in_it_closes(text: str) -> None:
    fork = Holding(text.encode())
    (message,) = redo_prompt(INTENT, fork).messages
    (block,) = fenced_blocks(message.text)
    assert "\n".join(block.lines) == text.removesuffix("\n")


def test_an_answer_is_a_change_against_the_fork_or_says_why_not() -> None:
    fork = Holding(b"one\n")
    assert isinstance(redone(INTENT, "```\ntwo\n```", fork), Accepted)
    why = "the model says that nothing is to be changed"
    assert redone(INTENT, "NO CHANGE", fork) == Unusable(ending=Ending.NO_ANSWER, why=why)
