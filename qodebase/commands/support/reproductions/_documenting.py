"""Runs of the document job, and what can be counted in them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from qodebase.commands.support.reproductions._asked import Ask
from qodebase.commands.support.reproductions._running import Ran, run

if TYPE_CHECKING:
    from results.findings import Audit
    from results.summary import Summary


def document(
    ask: Ask,
    repository: Path,
    out: Path,
    *,
    workers: int,
    settings: Mapping[str, Any],
    lanes: Mapping[str, Sequence[str]] | None = None,
) -> Ran:
    """Document a repository and audit the run."""
    from qodebase.commands.support.starting import Order

    return run(
        Order(
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
