from __future__ import annotations

from fleet.stall import Look, Stall, hanging
from qodebase.events import Answered, Asked
from qodebase.intent import Intent
from qodebase.state import IntentState


def looks(stall: Stall, *, seconds: int, since: float = 0.0, progress: int = 0, at_work: bool = True) -> list[Look]:
    """Look once a second and return what was not fine."""
    found = [stall.look(progress, now=since + second, at_work=at_work) for second in range(seconds + 1)]
    return [look for look in found if look is not Look.FINE]


def test_a_run_that_does_not_move_is_stalled_once_and_stuck_after_twice_the_time() -> None:
    stall = Stall(10.0)
    assert looks(stall, seconds=9) == []
    assert looks(stall, seconds=9, since=10) == [Look.STALLED]
    assert looks(stall, seconds=0, since=20) == [Look.STUCK]


def test_any_progress_begins_the_count_again_and_a_second_stall_is_told_again() -> None:
    stall = Stall(10.0)
    assert looks(stall, seconds=15) == [Look.STALLED]
    assert looks(stall, seconds=9, since=16, progress=1) == []
    assert looks(stall, seconds=5, since=26, progress=1) == [Look.STALLED]


def test_a_run_in_which_nobody_is_at_work_waits_as_long_as_it_likes() -> None:
    assert looks(Stall(10.0), seconds=100, at_work=False) == []
    stall = Stall(10.0)
    looks(stall, seconds=9)
    assert looks(stall, seconds=1, since=10, at_work=False) == []
    assert looks(stall, seconds=8, since=12) == []


def test_a_process_that_was_stopped_itself_has_not_waited_all_that_time() -> None:
    stall = Stall(10.0)
    looks(stall, seconds=5)
    assert stall.look(0, now=5_000.0, at_work=True) is not Look.STUCK
    assert stall.still_s <= 10.0


def test_no_time_means_never() -> None:
    assert looks(Stall(0.0), seconds=1_000) == []


def test_what_hangs_is_named_the_oldest_calls_first() -> None:
    states = []
    for number in range(8):
        state = IntentState(intent=Intent(id=f"i{number}", asked="", scope=()))
        purpose = "replay" if number == 3 else "fresh"
        asked = Asked(intent=f"i{number}", at=100.0 - number, call=number, purpose=purpose, model="m", prompt="p")
        state.asked[number] = asked
        states.append(state)
    states[7].answered[7] = Answered(intent="i7", call=7, outcome="answer", model="m")
    told = hanging(states, ["i2", "i1"], waiting={"src": 3, "docs": 0}, at_gate=4, paused_s=12.0, now=160.0)
    assert told[0] == "the call for i6 by m has no end for 66 s (call 6)"
    assert told[3] == "a replay of i3 by m has no end for 63 s (call 3)"
    assert told[5:] == (
        "2 more calls have no end",
        "4 calls wait at the gate of the model, which keeps still for 12 s more",
        "3 changes wait in the lane src",
        "2 intents are with agents: i1, i2",
    )
