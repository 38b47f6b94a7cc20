"""A run's landings leave as branches, are merged by plain git in any order, and are found again with their records."""

from __future__ import annotations

import random
import shutil
from pathlib import Path
from typing import Any

import pytest
from world import call, git, make_codebase, make_small, of_kind, state_of

import qodebase as qb
from qodebase.record import read_notes

JOB = Path(__file__).parents[1] / "support" / "edit_job.py"
BODY = "".join(f"line {number}\n" for number in range(30))
INDEX = "docs/API_INDEX.md"
LANES = ("web=/web/**", "unittest=/unittest/**", "pools=/multiprocessing/p*", "multiprocessing=/multiprocessing/**",
         "asyncio=/asyncio/**", "odd=/odd/**")  # fmt: skip


@pytest.fixture(scope="module")
def documented(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a repository ``code`` and a run ``run`` on it, neither to be changed."""
    here = tmp_path_factory.mktemp("documented")
    make_codebase(here / "code")
    lanes = [word for lane in LANES for word in ("--lane", lane)]
    done = call("run", "document", "--repo", here / "code", "-o", here / "run", "--model", "outline", "--json", *lanes)
    assert done.code == 0, done.err
    return here


@pytest.fixture
def code(documented: Path, here: Path) -> Path:
    """A copy of the repository that may be written."""
    shutil.copytree(documented / "code", here / "code", symlinks=True)
    return here / "code"


def export(documented: Path, code: Path, *words: str | Path, code_is: int = 0) -> dict[str, Any]:
    done = call("export", documented / "run", "--onto", "main", "--repo", code, "-o", "texts", "--json", *words)
    assert done.code == code_is, done.err
    return done.data


def carry(documented: Path, code: Path, *words: str, ref: str = "main", code_is: int = 0) -> dict[str, Any]:
    done = call("carry", documented / "run", ref, "--repo", code, "--json", *words)
    assert done.code == code_is, (done.out, done.err)
    return done.data


def landed(documented: Path) -> set[str]:
    return {event["intent"] for event in of_kind(documented / "run", "landed")}


def squash(code: Path, branch: str, message: str | None = None) -> None:
    """Merge a branch as one commit; without a message git lists the commits in it."""
    git(code, "merge", "--quiet", "--squash", branch)
    git(code, "commit", "--quiet", *(["--no-edit"] if message is None else ["--message", message]))


def records(code: Path) -> list[str]:
    """Return the intents of every record on main's commits."""
    listed = git(code, "notes", "--ref=qodebase", "list").split()
    commits = set(git(code, "rev-list", "main").split())
    ids = [id for id, commit in zip(listed[::2], listed[1::2], strict=True) if commit in commits]
    notes = [git(code, "cat-file", "blob", id).encode() for id in ids]
    return sorted(record.intent for note in notes for record in read_notes(note))


def expect_clean(code: Path, branch: str = "main") -> dict[str, Any]:
    done = call("verify", code, "--branch", branch, "--json")
    assert done.code == 0, done.out
    return done.data


def landings(audit: dict[str, Any]) -> str:
    return next(check["counted"] for check in audit["checks"] if check["name"] == "commits").split(" ")[0]


def names(told: dict[str, Any]) -> list[str]:
    return [branch["branch"] for branch in told["branches"]]


def test_branches_share_no_path_and_each_is_clean(documented: Path, code: Path) -> None:
    told = export(documented, code)
    paths: list[str] = []
    for branch in told["branches"]:
        paths += git(code, "diff", "--name-only", "-z", "main", branch["branch"]).split("\0")[:-1]
    first = told["branches"][0]
    assert landings(expect_clean(code, first["branch"])) == str(first["commits"])
    assert len(paths) == len(set(paths))
    assert sorted(intent for branch in told["branches"] for intent in branch["intents"]) == sorted(landed(documented))
    lanes = sorted(lane.partition("=")[0] for lane in LANES)
    assert [name.rpartition("/")[2] for name in names(told)] == [*lanes, "shared"]
    text = Path("texts/odd.md").read_text()
    assert "`odd/naïve.py`" in text
    assert "qodebase carry" in text


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.full) for seed in range(1, 10))])
def test_branches_merge_in_any_order_and_every_record_is_carried(documented: Path, code: Path, seed: int) -> None:
    order = names(export(documented, code))
    chance = random.Random(seed)
    chance.shuffle(order)
    for number, branch in enumerate(order):
        # Half of the messages name nobody: those intents are found by what their files hold.
        squash(code, branch, None if number % 2 else f"Merge of {number}")
    git(code, "branch", "-D", *order)
    assert git(code, "rev-parse", "main^{tree}") == git(documented / "run" / "repo.git", "rev-parse", "main^{tree}")
    told = carry(documented, code)
    assert told["missing"] == {}
    assert told["written"] == len(landed(documented))
    assert {one["by"] for one in told["found"].values()} == {"trailers", "patch"}
    assert records(code) == sorted(landed(documented))
    assert landings(expect_clean(code)) == str(len(landed(documented)))
    assert carry(documented, code)["written"] == 0


