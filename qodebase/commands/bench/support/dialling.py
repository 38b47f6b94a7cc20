"""The dial from Python."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from results.dial import Dial


def dial(
    *,
    tasks: int = 1385,
    model: str = "",
    share: float | Sequence[float] = (0.0, 0.3, 0.6),
    queue: str | Sequence[str] = ("classic", "single", "lanes", "prefetch"),
    seeds: int = 1,
    agents: int = 200,
    rules: str = "on",
    contract: bool = True,
    wrong: float = 0.05,
    wrong_redone: float | None = None,
    attempts: int = 2,
    hot_modules: int = 6,
    clock: str = "virtual",
    jobs: int = 2,
    out: str | Path = "runs/dial",
) -> Dial:
    """Measure a grid and return its frames; see ``qodebase bench dial`` for the arguments.

    Args:
        model: a model's name; empty: the scripted one.
        queue: names of queues, or TOML files.
        out: where results are kept; settings that it holds are not measured again.

    Raises:
        BadDial: a grid that cannot be measured.
        SettingFailed: a setting failed; those that are done are kept.
    """
    from qodebase.commands.bench.support import dial_figures, dial_grid
    from qodebase.commands.bench.support.dial_setting import Plain, grid_of
    from results.dial import dial_of

    settings = grid_of(
        Plain(
            tasks=tasks,
            agents=agents,
            attempts=attempts,
            hot_modules=hot_modules,
            wrong=wrong,
            wrong_redone=wrong if wrong_redone is None else wrong_redone,
            model=model,
            virtual=clock == "virtual",
        ),
        shares=[share] if isinstance(share, int | float) else list(share),
        queues=[queue] if isinstance(queue, str) else list(queue),
        rules=rules,
        contract=contract,
        seeds=seeds,
    )
    return dial_of(dial_figures.figures(settings, dial_grid.measure(settings, Path(out), jobs=jobs)))


async def adial(**options: object) -> Dial:
    """Measure a grid without blocking the caller's loop; see `dial`."""
    return await asyncio.to_thread(lambda: dial(**options))  # type: ignore[arg-type]
