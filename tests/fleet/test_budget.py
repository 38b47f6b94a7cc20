"""The caps hold whatever the calls of a fleet use, and what can be spent below them is spent."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Coroutine
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from fleet.budget import Budget, UnknownPrice, check_price
from fleet.calls import CallNumbers, Calls
from fleet.channels import Channel, Channels
from fleet.models.registry import Price
from fleet.spending import Spending
from fleet.throttle import Throttle
from qodebase import events
from qodebase.caps import Caps, Most
from qodebase.clock import VirtualClock
from qodebase.journal import Journal, read_events
from qodebase.paths import CommitId
from qodebase.ports import Answer, Failure, Message, NoAnswer, Prompt
from qodebase.segments import SegmentReader, SegmentWriter

PRICE = Price(input=2.0, output=10.0)
OUT = 100
COMMIT = CommitId("0" * 40)


class Dear:
    """Takes a while, fails sometimes, and uses any part of the most that a call may use."""

    name, deterministic, simulated, local = "dear", False, False, False

    def __init__(self, clock: VirtualClock, seed: int) -> None:
        self.clock = clock
        self.draw = random.Random(seed)
        self.paid: list[float] = []
        self.used: list[int] = []
        self.calls = 0

    async def answer(self, prompt: Prompt) -> Answer | NoAnswer:
        self.calls += 1
        await self.clock.sleep(self.draw.uniform(0.1, 5.0))
        share = self.draw.choice([0.0, 0.1, 0.5, 1.0, self.draw.random()])
        tokens_in = int(len(prompt.messages[0].text) * max(share, 0.2))
        tokens_out = int(OUT * share)
        fate = self.draw.random()
        if fate < 0.1:
            # It worked and was paid, and the reply was lost: nobody can say what it cost.
            self.pay(tokens_in, tokens_out)
            return NoAnswer(failure=Failure.TIMEOUT, why="late", model=self.name, retry=True, cost_usd=None)
        if fate < 0.2:
            return NoAnswer(failure=Failure.PROVIDER, why="no connection", model=self.name, retry=True)
        cost = self.pay(tokens_in, tokens_out)
        counted = {"input_tokens": tokens_in, "output_tokens": tokens_out, "cost_usd": cost}
        if fate < 0.3:
            return NoAnswer(failure=Failure.EMPTY, why="", model=self.name, retry=fate < 0.25, **counted)  # type: ignore[arg-type]
        return Answer(text="x", model=self.name, **counted)  # type: ignore[arg-type]

    def pay(self, tokens_in: int, tokens_out: int) -> float:
        cost = PRICE.cost(input_tokens=tokens_in, cached_tokens=0, output_tokens=tokens_out)
        self.paid.append(cost)
        self.used.append(tokens_in + tokens_out)
        return cost

    async def close(self) -> None:
        pass


class Fleet:
    """Agents that ask, hand in, and have every third change redone by the model."""

    def __init__(self, held: ExitStack, root: Path, caps: Caps, *, seed: int, a_minute: float | None = None) -> None:
        self.clock = VirtualClock()
        self.model = Dear(self.clock, seed)
        self.gate = Throttle(self.clock, requests_per_minute=a_minute)
        self.closed = 0
        self.spending = Spending()
        self.budget = Budget(caps, self.clock, self.spending, closed=self._close)
        self.journal = Journal(root / "j", run="r", clock=self.clock, listeners=(self.budget.apply,))
        store, kept = SegmentWriter(root / "attempts"), SegmentReader(root / "attempts")
        for one in (self.journal, store, kept):
            held.callback(one.close)
        self.calls = Calls(
            Channels(fresh=Channel(model=self.model, price=PRICE, throttle=self.gate)),
            self.clock,
            budget=self.budget,
            journal=self.journal,
            store=store,
            kept=kept,
            states=(),
            numbers=CallNumbers(0),
        )
        self.journal.write(events.RunStarted, actor="driver", sitting=1, base=COMMIT, tip=COMMIT, workers=1, real_pid=1)
        self.postponed: list[str] = []
        self.landed = 0

    def _close(self) -> None:
        self.closed += 1

    async def agent(self, number: int, intents: int) -> None:
        for at in range(intents):
            if self.closed:
                return
            await self.intent(f"{number}.{at}")

    async def intent(self, name: str) -> None:
        draw = random.Random(name)
        where: dict[str, Any] = {"actor": f"agent-{name}", "intent": name, "attempt": 1}
        if not await self.ask(name, "x" * draw.randint(50, 900), "fresh"):
            return
        self.journal.write(events.Queued, lanes=("main",), **where)
        await self.clock.sleep(draw.uniform(0, 4))
        if draw.random() < 0.3 and not await self.ask(name, "y" * draw.randint(500, 1500), "replay"):
            return
        self.landed += 1
        self.journal.write(events.Landed, commit=COMMIT, parent=COMMIT, **where)

    async def ask(self, name: str, text: str, purpose: str) -> bool:
        prompt = Prompt(messages=(Message(role="user", text=text),), max_output_tokens=OUT)
        called = await self.calls.ask(name, 1, f"agent-{name}", prompt, purpose=purpose)
        where: dict[str, Any] = {"actor": f"agent-{name}", "intent": name, "attempt": 1}
        if called.postponed:
            self.postponed.append(name)
            self.journal.write(events.Postponed, why=called.postponed, **where)
        elif isinstance(called.outcome, NoAnswer):
            self.journal.write(events.Ended, ending="no answer", reason="", **where)
        return isinstance(called.outcome, Answer)

    def work(self, agents: int, intents: int) -> None:
        async def all_of_them() -> None:
            async with asyncio.TaskGroup() as serving:
                beside = [
                    serving.create_task(self.gate.serve(), name="gate"),
                    serving.create_task(self.budget.end_in_time([self.gate]), name="time cap"),
                ]
                async with asyncio.TaskGroup() as tasks:
                    for number in range(agents):
                        tasks.create_task(self.agent(number, intents), name=f"agent {number}")
                for task in beside:
                    task.cancel()

        run(self.clock, all_of_them)


def run(clock: VirtualClock, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
    with asyncio.Runner(loop_factory=clock.new_event_loop) as runner:
        runner.run(work())


@settings(max_examples=8, deadline=None, derandomize=True, phases=[Phase.explicit, Phase.generate])
@given(
    seed=st.integers(0, 1000),
    caps=st.one_of(
        st.builds(Caps, cost_usd=st.floats(0, 0.8)),
        st.builds(Caps, tokens=st.integers(0, 200_000)),
        st.builds(Caps, cost_usd=st.floats(0, 0.8), tokens=st.integers(0, 200_000), seconds=st.floats(1, 100)),
    ),
)
def test_two_hundred_agents_never_spend_more_than_a_cap(seed: int, caps: Caps) -> None:
    cost, tokens = caps.cost_usd, caps.tokens
    with TemporaryDirectory() as root, ExitStack() as held:
        fleet = Fleet(held, Path(root), caps, seed=seed)
        fleet.work(200, 3)
        assert cost is None or sum(fleet.model.paid) <= cost
        assert tokens is None or sum(fleet.model.used) <= tokens
        assert fleet.spending.usd >= sum(fleet.model.paid) - 1e-9
        assert bool(fleet.budget.reached) == bool(fleet.postponed)
        folded = Spending().apply_all(read_events(Path(root) / "j"))
        assert (folded.spent, folded.landed) == (fleet.spending.spent, fleet.landed)


@pytest.mark.parametrize("seed", range(3))
def test_a_cap_is_used_up_to_less_than_one_call_and_the_replays_to_come(tmp_path: Path, seed: int) -> None:
    with ExitStack() as held:
        cap = 0.25
        fleet = Fleet(held, tmp_path, Caps(cost_usd=cap), seed=seed)
        fleet.work(200, 5)
        assert fleet.closed == 1
        assert fleet.budget.told().startswith("cost cap of $0.25: $0.2")
        largest = PRICE.most(1500 + 16, OUT)
        to_come = fleet.spending.replays_to_come(1).pico / 1e12
        assert cap - fleet.spending.usd < largest + to_come
        assert fleet.landed > 50


def test_a_fleet_without_caps_waits_for_nothing(tmp_path: Path) -> None:
    with ExitStack() as held:
        fleet = Fleet(held, tmp_path, Caps(), seed=1)
        fleet.work(20, 2)
        assert (fleet.closed, fleet.postponed, fleet.budget.reached) == (0, [], "")


def test_time_over_begins_nothing_and_what_is_under_way_goes_on(tmp_path: Path) -> None:
    with ExitStack() as held:
        fleet = Fleet(held, tmp_path, Caps(seconds=20.0), seed=3)
        fleet.work(10, 1000)
        asked = [event.at for event in read_events(tmp_path / "j") if isinstance(event, events.Asked)]
        assert 10 < max(asked) < 20
        assert fleet.landed
        assert fleet.budget.told().startswith("time cap of 20 s: 2")


def test_when_time_is_over_the_calls_that_wait_at_a_gate_are_turned_away_at_once(tmp_path: Path) -> None:
    with ExitStack() as held:
        fleet = Fleet(held, tmp_path, Caps(seconds=20.0), seed=3, a_minute=30)
        fleet.work(100, 5)
        assert len(fleet.postponed) > 80
        assert fleet.closed == 1
        heard = list(read_events(tmp_path / "j"))
        assert max(event.at for event in heard if isinstance(event, events.Asked)) < 20
        assert heard[-1].at < 30


class Desk:
    """A budget alone, with calls that end when the test says so."""

    def __init__(self, caps: Caps) -> None:
        self.clock = VirtualClock()
        self.closed = 0
        self.spending = Spending()
        self.budget = Budget(caps, self.clock, self.spending, closed=self._close)
        self.got: dict[str, str] = {}
        self.number = 0

    def _close(self) -> None:
        self.closed += 1

    async def want(self, name: str, tokens: int, *, fresh: bool) -> None:
        self.got[name] = await self.budget.reserve(Most(tokens, 0.0), fresh=fresh)

    def use(self, reserved: int, used: int, *, fresh: bool) -> None:
        self.number += 1
        purpose = "fresh" if fresh else "replay"
        asked = events.Asked(call=self.number, purpose=purpose, model="m", prompt="", most_tokens=reserved)
        answered = events.Answered(call=self.number, outcome="answer", model="m", output_tokens=used, cost_usd=0.0)
        self.budget.apply(asked)
        self.budget.apply(answered)
        self.budget.release(Most(reserved, 0.0), fresh=fresh)


def test_calls_of_intents_that_were_begun_go_first_and_a_replay_is_not_turned_away_for_those_to_come() -> None:
    desk = Desk(Caps(tokens=100))

    async def work() -> None:
        async with asyncio.TaskGroup() as tasks:
            for name, tokens, fresh in (("a", 80, True), ("b", 60, True), ("redo", 50, False)):
                tasks.create_task(desk.want(name, tokens, fresh=fresh))
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            assert desk.got == {"a": ""}
            desk.use(80, 30, fresh=True)
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            assert desk.got == {"a": "", "redo": ""}
            desk.use(50, 10, fresh=False)
        assert desk.got["b"] == ""

    run(desk.clock, work)


def test_fresh_work_leaves_room_for_the_replays_of_what_is_under_way() -> None:
    desk = Desk(Caps(tokens=1000))

    async def work() -> None:
        await desk.want("a", 100, fresh=True)
        await desk.want("redo a", 400, fresh=False)
        desk.use(100, 100, fresh=True)
        desk.use(400, 400, fresh=False)
        desk.budget.apply(events.Landed(intent="a", commit=COMMIT, parent=COMMIT))
        desk.budget.apply(events.Queued(intent="b", lanes=("main",)))
        # 500 are used, 400 a landed intent go to replays, and b is under way: no room to begin one more.
        async with asyncio.TaskGroup() as tasks:
            fresh = tasks.create_task(desk.want("c", 50, fresh=True))
            await desk.want("redo b", 400, fresh=False)
            desk.use(400, 30, fresh=False)
            await asyncio.sleep(0)
            assert not fresh.done()
            desk.budget.apply(events.Landed(intent="b", commit=COMMIT, parent=COMMIT))
        assert desk.got["c"] == ""

    run(desk.clock, work)


def test_one_call_that_is_larger_than_all_before_it_is_turned_away_alone() -> None:
    desk = Desk(Caps(tokens=100))

    async def work() -> None:
        await desk.want("huge", 5000, fresh=True)
        await desk.want("a", 40, fresh=True)
        assert desk.closed == 0
        desk.use(40, 40, fresh=True)
        await desk.want("b", 40, fresh=True)
        desk.use(40, 40, fresh=True)
        await desk.want("c", 40, fresh=True)

    run(desk.clock, work)
    assert desk.got == {"huge": "the token cap is reached", "a": "", "b": "", "c": "the token cap is reached"}
    assert desk.closed == 1


def test_a_call_that_is_cancelled_while_it_waits_or_as_it_is_let_through_holds_nothing() -> None:
    desk = Desk(Caps(tokens=100))

    async def work() -> None:
        await desk.want("a", 100, fresh=True)
        waiting = asyncio.create_task(desk.want("b", 100, fresh=True))
        through = asyncio.create_task(desk.want("c", 100, fresh=True))
        await asyncio.sleep(0)
        waiting.cancel()
        await asyncio.sleep(0)
        desk.use(100, 0, fresh=True)
        through.cancel()
        await asyncio.wait([waiting, through])
        await desk.want("d", 100, fresh=True)

    run(desk.clock, work)
    assert desk.got == {"a": "", "d": ""}


def test_a_cost_cap_needs_a_price() -> None:
    check_price("small", PRICE)
    with pytest.raises(UnknownPrice, match="needs the price of the model small") as error:
        check_price("small", None)
    assert "--price 'small=0.05:0.20'" in error.value.hint
    assert error.value.exit_code == 2
