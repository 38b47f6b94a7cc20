from __future__ import annotations

import stat
from typing import TYPE_CHECKING

import pytest

from results.frames import Frames
from results.kept_frames import KeptFrames
from results.schema import SCHEMAS

if TYPE_CHECKING:
    from tests.results.conftest import ToyRun


@pytest.fixture(autouse=True)
def _every_journal_is_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("results.kept_frames.SHORTEST", 1)


def _only_from_the_cache(toy: ToyRun, name: str) -> object:
    return KeptFrames(toy.folder).read(name)


@pytest.mark.parametrize("name", SCHEMAS)
def test_a_kept_frame_is_the_one_that_was_made(toy: ToyRun, name: str) -> None:
    assert _only_from_the_cache(toy, name) is None
    made = Frames(toy.folder).frame(name)
    assert made.equals(Frames(toy.folder, kept=False).frame(name))
    assert made.equals(_only_from_the_cache(toy, name))  # type: ignore[arg-type]


def test_kept_frames_are_of_the_journal_and_the_tip_as_they_are_now(toy: ToyRun) -> None:
    frames = Frames(toy.folder)
    assert frames.landings.height == 13
    (old,) = (toy.folder.root / "frames").iterdir()
    toy.git("update-ref", "refs/heads/main", toy.ids[-2])
    assert _only_from_the_cache(toy, "landings") is None
    toy.edit_lines("journal.jsonl", lambda lines: lines[: len(lines) // 2])
    assert 0 < Frames(toy.folder).landings.height < 13
    (new,) = (toy.folder.root / "frames").iterdir()
    assert new != old


def test_a_damaged_file_of_the_cache_is_made_again(toy: ToyRun) -> None:
    made = Frames(toy.folder).landings
    (file,) = (toy.folder.root / "frames").rglob("*.parquet")
    file.write_bytes(b"PAR1 and nothing else")
    assert Frames(toy.folder).landings.equals(made)
    assert made.equals(_only_from_the_cache(toy, "landings"))  # type: ignore[arg-type]


def test_nothing_is_kept_while_a_process_works_on_the_run(toy: ToyRun) -> None:
    with toy.folder.locked():
        assert Frames(toy.folder).landings.height == 13
    assert not (toy.folder.root / "frames").exists()


def test_only_the_owner_can_read_what_is_kept(toy: ToyRun) -> None:
    Frames(toy.folder).costs  # noqa: B018
    kept = [toy.folder.root / "frames", *(toy.folder.root / "frames").rglob("*")]
    assert len(kept) == 3
    assert not any(stat.S_IMODE(path.stat().st_mode) & 0o077 for path in kept)


def test_frames_that_cannot_be_kept_are_made_all_the_same(toy: ToyRun) -> None:
    (toy.folder.root / "frames").write_text("in the way")
    assert Frames(toy.folder).landings.height == 13
