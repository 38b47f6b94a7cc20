from __future__ import annotations

import pytest

from qodebase.caps import NO_CAPS, BadCap, Caps, caps_of, seconds_of
from qodebase.codec import JSON, json_decoder


@pytest.mark.parametrize(
    ("text", "seconds"), [("90s", 90), ("30m", 1800), ("2h", 7200), ("1h30m", 5400), ("1.5d", 129_600), ("2 H", 7200)]
)
def test_durations_are_numbers_with_units(text: str, seconds: float) -> None:
    assert seconds_of(text, of="--time-cap") == seconds


@pytest.mark.parametrize("text", ["", "90", "m", "-5m", "5 minutes", "1h-30m", "nan"])
def test_what_is_no_duration_is_refused_with_how_to_write_one(text: str) -> None:
    with pytest.raises(BadCap) as error:
        seconds_of(text, of="--time-cap")
    assert "1h30m" in error.value.hint
    assert error.value.exit_code == 2


@pytest.mark.parametrize("given", [{"cost": -1.0}, {"cost": float("nan")}, {"cost": float("inf")}, {"tokens": -1}])
def test_a_cap_is_a_finite_amount_of_zero_or_more(given: dict[str, float]) -> None:
    with pytest.raises(BadCap):
        caps_of(**given)  # type: ignore[arg-type]


def test_newer_caps_take_the_place_of_those_that_they_name() -> None:
    caps = caps_of(cost=1.0, time="1m").changed(caps_of(cost=2.0, tokens=5))
    assert caps == Caps(cost_usd=2.0, tokens=5, seconds=60.0)
    assert caps.changed(NO_CAPS) == caps
    assert Caps(cost_usd=0.0)
    assert not caps_of()


def test_caps_survive_the_journal() -> None:
    caps = Caps(cost_usd=0.0, tokens=3)
    assert json_decoder(Caps).decode(JSON.encode(caps)) == caps
