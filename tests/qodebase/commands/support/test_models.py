from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from fleet.budget import UnknownPrice
from fleet.models.cached import WithCache
from fleet.models.registry import ModelTable, Price, model_tables, parse_spec
from qodebase.caps import Caps
from qodebase.clock import SystemClock
from qodebase.commands.support.models import BadPrice, channels_of, check_models, tariffs_of, with_prices
from qodebase.commands.support.surroundings import Surroundings
from qodebase.paths import CommitId
from qodebase.ports import Answer, Message, Prompt
from qodebase.runs import Settings

CLOCK = SystemClock()
PROMPT = Prompt(messages=(Message(role="user", text="why?"),), max_output_tokens=9)
SMALL = {"adapter": "openai", "model": "small", "api_base": "http://127.0.0.1:9/v1"}
LARGE = {**SMALL, "model": "large", "requests_per_minute": 60, "price": {"input": 1.0, "output": 2.0}}


def settings_of(**given: Any) -> Settings:
    return Settings(
        **{
            "run": "r",
            "job": "edit",
            "job_digest": "",
            "job_settings": {},
            "repository": "",
            "branch": "main",
            "base": CommitId("0" * 40),
            "model": "small",
            "models": {"small": SMALL, "large": LARGE},
            "workers": 5,
            "created": 0.0,
            "product": "0",
            **given,
        }
    )


def around(root: Path) -> Surroundings:
    return Surroundings(environ={}, cache_folder=root / "cache")


def test_a_price_goes_to_the_model_of_fresh_work_or_to_the_one_that_it_names() -> None:
    names = ["openai:small:free", "large"]
    tables = with_prices({"large": LARGE}, ["0.5:1", "large=3:4:0.1"], names)
    assert tables == {
        "openai:small:free": {
            "adapter": "openai",
            "model": "small:free",
            "price": {"input": 0.5, "output": 1.0},
        },
        "large": {**LARGE, "price": {"input": 3.0, "output": 4.0, "cached": 0.1}},
    }
    assert LARGE["price"] == {"input": 1.0, "output": 2.0}


def test_a_price_changes_neither_what_a_model_is_nor_where_its_answers_are_kept() -> None:
    for name in ("openai:small:free", "scripted:seed=3", "cached:openai:x"):
        tables = with_prices({}, ["1:2"], [name])
        (tariff,) = tariffs_of([name], tables, "test").values()
        assert tariff.price == Price(input=1.0, output=2.0)
        plain = parse_spec(name, {})
        priced = parse_spec(name, {name: _table(tables[name])})
        assert (priced.name, priced.adapter, priced.argument) == (plain.name, plain.adapter, plain.argument)
        assert priced.scope == plain.scope


def _table(raw: dict[str, Any]) -> ModelTable:
    return model_tables({"x": raw}, source="test")["x"]


@pytest.mark.parametrize("text", ["", "1", "1:", "a:b", "1:2:3:4", "-1:2", "1:nan", "1:inf", "other=1:2"])
def test_what_is_no_price_of_a_model_of_the_run_is_refused(text: str) -> None:
    with pytest.raises(BadPrice):
        with_prices({}, [text], ["small"])


def test_each_model_has_its_own_gate_price_limit_and_cache_and_one_of_one_name_is_made_once(tmp_path: Path) -> None:
    tables = {"small": {**SMALL, "params": {"max_tokens": 77}}, "large": LARGE}
    settings = settings_of(replay_model="large", escalate_model="large", models=tables)
    channels = channels_of(settings, around(tmp_path), CLOCK)
    assert channels.replay is channels.escalate
    assert [channel.model.name for channel in channels.all] == ["small", "large"]
    fresh, large = channels.all
    assert (fresh.price, large.price) == (None, Price(input=1.0, output=2.0))
    assert (fresh.output_limit, large.output_limit) == (77, None)
    assert fresh.throttle is not large.throttle
    assert isinstance(fresh.model, WithCache)
    assert isinstance(large.model, WithCache)
    assert fresh.model.cached.scope != large.model.cached.scope


@pytest.mark.parametrize(
    ("mode", "found", "kept"),
    [("use", True, True), ("readonly", True, False), ("refresh", False, True)],
)
def test_the_cache_of_every_model_is_used_as_the_run_says(mode: str, found: bool, kept: bool, tmp_path: Path) -> None:
    async def look() -> None:
        channels = channels_of(settings_of(cache=mode, replay_model="large"), around(tmp_path), CLOCK)
        for channel in channels.all:
            model = channel.model
            assert isinstance(model, WithCache)
            held = Answer(text=f"old {model.name}", model=model.name, cost_usd=0.5, output_tokens=3)
            await model.cached.put(PROMPT, held)
            answer = await model.lookup(PROMPT)
            assert (answer is not None) == found
            if answer is not None:
                assert (answer.text, answer.cost_usd, answer.source) == (f"old {model.name}", 0.0, "cache")
            await model.keep(PROMPT, Answer(text="new", model=model.name))
        for channel in channels.all:
            assert isinstance(channel.model, WithCache)
            answer = await channel.model.cached.get(PROMPT)
            assert answer is not None
            assert answer.text == ("new" if kept else f"old {channel.model.name}")
            await channel.model.close()

    asyncio.run(look())


def test_without_a_cache_nothing_is_looked_up_and_no_folder_is_made(tmp_path: Path) -> None:
    channels = channels_of(settings_of(cache="off", replay_model="large"), around(tmp_path), CLOCK)
    assert not any(isinstance(channel.model, WithCache) for channel in channels.all)
    assert not (tmp_path / "cache").exists()


def test_prices_that_adapters_know_of_themselves() -> None:
    names = ["outline", "scripted:seed=1", "cached:openai:gpt-x", "openai:gpt-x"]
    prices = {name: tariff.price for name, tariff in tariffs_of(names, {}, "test").items()}
    free = Price(input=0.0, output=0.0)
    assert prices == {**dict.fromkeys(names[:3], free), "openai:gpt-x": None}


def test_litellm_knows_the_prices_of_its_own_table_without_being_imported() -> None:
    program = (
        "import sys, json\n"
        "from qodebase.commands.support.models import tariffs_of\n"
        "names = ['litellm:openai/gpt-4o-mini', 'litellm:deepseek/deepseek-chat', 'litellm:nobody/nothing']\n"
        "found = {n: t.price and [t.price.input, t.price.output] for n, t in tariffs_of(names, {}, 'x').items()}\n"
        "print(json.dumps([found, 'litellm' in sys.modules]))\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    found, imported = json.loads(done.stdout)
    assert found["litellm:openai/gpt-4o-mini"] == pytest.approx([0.15, 0.6])
    assert all(found["litellm:deepseek/deepseek-chat"])
    assert found["litellm:nobody/nothing"] is None
    assert not imported


def test_a_cost_cap_asks_for_the_price_of_every_model_and_says_which_are_local(tmp_path: Path) -> None:
    tables = {"small": SMALL, "large": {**LARGE, "api_base": "https://models.invalid/v1"}}
    looked = (tables, around(tmp_path), CLOCK, "test")
    assert check_models(["small", "large"], *looked, Caps(tokens=1)) == {"small": True, "large": False}
    assert check_models(["large"], *looked, Caps(cost_usd=1.0)) == {"large": False}
    with pytest.raises(UnknownPrice, match="price of the model small"):
        check_models(["large", "small"], *looked, Caps(cost_usd=1.0))
