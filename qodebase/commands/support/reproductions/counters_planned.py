"""``counters-planned``: the counters work twice, without claims and with intents that wait for what others claim."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from qodebase.commands.support.reproductions._asked import Ask, Taken
from qodebase.commands.support.reproductions._counting import DIFFERS

if TYPE_CHECKING:
    from qodebase.events import Event

_SLOWEST = 0.1


def take(ask: Ask) -> Taken:
    """Do the work once each way, on the same counters."""
    from qodebase.commands.bench.support.counters_run import measure
    from qodebase.journal import read_events
    from qodebase.runs import RunFolder

    figures: dict[str, float] = {}
    verified = True
    for claims, behind in ((False, "_before"), (True, "")):
        space = ask.space / ("claims" if claims else "free")
        found: dict[str, Any] = measure(
            space,
            agents=ask.sized(ask.published.agents),
            intents=ask.sized(ask.published.intents, least=10),
            sectors=1,
            seed=ask.seed,
            claims=claims,
        )
        journal = list(read_events(RunFolder(space / "run").journal))
        of_run = {"seconds": found["seconds"], **told(journal)}
        figures |= {f"{name}{behind}": float(value) for name, value in of_run.items()}
        verified = verified and found["verified"] and found["landed"] == found["intents"]
    return Taken(
        figures=figures,
        differs=(
            *DIFFERS[:2],
            "without planning: no claims at all; what collides is redone, by the model on the newest text",
            "with planning: an intent that claims what another works on is not begun before that one has landed",
            "a claim is held from when an agent takes an intent to its landing; waiting is that of whoever was passed "
            "over, and of changes in their lane; a flight is a model call; the slowest tenth begins at what is told",
        ),
        verified=verified,
    )


def told(events: Sequence[Event]) -> dict[str, float]:
    """Return the figures of one run; every intent landed."""
    from qodebase.events import Admitted, Asked, Held, Landed, Queued

    first: dict[type[Event], dict[str | None, float]] = {kind: {} for kind in (Held, Admitted, Queued, Landed)}
    for event in events:
        if type(event) in first:
            first[type(event)].setdefault(event.intent, event.at)
    flights = sorted(at - first[Admitted][intent] for intent, at in first[Landed].items())
    passed_over = (first[Admitted][intent] - at for intent, at in first[Held].items())
    queued = (at - first[Queued][intent] for intent, at in first[Landed].items())
    return {
        "claim_held": sum(flights),
        "waiting": sum(passed_over) + sum(queued),
        "flights": sum(isinstance(event, Asked) for event in events),
        "slowest_tenth": flights[-max(1, round(_SLOWEST * len(flights)))] if flights else 0.0,
    }
