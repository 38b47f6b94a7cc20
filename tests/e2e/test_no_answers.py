"""A model that cannot be reached, and runs that have nothing to do: said plainly, nothing lost."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from test_bad_input import LFS, RUN, expect_refused
from world import call, expect_clean, git, of_kind

JOB = """
job = "document"
repo = "code"
model = "dead"

[models.dead]
adapter = "scripted"
params = { error = 1.0 }
"""


@pytest.fixture
def place(here: Path, small: Path) -> Path:
    """The current folder, with a repository in ``code``."""
    shutil.copytree(small, here / "code")
    return here


def test_intents_whose_model_was_never_reached_stay_pending_and_a_resume_brings_them_home(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fleet.retry.Patience.__init__.__kwdefaults__", {**_patience(), "tries": 1})
    (place / "dead.toml").write_text(JOB)
    done = call("run", "dead.toml", "-o", "one", "--json")
    assert done.code == 3
    assert done.data["state"] == "no answers"
    assert done.data["ledger"]["pending"] == 3
    assert (done.data["failed_calls"], done.data["calls"]) == (3, 3)
    assert not of_kind(place / "one", "ended")
    assert "provider error" in call("status", "one").out
    settings = place / "one" / "settings.json"
    settings.write_text(settings.read_text().replace('"error": 1.0', '"error": 0.0'))
    assert call("resume", "one", "--json").data["ledger"]["landed"] == 3
    expect_clean(place / "one")


def _patience() -> dict[str, object]:
    from fleet.retry import Patience

    return dict(Patience.__init__.__kwdefaults__ or {})


def test_a_resume_of_an_ended_run_says_that_nothing_is_left(place: Path) -> None:
    assert call(*RUN, "-o", "one").code == 0
    done = call("resume", "one")
    assert done.code == 0
    assert "nothing is left to do" in done.err
    assert len(of_kind(place / "one", "run started")) == 1


@pytest.mark.parametrize(
    ("index", "said"),
    [
        ("part0.py", "--index part0.py is a source file"),
        ("part0.py/x.md", "part0.py is a file"),
        ("../x.md", "--index ../x.md"),
        (".git/x.md", "--index .git/x.md"),
    ],
)
def test_an_index_where_none_can_be_is_refused(place: Path, index: str, said: str) -> None:
    assert said in expect_refused(place, *RUN, "-o", "one", "--index", index)


def test_all_files_that_lfs_keeps_elsewhere_are_named_at_once(place: Path) -> None:
    for name in ("big.py", "bigger.py"):
        (place / "code" / name).write_text(LFS)
    git(place / "code", "add", "--all")
    git(place / "code", "commit", "--quiet", "--message", "big")
    err = expect_refused(place, *RUN, "-o", "one")
    assert "big.py and 1 more files are kept elsewhere" in err
    assert "--exclude 'big.py' --exclude 'bigger.py'" in err
