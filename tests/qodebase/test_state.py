from __future__ import annotations

from qodebase import events
from qodebase.collision import Collided, Kind
from qodebase.events import Event
from qodebase.intent import Ending, Intent
from qodebase.paths import CommitId, RepoPath
from qodebase.state import RunState

BASE, TIP, NEXT = (CommitId(digit * 40) for digit in "012")


def state_of(*happened: Event) -> RunState:
    intents = [
        Intent(id="a", asked="", scope=()),
        Intent(id="b", asked="", scope=()),
        Intent(id="done", asked="", scope=(), ending=Ending.SKIPPED, reason="documented"),
    ]
    return RunState(intents).apply_all(happened)


def admitted(attempt: int, at: float = 1.0) -> Event:
    return events.Admitted(intent="a", attempt=attempt, actor="agent-1", base=BASE, at=at)


def asked(call: int) -> events.Asked:
    return events.Asked(intent="a", call=call, purpose="fresh", model="m", prompt=f"prompt-{call}")


def answered(call: int, at: float = 2.0) -> Event:
    return events.Answered(intent="a", call=call, outcome="answer", model="m", at=at)


def test_the_ledger_sums_up_to_the_intents_with_those_that_ended_before_any_work() -> None:
    state = state_of()
    assert state.ledger() == {
        **dict.fromkeys(Ending, 0),
        Ending.PENDING: 2,
        Ending.SKIPPED: 1,
    }
    assert state.intents["done"].reason == "documented"


def test_an_intent_goes_from_admitted_to_landed() -> None:
    collided = Collided(path=RepoPath(b"x"), kind=Kind.CONTENT)
    state = state_of(
        events.RunStarted(seq=1, at=0.5, sitting=1, base=BASE, tip=BASE, workers=1, real_pid=1),
        admitted(1),
        asked(1),
        answered(1),
        events.ChangeMade(intent="a", base=BASE, change="digest", ref="1:0", paths=(RepoPath(b"x"),)),
        events.Queued(intent="a", lane="l", lanes=("l",), at=3.0),
        events.CollisionMet(intent="a", collided=collided),
        events.Landed(intent="a", lane="l", train="l#1", commit=TIP, parent=BASE, at=4.0, seq=9),
    )
    one = state.intents["a"]
    assert (one.ending, one.commit, one.landings, one.attempt, one.agent) == (Ending.LANDED, TIP, 1, 1, "agent-1")
    assert (one.change_ref, one.change_digest, one.paths) == ("1:0", "digest", (RepoPath(b"x"),))
    assert (one.admitted_at, one.answered_at, one.queued_at, one.ended_at) == (1.0, 2.0, 3.0, 4.0)
    assert one.collided == [collided]
    assert (state.tip, state.seq, state.last_at, state.sittings, state.calls) == (TIP, 9, 4.0, 1, 1)
    assert state.ledger()[Ending.LANDED] == 1


def test_a_new_attempt_forgets_the_change_of_the_one_before() -> None:
    state = state_of(
        admitted(1),
        events.ChangeMade(intent="a", base=BASE, change="d", ref="1:0", paths=()),
        events.CollisionMet(intent="a", collided=Collided(path=RepoPath(b"x"), kind=Kind.CONTENT)),
        events.Replayed(intent="a", base=TIP, replay=2, change="e", ref="1:9"),
    )
    one = state.intents["a"]
    assert (one.change_ref, one.change_digest, one.replay) == ("1:9", "e", 2)
    state.apply(admitted(2))
    assert (one.attempt, one.change_ref, one.replay, one.collided) == (2, "", 0, [])


def test_a_call_is_open_until_it_is_answered_or_cut_off() -> None:
    state = state_of(admitted(1), asked(1), asked(2), answered(2), asked(3))
    assert [call.call for call in state.intents["a"].open_calls] == [1, 3]
    state.apply(events.CutOff(intent="a", call=1, model="m"))
    assert [call.call for call in state.intents["a"].open_calls] == [3]
    assert state.calls == 3


def test_an_ending_can_be_followed_by_a_landing_that_git_knew_of() -> None:
    state = state_of(
        events.Ended(intent="a", ending=Ending.SENT_BACK, reason="red"),
        events.Landed(intent="a", commit=TIP, parent=BASE),
    )
    assert state.intents["a"].ending is Ending.LANDED
    assert sum(state.ledger().values()) == 3


