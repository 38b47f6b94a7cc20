"""Choose a seeded sample that is spread over kinds of work."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

from qodebase.intent import Intent


def sample(intents: Sequence[Intent], size: int, *, seed: int, stratum: Callable[[Intent], str]) -> list[Intent]:
    """Return ``size`` intents, taken in turn from the strata, in frozen order.

    Strata are visited in an order drawn from the seed and each is shuffled by it, so every language and lane is
    looked at before any is looked at twice.
    """
    draw = random.Random(seed)
    strata: dict[str, list[Intent]] = {}
    for intent in intents:
        strata.setdefault(stratum(intent), []).append(intent)
    order = sorted(strata)
    draw.shuffle(order)
    for name in order:
        draw.shuffle(strata[name])
    chosen: set[str] = set()
    while len(chosen) < min(size, len(intents)):
        for name in order:
            if strata[name] and len(chosen) < size:
                chosen.add(strata[name].pop().id)
    return [intent for intent in intents if intent.id in chosen]
