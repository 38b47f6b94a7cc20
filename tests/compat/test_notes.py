"""The notes that the trunk writes, as C git reads them, and those of other people."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from qodebase.trunk.batch import Landed
from qodebase.trunk.landing import Trunk
from qodebase.trunk.reader import Reader

Call = Callable[..., Any]
REF = "refs/notes/qodebase"


def people_note(git: Call, path: Path, fanout: str) -> tuple[str, bytes]:
    """Write a note of somebody else on main's tip, at a path of the given fan-out, and return commit and text."""
    commit = git(path, "rev-parse", "main").decode().strip()
    cuts = [int(part) for part in fanout.split("/")]
    parts, at = [], 0
    for cut in cuts:
        parts.append(commit[at : at + cut])
        at += cut
    assert at == 40
    text = b"by a person\r\nno newline at the end \xff"
    name = "/".join(parts)
    stream = (
        b"commit %s\ncommitter Person <person@example.org> 1700000000 +0000\ndata 5\nnotes\n"
        b"M 100644 inline %s\ndata %d\n%s\nM 100644 inline README\ndata 5\nhello\n"
    ) % (REF.encode(), name.encode(), len(text), text)
    git(path, "fast-import", "--quiet", input=stream)
    return commit, text


def test_git_reads_a_note_for_each_commit(repository: Call, landing: Call, git: Call, sound: Call) -> None:
    path = repository({b"a": b"one"})
    with Trunk.open(path, branch="main", run="run-1") as trunk:
        batch = [landing(trunk, {b"f%d" % number: b"x"}, intent=f"i{number}") for number in range(300)]
        results: Any = trunk.land(batch, lambda shared, content: b"")
    for result in results[::60]:
        assert git(path, "notes", "--ref=qodebase", "show", result.commit) == f"note of {result.commit}\n".encode()
    log = git(path, "log", "--notes=qodebase", "--format=%H%x00%N", "main").decode()
    for result in results:
        assert f"{result.commit}\0note of {result.commit}\n" in log
    assert len(git(path, "notes", "--ref=qodebase", "list").splitlines()) == 300
    message = git(path, "log", "-1", "--format=%B", REF).decode()
    assert f"Qodebase-Run: run-1\nQodebase-Expects: {results[-1].commit}\n" in message
    assert git(path, "rev-list", "--count", REF).strip() == b"1"
    with Reader(path) as reader:
        assert reader.note(results[7].commit) == f"note of {results[7].commit}\n".encode()
        assert dict(reader.notes()) == {result.commit: f"note of {result.commit}\n".encode() for result in results}
        assert reader.note("12" * 20) is None
    sound(path)


@pytest.mark.parametrize("fanout", ["40", "2/38", "2/2/36", "2/2/2/34"])
def test_notes_of_other_people_stay_byte_for_byte_with_any_fan_out(
    fanout: str, repository: Call, land: Call, git: Call, sound: Call
) -> None:
    path = repository({b"a": b"one"})
    commit, text = people_note(git, path, fanout)
    before = git(path, "ls-tree", "-r", REF)
    with Trunk.open(path, branch="main", run="run-1") as trunk:
        landed = [land(trunk, {b"b": b"%d" % number}, intent=str(number)) for number in range(30)]
    after = git(path, "ls-tree", "-r", REF)
    assert set(before.splitlines()) < set(after.splitlines())
    assert git(path, "notes", "--ref=qodebase", "show", commit) == text
    for one in landed:
        assert git(path, "notes", "--ref=qodebase", "show", one.commit) == f"note of {one.commit}\n".encode()
    with Reader(path) as reader:
        assert reader.note(commit) == text
        assert len(dict(reader.notes())) == 31
    sound(path)


def test_a_note_lands_beside_a_file_that_has_the_name_of_its_folder(
    repository: Call, land: Call, git: Call, sound: Call
) -> None:
    path = repository({b"a": b"one"})
    stream = b"commit %s\ncommitter P <p@example.org> 1700000000 +0000\ndata 1\nx\n" % REF.encode()
    for number in range(256):
        stream += b"M 100644 inline %02x\ndata 1\nx\n" % number
    git(path, "fast-import", "--quiet", input=stream)
    with Trunk.open(path, branch="main", run="run-1") as trunk:
        result = land(trunk, {b"b": b"two"})
        with Reader(path) as reader:
            assert reader.note(result.commit) == f"note of {result.commit}\n".encode()
    assert git(path, "notes", "--ref=qodebase", "show", result.commit) == f"note of {result.commit}\n".encode()
    assert len(git(path, "ls-tree", REF).splitlines()) == 257
    sound(path)


