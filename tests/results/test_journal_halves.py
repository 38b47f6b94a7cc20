from __future__ import annotations

from pathlib import Path

import pytest

from qodebase.codec import BadData
from qodebase.commands.bench.support.long_run import write_run
from qodebase.runs import RunFolder
from results import journal_halves
from results.frames import load
from results.journal_tables import Numbers, tables_of
from results.schema import SCHEMAS


@pytest.fixture(scope="module")
def long_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("long") / "run"
    write_run(folder, events_wanted=2000)
    return folder


@pytest.fixture
def halved(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Let every journal be read by two processes; the list tells for each whether the second one was heard."""
    heard: list[bool] = []
    hear = journal_halves._heard

    def heard_by(*words: object) -> object:
        tables = hear(*words)  # type: ignore[arg-type]
        heard.append(tables is not None)
        return tables

    monkeypatch.setattr(journal_halves, "_WORTH_HALVING", 1)
    monkeypatch.setattr(journal_halves, "processors", lambda: 2)
    monkeypatch.setattr(journal_halves, "_heard", heard_by)
    return heard


def test_frames_are_the_same_whether_one_process_reads_the_journal_or_two(
    long_run: Path, halved: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    both = load(RunFolder(long_run))
    made = {name: both.frame(name) for name in SCHEMAS}
    assert halved == [True]
    monkeypatch.setattr(journal_halves, "processors", lambda: 1)
    for name, frame in load(RunFolder(long_run)).all():
        assert frame.equals(made[name]), name
    assert halved == [True]


@pytest.mark.parametrize("words", [("false",), ("echo", "not what was asked for"), ("no-such-program",)])
def test_a_process_that_fails_or_cannot_be_started_is_done_without(
    words: tuple[str, ...], long_run: Path, halved: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = RunFolder(long_run).journal
    monkeypatch.setattr(journal_halves, "command", lambda module: words)
    found = journal_halves.journal_tables(journal, Numbers({None: 0}))
    assert True not in halved
    for kind, table in tables_of(journal, Numbers({None: 0})).items():
        assert table.equals(found[kind]), kind


def test_a_broken_line_in_the_second_part_is_named_by_its_number_in_the_journal(
    long_run: Path, halved: list[bool], tmp_path: Path
) -> None:
    lines = RunFolder(long_run).journal.read_bytes().splitlines(keepends=True)
    at = len(lines) - 5
    lines[at] = b"}no json\n"
    broken = tmp_path / "journal.jsonl"
    broken.write_bytes(b"".join(lines))
    with pytest.raises(BadData, match=f"line {at + 1} is not JSON"):
        journal_halves.journal_tables(broken, Numbers({None: 0}))
    assert halved == [False]


@pytest.mark.usefixtures("halved")
@pytest.mark.parametrize("kept", [0, 1])
def test_a_journal_of_few_or_no_lines_is_read_to_its_last_whole_one(kept: int, long_run: Path, tmp_path: Path) -> None:
    lines = RunFolder(long_run).journal.read_bytes().splitlines(keepends=True)
    short = tmp_path / "journal.jsonl"
    short.write_bytes(b"".join(lines[:kept]) + lines[kept][:20])
    found = journal_halves.journal_tables(short, Numbers({None: 0}))
    assert sum(table.height for table in found.values()) == kept
