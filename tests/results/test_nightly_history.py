"""The nights before: kept as lines, apart by machine and by what was measured, whatever happened to the file."""

from __future__ import annotations

from pathlib import Path

import pytest

from results.nightly_history import Night, NoHistory, machine_class, read_history


def night(
    value: float, *, machine: str = "m", words: tuple[str, ...] = ("--x",), accepted: tuple[str, ...] = ()
) -> Night:
    return Night(at=1.0, machine=machine, commit="c", bench="b", words=words, figures={"x": value}, accepted=accepted)


def values(folder: Path, machine: str = "m", words: tuple[str, ...] = ("--x",)) -> list[float]:
    return read_history(folder).values(machine, "b", words, "x")


def test_nights_come_back_in_order_and_apart_by_machine_and_words(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "folder"
    read_history(folder).add([night(1.0), night(2.0, machine="other"), night(3.0, words=())])
    read_history(folder).add([night(4.0)])
    assert values(folder) == [1.0, 4.0]
    assert values(folder, machine="other") == [2.0]
    assert values(folder, words=()) == [3.0]
    assert read_history(folder).values("m", "b", ("--x",), "y") == []


def test_nights_before_an_accepted_one_do_not_count(tmp_path: Path) -> None:
    read_history(tmp_path).add([night(1.0), night(2.0, accepted=("x",)), night(3.0)])
    assert values(tmp_path) == [2.0, 3.0]


def test_a_torn_end_loses_one_night_and_the_next_is_whole(tmp_path: Path) -> None:
    history = read_history(tmp_path)
    history.add([night(1.0), night(2.0)])
    history.file.write_bytes(history.file.read_bytes()[:-20])
    assert (values(tmp_path), read_history(tmp_path).unreadable) == ([1.0], 1)
    read_history(tmp_path).add([night(3.0)])
    assert (values(tmp_path), read_history(tmp_path).unreadable) == ([1.0, 3.0], 1)


def test_a_line_that_is_no_night_is_counted_and_left_out(tmp_path: Path) -> None:
    history = read_history(tmp_path)
    history.file.write_bytes(b'{"at": 1}\n\n\xff\xfe\n[]\n')
    history.add([night(1.0)])
    assert (values(tmp_path), read_history(tmp_path).unreadable) == ([1.0], 3)


def test_a_folder_that_is_a_file_is_an_error_that_says_so(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(NoHistory, match="file"):
        read_history(tmp_path / "file")


def test_machines_are_alike_by_processor_cores_memory_and_python() -> None:
    one = {"cpu": "A", "cpus": 2, "memory_bytes": 16_000_000_000, "python": "CPython 3.11.7"}
    assert machine_class(one) == machine_class({**one, "memory_bytes": 16_900_000_000, "python": "CPython 3.11.9"})
    for other in ({"cpu": "B"}, {"cpus": 4}, {"memory_bytes": 33_000_000_000}, {"python": "CPython 3.12.1"}):
        assert machine_class({**one, **other}) != machine_class(one)
