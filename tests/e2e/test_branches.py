"""Branches and patch files that exist already land through the lanes, each exactly as it is, or end with a reason."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from world import call, expect_clean, expect_each_once, git, ledger_of, of_kind, state_of

import qodebase as qb
from qodebase.ports import Prompt

MOMENTS = Path(__file__).with_name("moments.py")
RUN = Path("one")
NUMBERS = "".join(f"{number}\n" for number in range(40))
LINES = NUMBERS.replace("\n", " of b\n")
MOVED = NUMBERS.replace("\n", " is moved\n")


def commit(path: Path, message: str, *words: str, author: str = "Ada") -> None:
    """Commit all that is in the working tree."""
    git(path, "add", "--all")
    git(path, "commit", "--quiet", "--message", message, f"--author={author} <{author.lower()}@example.org>", *words)


def replace(file: Path, old: str, new: str) -> None:
    """Replace one line of a file."""
    file.write_text(file.read_text().replace(f"{old}\n", f"{new}\n", 1))


@pytest.fixture
def code(here: Path) -> Path:
    """A repository of a few files."""
    path = here / "code"
    (path / "src").mkdir(parents=True)
    (path / "src" / "a.txt").write_text(NUMBERS)
    (path / "src" / "b.txt").write_text(LINES)
    (path / "src" / "moved.txt").write_text(MOVED)
    (path / "src" / "picture").write_bytes(b"\0one\n")
    (path / "src" / "run.sh").write_text("true\n")
    git(path, "init", "--quiet", "--initial-branch", "main")
    commit(path, "The code")
    return path


def branch(path: Path, name: str, start: str = "main") -> Path:
    """Begin a branch and return the folder of its files."""
    git(path, "checkout", "--quiet", "-b", name, start)
    return path / "src"


def run(*words: str | Path, code: int = 0) -> None:
    """Land branches that match ``agent/*``, or what else is said."""
    done = call("run", "branches", "--repo", "code", "-o", RUN, "--json", *words)
    assert done.code == code, done.err


def show(path: str) -> str:
    return git(RUN / "repo.git", "show", f"main:{path}")


def ended() -> dict[str, tuple[str, str]]:
    """Return ending and reason of every intent that did not land."""
    frozen = [json.loads(line) for line in (RUN / "intents.jsonl").read_text().splitlines()]
    found = {one["id"]: (one["ending"], one["reason"]) for one in frozen if one["ending"] != "pending"}
    return found | {event["intent"]: (event["ending"], event["reason"]) for event in of_kind(RUN, "ended")}


def test_a_branch_lands_to_the_bit_as_one_commit_of_its_author(code: Path) -> None:
    src = branch(code, "agent/many")
    (src / "run.sh").chmod(0o755)
    (src / "picture").write_bytes(b"\0two")
    (src / "link").symlink_to("a.txt")
    (src / "b.txt").unlink()
    (src / "moved.txt").rename(src / "there.txt")
    (src / "new").mkdir()
    (src / "new" / "last").write_bytes(b"no end of line")
    commit(code, "Do many things\n\nWith a reason.", author="Bob")
    replace(src / "a.txt", "3", "three")
    commit(code, "And one more\n\nQodebase-Intent: not:ours", author="Cleo")
    git(code, "checkout", "--quiet", "main")
    before = state_of(code)
    run("--branches", "agent/*")
    assert state_of(code) == before
    assert git(RUN / "repo.git", "rev-parse", "main^{tree}") == git(code, "rev-parse", "agent/many^{tree}")
    told = git(RUN / "repo.git", "log", "-1", "--format=%an <%ae> %cn%n%B", "main")
    assert told.startswith(
        "Cleo <cleo@example.org> agent-1\nDo many things\n\nWith a reason.\n\nAnd one more\n\nQodebase-Run"
    )
    assert "Co-authored-by: Bob <bob@example.org>\n" in told
    assert "not:ours" not in told
    assert of_kind(RUN, "asked")[0]["model"] == "given"
    expect_clean(RUN, full=True)
    expect_each_once(RUN)


def test_what_cannot_be_landed_ends_with_its_reason(code: Path) -> None:
    replace(branch(code, "agent/top") / "a.txt", "0", "top")
    commit(code, "Top")
    git(code, "branch", "agent/top-again")
    replace(branch(code, "agent/clash", "main") / "a.txt", "0", "other top")
    commit(code, "Another top")
    branch(code, "agent/empty", "main")
    commit(code, "Nothing", "--allow-empty")
    git(code, "branch", "agent/merged", "main")
    os.symlink("../../../etc/passwd", branch(code, "agent/link", "main") / "out")
    commit(code, "Link out")
    branch(code, "agent/module", "main")
    git(code, "update-index", "--add", "--cacheinfo", f"160000,{git(code, 'rev-parse', 'HEAD').strip()},module")
    git(code, "commit", "--quiet", "--message", "A module")
    git(code, "checkout", "--quiet", "--orphan", "agent/alone")
    commit(code, "Alone")
    git(code, "checkout", "--quiet", "--force", "main")
    run("--branches", "agent/*")
    assert ledger_of(RUN) == {"landed": 1, "sent back": 1, "refused": 3, "skipped": 3}
    reasons = ended()
    assert (
        "src/a.txt: merge: both sides changed the same lines"
        in reasons["branch:agent/top"][1] + reasons.get("branch:agent/clash", ("", ""))[1]
    )
    assert reasons["branch:agent/top-again"] == ("skipped", "the same commit as agent/top")
    assert reasons["branch:agent/empty"] == ("skipped", "empty: it changes nothing")
    assert reasons["branch:agent/merged"][1].startswith("merged already: its tip ")
    assert reasons["branch:agent/link"] == ("refused", "src/out links out of the repository")
    assert reasons["branch:agent/module"] == ("refused", "it changes the submodule module")
    assert reasons["branch:agent/alone"][1].startswith("unrelated history")
    (sent_back,) = of_kind(RUN, "sent back")
    assert "<<<" in sent_back["detail"] or "top" in sent_back["detail"]
    expect_clean(RUN, full=True)


def test_a_branch_that_lags_behind_is_merged_with_its_own_base_also_where_main_renamed_a_file(code: Path) -> None:
    replace(branch(code, "agent/old") / "b.txt", "3 of b", "three of b")
    replace(code / "src" / "a.txt", "3", "three")
    commit(code, "On an old main")
    git(code, "checkout", "--quiet", "main")
    git(code, "mv", "src/b.txt", "src/bb.txt")
    replace(code / "src" / "bb.txt", "20 of b", "twenty of b")
    replace(code / "src" / "a.txt", "20", "twenty")
    commit(code, "Main goes on")
    run("--branches", "agent/*")
    assert show("src/bb.txt") == LINES.replace("\n3 of b", "\nthree of b").replace("\n20 of b", "\ntwenty of b")
    assert show("src/a.txt") == NUMBERS.replace("\n3\n", "\nthree\n").replace("\n20\n", "\ntwenty\n")
    assert "src/b.txt" not in git(RUN / "repo.git", "ls-tree", "-r", "--name-only", "main").split()
    assert "had moved under it by what came before the run" in git(
        RUN / "repo.git", "notes", "--ref=qodebase", "show", "main"
    )
    expect_clean(RUN, full=True)


def test_patch_files_land_on_the_commit_that_they_were_made_on(code: Path, here: Path) -> None:
    src = branch(code, "work")
    replace(src / "a.txt", "3", "three")
    commit(code, "[fix] Três\n\nIn words.", author="Zoë")
    (src / "picture").write_bytes(b"\0two\n" * 30)
    (src / "run.sh").chmod(0o755)
    commit(code, "A picture", author="Zoë")
    patches = here / "patches"
    patches.mkdir()
    git(code, "format-patch", "--quiet", "-2", "--binary", "-o", patches)
    (patches / "later.diff").write_text("Rename it\n\n" + git(code, "diff", "-M", "main", "main"))
    (patches / "note.txt").write_text("no patch")
    git(code, "checkout", "--quiet", "main")
    git(code, "mv", "src/moved.txt", "src/there.txt")
    (patches / "later.diff").write_text("Rename it\n\n" + git(code, "diff", "-M", "HEAD"))
    git(code, "reset", "--quiet", "--hard")
    replace(code / "src" / "a.txt", "4", "four")
    replace(code / "src" / "a.txt", "20", "twenty")
    commit(code, "Main goes on")
    (patches / "wrong.patch").write_text((patches / "later.diff").read_text().replace("moved.txt", "nowhere.txt"))
    (patches / "words.patch").write_text("only words\n")
    run("--patches", patches)
    assert ledger_of(RUN) == {"landed": 2, "sent back": 2, "skipped": 1}
    reasons = ended()
    assert "both sides changed the same lines" in reasons["patch:0001-fix-Tr-s.patch"][1]
    assert reasons["patch:wrong.patch"][1].startswith("it does not apply: error: src/nowhere.txt")
    assert reasons["patch:words.patch"] == ("skipped", "empty: there is no diff in it")
    told = git(RUN / "repo.git", "log", "--format=%an: %s", "main").splitlines()
    assert set(told[:2]) == {"Zoë: A picture", "agent-3: Rename it"}
    assert git(RUN / "repo.git", "ls-tree", "main", "src/run.sh").startswith("100755")
    assert show("src/there.txt") == MOVED
    expect_clean(RUN, full=True)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "which branches, or which patches, shall land?"),
        (("--branches", "nobody/*"), "no branch matches 'nobody/*'"),
        (("--patches", "code"), "code holds no patch file"),
        (("--patches", "nowhere"), "nowhere is no folder"),
    ],
)
def test_orders_that_name_nothing_are_refused_before_anything_is_written(
    code: Path, here: Path, words: tuple[str, ...], said: str
) -> None:
    there = sorted(here.iterdir())
    done = call("run", "branches", "--repo", "code", "-o", RUN, *words)
    assert done.code == 2
    assert said in done.err
    assert sorted(here.iterdir()) == there


def test_checks_for_all_and_checks_of_some_judge_what_lands(code: Path) -> None:
    for name, text in (("good", "fine"), ("bad", "BAD"), ("other", "BAD")):
        (branch(code, f"agent/{name}", "main") / f"{name}.txt").write_text(f"{text}\n")
        commit(code, name)
    git(code, "checkout", "--quiet", "main")
    own = "agent/[bg]*=! grep -q BAD src/bad.txt src/good.txt 2>/dev/null"
    run("--branches", "agent/*", "--checks", "test -f src/a.txt", "--own-checks", own)
    assert {event["intent"] for event in of_kind(RUN, "landed")} == {"branch:agent/good", "branch:agent/other"}
    assert ended()["branch:agent/bad"][0] == "sent back"
    frozen = {one["id"]: one["checks"] for one in map(json.loads, (RUN / "intents.jsonl").read_text().splitlines())}
    assert frozen["branch:agent/other"] == ["checks"]
    assert frozen["branch:agent/good"] == ["checks", "checks of agent/[bg]*"]


def test_what_two_branches_make_alike_is_meant_once_where_that_is_said(code: Path) -> None:
    replace(branch(code, "agent/one") / "a.txt", "3", "three")
    commit(code, "Three")
    replace(branch(code, "agent/two") / "a.txt", "20", "twenty")
    commit(code, "Twenty, on top of the other branch")
    git(code, "checkout", "--quiet", "main")
    run("--branches", "agent/*", "--alike", "-w", "1")
    assert ledger_of(RUN) == {"landed": 2}
    assert show("src/a.txt") == NUMBERS.replace("\n3\n", "\nthree\n").replace("\n20\n", "\ntwenty\n")
    expect_clean(RUN, full=True)


def test_a_file_that_two_branches_delete_is_gone_and_one_that_another_edits_collides(code: Path) -> None:
    for name, gone in (("one", ("b.txt",)), ("two", ("b.txt", "picture")), ("wrong", ("a.txt",))):
        src = branch(code, f"agent/{name}", "main")
        for file in gone:
            (src / file).unlink()
        commit(code, f"Without {' and '.join(gone)}")
    replace(branch(code, "agent/edits", "main") / "a.txt", "3", "three")
    commit(code, "Three")
    git(code, "checkout", "--quiet", "main")
    run("--branches", "agent/*", "--alike")
    assert ledger_of(RUN) == {"landed": 3, "sent back": 1}
    ((intent, (_, reason)),) = ended().items()
    assert intent in ("branch:agent/wrong", "branch:agent/edits")
    assert "deleted on one side, edited on the other" in reason
    there = set(git(RUN / "repo.git", "ls-tree", "--name-only", "main:src").split())
    assert there - {"a.txt"} == {"moved.txt", "run.sh"}
    assert ("a.txt" in there) is (intent == "branch:agent/wrong")
    expect_clean(RUN, full=True)


def test_a_model_redoes_what_merge_and_rules_could_not(code: Path) -> None:
    for name in ("first", "second"):
        replace(branch(code, f"agent/{name}", "main") / "a.txt", "3", f"three, says the {name}")
        commit(code, f"The {name}")
    git(code, "checkout", "--quiet", "main")
    asked = []

    async def model(prompt: Prompt) -> str:
        if given := prompt.facts.get("given"):
            return str(given)
        asked.append(prompt)
        text = prompt.facts["texts"]["src/a.txt"]
        return f"```\n{text}both\n```"

    qb.run("branches", repo=code, out=RUN, branches=["agent/*"], model=model)
    assert ledger_of(RUN) == {"landed": 2}
    assert show("src/a.txt").endswith("39\nboth\n")
    (prompt,) = asked
    assert "says the first" in prompt.messages[-1].text
    assert "says the second" in prompt.messages[-1].text
    expect_clean(RUN, full=True)


@pytest.mark.full
@pytest.mark.full
def test_a_model_makes_a_change_again_that_did_not_do_though_main_stands_still(code: Path) -> None:
    replace(branch(code, "agent/wrong") / "a.txt", "3", "three (")
    commit(code, "Spell three")
    git(code, "checkout", "--quiet", "main")
    asked: list[Prompt] = []

    async def mends(prompt: Prompt) -> str:
        if given := prompt.facts.get("given"):
            return str(given)
        asked.append(prompt)
        return f"```\n{prompt.facts['texts']['src/a.txt'].replace('3', 'three', 1)}```"

    options = {"branches": ["agent/*"], "checks": "! grep -q '(' src/a.txt", "attempts": 2}
    qb.run("branches", repo=code, out=RUN, model=mends, **options)
    assert ledger_of(RUN) == {"landed": 1}
    assert f"```\n{NUMBERS}```" in asked[0].messages[-1].text
    assert show("src/a.txt") == NUMBERS.replace("3", "three", 1)
    (made,) = [one["proof"] for one in of_kind(RUN, "change made") if one["attempt"] == 2]
    assert made == "made again: nothing promised"
    expect_clean(RUN, full=True)


def test_a_killed_run_lands_what_was_frozen_though_the_branch_is_gone(code: Path) -> None:
    replace(branch(code, "agent/one") / "a.txt", "3", "three")
    commit(code, "Three")
    frozen = git(code, "rev-parse", "HEAD^{tree}")
    git(code, "checkout", "--quiet", "main")
    words = ("run", "branches", "--repo", "code", "-o", RUN, "--branches", "agent/*")
    killed = subprocess.run(
        [sys.executable, MOMENTS, "SIGKILL@before:asked:1", *words], capture_output=True, check=False
    )
    assert killed.returncode == -signal.SIGKILL
    git(code, "branch", "--quiet", "--delete", "--force", "agent/one")
    git(code, "reflog", "expire", "--expire=now", "--all")
    git(code, "gc", "--quiet", "--prune=now")
    assert call("resume", RUN, "--json").code == 0
    assert git(RUN / "repo.git", "rev-parse", "main^{tree}") == frozen
    expect_clean(RUN, full=True)