@pytest.mark.full
def test_commits_that_were_rebased_get_their_notes_again(documented: Path, code: Path) -> None:
    (code / "other.txt").write_text("a person's\n")
    git(code, "add", "other.txt")
    branches = names(export(documented, code))
    base = git(code, "rev-parse", "main").strip()
    git(code, "commit", "--quiet", "--message", "A person's work")
    for branch in branches:
        git(code, "cherry-pick", f"{base}..{branch}")
    git(code, "update-ref", "-d", "refs/notes/qodebase")
    told = carry(documented, code)
    assert {one["by"] for one in told["found"].values()} == {"trailers"}
    assert len({one["commit"] for one in told["found"].values()}) == len(landed(documented))
    assert landings(expect_clean(code)) == str(len(landed(documented)))


def test_merge_commits_bring_the_notes_along(documented: Path, code: Path) -> None:
    for branch in names(export(documented, code)):
        git(code, "merge", "--quiet", "--no-ff", "--no-edit", branch)
    assert landings(expect_clean(code)) == str(len(landed(documented)))
    told = carry(documented, code)
    assert (told["written"], told["missing"]) == (0, {})
    (code / "asyncio" / "streams.py").write_text((code / "asyncio" / "streams.py").read_text() + "# A person's\n")
    (code / INDEX).write_text((code / INDEX).read_text() + "- `zz.py` `z` constant\n")
    git(code, "commit", "--quiet", "--all", "--message", "People went on")
    again = export(documented, code)
    assert (again["branches"], sorted(again["there"])) == ([], sorted(landed(documented)))


def test_one_commit_a_branch_names_all_its_intents(documented: Path, code: Path) -> None:
    told = export(documented, code, "--squash", "--by", "folder", "--max-files", "12")
    assert {branch["commits"] for branch in told["branches"]} == {1}
    assert max(branch["files"] for branch in told["branches"]) == 12
    first = told["branches"][0]
    assert landings(expect_clean(code, first["branch"])) == str(len(first["intents"]))
    for branch in told["branches"]:
        git(code, "merge", "--quiet", "--squash", branch["branch"])
        git(code, "commit", "--quiet", "-C", branch["branch"])
    assert git(code, "rev-parse", "main^{tree}") == git(documented / "run" / "repo.git", "rev-parse", "main^{tree}")
    git(code, "update-ref", "-d", "refs/notes/qodebase")
    assert carry(documented, code)["missing"] == {}
    assert landings(expect_clean(code)) == str(len(landed(documented)))


