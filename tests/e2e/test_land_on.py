"""Runs that land on a living branch of the user's repository, while others commit to it and while they are killed."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from world import call, events_of, expect_clean, expect_each_once, git, git_environment, ledger_of, make_small, of_kind

import qodebase as qb

MOMENTS = Path(__file__).with_name("moments.py")
PERSON = """
cd "$1"
number=0
while read -r _; do
  number=$((number + 1))
  blob=$(echo $number | git hash-object -w --stdin)
  until git fetch --quiet origin docs 2>/dev/null &&
    tree=$( (git ls-tree FETCH_HEAD; printf '100644 blob %s\\tperson%s.txt\\n' "$blob" $number) | git mktree) &&
    new=$(git commit-tree -m "person $number" -p FETCH_HEAD "$tree") &&
    git push --quiet origin "$new:refs/heads/docs" 2>/dev/null; do :; done
  echo "$new"
done
"""
"""In a clone: for each line that is read, commit a file on top of the branch and push it, again until it is taken."""


@pytest.fixture
def code(here: Path) -> Path:
    """A repository of eight files, with the branch ``docs``."""
    path = make_small(here / "code", 8)
    git(path, "branch", "docs")
    return path


def run(*words: str, out: str = "one", code: int = 0, land_on: str = "docs") -> Path:
    """Document the code on a branch, by a model that is a program."""
    model = ("--model", "scripted", "--no-usage", "--json")
    done = call("run", "document", "--repo", "code", "-o", out, "--land-on", land_on, *model, *words)
    assert done.code == code, done.err
    return Path(out)


def expect_whole(repository: Path, runs: list[Path], persons: list[str]) -> None:
    """Fail where the branch lacks anything of runs and persons, holds anything twice, or lacks a note."""
    log = git(
        repository, "log", "--first-parent", "--format=%H %(trailers:key=Qodebase-Intent,valueonly,separator=)", "docs"
    )
    lines = [line.split(" ", 1) for line in log.splitlines()]
    landed = Counter((event["run"], event["intent"]) for made in runs for event in of_kind(made, "landed"))
    assert set(landed.values()) == {1}
    commits = {event["commit"] for made in runs for event in of_kind(made, "landed")}
    assert {commit for commit, intent in lines if intent} == commits
    assert len(commits) == len(landed)
    assert set(persons) <= {commit for commit, _ in lines}
    notes = {line.split()[1] for line in git(repository, "notes", "--ref=qodebase", "list").splitlines()}
    assert notes == commits
    assert git(repository, "fsck", "--strict", "--no-dangling") == ""
    for made in runs:
        expect_each_once(made)
        expect_clean(made)
        pushed = of_kind(made, "pushed")
        assert sum(event["landings"] for event in pushed) == len(of_kind(made, "landed"))


def two_runs_and_a_person(here: Path, *, files: int, workers: int, commits: int) -> None:
    repository = make_small(here / "code", files)
    git(repository, "branch", "docs")
    git(here, "clone", "--quiet", repository, "clone")
    half = files // 2
    paths = [f"/part{number}.py" for number in range(files)]
    with subprocess.Popen(
        ["bash", "-c", PERSON, "person", here / "clone"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=git_environment(),
        text=True,
    ) as person:
        assert person.stdin is not None
        assert person.stdout is not None
        begun = [
            qb.start(
                "document", repo=repository, out=out, model="scripted:latency=0.01", land_on="docs", workers=workers,
                usage=False, paths=mine,
            )
            for out, mine in (("one", paths[:half]), ("two", paths[half:]))
        ]  # fmt: skip
        persons = []
        for _ in range(commits):
            person.stdin.write("commit\n")
            person.stdin.flush()
            persons.append(person.stdout.readline().strip())
        for one in begun:
            one.wait()
    assert all(persons)
    runs = [Path("one"), Path("two")]
    assert [ledger_of(made) for made in runs] == [{"landed": half}, {"landed": files - half}]
    expect_whole(repository, runs, persons)
    index = git(repository, "show", "docs:docs/API_INDEX.md")
    assert [index.count(f"part{number}.py") for number in range(files)] == [1] * files


def test_two_runs_and_a_person_on_one_branch_lose_and_double_nothing(here: Path) -> None:
    two_runs_and_a_person(here, files=12, workers=3, commits=5)
    foreign = of_kind(Path("one"), "foreign") + of_kind(Path("two"), "foreign")
    assert foreign != []


@pytest.mark.full
def test_two_larger_runs_and_a_person_on_one_branch_lose_and_double_nothing(here: Path) -> None:
    two_runs_and_a_person(here, files=400, workers=32, commits=40)


@pytest.mark.parametrize(
    "moment",
    [
        pytest.param("before:ref:1", marks=pytest.mark.full),
        pytest.param("after:ref:4", marks=pytest.mark.full),
        pytest.param("before:pushing:2", marks=pytest.mark.full),
        "after:pushing:2",
        pytest.param("after:pushing:1", marks=pytest.mark.full),
        pytest.param("before:pushed:1", marks=pytest.mark.full),
        pytest.param("torn:landed:5", marks=pytest.mark.full),
    ],
)
def test_a_run_that_is_killed_at_any_moment_goes_on_and_pushes_each_landing_once(moment: str, code: Path) -> None:
    words = ("run", "document", "--repo", "code", "-o", "one", "--land-on", "docs", "-w", "4", "--no-usage")
    model = ("--model", "scripted:latency=0.01")
    done = subprocess.run(
        [sys.executable, MOMENTS, f"SIGKILL@{moment}", *words, *model], capture_output=True, check=False, timeout=120
    )
    assert done.returncode == -9, done.stderr
    assert call("resume", "one").code == 0
    expect_whole(code, [Path("one")], [])


def test_a_run_starts_from_the_branch_that_it_lands_on_and_makes_one_that_is_not_there(code: Path) -> None:
    tree = git(code, "rev-parse", "docs^{tree}").strip()
    ahead = git(code, "commit-tree", "-m", "ahead", "-p", "docs", tree).strip()
    git(code, "update-ref", "refs/heads/docs", ahead)
    made = run("--sample", "2")
    assert of_kind(made, "run started")[0]["base"] == ahead
    assert git(code, "rev-list", "--count", f"{ahead}..docs").strip() == "2"
    new = run("--sample", "2", out="new", land_on="new")
    assert git(code, "rev-list", "--count", "main..new").strip() == "2"
    assert "take_over" in call("resume", new, "--json", "--limit", "1").data
    assert git(code, "rev-list", "--count", "main..new").strip() == "3"
    expect_clean(new)


def test_a_run_pushes_to_another_repository_by_the_name_of_a_remote(code: Path, here: Path) -> None:
    git(here, "init", "--quiet", "--bare", "shared.git")
    git(code, "remote", "add", "shared", "../shared.git")
    made = run("--sample", "2", "--push-to", "shared", land_on="agents/docs")
    assert git(here / "shared.git", "rev-list", "--count", "agents/docs").strip() == "3"
    assert git(code, "branch", "--list", "agents/docs") == ""
    expect_clean(made)
    assert str(here / "shared.git") in call("verify", made).out
    git(code, "config", f"url.{here}/.insteadOf", "made:")
    by_address = run("--sample", "1", "--push-to", "made:shared.git", out="two", land_on="agents/more")
    assert git(here / "shared.git", "rev-list", "--count", "agents/more").strip() == "2"
    expect_clean(by_address)


def test_the_audit_says_that_the_branch_does_not_hold_what_landed(code: Path) -> None:
    made = run("--sample", "3")
    last = git(code, "rev-parse", "docs").strip()
    git(code, "update-ref", "refs/heads/docs", "docs~1")
    git(code, "notes", "--ref=qodebase", "remove", "docs")
    done = call("verify", made, "--json")
    assert done.code == 1
    (check,) = [check for check in done.data["checks"] if not check["ok"]]
    assert check["name"] == "branch"
    assert check["counted"].endswith("2 of 3 commits of the run are on it")
    assert [finding["message"] for finding in check["findings"]] == [
        "on the branch, and its note is not there",
        "landed, and the branch does not hold it: it was rewritten",
    ]
    assert [last] in [finding["commits"] for finding in check["findings"]]
    code.rename(code.with_name("gone"))
    done = call("verify", made)
    assert done.code == 0
    assert "not checked: the branch that it landed on: git cannot reach docs of" in done.out


def test_what_cannot_be_landed_on_is_refused_before_anything_is_written(code: Path, here: Path) -> None:
    git(code, "checkout", "--quiet", "--orphan", "alone")
    git(code, "commit", "--quiet", "--message", "another root")
    for words, said in (
        (("--land-on", "alone"), "alone is checked out in"),
        (("--land-on", "main", "--branch", "alone"), "does not hold"),
        (("--land-on", "a..b"), "'a..b' cannot name a branch"),
        (("--land-on", "-x"), "'-x' cannot name a branch"),
        (("--land-on", "HEAD"), "'HEAD' cannot name a branch"),
        (("--land-on", "docs", "--push-to", "nowhere.git"), "git cannot reach docs of nowhere.git"),
        (("--land-on", "docs", "--push-to", "https://ada:hidden@host/x"), "the address of host holds a password"),
        (("--push-to", "code"), "--push-to says where to, and not which branch"),
    ):
        done = call("run", "document", "--repo", "code", "-o", "one", "--model", "scripted", *words)
        assert done.code == 2, (words, done.err)
        assert said in done.err
        assert "hidden" not in done.err
        assert not Path("one").exists()


def test_a_person_who_merges_the_landings_into_commits_of_their_own_ends_nothing(code: Path, here: Path) -> None:
    made = run("--sample", "2")
    git(here, "clone", "--quiet", "--branch", "main", code, "clone")
    git(here / "clone", "commit", "--quiet", "--allow-empty", "--message", "on their own")
    git(here / "clone", "merge", "--quiet", "--no-edit", "origin/docs")
    git(here / "clone", "push", "--quiet", "origin", "HEAD:docs")
    theirs = git(here / "clone", "rev-parse", "HEAD").strip()
    assert call("resume", made).code == 0
    expect_whole(code, [made], [])
    assert git(code, "merge-base", theirs, "docs").strip() == theirs


def test_landings_are_undone_on_the_branch_that_they_landed_on(code: Path) -> None:
    made = run("--sample", "3")
    before = git(code, "rev-list", "--count", "docs").strip()
    done = call("revert", made, "--all", "--land-on", "docs", "--json")
    assert done.code == 0, done.err
    assert (before, git(code, "rev-list", "--count", "docs").strip()) == ("4", "7")
    assert git(code, "diff", "--stat", "main", "docs", "--", "*.py") == ""
    expect_clean(Path("one-revert-1"))


def test_a_hook_that_declines_stops_the_run_and_it_goes_on_when_that_is_mended(code: Path) -> None:
    hook = code / ".git" / "hooks" / "pre-receive"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\necho not on a Friday >&2\nexit 1\n")
    hook.chmod(0o755)
    done = call(
        "run", "document", "--repo", "code", "-o", "one", "--land-on", "docs", "--model", "scripted", "--no-usage"
    )
    assert done.code == 3
    assert "does not take what is pushed" in done.err
    assert "not on a Friday" in done.err
    assert "resume" in done.err
    assert git(code, "rev-parse", "docs") == git(code, "rev-parse", "main")
    hook.unlink()
    assert call("resume", "one").code == 0
    expect_whole(code, [Path("one")], [])
    assert [event["why"] for event in events_of(Path("one")) if event["kind"] == "run stopped"] == ["failed", "ended"]
