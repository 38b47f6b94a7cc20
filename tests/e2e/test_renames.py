"""One intent renames a file and others edit it: all land, and an audit finds the rename in the commits again."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest
from world import call, events_of, expect_clean, expect_each_once, git, git_environment, ledger_of, make_small, of_kind

import qodebase as qb
from qodebase.ports import Prompt

JOB = Path(__file__).parents[1] / "support" / "edit_job.py"
RUN = Path("one")
BODY = "".join(f"line {number}\n" for number in range(30))


@pytest.fixture
def code(here: Path) -> Path:
    """A repository with a file that is renamed, and two that stay."""
    path = here / "code"
    (path / "src").mkdir(parents=True)
    (path / "src" / "old.txt").write_text(BODY)
    (path / "src" / "gone.txt").write_text(BODY.upper())
    (path / "src" / "other.txt").write_text("other\n" * 20)
    git(path, "init", "--quiet", "--initial-branch", "main")
    git(path, "add", "--all")
    git(path, "commit", "--quiet", "--message", "The code")
    return path


def run(*edits: str, words: tuple[str, ...] = ()) -> None:
    """Run the job with edits on a scripted model."""
    flags = [word for edit in edits for word in ("--edits", edit)]
    done = call("run", "--job", JOB, "--repo", "code", "-o", "one", "--model", "scripted", "--json", *flags, *words)
    assert done.code == 0, done.err


def show(path: str) -> str:
    return git(RUN / "repo.git", "show", f"main:{path}")


MOVE, TOP, BOTTOM = "src/old.txt>lib/new.txt=x", "src/old.txt=# top", "src/old.txt_=# bottom"


@pytest.mark.parametrize(
    ("order", "words"),
    [
        ((MOVE, TOP, BOTTOM), ("-w", "4")),
        ((TOP, MOVE, BOTTOM), ("-w", "4")),
        ((TOP, BOTTOM, MOVE), ("-w", "4", "--train-max", "1")),
        ((MOVE, TOP, BOTTOM), ("-w", "4", "--train-max", "1")),
        ((TOP, MOVE, BOTTOM), ("-w", "1")),
    ],
    ids=["first in a train", "second in a train", "last, one by one", "first, one by one", "forked when it had moved"],
)
def test_a_rename_and_edits_of_the_file_all_land_whatever_comes_first(
    code: Path, order: tuple[str, ...], words: tuple[str, ...]
) -> None:
    run(*order, "src/other.txt=# o", words=words)
    assert ledger_of(RUN) == {"landed": 4}
    assert show("lib/new.txt") == f"# top\n{BODY}# bottom\n"
    assert git(RUN / "repo.git", "ls-tree", "-r", "--name-only", "main").split() == [
        "lib/new.txt",
        "src/gone.txt",
        "src/other.txt",
    ]
    expect_each_once(RUN)
    expect_clean(RUN, full=True)


def test_what_collides_at_the_new_place_is_redone_there_by_the_model(code: Path) -> None:
    run(MOVE, TOP, "src/old.txt=# more", words=("-w", "3"))
    assert ledger_of(RUN) == {"landed": 3}
    assert sorted(show("lib/new.txt").splitlines()[:2]) == ["# more", "# top"]
    (replayed,) = of_kind(RUN, "replayed")
    story = call("log", RUN, replayed["intent"], "--json").data
    assert [operation["path"] for operation in story["changes"][replayed["ref"]]["operations"]] == ["lib/new.txt"]
    met = [event["collided"] for event in of_kind(RUN, "collision") if event["intent"] == replayed["intent"]]
    assert (met[0]["path"], met[0]["moved_to"], met[0]["kind"]) == ("src/old.txt", "lib/new.txt", "moved")
    assert "src/old.txt is now lib/new.txt." in story["calls"][-1]["prompt"]
    assert "src/old.txt (now lib/new.txt) (moved) moved by" in call("log", RUN, replayed["intent"]).out
    expect_each_once(RUN)
    expect_clean(RUN, full=True)


def test_two_renames_of_one_file_end_with_one_and_a_reason(code: Path) -> None:
    run(MOVE, "src/old.txt>lib/else.txt=x", words=("-w", "2"))
    assert ledger_of(RUN) == {"landed": 1, "sent back": 1}
    (ended,) = of_kind(RUN, "ended")
    assert "moved here to lib/else.txt, on main to lib/new.txt: author" in ended["reason"]
    expect_clean(RUN, full=True)


def test_a_run_goes_on_when_people_rename_and_delete_under_it(code: Path) -> None:
    texts = [TOP, "src/other.txt=# o", "src/old.txt_=# bottom", "src/gone.txt=# g"]
    run(*texts, words=("-w", "1", "--sample", "1", "--seed", "1"))
    assert [event["intent"] for event in of_kind(RUN, "landed")] == ["edit-1"]
    commit = tidied({"src/old.txt": "lib/new.txt"}, "src/gone.txt")
    assert call("resume", RUN, "--json").code == 0
    assert ledger_of(RUN) == {"landed": 3, "sent back": 1}
    assert show("lib/new.txt") == f"# top\n{BODY}# bottom\n"
    (ended,) = of_kind(RUN, "ended")
    assert ended["reason"] == f"src/gone.txt was deleted on main by {commit[:12]}: author"
    expect_clean(RUN, full=True)


@pytest.mark.parametrize(
    ("path", "content", "message"),
    [
        ("src/old.txt", BODY, "its change deletes this path"),
        ("src/other.txt", "else\n", "it changed a path that its change does not touch"),
        ("lib/new.txt", BODY, "its content is not what its change makes"),
        ("lib/old.txt", f"{BODY}# bottom\n", "it changed a path that its change does not touch"),
    ],
    ids=["the old path is back", "a third file", "the edit is lost", "the edit is elsewhere too"],
)
def test_a_landing_that_followed_and_did_anything_else_fails_the_audit(
    code: Path, path: str, content: str, message: str
) -> None:
    run(MOVE, BOTTOM, words=("-w", "2"))
    assert show("lib/new.txt") == f"{BODY}# bottom\n"
    forge_tip(path, content)
    done = call("verify", RUN, "--json")
    assert done.code == 1
    (check,) = [check for check in done.data["checks"] if check["name"] == "content"]
    assert [(finding["path"], finding["message"]) for finding in check["findings"]] == [(path, message)]


def test_a_journal_that_names_another_place_fails_the_audit(code: Path) -> None:
    run(MOVE, BOTTOM, words=("-w", "2"))
    journal = RUN / "journal.jsonl"
    journal.write_bytes(journal.read_bytes().replace(b'"moved_to":"lib/new.txt"', b'"moved_to":"lib/odd.txt"'))
    done = call("verify", RUN, "--json")
    assert done.code == 1
    findings = {finding["message"] for check in done.data["checks"] for finding in check["findings"]}
    assert findings == {
        "main's commits have the file at lib/new.txt, and the journal at src/old.txt (now lib/odd.txt)",
        "its note tells what the journal does not: collisions",
    }


@pytest.mark.parametrize("index", ["docs/API_INDEX.md", ""], ids=["with an index", "without"])
def test_a_header_in_flight_follows_its_file_and_its_index_lines_name_the_new_path(here: Path, index: str) -> None:
    make_small(here / "code", files=3)
    asked: list[str] = []

    async def writes(prompt: Prompt) -> str:
        path = prompt.facts["path"].decode()
        asked.append(path)
        if len(asked) == 1:
            tidied({path: "lib/moved.py"})
        return f"Hold what {path} is for, said in call {len(asked)}."

    assert qb.run("document", repo="code", model=writes, out="one", workers=1, index=index).landings.height == 3
    moved = asked[0]
    assert asked.count("lib/moved.py") == (1 if index else 0)
    assert show("lib/moved.py").startswith(f'"""Hold what {"lib/moved.py" if index else moved} is for')
    if index:
        lines = [line.split("`")[1] for line in show(index).splitlines() if line.startswith("- ")]
        assert lines == sorted({"lib/moved.py", "part0.py", "part1.py", "part2.py"} - {moved})
        why = [step for event in of_kind(RUN, "collision") for step in event["collided"].get("steps", ())]
        told = f"moved on main to lib/moved.py, and what it writes in {index} names the old path: model"
        assert {"by": "follow", "declined": told} in why
    expect_each_once(RUN)
    expect_clean(RUN, full=True)


