"""``ten-thousand-workers``: every file different, every answer cached, no model asked."""

from __future__ import annotations

from qodebase.commands.support.reproductions._asked import Ask, Taken


def take(ask: Ask) -> Taken:
    """Do the work once."""
    from qodebase.commands.bench.support.throughput_figures import measure
    from qodebase.commands.bench.throughput import SYNTHETIC

    published = ask.published
    found = measure(
        ask.space, files=ask.sized(published.intents, least=20), workers=ask.sized(published.agents), seed=ask.seed
    )
    return Taken(
        figures={
            "files": found["files"],
            "landed": found["landed"],
            "seconds": found["seconds"],
            "busiest_second": found["landed_per_s_busiest"],
            "busy_agents": found["busy_agents_peak"],
            "errors": found["errors"],
        },
        differs=(
            SYNTHETIC,
            "agents start all at once, for no provider is asked; the published run started them in ramps",
        ),
        verified=found["audit_clean"],
    )
