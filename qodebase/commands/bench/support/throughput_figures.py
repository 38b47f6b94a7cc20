"""The throughput bench: the run, its audit, git's side of the same commits, and what the targets say."""

from __future__ import annotations

import shutil
import subprocess
import time
from pathlib import Path
from typing import Any

from qodebase.commands.bench.support import throughput_side
from qodebase.commands.bench.support.git_sides import Spent, time_fast_import
from qodebase.commands.bench.support.throughput_side import Measured
from qodebase.commands.bench.support.throughput_work import Work, prepare
from qodebase.commands.bench.support.workload import environment, git
from qodebase.runs import RunFolder

_MIB = 1 << 20
AT_MOST = {"seconds": 30.0, "peak_rss_mib": 2048.0, "ratio_to_fast_import": 2.5}
AT_LEAST = {"landed_per_s_busiest": 1900.0}


def measure(space: Path, *, files: int, workers: int, seed: int) -> dict[str, Any]:
    """Make the work, take the run, audit it, and time git on the same commits."""
    work = prepare(space / "work", files=files, seed=seed)
    folder = RunFolder(space / "run")
    measured = throughput_side.measure(work, folder.root, workers=workers)
    fast_import, same = _fast_import(space, work, folder)
    return _figures(work, measured, folder, workers=workers, fast_import=fast_import, same=same)


def _fast_import(space: Path, work: Work, folder: RunFolder) -> tuple[Spent, bool]:
    """Write the run's commits onto a copy of the base; return what it took, and whether they came out the same."""
    base = folder.settings().base
    copy, stream = space / "theirs.git", space / "stream"
    shutil.copytree(work.repository, copy)
    words = ("--reencode=no", "--reference-excluded-parents", "main", f"^{base}")
    with stream.open("wb") as out:
        command = ["git", "-C", str(folder.repository), "fast-export", *words]
        subprocess.run(command, env=environment(), stdout=out, check=True)
    spent = time_fast_import(copy, stream)
    same = git(copy, "rev-parse", "main") == git(folder.repository, "rev-parse", "main")
    return spent, same


def _figures(
    work: Work, measured: Measured, folder: RunFolder, *, workers: int, fast_import: Spent, same: bool
) -> dict[str, Any]:
    from qodebase.commands.verify import audit_of
    from qodebase.intent import Ending
    from qodebase.journal import read_events
    from qodebase.state import RunState

    began = time.perf_counter()
    audit = audit_of(str(folder.root))
    audit_seconds = time.perf_counter() - began
    ledger = RunState(folder.intents()).apply_all(read_events(folder.journal)).ledger()
    seconds = measured.last_landing - measured.start
    landed = ledger[Ending.LANDED]
    found: dict[str, Any] = {
        "workers": workers,
        "files": work.files,
        "landed": landed,
        "endings": {str(ending): count for ending, count in ledger.items() if count},
        "errors": work.answered - landed + ledger[Ending.REFUSED] + ledger[Ending.SENT_BACK] + ledger[Ending.PENDING],
        "audit_clean": audit.ok and not audit.not_checked,
        "seconds": round(seconds, 2),
        "landed_per_s_mean": round(landed / seconds, 1) if seconds else 0.0,
        "landed_per_s_busiest": max(measured.landed_in.values(), default=0),
        "busy_agents_peak": measured.busy_peak,
        "peak_rss_mib": round(measured.peak_rss / _MIB, 1),
        "code_check_seconds": round(measured.code_check, 4),
        "pieces_helped": measured.pieces_helped,
        "fast_import_seconds": round(fast_import.seconds, 2),
        "ratio_to_fast_import": round(seconds / fast_import.seconds, 3),
        "same_commits": same,
        "prepare_seconds": round(measured.prepare, 2),
        "tidy_seconds": round(measured.end - measured.last_landing, 2),
        "audit_seconds": round(audit_seconds, 2),
        "processor_seconds": round(measured.processor, 2),
        "fast_import_processor_seconds": round(fast_import.processor, 2),
    }
    found["targets"] = {name: f"<= {value}" for name, value in AT_MOST.items()} | {
        name: f">= {value}" for name, value in AT_LEAST.items()
    }
    found["missed"] = (
        [name for name, value in AT_MOST.items() if found[name] > value]
        + [name for name, value in AT_LEAST.items() if found[name] < value]
        + [name for name in ("audit_clean", "same_commits") if not found[name]]
        + (["errors"] if found["errors"] else [])
    )
    return found
