"""The index of a run kept as shards: composed once at the end, whatever happens before, and audited."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from world import Done, call, expect_clean, git, ledger_of, of_kind

MOMENTS = Path(__file__).with_name("moments.py")
INDEX = "docs/API_INDEX.md"
FILES = 12
WORDS = ("run", "document", "--repo", "code", "-o", "one", "-w", "1", "--index-layout", "sharded")


def make_parts(path: Path) -> None:
    """Make a repository of three modules without headers."""
    for number in range(FILES):
        file = path / "abc"[number % 3] / f"part{number}.py"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"def part{number}():\n    return {number}\n\n\nclass Kept{number}:\n    pass\n")
    git(path, "init", "--quiet", "--initial-branch", "main")
    git(path, "add", "--all")
    git(path, "commit", "--quiet", "--message", "The code")


@pytest.fixture(scope="module")
def parts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The repository; nobody may change it."""
    path = tmp_path_factory.mktemp("parts") / "code"
    make_parts(path)
    return path


@pytest.fixture
def place(here: Path, parts: Path) -> Path:
    """The current folder, with the repository in ``code``."""
    (here / "code").symlink_to(parts)
    return here


@pytest.fixture(scope="module")
def composed(parts: Path) -> Path:
    """A run that was composed; nobody may change it."""
    run = parts.parent / "one"
    call("run", "document", "--repo", parts, "-o", run, *WORDS[6:])
    return run


@pytest.fixture
def whole(place: Path, composed: Path) -> Path:
    """A copy of a run that was composed, to be doctored."""
    return Path(shutil.copytree(composed, place / "one"))


def at(run: Path, name: str) -> str:
    return git(run / "repo.git", "show", name)


def docs(run: Path) -> list[str]:
    return git(run / "repo.git", "ls-tree", "-r", "--name-only", "main", "docs").split()


def composing(run: Path) -> list[str]:
    """Return the commits on main that carry the compose trailer."""
    return git(run / "repo.git", "log", "--format=%H", "--grep=^Qodebase-Compose: ", "main").split()


def shared_findings(done: Done) -> str:
    (check,) = [check for check in done.data["checks"] if check["name"] == "shared paths"]
    return "\n".join(finding["message"] for finding in check["findings"])


def test_the_shards_become_the_file_that_one_index_would_have_been(place: Path) -> None:
    call(*WORDS)
    call("run", "document", "--repo", "code", "-o", "two", "--index-layout", "single")
    assert docs(place / "one") == [INDEX]
    assert at(place / "one", f"main:{INDEX}") == at(place / "two", f"main:{INDEX}")
    assert len(composing(place / "one")) == 1
    assert composing(place / "two") == []
    assert "12 landings in 3 shards, composed, 24 lines expected, 24 lines there" in call("verify", "one").out
    expect_clean(place / "one", full=True)


def test_a_small_run_keeps_one_index(place: Path) -> None:
    call("run", "document", "--repo", "code", "-o", "one")
    assert docs(place / "one") == [INDEX]
    assert composing(place / "one") == []


def test_each_shard_holds_the_lines_of_its_lane_until_the_end(place: Path) -> None:
    call(*WORDS, "--sample", "7")
    run = place / "one"
    assert docs(run) == ["docs/api/a.md", "docs/api/b.md", "docs/api/c.md"]
    assert all(line.startswith(("#", "The", "- `b/")) for line in at(run, "main:docs/api/b.md").split("\n") if line)
    expect_clean(run)
    call("resume", run)
    assert docs(run) == [INDEX]
    assert len(composing(run)) == 1
    expect_clean(run)


def test_a_run_that_has_composed_does_nothing_more(whole: Path) -> None:
    tip = git(whole / "repo.git", "rev-parse", "main")
    call("resume", whole)
    assert git(whole / "repo.git", "rev-parse", "main") == tip
    expect_clean(whole)


