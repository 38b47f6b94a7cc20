"""Runs of the document job, and what can be counted in them."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from qodebase.commands.support.reproductions._asked import Ask

if TYPE_CHECKING:
    from qodebase.events import Landed
    from qodebase.runs import RunFolder
    from results.findings import Audit
    from results.summary import Summary


class Documented(NamedTuple):
    """A run that has ended: its folder, its figures, and what the audit of it says."""

    folder: RunFolder
    summary: Summary
    audit: Audit
    landed: list[Landed]


def document(
    ask: Ask,
    repository: Path,
    out: Path,
    *,
    workers: int,
    settings: Mapping[str, Any],
    lanes: Mapping[str, Sequence[str]] | None = None,
) -> Documented:
    """Document a repository and audit the run."""
    from qodebase.clock import SystemClock
    from qodebase.commands.support.sitting import sit
    from qodebase.commands.support.starting import Order, freeze, prepared
    from qodebase.commands.support.surroundings import surroundings
    from qodebase.commands.verify import audit_of
    from qodebase.events import Landed
    from qodebase.journal import read_events
    from results.summary import Tally

    order = Order(
        job="document",
        settings=dict(settings),
        repository=repository,
        out=out,
        model=ask.model,
        workers=workers,
        seed=ask.seed,
        lanes=lanes or {},
        source="reproduce",
    )
    clock, around = SystemClock(), surroundings()
    with prepared(order, around, clock) as ready:
        folder = freeze(ready, clock)
    asyncio.run(sit(folder, around, clock, first=True))
    events = list(read_events(folder.journal))
    return Documented(
        folder=folder,
        summary=Tally(folder.intents()).apply_all(events).summary(),
        audit=audit_of(str(folder.root), full=True),
        landed=[event for event in events if isinstance(event, Landed)],
    )


def code_touched(audit: Audit) -> int:
    """Return how many landed changes the job's own proof finds fault with."""
    return sum(
        max(1, len(finding.intents)) for check in audit.checks if check.name == "promise" for finding in check.findings
    )


def cost_of(summary: Summary) -> dict[str, float]:
    """Return what the calls cost, where that is known of all."""
    return {} if summary.unknown_cost_calls else {"cost": summary.cost_usd}


def model_differs(model: str) -> str:
    """Return what is to be said of a model."""
    if model == "outline":
        return "model: outline, a program that describes files from their structure; no language model was asked"
    return f"model: {model}; the published one is not named"
