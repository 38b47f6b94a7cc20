"""``collision-dials``: coding tasks aimed ever more at the same functions, on one queue and in lanes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from qodebase.commands.support.reproductions._asked import Ask, Taken

MODEL = ""
"""Empty: the scripted editor."""
GOES_ON = True
"""Its settings are kept one by one, so a stopped reproduction, kept with ``--keep``, goes on with the others."""

_SETTINGS = (("classic", 0.0), ("classic", 0.3), ("classic", 0.6), ("lanes", 0.6), ("prefetch", 0.6))


def wrong_shares(row: Mapping[str, Any], judged: Mapping[str, int]) -> dict[str, float]:
    """Return the wrong of all judged answers, fresh and redone; both count later attempts and what did not land."""
    whole = {which: judged.get(f"judged_{which}", 0) for which in ("fresh", "redone")}
    return {f"wrong_{which}_share": row[f"wrong_{which}"] / count for which, count in whole.items() if count}


def take(ask: Ask) -> Taken:
    """Measure the five published settings once."""
    from qodebase.commands.bench.dial import SIMULATED
    from qodebase.commands.bench.support.dial_grid import measure
    from qodebase.commands.bench.support.dial_policy import policy_of
    from qodebase.commands.bench.support.dial_setting import Plain, setting

    tasks = ask.sized(ask.published.intents, least=20)
    plain = Plain(tasks=tasks, agents=ask.sized(ask.published.agents), model=ask.model)
    settings = [
        setting(plain, share=share, queue=policy_of(name).with_rules("off"), seed=ask.seed) for name, share in _SETTINGS
    ]
    measured = measure(settings, ask.space, jobs=2, say=ask.say)
    zero, thirty, sixty, lanes, prefetch = rows = [one.row for one in measured]
    figures = {
        "minutes_one_queue_0": zero["minutes"],
        "minutes_one_queue_30": thirty["minutes"],
        "minutes_one_queue_60": sixty["minutes"],
        "minutes_lanes_60": lanes["minutes"],
        "minutes_prefetch_60": prefetch["minutes"],
        "redone_by_model_most": max(row["redone_by_model"] for row in rows),
        "lost_in_landing_most": max(row["lost_in_landing"] for row in rows),
        "lost_in_landing_60": sum(row["lost_in_landing"] for row in (sixty, lanes, prefetch)),
        "passing_lanes_60": lanes["passing"],
        "passing_one_queue_60": sixty["passing"],
    }
    figures |= {
        f"lost_checks_one_queue_{share}": row["lost_own"] + row["lost_in_landing"]
        for share, row in ((0, zero), (30, thirty), (60, sixty))
    }
    return Taken(
        figures=figures | wrong_shares(sixty, measured[2].judged),
        unknown={"wrong_redone_share": "no change was redone by a model", "wrong_fresh_share": "no answer was judged"},
        differs=(
            SIMULATED,
            "the times of model and gate are fitted to the published minutes of one queue at 0% and 60%, so these two "
            "tell nothing; the others follow",
            "rules are off, as changes were redone by a model; here checks of what landed stay in force at the gate",
        ),
        verified=all(one.balanced for one in measured),
        simulated=plain.virtual,
    )