@pytest.mark.parametrize(
    "moment",
    [
        pytest.param(f"after:landed:{FILES}", marks=pytest.mark.full),
        f"before:ref:{2 * FILES + 1}",
        f"before:ref:{2 * FILES + 2}",
        f"after:ref:{2 * FILES + 2}",
        pytest.param("before:composed:1", marks=pytest.mark.full),
        "torn:composed:1",
        pytest.param("after:composed:1", marks=pytest.mark.full),
        pytest.param("before:run stopped:1", marks=pytest.mark.full),
        pytest.param("before:compacting:1", marks=pytest.mark.full),
    ],
)
def test_a_run_that_is_killed_around_composing_composes_once(moment: str, place: Path) -> None:
    words = [sys.executable, str(MOMENTS), f"SIGKILL@{moment}", *WORDS]
    done = subprocess.run(words, capture_output=True, check=False, timeout=120)
    assert done.returncode == -signal.SIGKILL, done.stderr
    run = place / "one"
    expect_clean(run)
    call("resume", run)
    assert ledger_of(run) == {"landed": FILES}
    assert docs(run) == [INDEX]
    assert len(composing(run)) == len(of_kind(run, "composed")) == 1
    expect_clean(run)


def commit_on(run: Path, parent: str, edits: Callable[[Path], None], message: str) -> str:
    """Commit on top of ``parent`` what ``edits`` makes of its files, with plain git, and move main there."""
    tree = run.parent / "a person's tree"
    git(run / "repo.git", "worktree", "add", "--quiet", "--detach", tree, parent)
    edits(tree)
    git(tree, "add", "--all")
    git(tree, "commit", "--quiet", "--allow-empty", "--message", message)
    new = git(tree, "rev-parse", "HEAD").strip()
    git(run / "repo.git", "update-ref", "refs/heads/main", new)
    git(run / "repo.git", "worktree", "remove", "--force", tree)
    return new


def compose_anew(run: Path, edits: Callable[[Path], None]) -> str:
    """Put a doctored commit in the place of the composing one, and say what the audit finds in the shared paths."""
    (own,) = composing(run)
    message = at(run, own + "^{commit}") and git(run / "repo.git", "log", "--format=%B", "--max-count=1", own)

    def made(tree: Path) -> None:
        shutil.rmtree(tree / "docs")
        git(tree, "checkout", "--quiet", own, "--", "docs")
        edits(tree)

    commit_on(run, f"{own}^", made, message)
    done = call("verify", run, "--json")
    assert done.code == 1
    return shared_findings(done)


def with_lines(change: Callable[[list[str]], list[str]]) -> Callable[[Path], None]:
    def edits(tree: Path) -> None:
        file = tree / INDEX
        file.write_text("".join(change(file.read_text().splitlines(keepends=True))))

    return edits


def test_without_its_job_an_audit_leaves_the_shared_paths_out_and_finds_nothing(whole: Path) -> None:
    done = call("verify", whole, "--without-job", "--json")
    assert (done.code, done.data["ok"]) == (0, True)
    assert "the scopes of their intents, and the whole of the shared paths: the job" in done.data["not_checked"][0]


def test_a_line_that_is_missing_from_what_was_composed_is_found(whole: Path) -> None:
    assert "missing: - `a/part0.py` `Kept0`" in compose_anew(whole, with_lines(lambda lines: [*lines[:4], *lines[5:]]))


def test_a_line_that_was_composed_twice_is_found(whole: Path) -> None:
    found = compose_anew(whole, with_lines(lambda lines: [*lines[:5], *lines[4:]]))
    assert "twice: - `a/part0.py` `Kept0`" in found


def test_a_line_of_nobody_in_what_was_composed_is_found(whole: Path) -> None:
    found = compose_anew(whole, with_lines(lambda lines: [*lines, "- `z.py` `made_up` function\n"]))
    assert "of no landed change: - `z.py` `made_up` function" in found


