from __future__ import annotations

import pytest

from fleet.channels import Channel, Channels
from fleet.models.registry import Price
from qodebase.caps import Most
from qodebase.ports import Answer, Message, NoAnswer, Prompt

PROMPT = Prompt(
    messages=(Message(role="system", text="be brief"), Message(role="user", text="größe?")), max_output_tokens=50
)
BYTES = 8 + 8 + 2 * 16


class Named:
    """A model that is only looked at."""

    def __init__(self, name: str, *, deterministic: bool = False, simulated: bool = False) -> None:
        self.name = name
        self.deterministic, self.simulated, self.local = deterministic, simulated, True

    async def answer(self, prompt: Prompt) -> Answer | NoAnswer:
        raise AssertionError

    async def close(self) -> None:
        pass


def test_the_most_of_a_call_is_a_token_a_byte_and_all_of_its_output() -> None:
    price = Price(input=1.0, output=10.0, cached=2.0)
    assert Channel(model=Named("a")).most(PROMPT) == Most(BYTES + 50, None)
    most = Channel(model=Named("a"), price=price, output_limit=200).most(PROMPT)
    assert most.tokens == BYTES + 200
    assert most.usd == pytest.approx((BYTES * 2.0 + 200 * 10.0) / 1e6)


def test_a_program_uses_nothing_and_one_that_plays_a_model_uses_what_that_would() -> None:
    assert Channel(model=Named("outline", deterministic=True)).most(PROMPT) == Most(0, 0.0)
    assert Channel(model=Named("scripted", deterministic=True, simulated=True)).most(PROMPT).tokens == BYTES + 50


def test_a_purpose_without_a_model_of_its_own_takes_that_of_fresh_work() -> None:
    fresh, redo, large = (Channel(model=Named(name)) for name in ("fresh", "redo", "large"))
    alone = Channels(fresh=fresh)
    for purpose, attempt, failed in (("fresh", 1, False), ("fresh", 3, False), ("replay", 1, True)):
        assert alone.choose(purpose, attempt=attempt, failed=failed) is fresh
    assert Channels(fresh=fresh, replay=redo).choose("replay", attempt=2, failed=True) is redo
    assert Channels(fresh=fresh, replay=redo).choose("fresh", attempt=2) is fresh
    assert Channels(fresh=fresh, escalate=large).choose("replay", attempt=1) is fresh
    assert Channels(fresh=fresh, escalate=large).choose("replay", attempt=1, failed=True) is large


def test_each_channel_is_counted_once_and_found_by_the_name_of_its_model() -> None:
    here, away = Channel(model=Named("here")), Channel(model=Named("away"))
    both = Channels(fresh=here, replay=away, escalate=away)
    assert both.all == (here, away)
    assert both.named("away") is away
    assert both.named("another") is here
