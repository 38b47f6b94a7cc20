"""The model that hands back the change that is there."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from fleet.channels import Channel, Channels
from fleet.models.given import GivenModel, create
from fleet.models.outline import OutlineModel
from fleet.models.registry import BadModel, ModelContext, create_model, parse_spec
from qodebase.clock import SystemClock
from qodebase.ports import Answer, Message, NoAnswer, Prompt


def prompt(**facts: str) -> Prompt:
    return Prompt(messages=(Message(role="user", text="Land it"),), max_output_tokens=10, facts=facts)


def test_it_names_the_change_of_the_prompt_and_has_nothing_else_to_say() -> None:
    model = GivenModel()
    assert asyncio.run(model.answer(prompt(given="given 1..2"))) == Answer(
        text="given 1..2", model="given", cost_usd=0.0
    )
    none = asyncio.run(model.answer(prompt()))
    assert isinstance(none, NoAnswer)
    assert "--replay-model" in none.why


def test_nobody_asks_it_to_redo_a_change() -> None:
    given, outline = Channel(model=GivenModel()), Channel(model=OutlineModel())
    assert not Channels(fresh=given).redoes
    assert Channels(fresh=given, replay=outline).redoes
    assert Channels(fresh=given, escalate=outline).redoes
    assert Channels(fresh=outline).redoes


def test_it_is_found_by_its_name_and_takes_no_argument(tmp_path: Path) -> None:
    context = ModelContext(environ={}, cache_folder=tmp_path, clock=SystemClock())
    assert create_model(parse_spec("given", {}), context).name == "given"
    with pytest.raises(BadModel, match="takes no argument"):
        create(parse_spec("given:this", {}), context)
