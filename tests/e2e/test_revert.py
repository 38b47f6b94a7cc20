"""Landings are undone: the index is exact, nothing else differs from a run without them, and both audits stay clean."""

from __future__ import annotations

import random
from collections.abc import Iterable
from pathlib import Path

import pytest
from world import call, expect_clean, expect_each_once, git, ledger_of, make_small, of_kind

import qodebase as qb

JOB = Path(__file__).parents[1] / "support" / "edit_job.py"
BODY = "".join(f"line {number}\n" for number in range(30))


@pytest.fixture
def code(here: Path) -> Path:
    """A repository of two files."""
    path = here / "code"
    (path / "src").mkdir(parents=True)
    (path / "src" / "one.txt").write_text(BODY)
    (path / "src" / "other.txt").write_text(BODY)
    git(path, "init", "--quiet", "--initial-branch", "main")
    git(path, "add", "--all")
    git(path, "commit", "--quiet", "--message", "The code")
    return path


def edit(*edits: str, out: str = "one") -> Path:
    """Run the edit job, one edit after the other."""
    flags = [word for edit in edits for word in ("--edits", edit)]
    words = ("--model", "scripted", "-w", "1", "--train-max", "1", "--json")
    done = call("run", "--job", JOB, "--repo", "code", "-o", out, *words, *flags)
    assert done.code == 0, done.err
    return Path(out)


def document(repo: Path, out: str, paths: Iterable[str] = (), *words: str) -> Path:
    """Run the document job with a model whose answer about a file does not depend on the others."""
    flags = [word for path in paths for word in ("--paths", f"/{path}")]
    done = call(
        "run", "document", "--repo", repo, "-o", out, "--model", "scripted", "--no-usage", "--json", *words, *flags
    )
    assert done.code in (0, 3), done.err
    return Path(out)


def landed(run: Path) -> dict[str, str]:
    """Return the commits of the landed intents."""
    return {event["intent"]: event["commit"] for event in of_kind(run, "landed")}


def tree(run: Path) -> str:
    """Return everything that main holds, but for lists of trees."""
    return git(run / "repo.git", "ls-tree", "-r", "main")


def revert(run: Path, *words: str | Path) -> Path:
    """Undo landings of a run in a new one."""
    done = call("revert", run, *words, "--json")
    assert done.code == 0, done.err
    return run.with_name(f"{run.name}-revert-1")


def show(run: Path, path: str) -> str:
    return git(run / "repo.git", "show", f"main:{path}")


def test_undone_landings_leave_what_a_run_without_them_makes(here: Path) -> None:
    repo = make_small(here / "code", files=12)
    all_of_them = document(repo, "all")
    files = [intent.removeprefix("document:") for intent in landed(all_of_them)]
    undone = random.Random(7).sample(files, 4)
    flags = [word for file in undone for word in ("--intent", file)]
    foretold = call("revert", all_of_them, *flags, "--dry-run", "--json").data
    made = revert(all_of_them, *flags)
    without = document(repo, "without", [file for file in files if file not in undone])
    assert set(landed(without)) == set(landed(all_of_them)) - {f"document:{file}" for file in undone}
    assert tree(made) == tree(without)
    assert (foretold["lands"], foretold["collides"], ledger_of(made)) == (4, 0, {"landed": 4})
    before, after = (set(tree(run).splitlines()) for run in (all_of_them, made))
    assert set(foretold["files"]) == {line.partition("\t")[2] for line in before ^ after}
    expect_clean(made, full=True)
    expect_each_once(made)


def test_both_audits_tell_what_was_undone_and_what_a_person_did_on_top(small: Path, here: Path) -> None:
    run = document(small, "all")
    first = next(iter(landed(run)))
    made = revert(run, "--intent", first)
    bring = "main:main", "refs/notes/*:refs/notes/*"
    git(run / "repo.git", "fetch", "--quiet", made.resolve() / "repo.git", *bring)
    git(here, "clone", "--quiet", run / "repo.git", "person")
    (here / "person" / "part2.py").write_text("by hand\n")
    git(here / "person", "commit", "--quiet", "--all", "--message", "By hand")
    git(here / "person", "push", "--quiet", "origin", "main")
    for audited, reverted in ((run, 1), (made, 0)):
        if audited is made:
            git(made / "repo.git", "fetch", "--quiet", (run / "repo.git").resolve(), "main:main")
        audit = call("verify", audited, "--json").data
        ledger = next(check for check in audit["checks"] if check["name"] == "ledger")
        assert audit["ok"]
        assert ledger["counted"].endswith(f"{reverted} reverted, 1 foreign")
    named = next(check for check in call("verify", run, "--json").data["checks"] if check["name"] == "reverted")
    assert [finding["intents"] for finding in named["noted"]] == [[first]]
    note = git(made / "repo.git", "notes", "--ref=qodebase", "show", landed(made)[f"undo:{first}"])
    assert landed(run)[first] in note
    again = call("revert", run, "--intent", first, "--dry-run", "--json").data
    assert (again["lands"], [one["ending"] for one in again["ended"]]) == (0, ["skipped"])


