"""Bad input: exit code 2, a message that says what to do, and nothing written anywhere."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from world import call, git, make_small, state_of

LFS = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a2146\nsize 12345\n"


def expect_refused(here: Path, *words: str | Path, code: int = 2) -> str:
    """Run a command that must be refused; return what it says."""
    before = state_of(here)
    done = call(*words)
    assert done.code == code, done.err
    assert done.out == ""
    assert "Traceback" not in done.err
    assert {name for name, state in state_of(here).items() if before.get(name) != state} <= {"one/lock"}
    return done.err


@pytest.fixture
def place(here: Path, small: Path) -> Path:
    """The current folder, with a repository in ``code``."""
    shutil.copytree(small, here / "code")
    return here


RUN = ("run", "document", "--repo", "code")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("run", "document"), ("--repo PATH",)),
        (("run", "document", "--repo", "gone"), ("gone is no folder", "--repo")),
        (("run", "document", "--repo", "code/part0.py"), ("is no folder",)),
        ((*RUN, "--branch", "dev"), ("no branch 'dev'", "Branches there: main")),
        ((*RUN, "--model", "gpt-5"), ("unknown model `gpt-5`", "openai:MODEL-ID")),
        ((*RUN, "--model", "outlin"), ("did you mean `outline`?",)),
        ((*RUN, "--model", "openai:gpt-4o-mini"), ("OPENAI_API_KEY", "export OPENAI_API_KEY=")),
        ((*RUN, "--model", "scripted:latnecy=1"), ("latnecy", "latency")),
        (("run", "documnt", "--repo", "code"), ("no job 'documnt'", "document")),
        (("run", "--job", "gone.py", "--repo", "code"), ("no job file gone.py", "JOB")),
        (("run", "gone.toml"), ("gone.toml cannot be read",)),
        ((*RUN, "--worker", "3"), ("No such option: --worker", "--workers")),
        ((*RUN, "--workers", "many"), ("--workers", "integer")),
        ((*RUN, "--lane", "docs"), ("NAME=PATTERN",)),
        ((*RUN, "--lane", "docs=!"), ("Invalid git pattern", ".gitignore")),
        ((*RUN, "--paths", "!"), ("Invalid git pattern", ".gitignore")),
        ((*RUN, "--paths", "no/such/*.py"), ("found nothing to do", "patterns")),
        ((*RUN, "--index", "../INDEX.md"), ("../INDEX.md", "inside the repository")),
        ((*RUN, "--author", "Ada"), ("'Ada' is no author", "NAME <MAIL>")),
        ((*RUN, "--author", "<ada@example.org>"), ("NAME <MAIL>",)),
        ((*RUN, "--author", "Ada\n <ada@example.org>"), ("NAME <MAIL>",)),
        ((*RUN, "-o", "code"), ("code exists already", "holds no run", "--out")),
        ((*RUN, "-o", "code/part0.py"), ("exists already", "--out")),
        ((*RUN, "-o", "code/part0.py/run"), ("cannot be made", "--out")),
        ((*RUN, "-o", "/proc/run"), ("/proc/run cannot be made", "--out")),
        (("resume", "gone"), ("no run 'gone'", "`last`")),
        (("resume", "last"), ("no run in runs", "qodebase run")),
        (("resume", "gone", "--limit", "0"), ("--limit",)),
    ],
    ids=lambda value: " ".join(value)[:50].replace("\n", " ") if isinstance(value, tuple) else None,
)
def test_what_cannot_work_is_refused_before_anything_is_written(
    words: tuple[str, ...], said: tuple[str, ...], place: Path
) -> None:
    err = expect_refused(place, *words)
    for part in said:
        assert part in err


def test_a_folder_without_a_repository_is_refused(place: Path) -> None:
    (place / "plain").mkdir()
    assert "git init" in expect_refused(place, "run", "document", "--repo", "plain")


def test_a_repository_without_a_commit_is_refused(place: Path) -> None:
    (place / "empty").mkdir()
    git(place / "empty", "init", "--quiet")
    assert "holds no commit yet" in expect_refused(place, "run", "document", "--repo", "empty")


def test_a_partial_clone_is_refused(place: Path) -> None:
    git(place / "code", "config", "uploadpack.allowFilter", "true")
    git(place, "clone", "--quiet", "--filter=blob:none", "--no-checkout", f"file://{place}/code", "partial")
    err = expect_refused(place, "run", "document", "--repo", "partial")
    assert "is a partial clone" in err
    assert "without --filter" in err


def test_a_file_that_lfs_keeps_elsewhere_is_refused_and_can_be_left_out(place: Path) -> None:
    (place / "code" / "big.py").write_text(LFS)
    git(place / "code", "add", "--all")
    git(place / "code", "commit", "--quiet", "--message", "big")
    err = expect_refused(place, *RUN, "-o", "one")
    assert "big.py is kept elsewhere by Git LFS" in err
    assert "--exclude 'big.py'" in err
    assert call(*RUN, "-o", "one", "--exclude", "big.py", "--json").data["ledger"]["landed"] == 3


def test_a_run_folder_that_is_taken_is_refused_and_stays(place: Path) -> None:
    assert call(*RUN, "-o", "one").code == 0
    assert "qodebase resume one" in expect_refused(place, *RUN, "-o", "one")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('modle = "outline"', ("unknown key `modle`", "did you mean `model`?", "Allowed: ")),
        ('workers = "many"', ("`workers` must be a whole number", "'many'")),
        ("workers = 0", ("`workers`", "at least 1")),
        ("sign = 1", ("`sign` must be true or false",)),
        ('cache = "no"', ("`cache` must be one of use, readonly, off, refresh",)),
        ("[document]\nnames = 'three'", ("[document]: `names` must be a whole number",)),
        ("[document]\npath = ['a']", ("[document]: unknown key `path`", "did you mean `paths`?")),
        ("[models.m]\nadapter = 'openai'\nmodle = 'x'", ("[models.m]: unknown key `modle`", "did you mean `model`?")),
        ("[models.m]\nadapter = 'openai'\ntimeout_s = -1", ("[models.m]", "`timeout_s` must be more than 0")),
        ("[lanes]\nweb = 'web/'", ("`lanes` must be a table of arrays",)),
        ("out = 'one", ("is no TOML",)),
        ("job_file = 'x.py'", ("`job` and `job_file` exclude each other",)),
    ],
)
def test_a_typo_in_a_job_file_names_file_field_and_what_is_allowed(
    text: str, said: tuple[str, ...], place: Path
) -> None:
    (place / "job.toml").write_text(f'job = "document"\nrepo = "code"\n{text}\n')
    err = expect_refused(place, "run", "job.toml")
    assert "job.toml" in err
    for part in said:
        assert part in err


@pytest.mark.parametrize("kind", ["ssh", "openpgp"])
def test_a_missing_key_for_signatures_is_found_before_work_starts(kind: str, place: Path) -> None:
    git(place / "code", "config", "gpg.format", kind)
    git(place / "code", "config", "gpg.program", str(place / "no-gpg"))
    assert "error: " in expect_refused(place, *RUN, "--sign")


def test_a_folder_that_this_user_may_not_write_is_refused(place: Path) -> None:
    if os.geteuid() == 0:
        pytest.skip("root may write everywhere")
    (place / "locked").mkdir(mode=0o500)
    assert "locked/one cannot be made" in expect_refused(place, *RUN, "-o", "locked/one")


def test_a_job_that_changed_since_the_freeze_is_refused_with_both_digests(place: Path) -> None:
    job = place / "job.py"
    text = (Path(__file__).parents[1] / "support" / "edit_job.py").read_text()
    job.write_text(text)
    words = ("--edits", "part0.py=# one", "--edits", "part1.py=# two", "--sample", "1", "--model", "scripted")
    assert call("run", "--job", job, "--repo", "code", "-o", "one", *words).code == 0
    frozen = call("status", "one", "--json").data
    assert frozen["ledger"]["pending"] == 1
    job.write_text(text.replace("Ask for the line.", "Ask for a line."))
    err = expect_refused(place, "resume", "one")
    assert err.count("then, ") == 1
    digests = [word.strip(",:") for word in err.split() if len(word.strip(",:")) == 64]
    assert len(set(digests)) == 2
    job.write_text(text)
    assert call("resume", "one").code == 0


def test_a_job_file_in_another_folder_finds_its_own_repository(place: Path) -> None:
    (place / "jobs").mkdir()
    make_small(place / "jobs" / "mine", 2)
    (place / "jobs" / "job.toml").write_text('job = "document"\nrepo = "mine"\n')
    assert call("run", "jobs/job.toml", "-o", "one", "--json").data["ledger"]["landed"] == 2
