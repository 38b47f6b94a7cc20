from __future__ import annotations

from pathlib import Path

import pytest

from qodebase.commands.support.making import NoFolder, made
from qodebase.runs import RunExists, RunFolder


def test_a_folder_that_another_process_makes_is_refused_and_stays_as_it_is(tmp_path: Path) -> None:
    out = tmp_path / "runs" / "one"
    with made(out) as folder:
        (folder.root / "half made").touch()
        with pytest.raises(RunExists, match="is being made by process") as caught, made(out):
            pytest.fail("two made it")
        assert "--out" in caught.value.hint
        assert (out / "half made").is_file()
    assert out.is_dir()


@pytest.mark.parametrize("whole", [False, True])
def test_one_that_saw_the_folder_empty_and_was_slower_takes_nothing_from_the_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, whole: bool
) -> None:
    out = tmp_path / "one-1"
    with made(out) as folder:
        (folder.root / "settings.json").write_text("{}")
        monkeypatch.setattr(RunFolder, "create", classmethod(lambda cls, root: cls(root)))
        if not whole:
            with pytest.raises(RunExists), made(out):
                pytest.fail("two made it")
    if whole:
        with pytest.raises(RunExists) as caught, made(out):
            pytest.fail("two made it")
        assert "qodebase resume" in caught.value.hint
    assert (out / "settings.json").read_text() == "{}"


def test_a_numbered_name_goes_on_to_the_next_free_number(tmp_path: Path) -> None:
    (tmp_path / "runs-2-10").mkdir()
    (tmp_path / "runs-2-10" / "taken").touch()
    with made(tmp_path / "runs-2-9") as first, made(tmp_path / "runs-2-9", numbered=True) as second:
        assert (first.name, second.name) == ("runs-2-9", "runs-2-11")
    with made(tmp_path / "free-1", numbered=True) as free:
        assert free.name == "free-1"


def test_nothing_stays_of_a_folder_whose_making_fails(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt), made(tmp_path / "one"):
        raise KeyboardInterrupt
    with pytest.raises(NoFolder, match="No space left"), made(tmp_path / "one"):
        raise OSError(28, "No space left on device")
    assert list(tmp_path.iterdir()) == []
    with made(tmp_path / "one") as again:
        assert again.holder()
    assert not again.holder()


@pytest.mark.parametrize(
    ("holds", "said"), [(("repo.git", "lock"), "remove it"), (("repo.git", "thesis.md"), "give another"), ((), "")]
)
def test_only_a_start_that_was_cut_off_is_said_to_be_in_the_way(
    tmp_path: Path, holds: tuple[str, ...], said: str
) -> None:
    out = tmp_path / "one"
    out.mkdir()
    for name in holds:
        (out / name).touch()
    if not said:
        with made(out):
            return
    with pytest.raises(RunExists, match="exists already") as caught, made(out):
        pytest.fail("it is taken")
    assert "holds no run" in caught.value.hint
    assert said in caught.value.hint
    assert ("remove" in caught.value.hint) == ("thesis.md" not in holds)


def test_a_file_in_the_place_of_the_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(RunExists, match="exists already"), made(tmp_path / "file"):
        pytest.fail("a file is no folder")
