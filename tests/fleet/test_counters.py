"""The counters job: what is drawn, what an answer may do, and what its audit finds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pytest

from fleet.jobs.counters import COUNTERS, Counters, CountersSettings, NoCounters, amiss, base_files
from fleet.making import Made, make_change
from qodebase.change import Change
from qodebase.collision import Entry
from qodebase.edits import blob_id
from qodebase.intent import Ending, Intent
from qodebase.paths import CommitId, RepoPath
from qodebase.ports import Answer, Landing, Unusable

FIRST = RepoPath(b"sector_00/counter_01.py")
FUNCTIONS = RepoPath(b"sector_00/functions.py")


class Code:
    """A tree in memory."""

    commit = CommitId("1" * 40)

    def __init__(self, files: dict[RepoPath, bytes]) -> None:
        self.files = files

    def entry(self, path: RepoPath) -> Entry | None:
        return Entry(0o100644, blob_id(self.files[path])) if path in self.files else None

    def read(self, path: RepoPath) -> bytes:
        return self.files[path]

    def walk(self) -> Iterator[tuple[RepoPath, Entry]]:
        raise NotImplementedError

    def having(self, path: RepoPath, content: bytes) -> Code:
        return Code({**self.files, path: content})


BASE = Code(base_files(2))
JOB = Counters(CountersSettings(sectors=2))
INTENTS = list(JOB.intents())


def about(path: RepoPath) -> Intent:
    return next(intent for intent in INTENTS if intent.scope == (path,))


def test_the_published_proportion_is_drawn_for_each_sector_and_low_ranks_most_often() -> None:
    for sector in ("sector_00", "sector_01"):
        mine = Counter(i.scope[0].text.rpartition("/")[2] for i in INTENTS if i.id.startswith(sector))
        assert mine.total() == 300
        assert mine.pop("functions.py") == 64
        assert mine.total() == 236
        assert mine["counter_01.py"] == max(mine.values())
        assert 40 <= mine["counter_01.py"] <= 85
        assert len(mine) <= COUNTERS
    assert len({intent.id for intent in INTENTS}) == 600
    assert list(JOB.intents()) == INTENTS
    assert {name for intent in INTENTS for name in intent.checks} == set(JOB.checks())
    other = Counters(CountersSettings(draw=2))
    assert [intent.asked for intent in other.intents()] != [
        intent.asked for intent in INTENTS if "_00/" in intent.asked
    ]


def test_the_scripted_answer_follows_the_text_that_is_shown() -> None:
    raise_it, add_it = about(FIRST), about(FUNCTIONS)
    assert JOB.prompt(raise_it, BASE).facts["scripted"] == "VALUE = 1\n"
    assert JOB.prompt(raise_it, BASE.having(FIRST, b"VALUE = 41\n")).facts["scripted"] == "VALUE = 42\n"
    for intent in (raise_it, add_it):
        right = JOB.prompt(intent, BASE).facts["scripted"]
        assert isinstance(make_change(JOB, intent, Answer(text=right, model="m"), BASE, ()), Made)


@pytest.mark.parametrize(
    ("path", "answer", "ending"),
    [
        (FIRST, "I raised it.", Ending.NO_ANSWER),
        (FIRST, "VALUE = 2", Ending.REFUSED),
        (FIRST, "VALUE = 0", Ending.REFUSED),
        (FUNCTIONS, "def other() -> int:\n    return 1", Ending.REFUSED),
        (FUNCTIONS, "no code at all", Ending.REFUSED),
    ],
)
def test_a_wrong_answer_is_no_change(path: RepoPath, answer: str, ending: Ending) -> None:
    outcome = make_change(JOB, about(path), Answer(text=answer, model="m"), BASE, ())
    assert isinstance(outcome, Unusable)
    assert outcome.ending is ending


def test_the_audit_finds_a_raise_that_is_lost_doubled_or_brings_more() -> None:
    intent = about(FIRST)
    landing = Landing(
        intent=intent, change=Change(base=BASE.commit, operations=()), commit=BASE.commit, parent=BASE.commit
    )
    for content, fault in [
        (b"VALUE = 1\n", ""),
        (b"VALUE = 0\n", "raises the counter from 0 to 0"),
        (b"VALUE = 2\n", "raises the counter from 0 to 2"),
        (b"VALUE = 1\nx = 1\n", "leaves sector_00/counter_01.py broken: no counter: b'VALUE = 1\\nx = 1\\n'"),
    ]:
        assert JOB.audit().proof(landing, BASE, BASE.having(FIRST, content), full=True) == fault


def test_what_main_lacks_and_what_it_has_too_often_is_counted() -> None:
    raised = [intent for intent in INTENTS if intent.scope == (FIRST,)][:2]
    added = [intent for intent in INTENTS if intent.scope == (FUNCTIONS,)][:2]
    landed = [intent.id for intent in (*raised, *added)]
    functions = [JOB.prompt(intent, BASE).facts["scripted"].encode() for intent in added]
    right = {FIRST: b"VALUE = 2\n", FUNCTIONS: b"def first() -> int:\n    return -1\n\n\n" + b"\n\n".join(functions)}
    assert amiss(INTENTS, landed, right) == (0, 0)
    assert amiss(INTENTS, landed, {**right, FIRST: b"VALUE = 1\n"}) == (1, 0)
    assert amiss(INTENTS, landed, {**right, FIRST: b"VALUE = 4\n"}) == (0, 2)
    assert amiss(INTENTS, landed, {**right, FUNCTIONS: functions[0] * 2}) == (1, 1)


def test_code_without_the_counters_is_refused_with_what_makes_them() -> None:
    with pytest.raises(NoCounters) as caught:
        Counters(CountersSettings(sectors=3)).open(BASE)
    assert "sector_02/counter_01.py" in caught.value.message
    assert "qodebase bench counters" in caught.value.hint


def test_equal_raises_are_two() -> None:
    assert not JOB.idempotent(FIRST)