def test_later_landings_on_the_same_file_stay_and_what_clashes_with_them_is_sent_back(code: Path) -> None:
    run = edit("src/one.txt=# top", "src/one.txt_=# bottom", "src/one.txt=# above the top")
    plan = call("revert", run, "--intent", "edit-1", "--intent", "edit-0", "--dry-run", "--json").data
    made = revert(run, "--intent", "edit-1", "--intent", "edit-0")
    assert show(made, "src/one.txt") == f"# above the top\n# top\n{BODY}"
    assert ledger_of(made) == {"landed": 1, "sent back": 1}
    assert [(one["intent"], one["lands"]) for one in plan["intents"]] == [("undo:edit-1", True), ("undo:edit-0", False)]
    (ended,) = of_kind(made, "ended")
    assert "src/one.txt: merge: both sides changed the same lines" in ended["reason"]
    assert plan["intents"][1]["collides"]["src/one.txt"] in ended["reason"]
    expect_clean(made, full=True)


def test_landings_on_one_text_are_undone_from_the_newest_on(code: Path) -> None:
    run = edit("src/one.txt=# 1", "src/one.txt=# 2", "src/one.txt=# 3", "src/other.txt=# other")
    made = revert(run, "--where", "intent <> 'edit-3'", "--until", "2100-01-01")
    assert show(made, "src/one.txt") == BODY
    assert [event["intent"] for event in of_kind(made, "landed")] == ["undo:edit-2", "undo:edit-1", "undo:edit-0"]
    back = revert(made, "--all")
    assert tree(back) == tree(run)
    expect_clean(made, full=True)
    expect_clean(back, full=True)


def test_a_rename_is_undone_and_takes_along_what_was_written_since(code: Path) -> None:
    run = edit("src/one.txt>src/new.txt=x", "src/other.txt=# other")
    made = revert(run, "--intent", "edit-0")
    assert git(made / "repo.git", "ls-tree", "-r", "--name-only", "main").split() == ["src/one.txt", "src/other.txt"]
    expect_clean(made, full=True)


def test_nothing_is_written_where_no_landing_is_meant(code: Path, here: Path) -> None:
    run = edit("src/one.txt=# top")
    there = sorted(here.iterdir())
    for words in ((), ("--lane", "nowhere"), ("--where", "no_such_column > 1"), ("--since", "yesterday")):
        done = call("revert", run, *words)
        assert done.code == 2, done.out
        assert done.err.startswith("error: ")
    assert sorted(here.iterdir()) == there


def test_an_audit_finds_an_undoing_that_is_not_the_inverse(small: Path, here: Path) -> None:
    run = document(small, "all")
    made = revert(run, "--all")
    one, other, _ = landed(run).values()
    intents = (made / "intents.jsonl").read_text()
    (made / "intents.jsonl").write_text(
        intents.replace(f'"undoes":{{"commit":"{one}"', f'"undoes":{{"commit":"{other}"')
    )
    audit = call("verify", made, "--json").data
    wrong = {check["name"]: check["findings"] for check in audit["checks"] if not check["ok"]}
    assert {"endings", "promise", "shared paths"} <= set(wrong)
    assert "the change is not the inverse" in wrong["promise"][0]["message"]


def test_landings_on_shards_that_were_folded_since_are_undone_in_the_one_file(small: Path, here: Path) -> None:
    run = document(small, "all", (), "--index-layout", "sharded")
    assert git(run / "repo.git", "ls-tree", "-r", "--name-only", "main", "docs").split() == ["docs/API_INDEX.md"]
    plan = call("revert", run, "--intent", "part1.py", "--dry-run", "--json").data
    assert (plan["lands"], sorted(plan["files"])) == (1, ["docs/API_INDEX.md", "part1.py"])
    made = revert(run, "--intent", "part1.py")
    without = document(small, "without", ["part0.py", "part2.py"])
    assert tree(made) == tree(without)
    expect_clean(made, full=True)


def test_checks_of_what_stays_landed_hold_and_those_of_what_is_undone_end(code: Path, here: Path) -> None:
    for name in ("helper", "user"):
        git(code, "checkout", "--quiet", "-b", f"agent/{name}", "main")
        (code / f"{name}.py").write_text(f"NAME = {name!r}\n")
        git(code, "add", "--all")
        git(code, "commit", "--quiet", "--message", name)
    git(code, "checkout", "--quiet", "main")
    own = ("agent/helper=test -f helper.py", "agent/user=test -f user.py -a -f helper.py")
    words = ("--branches", "agent/*", "-w", "1", *(word for check in own for word in ("--own-checks", check)))
    assert call("run", "branches", "--repo", "code", "-o", "one", *words).code == 0
    run = Path("one")
    assert ledger_of(run) == {"landed": 2}
    kept = revert(run, "--intent", "branch:agent/helper")
    assert ledger_of(kept) == {"sent back": 1}
    (ended,) = of_kind(kept, "ended")
    assert "checks of agent/user" in ended["reason"]
    gone = call("revert", run, "--all", "-o", "gone", "--json")
    assert gone.code == 0, gone.err
    assert tree(Path("gone")) == git(code, "ls-tree", "-r", "main")


def test_a_notebook_undoes_landings_as_well(small: Path, here: Path) -> None:
    run = qb.open_run(document(small, "all"))
    made = run.revert(next(iter(landed(Path("all")))))
    assert ledger_of(made.folder.root) == {"landed": 1}
    assert made.verify()["ok"]
