"""How the cost and the memory of landing grow with the repository, the changes being the same in number and kind."""

from __future__ import annotations

import shutil
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Any

from qodebase.commands.bench.support import trunk_side
from qodebase.commands.bench.support.workload import Kind, prepare

SIZES = (4_064, 40_640, 406_400)
CHANGES = 4000
GROWTH = 1.5
_SHORT = 0.15
"""Files are made shorter than usual, so that the largest repository fits: a landing reads one file only."""
_ROUNDS = 5


def measure(space: Path, *, changes: int, batch: int, seed: int, sizes: tuple[int, ...] = SIZES) -> dict[str, Any]:
    """Return the cost of a landing for each size, how it grows for each factor of 10, and the memory of a file."""
    works = [
        prepare(space / str(files), files=files, changes=changes, kind=Kind.SPREAD, seed=seed, scale=_SHORT)
        for files in sizes
    ]
    costs: dict[int, list[float]] = {files: [] for files in sizes}
    memory: dict[int, int] = {}
    for _ in range(_ROUNDS):
        for work in works:
            copy = work.copy(space / "copy.git")
            found = trunk_side.measure(copy, work.jobs, batch=batch)
            costs[work.files].append(1e6 * found.processor / changes)
            memory[work.files] = max(memory.get(work.files, 0), found.peak_rss - found.idle_rss)
            shutil.rmtree(copy)
    cost = {files: round(median(costs[files]), 1) for files in sizes}
    growth = [round(cost[after] / cost[before], 3) for before, after in pairwise(sizes)]
    smallest, largest = sizes[0], sizes[-1]
    return {
        "changes": changes,
        "batch": batch,
        "processor_us_a_landing": {str(files): value for files, value in cost.items()},
        "growth_for_each_factor_of_10": growth,
        "memory_mib": {str(files): round(value / (1 << 20), 1) for files, value in memory.items()},
        "memory_bytes_a_file": round((memory[largest] - memory[smallest]) / (largest - smallest)),
        "targets": {"growth_for_each_factor_of_10": f"<= {GROWTH}"},
        "missed": ["growth_for_each_factor_of_10"] if max(growth) > GROWTH else [],
    }
