"""A run's models and caps as people and scripts read them: who is asked, what is used, how to go on at a cap."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from qodebase.caps import CAP_NAMES, Caps
from qodebase.commands.support.layout import money

if TYPE_CHECKING:
    from fleet.spending import Spending
    from qodebase.runs import Settings

_FLAGS = {"cost": "--cost-cap USD", "token": "--token-cap N", "time": "--time-cap DURATION"}


def models_of(settings: Settings) -> str:
    """Return the run's models on one line."""
    others = {"replays": settings.replay_model, "escalation": settings.escalate_model}
    named = [f"{purpose}: {name}" for purpose, name in others.items() if name]
    return f"{settings.model} ({', '.join(named)})" if named else settings.model


def caps_data(caps: Caps, spending: Spending) -> dict[str, Any]:
    """Return caps, and what counts against them, as plain data."""
    return {
        "caps": {name: getattr(caps, name) for name in CAP_NAMES},
        "spent": {
            "usd": spending.usd,
            "tokens": spending.spent.tokens,
            "seconds": spending.seconds(),
            "guessed_calls": spending.guessed,
            "unpriced_calls": spending.unpriced,
        },
    }


def caps_line(caps: Caps, spending: Spending) -> str:
    """Return what is used of each cap on one line."""
    parts = []
    if caps.cost_usd is not None:
        parts.append(f"{money(spending.usd)} of {money(caps.cost_usd)}")
    if caps.tokens is not None:
        parts.append(f"{spending.spent.tokens:,} of {caps.tokens:,} tokens")
    if caps.seconds is not None:
        parts.append(f"{spending.seconds():,.0f} of {caps.seconds:,.0f} s")
    if spending.guessed:
        parts.append(f"{spending.guessed} calls nobody could count stand with the most that they could use")
    return ", ".join(parts)


def raised_cap(detail: str) -> str:
    """Return the flag that raises the cap that stopped a run, for a command to copy."""
    flag = _FLAGS.get(detail.partition(" ")[0], "")
    return f" {flag}" if flag else ""
