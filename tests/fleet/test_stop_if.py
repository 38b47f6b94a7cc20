from __future__ import annotations

import pytest

from fleet.stop_if import BadCondition, StopIf, parse_condition
from qodebase import events
from qodebase.intent import Ending
from qodebase.paths import CommitId

COMMIT = CommitId("0" * 40)
LANDED = events.Landed(commit=COMMIT, parent=COMMIT)
NO_ANSWER = events.Ended(ending=Ending.NO_ANSWER, reason="")
REFUSED = events.Ended(ending=Ending.REFUSED, reason="")
STARTED = events.RunStarted(sitting=2, base=COMMIT, tip=COMMIT, workers=1, real_pid=1)


class Stopped:
    """Counts how often it was told to stop."""

    def __init__(self, *conditions: str) -> None:
        self.times = 0
        self.stop_if = StopIf(conditions, stop=self._stop)

    def _stop(self) -> None:
        self.times += 1

    def hear(self, *heard: events.Event) -> int:
        for event in heard:
            self.stop_if.apply(event)
        return self.times


def test_a_condition_looks_at_the_last_intents_that_ended_once_there_are_so_many() -> None:
    stopped = Stopped("no_answer>50%/4")
    assert stopped.hear(NO_ANSWER, NO_ANSWER, NO_ANSWER) == 0
    assert stopped.hear(LANDED) == 1
    assert stopped.stop_if.told == "no_answer>50%/4: 3 of the last 4 intents ended so"
    assert stopped.hear(NO_ANSWER, NO_ANSWER) == 1


def test_exactly_so_much_is_not_more_and_old_endings_leave_the_window() -> None:
    stopped = Stopped("no answer > 50 % / 4")
    assert stopped.hear(NO_ANSWER, NO_ANSWER, LANDED, LANDED, LANDED, NO_ANSWER, REFUSED) == 0
    assert stopped.hear(NO_ANSWER, NO_ANSWER) == 1


def test_fewer_landings_than_wanted_stop_too_and_each_of_several_conditions_counts() -> None:
    stopped = Stopped("refused>90%/2", "landed<50%/3")
    assert stopped.hear(REFUSED, LANDED, LANDED) == 0
    assert stopped.hear(REFUSED, REFUSED) == 1
    assert stopped.stop_if.told == "refused>90%/2: 2 of the last 2 intents ended so"
    other = Stopped("refused>90%/2", "landed<50%/3")
    assert other.hear(LANDED, REFUSED, NO_ANSWER) == 1
    assert other.stop_if.told.startswith("landed<50%/3: 1 of the last 3")


def test_what_an_earlier_sitting_left_open_does_not_count() -> None:
    stopped = Stopped("no_answer>0%/2")
    assert stopped.hear(NO_ANSWER, STARTED, NO_ANSWER) == 0
    assert stopped.hear(LANDED) == 1


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("no_answer", "no stop condition"),
        ("no_answer>20", "no stop condition"),
        ("no_answer>20%", "no stop condition"),
        ("no_answer=20%/5", "no stop condition"),
        ("lost>20%/5", "no intent ends as 'lost'"),
        ("pending>20%/5", "no intent ends as 'pending'"),
        ("landed>100%/5", "never come true"),
        ("landed<0%/5", "never come true"),
        ("landed>20%/0", "never come true"),
    ],
)
def test_what_is_no_condition_is_refused_with_how_to_write_one(text: str, said: str) -> None:
    with pytest.raises(BadCondition, match=said) as error:
        parse_condition(text)
    assert "no_answer>20%/200" in error.value.hint
    assert "sent_back" in error.value.hint