def tidied(moves: Mapping[str, str], *gone: str) -> str:
    """Move and delete files of main, as a person would who works beside the run; return the commit."""
    repository = RUN / "repo.git"
    entries = "".join(f"0 {'0' * 40}\t{path}\n" for path in (*moves, *gone))
    for path, target in moves.items():
        entries += f"100644 {git(repository, 'rev-parse', f'main:{path}').strip()}\t{target}\n"
    commit = git(repository, "commit-tree", tree_with(entries), "-p", "main", "-m", "Tidy").strip()
    git(repository, "update-ref", "refs/heads/main", commit)
    return commit


def tree_with(entries: str) -> str:
    """Return main's tree with entries as ``git update-index --index-info`` reads them."""
    repository = RUN / "repo.git"
    index = {**git_environment(), "GIT_INDEX_FILE": str((repository / "own-index").resolve())}
    in_git = ["git", "-C", str(repository)]
    subprocess.run([*in_git, "read-tree", "main"], env=index, check=True)
    subprocess.run([*in_git, "update-index", "--index-info"], input=entries.encode(), env=index, check=True)
    return subprocess.run([*in_git, "write-tree"], env=index, check=True, capture_output=True).stdout.decode().strip()


def forge_tip(path: str, content: str) -> None:
    """Write main's last commit again with another content at a path, as a forger would: with its note and event."""
    repository = RUN / "repo.git"
    tip = git(repository, "rev-parse", "main").strip()
    words = ["git", "-C", str(repository), "hash-object", "-w", "--stdin"]
    blob = subprocess.run(words, input=content.encode(), check=True, capture_output=True).stdout.decode().strip()
    tree = tree_with(f"100644 {blob}\t{path}\n")
    message = git(repository, "log", "-1", "--format=%B", "main").strip()
    forged = git(repository, "commit-tree", tree, "-p", "main^", "-m", message).strip()
    git(repository, "notes", "--ref=qodebase", "copy", tip, forged)
    git(repository, "notes", "--ref=qodebase", "remove", tip)
    git(repository, "update-ref", "refs/heads/main", forged)
    journal = RUN / "journal.jsonl"
    journal.write_bytes(journal.read_bytes().replace(tip.encode(), forged.encode()))
    assert any(event.get("commit") == forged for event in events_of(RUN))
