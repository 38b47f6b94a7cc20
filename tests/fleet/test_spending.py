from __future__ import annotations

import pytest

from fleet.spending import Amount, Spending
from qodebase import events
from qodebase.events import Event
from qodebase.intent import Ending
from qodebase.paths import CommitId

COMMIT = CommitId("0" * 40)


def asked(call: int, *, purpose: str = "fresh", tokens: int = 100, usd: float | None = 0.5) -> Event:
    return events.Asked(call=call, purpose=purpose, model="m", prompt="p", most_tokens=tokens, most_usd=usd)


def answered(call: int, *, tokens: int = 30, usd: float | None = 0.25) -> Event:
    return events.Answered(call=call, outcome="x", model="m", input_tokens=tokens - 10, output_tokens=10, cost_usd=usd)


def started(at: float) -> Event:
    return events.RunStarted(at=at, actor="driver", sitting=1, base=COMMIT, tip=COMMIT, workers=1, real_pid=1)


def landed(intent: str) -> Event:
    return events.Landed(intent=intent, commit=COMMIT, parent=COMMIT)


def test_failed_calls_retries_and_replays_count_as_every_other() -> None:
    spending = Spending().apply_all(
        [asked(1), answered(1), asked(2), answered(2), asked(3, purpose="replay"), answered(3, tokens=40, usd=1.0)]
    )
    assert spending.spent == Amount(100, 1_500_000_000_000)
    assert spending.replays == Amount(40, 1_000_000_000_000)
    assert (spending.usd, spending.guessed, spending.unpriced) == (1.5, 0, 0)


def test_a_call_that_nobody_could_count_is_taken_for_the_most_that_it_could_use() -> None:
    lost = events.Answered(call=1, outcome="timeout", model="m", cost_usd=None)
    cut = events.CutOff(call=2, model="m")
    spending = Spending().apply_all([asked(1), lost, asked(2), cut])
    assert spending.spent == Amount(200, 1_000_000_000_000)
    assert (spending.guessed, spending.unpriced) == (2, 0)


def test_money_of_an_unknown_price_is_in_no_sum_and_its_tokens_are() -> None:
    spending = Spending().apply_all([asked(1, usd=None), answered(1, usd=None)])
    assert (spending.spent, spending.unpriced) == (Amount(30, 0), 1)


def test_money_is_added_up_without_the_errors_of_binary_fractions() -> None:
    spending = Spending()
    for call in range(1, 11):
        spending.apply_all([asked(call), answered(call, usd=0.1)])
    assert spending.usd == 1.0


def test_a_cached_answer_uses_nothing() -> None:
    free = events.Answered(call=1, outcome="answer", source="cache", model="m", cost_usd=0.0)
    spending = Spending().apply_all([asked(1, tokens=0, usd=0.0), free])
    assert spending.spent == Amount()


def test_replays_to_come_follow_from_what_the_landed_intents_needed() -> None:
    spending = Spending()
    assert spending.replays_to_come(10) == Amount()
    spending.apply_all([asked(1, purpose="replay"), answered(1)])
    assert spending.replays_to_come(10) == Amount()
    spending.apply_all([landed("a"), landed("b")])
    assert spending.replays_to_come(4) == Amount(60, 500_000_000_000)
    assert spending.replays_to_come(1) == Amount(15, 125_000_000_000)


def test_a_change_is_in_a_lane_until_its_intent_lands_ends_or_is_postponed() -> None:
    spending = Spending()
    for intent in "abcd":
        spending.apply(events.Queued(intent=intent, lanes=("main",)))
    spending.apply_all([landed("a"), events.Ended(intent="b", ending=Ending.SENT_BACK, reason="")])
    spending.apply(events.Postponed(intent="c", why=""))
    assert spending.in_lanes == {"d"}
    spending.apply(started(1.0))
    assert spending.in_lanes == set()


def test_time_counts_while_a_process_works_and_not_between_two() -> None:
    spending = Spending().apply_all([started(100.0), events.Admitted(at=110.0, actor="agent-1", base=COMMIT)])
    assert spending.seconds() == 10
    assert spending.seconds(now=112.0) == 12
    cut = events.CutOff(at=1000.0, actor="driver", call=1, model="m")
    spending.apply_all([cut, started(1000.0)])
    assert spending.seconds() == 10
    spending.apply(events.RunStopped(at=1003.0, actor="driver", why="capped", tip=COMMIT))
    spending.apply(started(2000.0))
    assert spending.seconds(now=2001.0) == pytest.approx(14)
