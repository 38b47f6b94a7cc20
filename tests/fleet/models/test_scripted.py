"""The scripted model: stated rates, from a seed."""

from __future__ import annotations

import asyncio
from collections import Counter
from statistics import median
from typing import Any

import pytest

from fleet.models.registry import BadModel, ModelTable, Price, parse_spec
from fleet.models.scripted import NoScript, Script, ScriptedModel, create
from qodebase.clock import SystemClock, VirtualClock
from qodebase.ports import Answer, Failure, NoAnswer, Prompt

RATES = "seed=7,wrong=0.05,error=0.1,empty=0.04,cut=0.03,refused=0.02"


def outcome(got: Answer | NoAnswer) -> str:
    if isinstance(got, NoAnswer):
        return got.failure.value
    return "right" if got.text.startswith("perfect") and len(got.text) < 20 else "wrong"


async def ask_all(model: ScriptedModel, prompts: list[Prompt]) -> list[Answer | NoAnswer]:
    return [await model.answer(one) for one in prompts]


def prompts_of(prompt: Any, count: int) -> list[Prompt]:
    return [prompt(f"question {number}", scripted=f"perfect {number}") for number in range(count)]


def test_without_rates_every_answer_is_the_jobs_own_text(prompt: Any) -> None:
    model = ScriptedModel("scripted", Script(), SystemClock())
    got = asyncio.run(model.answer(prompt(scripted="perfect")))
    assert isinstance(got, Answer)
    assert (got.text, got.cost_usd) == ("perfect", 0.0)
    assert (model.simulated, model.deterministic, model.local) == (True, True, True)


def test_endings_come_at_the_stated_rates(prompt: Any) -> None:
    model = ScriptedModel("s", Script.parse(RATES), SystemClock())
    counts = Counter(outcome(got) for got in asyncio.run(ask_all(model, prompts_of(prompt, 4000))))
    expected = {"wrong": 200, "provider error": 400, "empty": 160, "cut off": 120, "refused": 80, "right": 3040}
    assert set(counts) == set(expected)
    for name, count in expected.items():
        assert abs(counts[name] - count) < 5 * count**0.5


def test_what_happens_to_a_prompt_depends_on_the_seed_and_not_on_the_order(prompt: Any) -> None:
    prompts = prompts_of(prompt, 300)
    script = Script.parse(RATES)
    forward = asyncio.run(ask_all(ScriptedModel("s", script, SystemClock()), prompts))
    backward = asyncio.run(ask_all(ScriptedModel("s", script, SystemClock()), prompts[::-1]))
    assert forward == backward[::-1]
    other = asyncio.run(ask_all(ScriptedModel("s", Script.parse(RATES.replace("7", "8")), SystemClock()), prompts))
    assert other != forward


def test_a_prompt_that_met_a_provider_error_is_drawn_anew(prompt: Any) -> None:
    model = ScriptedModel("s", Script(error=0.5), SystemClock())
    tries: Counter[str] = Counter()
    for one in prompts_of(prompt, 50):
        while isinstance(got := asyncio.run(model.answer(one)), NoAnswer):
            assert got.retry
            tries[one.digest] += 1
            assert tries[one.digest] < 20
    assert tries.total() > 20


def test_latency_is_log_normal_around_its_median_on_the_clock(prompt: Any) -> None:
    clock = VirtualClock()
    model = ScriptedModel("s", Script(latency=0.2), clock)

    async def main() -> list[float]:
        seconds = []
        for one in prompts_of(prompt, 400):
            started = clock.now()
            await model.answer(one)
            seconds.append(clock.now() - started)
        return seconds

    with asyncio.Runner(loop_factory=clock.new_event_loop) as runner:
        seconds = runner.run(main())
    assert median(seconds) == pytest.approx(0.2, rel=0.1)
    assert min(seconds) > 0.02
    assert max(seconds) < 2


def test_a_price_makes_calls_cost_and_a_cut_answer_costs_its_whole_limit(prompt: Any) -> None:
    price = Price(input=1, output=10)
    cut = ScriptedModel("s", Script(cut=1.0), SystemClock(), price)
    got = asyncio.run(cut.answer(prompt(limit=500, scripted="perfect")))
    assert isinstance(got, NoAnswer)
    assert (got.failure, got.output_tokens) == (Failure.CUT_OFF, 500)
    assert got.cost_usd == pytest.approx((got.input_tokens + 5000) / 1e6)


def test_a_job_without_answers_is_told_what_to_do(prompt: Any) -> None:
    with pytest.raises(NoScript, match="scripted"):
        asyncio.run(ScriptedModel("s", Script(), SystemClock()).answer(prompt()))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("wrng=0.1", "wrng"),
        ("wrong=lots", "number"),
        ("wrong=1.5", "0 to 1"),
        ("wrong=0.6,empty=0.6", "1 at most"),
        ("wrong=nan", "0 to 1"),
        ("latency=-1", "0 or more"),
        ("latency=inf", "0 or more"),
        ("seed=1.5", "number"),
    ],
)
def test_a_bad_script_names_what_is_wrong(text: str, said: str, context: Any) -> None:
    with pytest.raises(BadModel) as caught:
        create(parse_spec(f"scripted:{text}", {}), context())
    assert said in str(caught.value)


def test_a_table_scripts_through_params(context: Any) -> None:
    tables = {"bad": ModelTable(adapter="scripted", params={"seed": 3, "wrong": 0.5})}
    assert create(parse_spec("bad", tables), context()).script == Script(seed=3, wrong=0.5)
    assert create(parse_spec("scripted:seed=3, wrong=0.5", {}), context()).script == Script(seed=3, wrong=0.5)