def test_notes_that_git_adds_between_two_steps_are_kept(repository: Call, land: Call, git: Call, sound: Call) -> None:
    path = repository({b"a": b"one"})
    base = git(path, "rev-parse", "main").decode().strip()
    with Trunk.open(path, branch="main", run="run-1") as trunk:
        first = land(trunk, {b"b": b"1"}, intent="1")
        git(path, "notes", "--ref=qodebase", "add", "-m", "a person's", base)
        git(path, "notes", "--ref=qodebase", "append", "-m", "more", first.commit)
        second = land(trunk, {b"b": b"2"}, intent="2")
    assert git(path, "notes", "--ref=qodebase", "show", base) == b"a person's\n"
    assert git(path, "notes", "--ref=qodebase", "show", first.commit).endswith(b"\n\nmore\n")
    assert git(path, "notes", "--ref=qodebase", "show", second.commit) == f"note of {second.commit}\n".encode()
    sound(path)


def orphan(git: Call, path: Path, landing: Call, *, run: str = "run-1") -> tuple[str, str]:
    """Land, then set main back: what a crash between the two refs leaves. Return main's and the notes' tips before."""
    main = git(path, "rev-parse", "main").decode().strip()
    with Trunk.open(path, branch="main", run=run) as trunk:
        (result,) = trunk.land([landing(trunk, {b"orphan": b"x"}, run=run)], lambda shared, content: b"")
        assert isinstance(result, Landed)
    git(path, "update-ref", "refs/heads/main", main)
    return main, result.commit


def test_the_first_notes_of_a_step_that_never_reached_main_are_undone_on_opening(
    repository: Call, landing: Call, git: Call, sound: Call
) -> None:
    path = repository({b"a": b"one"})
    main, _ = orphan(git, path, landing)
    with Trunk.open(path, branch="main", run="run-1") as trunk:
        assert trunk.tip == main
        assert git(path, "for-each-ref", REF) == b""
    sound(path)


def test_later_notes_of_a_step_that_never_reached_main_go_back_to_what_was_there(
    repository: Call, landing: Call, land: Call, git: Call, sound: Call
) -> None:
    path = repository({b"a": b"one"})
    with Trunk.open(path, branch="main", run="run-1") as trunk:
        land(trunk, {b"b": b"1"})
    notes = git(path, "rev-parse", REF)
    orphan(git, path, landing)
    assert git(path, "rev-parse", REF) != notes
    git(path, "pack-refs", "--all")
    Trunk.open(path, branch="main", run="run-1").close()
    assert git(path, "rev-parse", REF) == notes
    sound(path)


def test_the_notes_of_another_run_are_left_alone(repository: Call, landing: Call, git: Call) -> None:
    path = repository({b"a": b"one"})
    _, commit = orphan(git, path, landing, run="elsewhere")
    notes = git(path, "rev-parse", REF)
    Trunk.open(path, branch="main", run="run-1").close()
    assert git(path, "rev-parse", REF) == notes
    assert git(path, "notes", "--ref=qodebase", "show", commit) == f"note of {commit}\n".encode()


def test_orphaned_notes_below_a_persons_are_removed_and_the_persons_stay(
    repository: Call, landing: Call, land: Call, git: Call, sound: Call
) -> None:
    path = repository({b"a": b"one"})
    with Trunk.open(path, branch="main", run="run-1") as trunk:
        kept = land(trunk, {b"b": b"1"})
    _, lost = orphan(git, path, landing)
    git(path, "notes", "--ref=qodebase", "add", "-m", "a person's", "main^")
    for _ in range(2):
        Trunk.open(path, branch="main", run="run-1").close()
        listed = git(path, "notes", "--ref=qodebase", "list").decode()
        assert lost not in listed
        assert kept.commit in listed
        assert git(path, "notes", "--ref=qodebase", "show", "main^") == b"a person's\n"
        assert git(path, "rev-list", "--count", REF).strip() == b"4"
    sound(path)


def test_notes_whose_tip_has_commits_of_people_on_top_are_kept(repository: Call, land: Call, git: Call) -> None:
    path = repository({b"a": b"one"})
    with Trunk.open(path, branch="main", run="run-1") as trunk:
        land(trunk, {b"b": b"1"})
    notes = git(path, "rev-parse", REF)
    tree = git(path, "rev-parse", "main^{tree}").decode().strip()
    ours = git(path, "rev-parse", "main").decode().strip()
    side = git(path, "commit-tree", "-m", "side", "-p", f"{ours}^", tree).decode().strip()
    merge = git(path, "commit-tree", "-m", "merge", "-p", side, "-p", ours, tree).decode().strip()
    git(path, "update-ref", "refs/heads/main", merge)
    Trunk.open(path, branch="main", run="run-1").close()
    assert git(path, "rev-parse", REF) == notes
