"""Intents are found by what messages name and by what commits do, and by a message alone never."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from subprocess import run

import pytest
from made_works import work

from qodebase.commands.support.handover.asking import commits_above, diffs_of
from qodebase.commands.support.handover.finding import Finder, Found, Missing, candidates_of, named_in, standing
from qodebase.commands.support.handover.landed import Work
from qodebase.paths import CommitId, RepoPath
from qodebase.trunk.reader import Reader

BODY = "".join(f"line {number}\n" for number in range(20))


class Repository:
    """A repository of one file, to commit to."""

    def __init__(self, path: Path) -> None:
        self.path = path
        path.mkdir()
        self.git("init", "--quiet", "--initial-branch", "main")
        self.base = self.commit("Base", BODY)

    def git(self, *words: str) -> str:
        person = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org")
        return run(["git", "-C", str(self.path), *person, *words], check=True, capture_output=True).stdout.decode()

    def commit(self, message: str, content: str, name: str = "a.txt") -> CommitId:
        (self.path / name).write_text(content)
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message", message)
        return CommitId(self.git("rev-parse", "HEAD").strip())

    def back(self) -> None:
        self.git("reset", "--quiet", "--hard", self.base)

    def found(self, work: Work) -> Found | Missing:
        with Reader(self.path) as reader:
            tip = CommitId(self.git("rev-parse", "HEAD").strip())
            candidates = candidates_of(self.path, reader, commits_above(self.path, tip, self.base), "r")
            return Finder(candidates, {}, (reader,)).find(work)


@pytest.fixture
def there(tmp_path: Path) -> Repository:
    return Repository(tmp_path / "code")


def landed(there: Repository, content: str) -> Work:
    """Land an edit of the file on the base, keep what it did, and go back."""
    commit = there.commit("Landed", content)
    there.git("branch", "landed")
    own = diffs_of(there.path, [commit])[commit]
    there.back()
    return replace(work(0), own=own)


EDITED = BODY.replace("line 10\n", "line ten\n")
NAMED = "Merge\n\n* one\n\n    Qodebase-Run: r\n    Qodebase-Intent: i0\n\n---------\n\nCo-authored-by: x <x@y>\n"


def test_a_patch_is_found_on_other_lines_around_it(there: Repository) -> None:
    made = landed(there, EDITED)
    there.commit("Others", "before\n" + BODY)
    commit = there.commit("Squashed", "before\n" + EDITED)
    found = there.found(made)
    assert isinstance(found, Found)
    assert (found.candidate.commit, found.by) == (commit, "patch")


def test_a_commit_that_holds_the_edit_among_others_is_found(there: Repository) -> None:
    made = landed(there, EDITED)
    commit = there.commit("Squashed", EDITED.replace("line 3\n", "line three\n"))
    found = there.found(made)
    assert isinstance(found, Found)
    assert (found.candidate.commit, found.by) == (commit, "content")


def test_an_edit_that_a_person_altered_is_found_by_the_message_that_names_it(there: Repository) -> None:
    made = landed(there, EDITED)
    there.commit("Before", BODY + "more\n")
    commit = there.commit(NAMED, BODY.replace("line 10\n", "line 10.0\n"))
    found = there.found(made)
    assert isinstance(found, Found)
    assert (found.candidate.commit, found.by) == (commit, "trailers")


def test_a_message_that_names_an_intent_and_touches_none_of_its_files_is_not_believed(there: Repository) -> None:
    made = landed(there, EDITED)
    commit = there.commit(NAMED, "other\n", "b.txt")
    found = there.found(made)
    assert isinstance(found, Missing)
    assert found.why == f"{commit[:12]} names it and changes none of its files"


def test_an_edit_that_no_commit_makes_is_missing(there: Repository) -> None:
    made = landed(there, EDITED)
    there.commit("Another edit", BODY.replace("line 10\n", "line 10.0\n"))
    assert isinstance(there.found(made), Missing)


def test_the_commit_that_takes_an_edit_back_is_not_it(there: Repository) -> None:
    made = landed(there, EDITED)
    commit = there.commit("Merged", EDITED)
    there.commit("Reverted", BODY)
    found = there.found(made)
    assert isinstance(found, Found)
    assert found.candidate.commit == commit


def test_what_was_taken_back_does_not_stand_unless_that_was_taken_back(there: Repository) -> None:
    first = there.commit("Merged", EDITED)
    second = there.commit(f"Reverted\n\nThis reverts commit {first}.\n", BODY)
    third = there.commit(f"Again\n\nThis reverts commit {second}.\n", EDITED)
    with Reader(there.path) as reader:
        candidates = candidates_of(there.path, reader, [first, second, third], "r")
    assert [one.commit for one in standing(candidates[:2])] == [second]
    assert [one.commit for one in standing(candidates)] == [first, third]


def test_names_count_behind_the_run_that_they_follow() -> None:
    theirs = "Qodebase-Intent: none\nQodebase-Run: other\nQodebase-Intent: theirs\n"
    assert named_in(f"{theirs}> Qodebase-Run: r\n> Qodebase-Intent: ours", "r") == {"ours"}


def test_a_diff_tells_deleted_and_added_files(there: Repository) -> None:
    (there.path / "a.txt").unlink()
    commit = there.commit("Moved", BODY, "b.txt")
    diff = diffs_of(there.path, [commit, there.base])
    assert diff[commit][RepoPath(b"a.txt")].after is None
    assert diff[commit][RepoPath(b"b.txt")].before is None
    assert diff[there.base][RepoPath(b"a.txt")].before is None
