"""The trunk and plain git on the same changes, in turn, and what the targets say."""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from qodebase.commands.bench.support import git_sides, trunk_side
from qodebase.commands.bench.support.workload import Kind, Workload, prepare

PLUMBING = 200
_MIB = 1 << 20
AT_LEAST = {"ratio_fast_import": 2.0, "ratio_one_batch": 2.7, "ratio_with_compaction": 1.1, "ratio_plumbing": 100.0}
AT_MOST = {"compacted_to_fast_import": 1.1}


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """One run of every side; seconds and bytes."""

    trunk: trunk_side.Measured
    fast_import: git_sides.Spent
    plumbing: float
    one_batch: trunk_side.Measured
    one_batch_fast_import: git_sides.Spent
    pack: int
    compacted: int
    fast_import_pack: int
    same_tree: bool
    fsck: bool


def measure(
    space: Path, *, files: int, changes: int, kind: Kind, batch: int, repeats: int, seed: int
) -> dict[str, Any]:
    """Return the figures of some rounds as medians; a ratio is the median of the ratios within each round."""
    work = prepare(space / "work", files=files, changes=changes, kind=kind, seed=seed)
    stream, whole = space / "stream", space / "stream-one-batch"
    git_sides.write_stream(work, stream, batch=batch)
    git_sides.write_stream(work, whole, batch=changes)
    rounds = [_round(space / f"round-{number}", work, stream, whole, batch) for number in range(repeats)]
    return figures(rounds, files=files, changes=changes, kind=kind, batch=batch)


def _round(space: Path, work: Workload, stream: Path, whole: Path, batch: int) -> Round:
    space.mkdir()
    theirs, ours = work.copy(space / "theirs.git"), work.copy(space / "ours.git")
    before = git_sides.pack_bytes(work.base)
    fast_import = git_sides.time_fast_import(theirs, stream)
    trunk = trunk_side.measure(ours, work.jobs, batch=batch)
    pack = git_sides.pack_bytes(ours) - before
    compact = trunk_side.measure_compaction(ours)
    one = trunk_side.measure(work.copy(space / "one.git"), work.jobs, batch=work.changes)
    one_fast_import = git_sides.time_fast_import(work.copy(space / "one-theirs.git"), whole)
    count, plumbing = git_sides.time_plumbing(work.copy(space / "plumbing.git"), work, PLUMBING)
    made = Round(
        trunk=trunk_side.with_compaction(trunk, compact),
        fast_import=fast_import,
        plumbing=plumbing / count,
        one_batch=one,
        one_batch_fast_import=one_fast_import,
        pack=pack,
        compacted=git_sides.pack_bytes(ours) - before,
        fast_import_pack=git_sides.pack_bytes(theirs) - before,
        same_tree=git_sides.facts(ours) == git_sides.facts(theirs) and trunk.landed == work.changes,
        fsck=git_sides.is_sound(ours),
    )
    shutil.rmtree(space)
    return made


def figures(rounds: list[Round], *, files: int, changes: int, kind: Kind, batch: int) -> dict[str, Any]:
    """Return the named figures of some rounds, the targets and those that are missed."""
    found: dict[str, Any] = {
        "workload": str(kind),
        "files": files,
        "changes": changes,
        "batch": batch,
        "repeats": len(rounds),
        "zlib_level": (
            "git's default on both sides; the trunk stores trees, and deltas and contents up to 1 KiB, uncompressed"
        ),
        "processes": (
            "fast-import is one of one thread; the trunk lands in one, has another encode large batches, and a thread "
            "write and sync a pack meanwhile; processor_ratio_* and peak_rss_mib count all of it"
        ),
        "landings_per_s": round(changes / median(one.trunk.seconds for one in rounds), 1),
        "fast_import_per_s": round(changes / median(one.fast_import.seconds for one in rounds), 1),
        "ratio_fast_import": _median(one.fast_import.seconds / one.trunk.seconds for one in rounds),
        "plumbing_per_s": round(1 / median(one.plumbing for one in rounds), 1),
        "ratio_plumbing": _median(one.plumbing * changes / one.trunk.seconds for one in rounds),
        "peak_rss_mib": round(max(one.trunk.peak_rss for one in rounds) / _MIB, 1),
        "same_tree": all(one.same_tree for one in rounds),
        "fsck": all(one.fsck for one in rounds),
        "pack_mib": _mib(one.pack for one in rounds),
        "compacted_pack_mib": _mib(one.compacted for one in rounds),
        "fast_import_pack_mib": _mib(one.fast_import_pack for one in rounds),
        "compacted_to_fast_import": _median(one.compacted / one.fast_import_pack for one in rounds),
        "ratio_one_batch": _median(one.one_batch_fast_import.seconds / one.one_batch.seconds for one in rounds),
        "compact_s": round(median(one.trunk.compact for one in rounds), 2),
        "ratio_with_compaction": _median(
            one.fast_import.seconds / (one.trunk.seconds + one.trunk.compact) for one in rounds
        ),
        "processor_ratio_fast_import": _median(one.fast_import.processor / one.trunk.processor for one in rounds),
        "processor_ratio_one_batch": _median(
            one.one_batch_fast_import.processor / one.one_batch.processor for one in rounds
        ),
        "processor_us_a_landing": round(1e6 * median(one.trunk.processor for one in rounds) / changes, 1),
    }
    found["targets"] = {name: f">= {value}" for name, value in AT_LEAST.items()} | {
        name: f"<= {value}" for name, value in AT_MOST.items()
    }
    found["missed"] = (
        [name for name, value in AT_LEAST.items() if found[name] < value]
        + [name for name, value in AT_MOST.items() if found[name] > value]
        + [name for name in ("same_tree", "fsck") if not found[name]]
    )
    return found


def _median(values: Iterable[float]) -> float:
    return round(median(values), 3)


def _mib(values: Iterable[int]) -> float:
    return round(median(values) / _MIB, 2)