def test_a_newer_branch_is_met_by_the_ladder_and_what_is_left_out_is_named(documented: Path, code: Path) -> None:
    (code / "odd" / "cut.py").write_text('"""A person was first."""\ndef cut():\n    return 1\n')
    streams = code / "asyncio" / "streams.py"
    streams.write_text(streams.read_text() + "\n\n# A person's line\n")
    git(code, "mv", "web/shown.js", "web/seen.js")
    git(code, "rm", "--quiet", "asyncio/queues.py")
    git(code, "add", "--all")
    git(code, "commit", "--quiet", "--message", "People went on")
    told = export(documented, code, code_is=1)
    assert set(told["left_out"]) >= {"document:odd/cut.py", "document:asyncio/queues.py"}
    assert "Left out" in Path("texts/odd.md").read_text()
    branches = names(told)
    before, after = (git(code, "show", f"{commit}:asyncio/streams.py") for commit in ("main", branches[0]))
    assert branches[0].endswith("/asyncio")
    assert after.endswith("# A person's line\n")
    assert len(after) > len(before)
    index = git(code, "show", f"{branches[-1]}:{INDEX}")
    assert "asyncio/streams.py" in index
    assert "odd/cut.py" not in index
    assert "asyncio/queues.py" not in index
    for branch in branches:
        squash(code, branch)
    carried = carry(documented, code, code_is=1)
    assert set(carried["missing"]) == set(told["left_out"])
    assert carried["written"] == len(landed(documented)) - len(told["left_out"])
    expect_clean(code)


def test_owners_and_drops_choose_what_goes_where(documented: Path, code: Path) -> None:
    (code / "CODEOWNERS").write_text("* @all\n/asyncio/ @net/io @net/core # two\n/web/*.ts\n")
    git(code, "add", "CODEOWNERS")
    git(code, "commit", "--quiet", "--message", "Owners")
    dropped = ("--drop", "lane=odd", "--drop", "asyncio/queues.py", "--drop", "where=path = 'nothing'")
    done = call("export", documented / "run", "--onto", "main", "--repo", code, *dropped)
    assert done.code == 2
    told = export(documented, code, "--by", "owner", *dropped[:4])
    groups = {branch["branch"].rpartition("/")[2]: branch["intents"] for branch in told["branches"]}
    assert list(groups) == ["all", "net-io+net-core", "no-owner", "shared"]
    assert groups["no-owner"] == ["document:web/types.ts"]
    assert "document:asyncio/queues.py" in told["dropped"]
    index = git(code, "show", f"{names(told)[-1]}:{INDEX}")
    assert "odd/" not in index
    assert "asyncio/queues.py" not in index


def test_branches_that_are_there_are_moved_only_when_told_to(documented: Path, code: Path) -> None:
    first = export(documented, code)
    assert export(documented, code) == first
    branch = first["branches"][0]["branch"]
    git(code, "branch", "--force", branch, "main")
    done = call("export", documented / "run", "--onto", "main", "--repo", code)
    assert (done.code, branch in done.err) == (2, True)
    assert export(documented, code, "--force") == first
    git(code, "checkout", "--quiet", branch)
    git(code, "commit", "--quiet", "--allow-empty", "--message", "A person's")
    tip = git(code, "rev-parse", "HEAD")
    done = call("export", documented / "run", "--onto", "main", "--repo", code, "--force")
    assert (done.code, "checked out" in done.err) == (2, True)
    assert git(code, "rev-parse", branch) == tip


def test_a_dry_run_writes_nothing(documented: Path, code: Path) -> None:
    before = state_of(code)
    told = export(documented, code, "--dry-run")
    assert len(told["branches"]) == len(LANES) + 1
    assert carry(documented, code, "--dry-run", code_is=1)["written"] == 0
    assert state_of(code) == before
    assert not Path("texts").exists()


