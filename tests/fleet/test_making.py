from __future__ import annotations

from collections.abc import Iterator

import pytest

from fleet.making import Made, make_change
from qodebase.change import Change, Symlink, Write
from qodebase.collision import Entry
from qodebase.intent import Ending, Intent
from qodebase.paths import CommitId, RepoPath
from qodebase.ports import Accepted, Answer, Failure, NoAnswer, Tree, Unusable

A, B = RepoPath(b"a"), RepoPath(b"b")
INTENT = Intent(id="x", asked="Do x.", scope=(A,))


class Empty:
    """A tree without a file."""

    commit = CommitId("1" * 40)

    def entry(self, path: RepoPath) -> None:
        return None

    def read(self, path: RepoPath) -> bytes:
        raise KeyError(path)

    def walk(self) -> Iterator[tuple[RepoPath, Entry]]:
        return iter(())


class WriteIt:
    """Writes the answer to the path before its colon."""

    def accept(self, intent: Intent, answer: str, fork: Tree) -> Accepted | Unusable:
        if not answer:
            return Unusable(ending=Ending.NO_ANSWER, why="nothing to write")
        name, _, text = answer.partition(":")
        path = RepoPath(name.encode())
        operation = Symlink(path=path, target=b"x") if text == "link" else Write(path=path, content=text.encode())
        return Accepted(change=Change(base=fork.commit, operations=(operation,)), sanitised=("a tab",))

    def proof(self, intent: Intent, change: Change, fork: Tree) -> str | Unusable:
        (operation,) = change.operations
        if isinstance(operation, Write) and operation.content == b"code":
            return Unusable(ending=Ending.REFUSED, why="a token of code changed")
        return "no token of code changed"


def make(outcome: str | NoAnswer) -> Made | Unusable:
    answer = Answer(text=outcome, model="m") if isinstance(outcome, str) else outcome
    return make_change(WriteIt(), INTENT, answer, Empty(), [B])  # type: ignore[arg-type]


def test_an_answer_becomes_a_change_with_its_proof_and_what_was_made_harmless() -> None:
    made = make("a:text")
    assert isinstance(made, Made)
    assert made.change.operations == (Write(path=A, content=b"text"),)
    assert (made.proof, made.sanitised) == ("no token of code changed", ("a tab",))
    assert isinstance(make("b:shared"), Made)


@pytest.mark.parametrize("failure", list(Failure))
def test_a_call_without_an_answer_ends_the_intent_and_only_a_refusal_as_refused(failure: Failure) -> None:
    refusals = (Failure.REFUSED, Failure.SECRET, Failure.NEVER_SENT)
    ending = Ending.REFUSED if failure in refusals else Ending.NO_ANSWER
    assert make(NoAnswer(failure=failure, why="words", model="m")) == Unusable(ending=ending, why=f"{failure}: words")
    assert make(NoAnswer(failure=failure, why="", model="m")) == Unusable(ending=ending, why=str(failure))


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("", Unusable(ending=Ending.NO_ANSWER, why="nothing to write")),
        ("c:text", Unusable(ending=Ending.REFUSED, why="outside its scope: c")),
        ("../c:text", Unusable(ending=Ending.REFUSED, why="unsafe path ../c: it has the part ..")),
        ("a:link", Unusable(ending=Ending.REFUSED, why="makes a symbolic link, or writes one that is there")),
        ("a:code", Unusable(ending=Ending.REFUSED, why="a token of code changed")),
    ],
)
def test_what_the_job_the_screening_or_the_proof_refuses_is_no_change(answer: str, expected: Unusable) -> None:
    assert make(answer) == expected
