from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet.sampling import sample
from qodebase.intent import Intent

COUNTS = {"python": 40, "javascript": 7, "typescript": 2, "rust": 1}
INTENTS = [
    Intent(id=f"{group}-{number}", asked="", scope=(), group=group)
    for group, count in COUNTS.items()
    for number in range(count)
]


def ids(size: int, seed: int = 7, intents: list[Intent] = INTENTS) -> list[str]:
    return [intent.id for intent in sample(intents, size, seed=seed, stratum=lambda intent: intent.group)]


def test_every_stratum_is_looked_at_before_any_is_looked_at_twice() -> None:
    for size in range(len(INTENTS) + 1):
        counts = Counter(name.split("-")[0] for name in ids(size))
        for group, most in COUNTS.items():
            fair = max(counts.values(), default=0)
            assert counts[group] in (fair, fair - 1) or counts[group] == most
        assert counts.total() == size


def test_the_same_seed_chooses_the_same_and_another_one_others() -> None:
    assert ids(20) == ids(20)
    assert len({tuple(ids(20, seed)) for seed in range(10)}) == 10


def test_the_choice_does_not_depend_on_the_order_in_which_strata_first_appear() -> None:
    turned = [intent for group in reversed(COUNTS) for intent in INTENTS if intent.group == group]
    assert set(ids(20)) == set(ids(20, intents=turned))


def test_a_larger_sample_of_one_seed_holds_the_smaller_one() -> None:
    assert set(ids(5)) < set(ids(6)) < set(ids(30))


def test_chosen_intents_stay_in_their_frozen_order() -> None:
    order = [intent.id for intent in INTENTS]
    found = ids(20)
    assert found == sorted(found, key=order.index)


@pytest.mark.parametrize("size", [0, -1])
def test_a_sample_of_nothing_is_empty(size: int) -> None:
    assert ids(size) == []


def test_a_sample_larger_than_what_there_is_is_everything() -> None:
    assert ids(999) == [intent.id for intent in INTENTS]
    assert ids(5, intents=[]) == []


@given(st.lists(st.sampled_from("abc"), max_size=30), st.integers(0, 40), st.integers())
def test_a_sample_has_its_size_and_no_intent_twice(groups: list[str], size: int, seed: int) -> None:
    intents = [Intent(id=str(n), asked="", scope=(), group=group) for n, group in enumerate(groups)]
    found = ids(size, seed, intents)
    assert len(found) == len(set(found)) == min(size, len(intents))
