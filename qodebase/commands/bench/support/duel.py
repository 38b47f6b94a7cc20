"""The trunk and one fast-import stream only, in turn and often: what a change of the trunk's speed is seen by."""

from __future__ import annotations

import shutil
from pathlib import Path
from statistics import median
from typing import Any

from qodebase.commands.bench.support import git_sides, trunk_side
from qodebase.commands.bench.support.workload import Kind, Workload, prepare


def measure(
    space: Path, *, files: int, changes: int, kind: Kind, batch: int, repeats: int, seed: int
) -> dict[str, Any]:
    """Return the medians of many rounds, and each round's ratio; the sides' commits are compared in the last round."""
    work = prepare(space / "work", files=files, changes=changes, kind=kind, seed=seed)
    stream = space / "stream"
    git_sides.write_stream(work, stream, batch=batch)
    walls: list[tuple[float, float]] = []
    processors: list[float] = []
    found: dict[str, bool] = {}
    for number in range(repeats):
        theirs, ours, found = _round(space, work, stream, batch, last=number == repeats - 1)
        walls.append((theirs.seconds, ours.seconds))
        processors.append(theirs.processor / ours.processor)
    ratios = [theirs / ours for theirs, ours in walls]
    wrong = [name for name in ("same_tree", "fsck") if not found[name]]
    return {
        "workload": str(kind),
        "files": files,
        "changes": changes,
        "batch": batch,
        "repeats": repeats,
        "landings_per_s": round(changes / median(ours for _, ours in walls), 1),
        "fast_import_per_s": round(changes / median(theirs for theirs, _ in walls), 1),
        "ratio_fast_import": round(median(ratios), 4),
        "ratios": [round(ratio, 4) for ratio in ratios],
        "processor_ratio_fast_import": round(median(processors), 4),
        **found,
        "targets": dict.fromkeys(("same_tree", "fsck"), "true"),
        "missed": wrong,
    }


def _round(
    space: Path, work: Workload, stream: Path, batch: int, *, last: bool
) -> tuple[git_sides.Spent, trunk_side.Measured, dict[str, bool]]:
    theirs, ours = work.copy(space / "theirs.git"), work.copy(space / "ours.git")
    spent = git_sides.time_fast_import(theirs, stream)
    measured = trunk_side.measure(ours, work.jobs, batch=batch)
    found = {"same_tree": measured.landed == work.changes}
    if last:
        found["same_tree"] &= git_sides.facts(ours) == git_sides.facts(theirs)
        found["fsck"] = git_sides.is_sound(ours)
    shutil.rmtree(theirs)
    shutil.rmtree(ours)
    return spent, measured, found
