from __future__ import annotations

from pathlib import Path

import pytest

from qodebase.commands.bench.support.space import NoSpace, space_in


def test_a_folder_that_is_not_there_is_made_and_removed_with_those_above(tmp_path: Path) -> None:
    with space_in(tmp_path / "new/one") as space:
        assert space.parent == tmp_path / "new/one"
        (space / "work").write_text("some")
    assert list(tmp_path.iterdir()) == []


def test_a_folder_of_the_user_stays_with_what_is_in_it(tmp_path: Path) -> None:
    (tmp_path / "theirs").write_text("kept")
    with space_in(tmp_path) as space:
        assert space.is_dir()
    assert [path.name for path in tmp_path.iterdir()] == ["theirs"]


def test_what_is_put_beside_the_work_meanwhile_stays(tmp_path: Path) -> None:
    with space_in(tmp_path / "new"):
        (tmp_path / "new/theirs").write_text("kept")
    assert (tmp_path / "new/theirs").read_text() == "kept"


def test_a_folder_that_cannot_be_made_is_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(NoSpace, match="file/new: Not a directory"), space_in(tmp_path / "file/new"):
        raise AssertionError("there is no such folder")
