"""Make all frames of a run in a process of its own, and say what that took."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

_MIB = 1 << 20
AT_MOST = {"seconds": 10.0, "peak_rss_mib": 2048.0}
"""For a million events."""


def measure(run: Path) -> dict[str, Any]:
    """Return the figures of one process, the targets and those that are missed."""
    done = subprocess.run([sys.executable, "-m", __name__, str(run)], capture_output=True, text=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout)
    missed = [name for name, most in AT_MOST.items() if found[name] > most]
    return {**found, "targets": {name: f"<= {most}" for name, most in AT_MOST.items()}, "missed": missed}


def _make(run: Path) -> dict[str, Any]:
    from qodebase.runs import RunFolder
    from results.frames import Frames
    from results.metrics import values_of

    began = time.perf_counter()
    frames = Frames(RunFolder(run), kept=False)
    rows = {name: frame.height for name, frame in frames.all()}
    seconds = time.perf_counter() - began
    processor = sum(used.ru_utime + used.ru_stime for used in _used())
    metrics = len(values_of(frames))
    unit = 1 if sys.platform == "darwin" else 1024
    return {
        "seconds": round(seconds, 2),
        "processor_s": round(processor, 2),
        "seconds_with_metrics": round(time.perf_counter() - began, 2),
        "peak_rss_mib": round(sum(used.ru_maxrss for used in _used()) * unit / _MIB, 1),
        "rows": rows,
        "metrics": metrics,
    }


def _used() -> list[resource.struct_rusage]:
    """Return what this process and those that it started have used since they began."""
    return [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]


if __name__ == "__main__":
    sys.stdout.write(json.dumps(_make(Path(sys.argv[1]))))
