from __future__ import annotations

import os
import resource
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest

from qodebase import events
from qodebase.clock import VirtualClock
from qodebase.codec import BadData
from qodebase.events import AnyEvent, Event, Unknown
from qodebase.intent import Ending
from qodebase.journal import Journal, JournalFailed, read_events
from qodebase.paths import CommitId, RepoPath

BASE = CommitId("0" * 40)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "journal.jsonl"


@contextmanager
def opened(path: Path, *, listeners: tuple[Callable[[Event], None], ...] = ()) -> Iterator[Journal]:
    journal = Journal(path, run="run-1", clock=VirtualClock(5.0), listeners=listeners)
    try:
        yield journal
    finally:
        journal.close()


def end(journal: Journal, intent: str, reason: str = "no reason") -> events.Ended:
    return journal.write(
        events.Ended, actor="agent-1", intent=intent, attempt=1, ending=Ending.NO_ANSWER, reason=reason
    )


@contextmanager
def disk_of(limit: int) -> Iterator[None]:
    """Let the system refuse to make any file larger than so many bytes; a write over it is cut short."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_events_come_back_as_they_were_written(path: Path) -> None:
    with opened(path) as journal:
        written: list[Event] = [
            end(journal, "one"),
            journal.write(events.Foreign, actor="trunk", commits=(BASE,)),
            journal.write(
                events.ChangeMade,
                actor="agent-1",
                intent="two",
                attempt=2,
                base=BASE,
                change="c",
                ref="1:0",
                paths=(RepoPath(b"\xff\n"),),
            ),
        ]
    assert list(read_events(path)) == written
    assert [(event.seq, event.at, event.run, event.simulated) for event in written] == [
        (1, 5.0, "run-1", True),
        (2, 5.0, "run-1", True),
        (3, 5.0, "run-1", True),
    ]


def test_every_known_kind_comes_back_from_its_line() -> None:
    kinds = AnyEvent.__args__
    assert len({kind.__struct_config__.tag for kind in kinds}) == len(kinds)
    known = {kind for kind in vars(events).values() if isinstance(kind, type) and issubclass(kind, Event)}
    assert known - {Event, Unknown} == set(kinds)


def test_readers_begin_after_a_seq(path: Path) -> None:
    with opened(path) as journal:
        for name in "abc":
            end(journal, name)
        assert [event.intent for event in read_events(path, since=1)] == ["b", "c"]
        assert list(read_events(path, since=3)) == []


def test_an_event_can_be_read_as_soon_as_it_is_written(path: Path) -> None:
    with opened(path) as journal:
        for name in "abc":
            end(journal, name)
            assert [event.intent for event in read_events(path)][-1] == name


@pytest.mark.parametrize("torn", [b"{", b'{"kind":"ended","seq":3', b"\x00" * 5000, b"x" * 200_000])
def test_a_torn_last_line_is_not_seen_and_cut_off_when_the_journal_is_opened_again(path: Path, torn: bytes) -> None:
    with opened(path) as journal:
        end(journal, "a")
        end(journal, "b")
    whole = path.read_bytes()
    path.write_bytes(whole + torn)
    assert [event.intent for event in read_events(path)] == ["a", "b"]
    with opened(path) as journal:
        assert path.read_bytes() == whole
        assert end(journal, "c").seq == 3
    assert [event.seq for event in read_events(path)] == [1, 2, 3]


@pytest.mark.parametrize("from_byte", [0, 7])
def test_from_a_hole_on_that_a_power_cut_left_nothing_is_seen_and_all_is_cut_off(path: Path, from_byte: int) -> None:
    with opened(path) as journal:
        for name in "abcd":
            end(journal, name)
    first, second, *behind = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(first + second[:from_byte] + b"\0" * (len(second) - from_byte) + b"".join(behind))
    assert [event.intent for event in read_events(path)] == ["a"]
    with opened(path) as journal:
        assert path.read_bytes() == first
        assert end(journal, "e").seq == 2
    assert [event.intent for event in read_events(path)] == ["a", "e"]


def test_zeros_before_durable_events_are_a_loss_that_is_named(path: Path) -> None:
    with opened(path) as journal:
        end(journal, "a")
        end(journal, "b")
        journal.write(events.RunStopped, actor="driver", why="ended", tip=BASE)
    first, second, last = path.read_bytes().splitlines(keepends=True)
    whole = first + b"\0" * (len(second) - 1) + b"\n" + last
    path.write_bytes(whole)
    with pytest.raises(BadData, match=r"line 2 is not JSON"):
        list(read_events(path))
    with pytest.raises(BadData, match="the disk has lost a part"):
        Journal(path, run="run-1", clock=VirtualClock())
    assert path.read_bytes() == whole


def test_a_torn_line_that_cannot_be_taken_back_is_the_last(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise OSError("the disk is gone")

    with opened(path) as journal:
        end(journal, "a")
        monkeypatch.setattr(os, "write", lambda descriptor, line: len(line) - 1)
        monkeypatch.setattr(os, "ftruncate", broken)
        with pytest.raises(JournalFailed, match="bytes were written"):
            end(journal, "b")
        monkeypatch.undo()
        with pytest.raises(JournalFailed, match="the disk is gone"):
            end(journal, "c")
        monkeypatch.setattr(journal, "sync", lambda: None)
    assert [event.intent for event in read_events(path)] == ["a"]


def test_a_line_torn_at_any_byte_loses_only_itself(path: Path) -> None:
    with opened(path) as journal:
        end(journal, "a")
        first = path.stat().st_size
        end(journal, "b", "größer " * 5)
    whole = path.read_bytes()
    for size in range(first, len(whole)):
        path.write_bytes(whole[:size])
        with opened(path) as journal:
            assert (journal.seq, path.stat().st_size) == (1, first)


def test_a_journal_of_one_torn_line_is_empty_again(path: Path) -> None:
    path.write_bytes(b'{"kind":"run sta')
    with opened(path) as journal:
        assert path.read_bytes() == b""
        assert end(journal, "a").seq == 1


def test_the_numbers_go_on_after_lines_longer_than_what_is_read_at_once(path: Path) -> None:
    with opened(path) as journal:
        end(journal, "a")
        end(journal, "b", "x" * 200_000)
    with opened(path) as journal:
        assert end(journal, "c", "y" * 70_000).seq == 3
    with opened(path) as journal:
        assert journal.seq == 3


def test_a_disk_that_fills_in_the_middle_of_a_line_leaves_whole_lines_only(path: Path) -> None:
    with opened(path) as journal:
        end(journal, "a")
        whole = path.read_bytes()
        with disk_of(len(whole) + 20), pytest.raises(JournalFailed, match=r"20 of .* bytes were written") as caught:
            end(journal, "b")
        assert "resume" in caught.value.hint
        assert caught.value.exit_code == 3
        assert path.read_bytes() == whole
        with disk_of(len(whole)), pytest.raises(JournalFailed, match="File too large"):
            end(journal, "b")
        assert path.read_bytes() == whole
        assert end(journal, "c").seq == 2
    assert [(event.seq, event.intent) for event in read_events(path)] == [(1, "a"), (2, "c")]


def test_a_full_device_is_an_error_with_a_hint() -> None:
    journal = Journal(Path("/dev/full"), run="run-1", clock=VirtualClock())
    with pytest.raises(JournalFailed, match="No space left") as caught:
        end(journal, "a")
    assert "Make room" in caught.value.hint
    assert journal.seq == 0
    with pytest.raises(JournalFailed):
        journal.close()


def test_an_event_that_the_disk_did_not_take_is_not_in_the_journal_twice(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(descriptor: int) -> None:
        raise OSError(5, "Input/output error")

    with opened(path) as journal:
        end(journal, "a")
        with monkeypatch.context() as patch:
            patch.setattr(os, "fsync", refuse)
            with pytest.raises(JournalFailed, match="Input/output"):
                journal.write(events.RunStopped, actor="driver", why="ended", tip=BASE)
            with pytest.raises(JournalFailed, match="Input/output"):
                journal.sync()
        journal.write(events.RunStopped, actor="driver", why="failed", tip=BASE)
    assert [event.seq for event in read_events(path)] == [1, 2]


def test_listeners_hear_what_is_in_the_journal_and_nothing_that_failed(path: Path) -> None:
    heard: list[tuple[str | None, int]] = []
    with opened(path, listeners=(lambda event: heard.append((event.intent, path.read_bytes().count(b"\n"))),)) as one:
        end(one, "a")
        with disk_of(path.stat().st_size), pytest.raises(JournalFailed):
            end(one, "b")
        end(one, "c")
    assert heard == [("a", 1), ("c", 2)]


def test_a_kind_of_a_later_version_is_read_as_unknown(path: Path) -> None:
    with opened(path) as journal:
        end(journal, "a")
    line = {"kind": "reviewed", "v": 9, "seq": 2, "at": 7.5, "run": "run-1", "actor": "r", "intent": "a", "by": [1]}
    with path.open("ab") as out:
        out.write(msgspec.json.encode(line) + b"\n")
    with opened(path) as journal:
        assert end(journal, "b").seq == 3
    first, second, third = read_events(path)
    assert second == Unknown(v=9, seq=2, at=7.5, run="run-1", actor="r", intent="a")
    assert (first.intent, third.intent) == ("a", "b")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (b"nonsense", "journal.jsonl line 2 is not JSON"),
        (b"", "journal.jsonl line 2 is not JSON"),
        (b"[]", "journal.jsonl line 2: Expected `object`"),
        (b"5", "journal.jsonl line 2: Expected `object`"),
        (b'{"seq":2}', "journal.jsonl line 2: .*kind"),
        (b'{"kind":"ended","seq":2,"ending":"lost","reason":""}', r"line 2: .*\$\.ending"),
        (b'{"kind":"ended","seq":"two","ending":"refused","reason":""}', r"line 2: .*\$\.seq"),
        (b'{"kind":"foreign","seq":2}', "line 2: .*commits"),
        (b'{"kind":"of tomorrow","seq":"two"}', r"line 2: .*\$\.seq"),
        (b'{"kind":"collision","seq":2,"collided":{"path":"a","kind":"of tomorrow"}}', r"line 2: .*collided\.kind"),
        (b'{"kind":"collision","seq":2,"collided":{"path":7,"kind":"content"}}', r"line 2: .*collided\.path"),
    ],
)
def test_a_broken_line_in_the_middle_names_file_line_and_field(path: Path, line: bytes, said: str) -> None:
    with opened(path) as journal:
        end(journal, "a")
    whole = path.read_bytes()
    path.write_bytes(whole + line + b"\n" + whole)
    found = read_events(path)
    assert next(found).intent == "a"
    with pytest.raises(BadData, match=said):
        next(found)


@pytest.mark.parametrize("line", [b"{}", b"[1]"])
def test_a_journal_whose_last_line_is_no_event_is_not_written_to(path: Path, line: bytes) -> None:
    path.write_bytes(line + b"\n")
    with pytest.raises(BadData, match=r"journal\.jsonl, last line"):
        Journal(path, run="run-1", clock=VirtualClock())
    assert path.read_bytes() == line + b"\n"


def test_a_reader_never_sees_half_a_line_while_a_writer_writes(path: Path) -> None:
    counts: list[int] = []
    done = threading.Event()

    def read() -> None:
        while not done.is_set():
            counts.append(sum(1 for _ in read_events(path)))

    with opened(path) as journal:
        end(journal, "a")
        reader = threading.Thread(target=read)
        reader.start()
        for number in range(300):
            end(journal, f"intent-{number}", "x" * (number * 37 % 5000))
        done.set()
        reader.join()
    assert counts == sorted(counts)
    assert sum(1 for _ in read_events(path)) == 301


class Turn:
    """What is to be done at the end of a turn of some loop."""

    def __init__(self) -> None:
        self.todo: list[Callable[[], None]] = []

    def __call__(self, what: Callable[[], None]) -> None:
        self.todo.append(what)

    def end(self) -> None:
        """Do it."""
        todo, self.todo = self.todo, []
        for what in todo:
            what()


@contextmanager
def gathering(path: Path, turn: Turn, **fields: Any) -> Iterator[Journal]:
    journal = Journal(path, run="run-1", clock=VirtualClock(5.0), later=turn, **fields)
    try:
        yield journal
    finally:
        journal.close()


def intents_in(path: Path) -> list[str | None]:
    return [event.intent for event in read_events(path)]


def test_a_journal_that_gathers_writes_the_events_of_a_turn_together(path: Path) -> None:
    turn = Turn()
    heard: list[str | None] = []
    with gathering(path, turn, listeners=(lambda event: heard.append(event.intent),)) as journal:
        assert [end(journal, name).seq for name in "ab"] == [1, 2]
        assert (intents_in(path), heard, len(turn.todo)) == ([], ["a", "b"], 1)
        turn.end()
        assert intents_in(path) == ["a", "b"]
        end(journal, "c")
        journal.flush()
        assert intents_in(path) == ["a", "b", "c"]
        turn.end()
        end(journal, "d")
    assert intents_in(path) == ["a", "b", "c", "d"]
    assert [event.seq for event in read_events(path)] == [1, 2, 3, 4]


def test_a_durable_event_comes_behind_all_that_was_gathered_before_it(path: Path) -> None:
    with gathering(path, Turn()) as journal:
        end(journal, "a")
        journal.write(events.RunStopped, actor="driver", why="ended", tip=BASE)
        assert [type(event) for event in read_events(path)] == [events.Ended, events.RunStopped]
        end(journal, "b")
        journal.sync()
        assert [event.seq for event in read_events(path)] == [1, 2, 3]


def test_what_events_refer_to_is_written_before_them(path: Path) -> None:
    seen: list[list[str | None]] = []
    turn = Turn()
    with gathering(path, turn, first=lambda: seen.append(intents_in(path))) as journal:
        end(journal, "a")
        turn.end()
        end(journal, "b")
        turn.end()
        turn.end()
    assert seen == [[], ["a"]]


def test_events_that_were_gathered_and_not_written_end_the_journal(path: Path) -> None:
    turn = Turn()
    journal = Journal(path, run="run-1", clock=VirtualClock(5.0), later=turn)
    end(journal, "a")
    turn.end()
    whole = path.read_bytes()
    end(journal, "b")
    with disk_of(len(whole) + 20):
        turn.end()
    assert path.read_bytes() == whole
    for _ in range(2):
        with pytest.raises(JournalFailed, match="bytes were written"):
            end(journal, "c")
    with pytest.raises(JournalFailed, match="bytes were written"):
        journal.write(events.RunStopped, actor="driver", why="failed", tip=BASE)
    with pytest.raises(JournalFailed, match="bytes were written"):
        journal.close()
    assert path.read_bytes() == whole


def test_an_error_that_nobody_expected_also_ends_a_journal_whose_gathered_events_it_cost(path: Path) -> None:
    def broken() -> None:
        raise ZeroDivisionError("a bug")

    journal = Journal(path, run="run-1", clock=VirtualClock(5.0), later=Turn(), first=broken)
    end(journal, "a")
    with pytest.raises(ZeroDivisionError):
        journal.flush()
    with pytest.raises(JournalFailed, match="a bug"):
        end(journal, "b")
    with pytest.raises(JournalFailed):
        journal.close()
    assert path.read_bytes() == b""


def test_threads_may_sync_while_events_are_gathered(path: Path) -> None:
    with gathering(path, Turn()) as journal:
        over = threading.Event()

        def sync() -> None:
            while not over.is_set():
                journal.flush()

        threads = [threading.Thread(target=sync) for _ in range(2)]
        for thread in threads:
            thread.start()
        for number in range(2000):
            end(journal, str(number))
        over.set()
        for thread in threads:
            thread.join()
    assert intents_in(path) == [str(number) for number in range(2000)]