def test_events_of_other_intents_and_of_later_versions_change_no_intent() -> None:
    state = state_of(
        events.Ended(seq=1, intent="gone", ending=Ending.REFUSED, reason=""),
        events.Unknown(seq=2, intent="a"),
        events.Judged(seq=3, tree="t", verdict="green", checks=0),
    )
    assert state.seq == 3
    assert state.ledger()[Ending.PENDING] == 2


def test_sittings_and_foreign_commits_are_counted() -> None:
    state = state_of(
        events.RunStarted(at=1.0, sitting=1, base=BASE, tip=BASE, workers=1, real_pid=1),
        events.Foreign(commits=(TIP,)),
        events.RunStopped(why="interrupted", tip=TIP),
    )
    assert (state.stopped, state.tip) == ("interrupted", TIP)
    state.apply(events.RunStarted(at=9.0, sitting=2, base=BASE, tip=TIP, workers=1, real_pid=1))
    state.apply(events.Foreign(commits=(NEXT,)))
    assert (state.sittings, state.stopped, state.started_at, state.foreign) == (2, "", 1.0, [TIP, NEXT])


def started(sitting: int) -> Event:
    return events.RunStarted(sitting=sitting, base=BASE, tip=TIP, workers=1, real_pid=1)


def refused() -> Event:
    return events.Ended(intent="a", ending=Ending.REFUSED, reason="no")


def test_orders_pause_drain_and_cancel_until_the_next_sitting_and_are_known_by_their_ids() -> None:
    state = state_of(events.Ordered(what="pause", order="1"))
    assert (state.paused, state.draining) == (True, False)
    state.apply(events.Ordered(what="drain"))
    state.apply(refused())
    state.apply(events.Ordered(what="cancel", order="2", intents=("a", "unknown", "done"), reason="enough"))
    assert {known.cancelled for known in state.intents.values()} == {""}
    state.apply(events.Ordered(what="cancel", order="3", everything=True, reason="all of it"))
    assert {name: known.cancelled for name, known in state.intents.items()} == {"a": "", "b": "all of it", "done": ""}
    state.apply(events.Ordered(what="resume", order="4"))
    assert (state.paused, state.draining) == (False, True)
    assert state.orders >= {"1", "2", "3", "4"}
    state.apply(started(2))
    assert (state.paused, state.draining) == (False, False)


def test_a_stall_is_over_with_the_first_call_or_intent_that_ends_or_the_next_sitting() -> None:
    for end in (answered(1), refused(), started(2)):
        state = state_of(events.Stalled(real_s=600.0, real_hangs=("a call",)), admitted(1))
        assert state.stalled == ("a call",)
        state.apply(end)
        assert state.stalled == ()


def test_what_was_sent_back_is_kept_for_the_next_attempt_and_its_change_is_not_handed_in_again() -> None:
    sent_back = events.SentBack(intent="a", attempt=1, reason="red")
    made = events.ChangeMade(intent="a", attempt=1, base=BASE, change="c", ref="1:0", paths=())
    known = state_of(admitted(1), made, sent_back, admitted(2)).intents["a"]
    assert (known.change_ref, known.attempt, known.sent_back) == ("", 2, sent_back)


def test_orders_to_a_lane_pause_or_drain_it_alone_until_it_goes_on_or_the_next_sitting() -> None:
    state = state_of(events.Ordered(what="pause", order="1", lane="north"))
    state.apply(events.Ordered(what="drain", order="2", lane="south"))
    assert (state.paused, state.draining) == (False, False)
    assert state.lanes == {"north": "paused", "south": "draining"}
    state.apply(events.Ordered(what="resume", order="3", lane="north"))
    assert state.lanes == {"south": "draining"}
    state.apply(started(2))
    assert state.lanes == {}


def test_checks_that_were_lost_or_never_in_force_stay_out_of_it() -> None:
    state = state_of(events.NeverInForce(checks=("base/a", "base/b")))
    state.apply(events.CheckLost(check="b", owner="b", by="c", commit=TIP, cause="green until then"))
    assert state.out_of_force == {"base/a", "base/b", "b"}
