"""The prompt of a model's replay: asked, changed, landed in between, clashing, failed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pytest

from fleet.replay_text import MOST_CHARACTERS, replay_text, with_replay
from qodebase.change import REGULAR, Change, Delete, Hunk, Patch, Write
from qodebase.collision import Collided, Entry, Kind, Step
from qodebase.edits import blob_id
from qodebase.intent import Intent
from qodebase.paths import CommitId, RepoPath
from qodebase.ports import Message, Prompt, ReplayRequest

PATH, OTHER = RepoPath(b"a.py"), RepoPath(b"b.bin")
BASE = b"def f():\n    return 1\n"
COMMIT = CommitId("0" * 40)


class Files:
    """A tree of the files that it was given."""

    def __init__(self, files: Mapping[RepoPath, bytes]) -> None:
        self._files = files

    @property
    def commit(self) -> CommitId:
        return COMMIT

    def entry(self, path: RepoPath) -> Entry | None:
        return Entry(REGULAR, blob_id(self._files[path])) if path in self._files else None

    def read(self, path: RepoPath) -> bytes:
        return self._files[path]

    def walk(self) -> Iterator[tuple[RepoPath, Entry]]:
        for path in self._files:
            yield path, Entry(REGULAR, blob_id(self._files[path]))


def request(change: Change, *, failed: str = "", since: tuple[str, ...] = ("i1", "i2", "i1")) -> ReplayRequest:
    return ReplayRequest(
        intent=Intent(id="i9", asked="Let f return 3.", scope=(PATH,)),
        attempt=1,
        change=change,
        collided=(Collided(path=PATH, kind=Kind.CONTENT, steps=(Step(by="merge", declined="x"),)),),
        since=since,
        failed=failed,
    )


CHANGE = Change(base=COMMIT, operations=(Patch(path=PATH, hunks=(Hunk(offset=20, length=1, text=b"3"),)),))


def test_the_text_holds_all_that_a_model_needs() -> None:
    before, now = Files({PATH: BASE}), Files({PATH: BASE.replace(b"1", b"2")})
    text = replay_text(request(CHANGE, failed="it did not parse"), before, now, {"i1": "Let f return 2."})
    assert "Asked:\nLet f return 3.\n" in text
    assert "-    return 1\n+    return 3\n" in text
    assert text.count("- Let f return 2.") == 1
    assert "- i2" in text
    assert "a.py line 2, in f\n" in text
    assert "--- as main has it now\n    return 2\n" in text
    assert text.endswith("The last answer did not do: it did not parse")


def test_the_story_stands_before_the_jobs_own_question_and_changes_nothing_else() -> None:
    prompt = Prompt(
        messages=(Message(role="system", text="S"), Message(role="user", text="Q")),
        max_output_tokens=7,
        facts={"k": 1},
    )
    tree = Files({PATH: BASE})
    told = with_replay(prompt, request(CHANGE), tree, tree, {})
    assert told.messages[0] == prompt.messages[0]
    assert told.messages[1].role == "user"
    assert told.messages[1].text.endswith("\n\nQ")
    assert (told.max_output_tokens, told.facts, len(told.messages)) == (7, {"k": 1}, 2)
    assert "did not do" not in told.messages[1].text
    assert told.printed == ()
    assert with_replay(prompt, request(CHANGE, failed="it was red"), tree, tree, {}).printed == ("it was red",)


def test_deletes_binaries_and_files_that_are_gone_have_a_text() -> None:
    change = Change(base=COMMIT, operations=(Delete(path=PATH), Write(path=OTHER, content=b"\0\xff")))
    text = replay_text(request(change, since=()), Files({PATH: BASE}), Files({}), {})
    assert "-def f():" in text
    assert "b.bin: binary" in text
    assert "Landed in between" not in text


def test_a_long_change_is_cut() -> None:
    change = Change(base=COMMIT, operations=(Write(path=PATH, content=b"line\n" * 10_000),))
    text = replay_text(request(change), Files({PATH: BASE}), Files({PATH: b"x\n"}), {})
    assert "[the rest is not shown]" in text
    assert len(text) < 2 * MOST_CHARACTERS + 2000


def test_a_change_that_does_not_fit_its_base_is_a_bug() -> None:
    with pytest.raises(RuntimeError, match="i9"):
        replay_text(request(CHANGE), Files({}), Files({}), {})