def test_another_heading_of_what_was_composed_is_found(whole: Path) -> None:
    found = compose_anew(whole, with_lines(lambda lines: ["# Mine\n", *lines[1:]]))
    assert "not what its rule makes of the shards" in found


def test_a_shard_that_is_left_is_found(whole: Path) -> None:
    def keep(tree: Path) -> None:
        git(tree, "checkout", "--quiet", "HEAD", "--", "docs/api/b.md")

    assert "a shard is left" in compose_anew(whole, keep)


def test_another_path_that_composing_changed_is_found(whole: Path) -> None:
    def more(tree: Path) -> None:
        (tree / "a" / "part0.py").write_text("part0 = 1\n")

    assert "it composes another path" in compose_anew(whole, more)


def test_composing_twice_is_found(whole: Path) -> None:
    (own,) = composing(whole)
    message = git(whole / "repo.git", "log", "--format=%B", "--max-count=1", own)
    commit_on(whole, own, lambda tree: None, message)
    done = call("verify", whole, "--json")
    assert done.code == 1
    assert "it was composed again, and nothing had landed" in shared_findings(done)
    assert "does not name" in shared_findings(done)


def test_shards_that_were_never_composed_are_found_once_the_run_has_ended(whole: Path) -> None:
    (own,) = composing(whole)
    git(whole / "repo.git", "update-ref", "refs/heads/main", f"{own}^")
    done = call("verify", whole, "--json")
    assert done.code == 1
    assert "3 shards were not composed" in shared_findings(done)
    assert "not on main" in shared_findings(done)


def test_what_a_person_adds_to_the_index_meanwhile_stays(place: Path) -> None:
    call(*WORDS, "--sample", "5")
    run = place / "one"
    line = "- `LICENCE` `mit` text\n"

    def add(tree: Path) -> None:
        (tree / INDEX).write_text(f"# Ours\n\n{line}")
        shard = tree / "docs" / "api" / "a.md"
        shard.write_text(shard.read_text() + "- `a/zz.py` `by_hand` function\n")

    commit_on(run, "main", add, "Begin the index by hand")
    call("resume", run)
    index = at(run, f"main:{INDEX}")
    assert index.startswith("# Ours\n\n- `LICENCE` `mit` text\n- `a/part0.py`")
    assert "- `a/zz.py` `by_hand` function\n- `b/part1.py`" in index
    assert docs(run) == [INDEX]
    expect_clean(run)


def test_an_index_that_cannot_be_composed_is_said_and_composed_once_it_is_mended(place: Path) -> None:
    call(*WORDS, "--sample", "5")
    run = place / "one"

    def spoil(tree: Path) -> None:
        (tree / INDEX).write_text("- `b` `b` x")

    commit_on(run, "main", spoil, "Spoil it")
    done = call("resume", run)
    assert done.code == 1
    assert "cannot be composed" in done.err
    assert "resume" in done.err
    assert ledger_of(run) == {"landed": FILES}
    commit_on(run, "main", lambda tree: (tree / INDEX).unlink(), "Mend it")
    assert call("resume", run).code == 0
    assert docs(run) == [INDEX]
    expect_clean(run)


def test_a_place_that_is_taken_ends_before_work_with_2(here: Path) -> None:
    make_parts(here / "code")
    (here / "code" / "docs" / "api").mkdir(parents=True)
    (here / "code" / "docs" / "api" / "b.md").write_text("# About b\n")
    git(here / "code", "add", "--all")
    git(here / "code", "commit", "--quiet", "--message", "Docs")
    done = call(*WORDS)
    assert done.code == 2
    assert "docs/api/b.md" in done.err
    assert "--index-layout single" in done.err


def test_a_repository_without_its_run_says_nothing_against_what_was_composed(whole: Path) -> None:
    done = call("verify", whole / "repo.git", "--json")
    assert done.code == 0
    assert all(not check["findings"] and not check["noted"] for check in done.data["checks"])