def test_a_note_of_somebody_else_stays_as_it_is(documented: Path, code: Path) -> None:
    first = export(documented, code)["branches"][0]
    squash(code, first["branch"])
    git(code, "notes", "--ref=qodebase", "add", "--message", "mine", "HEAD")
    told = carry(documented, code, code_is=1)
    assert told["kept_out"] == {git(code, "rev-parse", "HEAD").strip(): first["intents"]}
    assert git(code, "notes", "--ref=qodebase", "show", "HEAD") == "mine\n"


def test_shards_that_were_folded_leave_as_the_one_file(here: Path) -> None:
    code = make_small(here / "code", files=8)
    words = ("--model", "outline", "--index-layout", "sharded", "--json")
    assert call("run", "document", "--repo", code, "-o", "run", *words).code == 0
    told = export(here, code)
    for branch in names(told):
        squash(code, branch)
    assert git(code, "rev-parse", "main^{tree}") == git(here / "run" / "repo.git", "rev-parse", "main^{tree}")
    assert told["branches"][-1]["files"] == 1


def edited(here: Path, *edits: str) -> Path:
    """Run the edit job on three files of nearly one text, one edit after the other; return the repository."""
    code = here / "code"
    for name in ("src/one.txt", "src/other.txt", "new/a.txt"):
        (code / name).parent.mkdir(parents=True, exist_ok=True)
        (code / name).write_text(f"{BODY}{name}\n")
    git(code, "init", "--quiet", "--initial-branch", "main")
    git(code, "add", "--all")
    git(code, "commit", "--quiet", "--message", "The code")
    flags = [word for edit in edits for word in ("--edits", edit)]
    words = ("--model", "scripted", "-w", "1", "--train-max", "1", "--json")
    assert call("run", "--job", JOB, "--repo", code, "-o", "run", *words, *flags).code == 0
    return code


def test_a_landing_is_dropped_from_between_others(here: Path) -> None:
    code = edited(here, "src/one.txt=# top", "src/one.txt_=# bottom", "src/other.txt=# other")
    dropped = of_kind(here / "run", "landed")[0]["commit"]
    told = export(here, code, "--drop", dropped)
    (branch,) = names(told)
    assert git(code, "show", f"{branch}:src/one.txt") == git(code, "show", "main:src/one.txt") + "# bottom\n"
    assert told["dropped"] == [of_kind(here / "run", "landed")[0]["intent"]]
    assert "dropped" not in told["left_out"]


def test_landings_follow_a_file_that_people_moved_and_are_found_there(here: Path) -> None:
    code = edited(here, "src/one.txt=# top", "src/one.txt_=# bottom", "src/other.txt=# other")
    (code / "lib").mkdir()
    git(code, "mv", "src/one.txt", "lib/moved.txt")
    git(code, "commit", "--quiet", "--message", "Moved")
    (branch,) = names(export(here, code))
    text = git(code, "show", f"{branch}:lib/moved.txt")
    assert text.startswith("# top\n")
    assert text.endswith("# bottom\n")
    assert "src/one.txt" not in git(code, "ls-tree", "-r", "--name-only", branch)
    squash(code, branch, "Merge")
    told = carry(here, code)
    assert len(told["found"]) == 3
    assert landings(expect_clean(code)) == "3"


def test_landings_of_several_folders_that_share_a_path_stay_together(here: Path) -> None:
    code = edited(here, "src/one.txt+new/a.txt=# both", "src/one.txt_=# bottom", "src/other.txt=# other")
    told = export(here, code, "--by", "folder")
    assert {branch["branch"].rpartition("/")[2]: len(branch["intents"]) for branch in told["branches"]} == {
        "shared": 2,
        "src": 1,
    }


def test_an_export_from_a_notebook_says_the_same(here: Path) -> None:
    code = edited(here, "src/one.txt=# top")
    run = qb.open_run("run")
    told = run.export("main", repo=code)
    assert Path(told["branches"][0]["text"]).is_file()
    squash(code, told["branches"][0]["branch"])
    assert run.carry("main", repo=code)["written"] == 1
    assert run.carry("main~1", repo=code)["missing"] != {}
