"""The dial's figures: one row a setting, what the published runs say, and which targets are missed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from qodebase.commands.bench.support.dial_setting import AGENTS, TASKS, Measured, Setting

PUBLISHED = {("classic", 0.0): 40.0, ("classic", 0.3): 145.0, ("classic", 0.6): 207.0, ("lanes", 0.6): 53.0}
PUBLISHED |= {("prefetch", 0.6): 44.5}
"""Minutes of the published run, by queue and share."""

FITTED = (("classic", 0.0), ("classic", 0.6))
_TOLERANCE = 0.1
_SHOWN = (
    *("queue", "rules", "share", "seed", "minutes", "published", "collided", "conflicted", "redone_by_merge"),
    *("redone_by_rule", "redone_by_model", "rule_refused", "sent_back", "lost_own", "lost_in_landing", "passing"),
    *("required", "test_runs", "wait_p50_s", "wait_p99_s"),
)


def figures(settings: Sequence[Setting], found: Sequence[Measured]) -> dict[str, Any]:
    """Return what the bench tells: a row a setting, what was fitted, where the hot functions lie, missed targets."""
    times = settings[0].times
    full_size = (settings[0].tasks, settings[0].agents) == (TASKS, AGENTS)
    return {
        "settings": [one.row for one in found],
        "fitted": {"fresh_s": times.fresh_s, "redo_s": times.redo_s, "spread": times.spread, "gate_s": times.gate_s},
        "fitted_at": [f"{queue} {share:g}" for queue, share in FITTED],
        "published_minutes": {
            f"{queue} {share:g}": minutes for (queue, share), minutes in PUBLISHED.items() if full_size
        },
        "hot_modules": sorted({module for one in found for module in one.hot_modules}),
        "hot_functions": max(one.hot_functions for one in found),
        "share_observed": [round(one.share_observed, 4) for one in found],
        "real_seconds": [round(one.real_seconds, 1) for one in found],
        "lost": [{**_where(one), **loss} for one in found for loss in one.lost],
        "failing": [{**_where(one), **failing} for one in found for failing in one.failing],
        "missed": [miss for setting, one in zip(settings, found, strict=True) for miss in _missed(setting, one)],
    }


def table(answer: dict[str, Any]) -> str:
    """Return the rows as a person reads them, and what was missed."""
    published = answer["published_minutes"]
    rows = [{**row, "published": published.get(f"{row['queue']} {row['share']:g}", "")} for row in answer["settings"]]
    texts = [[_cell(row[name]) for name in _SHOWN] for row in rows]
    names = [name.replace("_", " ") for name in _SHOWN]
    lines = [f"{name:18} " + " ".join(f"{row[number]:>11}" for row in texts) for number, name in enumerate(names)]
    lines.append("")
    lines.append(f"hot functions lie in {', '.join(answer['hot_modules'])}")
    lines += [f"lost, {_lost(loss)}" for loss in answer["lost"]]
    lines += [f"missed: {miss}" for miss in answer["missed"]]
    return "\n".join(lines)


def _lost(loss: dict[str, Any]) -> str:
    whose = loss["intent"] or "the base"
    return f"{loss['queue']} {loss['share']:g}: {loss['check']} of {whose}: {loss['cause']}, {loss['why']}"


def _where(one: Measured) -> dict[str, Any]:
    return {name: one.row[name] for name in ("queue", "rules", "share", "seed")}


def _cell(value: object) -> str:
    return f"{value:.1f}" if isinstance(value, float) else str(value)


def _missed(setting: Setting, one: Measured) -> list[str]:
    """Return the targets that a setting of the published size misses."""
    row = one.row
    found = [] if one.balanced else ["verify"]
    if row["lost_in_landing"] > 1 and setting.queue.contract:
        found.append(f"lost_in_landing {row['lost_in_landing']} > 1")
    if (setting.tasks, setting.agents, setting.attempts, setting.wrong, setting.model) == (TASKS, AGENTS, 2, 0.05, ""):
        found += _missed_at_full_size(setting, row)
    return [f"{setting}: {miss}" for miss in found]


def _missed_at_full_size(setting: Setting, row: dict[str, Any]) -> list[str]:
    found = []
    where = (setting.queue.name, setting.share)
    published = PUBLISHED.get(where)
    if where in FITTED and published and abs(row["minutes"] / published - 1) > _TOLERANCE:
        found.append(f"minutes {row['minutes']:.1f}, fitted to {published:g}")
    if published and where[0] != "classic" and setting.queue.rules == "off" and row["minutes"] > published:
        found.append(f"minutes {row['minutes']:.1f} > {published:g}")
    if row["passing"] < 0.97 * row["required"]:
        found.append(f"passing {row['passing']} < 97% of {row['required']}")
    if setting.share == 0.6 and setting.queue.rules == "on":
        if 2 * row["redone_by_rule"] < row["conflicted"]:
            found.append(f"redone_by_rule {row['redone_by_rule']} < half of conflicted {row['conflicted']}")
        if row["rule_refused"] > 0.02 * row["redone_by_rule"]:
            found.append(f"rule_refused {row['rule_refused']} > 2% of redone_by_rule {row['redone_by_rule']}")
    return found
