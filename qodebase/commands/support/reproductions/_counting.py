"""Runs of the counters job, and what can be counted in them."""

from __future__ import annotations

from collections import Counter
from typing import Any

from qodebase.commands.support.reproductions._asked import Ask, Taken

DIFFERS = (
    "model: scripted, it thinks for 50 ms of real time and answers right for the text that it is shown",
    "code: made up by program, 24 counters and one file of functions in a sector; the published code is not at hand",
    "claims are off: an intent whose counter moved is redone by the model on the newest text",
)
NO_CLAIMS = {"holds": "claims are off, so nothing is held back before work: see counters-planned"}


def count(ask: Ask, *, sectors: int = 1, kill: bool = False, differs: tuple[str, ...] = ()) -> Taken:
    """Take a run of the published size times the scale; figures have the names that the published runs use."""
    from qodebase.commands.bench.support.counters_run import measure
    from qodebase.events import Landed, RunStarted, TrainBuilt
    from qodebase.journal import read_events
    from qodebase.runs import RunFolder

    published = ask.published
    found: dict[str, Any] = measure(
        ask.space,
        agents=ask.sized(published.agents // sectors),
        intents=ask.sized(published.intents // sectors, least=30 if kill else 10),
        sectors=sectors,
        seed=ask.seed,
        kill=kill,
    )
    events = list(read_events(RunFolder(ask.space / "run").journal))
    began = next(event.at for event in events if isinstance(event, RunStarted))
    in_second = Counter(int(event.at - began) for event in events if isinstance(event, Landed))
    named = {
        "landed": found["landed"],
        "seconds": found["seconds"],
        "lost": found["lost"],
        "doubled": found["doubled"],
        "merged_alone": found["merged_by_git"] + found["merged_by_rule"],
        "test_runs": found["test_runs"],
        "largest_train": max((len(event.members) for event in events if isinstance(event, TrainBuilt)), default=0),
        "landed_per_second": found["landed"] / found["seconds"] if found["seconds"] else 0.0,
        "busiest_second": max(in_second.values(), default=0),
    }
    wanted = {figure.name for figure in published.figures}
    return Taken(
        figures={name: float(value) for name, value in named.items() if name in wanted},
        unknown=NO_CLAIMS,
        differs=(*DIFFERS, *differs),
        verified=found["verified"],
    )
