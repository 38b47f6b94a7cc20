"""How often two tasks on one function meet: kind by kind, in git's merge and in the rules."""

from __future__ import annotations

import pytest
from pairs import Met, table, total

from fleet.jobs.tasks.world import generate

ALWAYS = ("caller", "clause", "function", "guard", "parameter", "tail")
"""Two of these on one function always touch the same lines."""


def test_pairs_meet_as_their_kinds_say() -> None:
    world = generate(tasks=130, share=1.0, hot_modules=4, hot_functions=4)
    found = table(world, most=1)
    assert {kind: found[kind, kind] for kind in ALWAYS} == {
        "caller": Met(pairs=1, conflicts=1, wrong=0, by_rule=1),
        "clause": Met(pairs=1, conflicts=1, wrong=0, by_rule=1),
        "function": Met(pairs=1, conflicts=1, wrong=0, by_rule=1),
        "guard": Met(pairs=1, conflicts=1, wrong=0, by_rule=0),
        "parameter": Met(pairs=1, conflicts=1, wrong=0, by_rule=1),
        "tail": Met(pairs=1, conflicts=1, wrong=0, by_rule=0),
    }
    assert found["caller", "rename"] == Met(pairs=1, conflicts=0, wrong=1, by_rule=0)
    assert [kinds for kinds, met in found.items() if met.wrong] == [("caller", "rename")]


@pytest.mark.full
def test_thousands_of_pairs_meet_as_their_kinds_say() -> None:
    worlds = [generate(seed=seed, tasks=400, share=1.0, hot_functions=24) for seed in range(4)]
    tables = [table(world, most=20) for world in worlds]
    for found in tables:
        for kind in ALWAYS:
            assert found[kind, kind].conflicts == found[kind, kind].pairs
        assert {kinds for kinds, met in found.items() if met.wrong} <= {("caller", "rename")}
    pairs, conflicts, wrong, by_rule = (sum(column) for column in zip(*map(total, tables), strict=True))
    assert pairs > 3000
    assert 0.05 < conflicts / pairs < 0.25
    assert wrong / pairs < 0.03
    assert by_rule / conflicts > 0.5
