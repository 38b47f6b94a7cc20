"""Fit the classic queue's simulated times to the two published points that it is defined by."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from qodebase.commands.bench.support import dial_grid
from qodebase.commands.bench.support.dial_figures import FITTED, PUBLISHED
from qodebase.commands.bench.support.dial_policy import BUILT_IN
from qodebase.commands.bench.support.dial_setting import Plain, Times, setting

_ROUNDS = 4
_GOOD = 0.01


def fitted(plain: Plain, folder: Path, *, say: Callable[[str], None]) -> dict[str, Any]:
    """Return times with which the classic queue takes the published minutes at its two points.

    The queue works one by one, so its minutes are its judgements times ``gate_s`` plus its replays times ``redo_s``
    plus a rest: each round measures both points and solves the two equations (Newton's method with these counts as
    slopes). ``fits`` says whether both are within 1%; after four rounds it ends with what was measured last.
    """
    times = Times()
    low, high = (share for _, share in FITTED)
    for number in itertools.count(1):
        timed = msgspec.structs.replace(plain, times=times)
        settings = [setting(timed, share=share, queue=BUILT_IN["classic"], seed=1) for share in (low, high)]
        first, second = (one.row for one in dial_grid.measure(settings, folder, jobs=2, say=say))
        off = [PUBLISHED["classic", low] - first["minutes"], PUBLISHED["classic", high] - second["minutes"]]
        say(f"round {number}: {first['minutes']:.2f} and {second['minutes']:.2f} minutes with {times}")
        fits = all(
            abs(miss) <= _GOOD * PUBLISHED["classic", share] for miss, share in zip(off, (low, high), strict=True)
        )
        if fits or number == _ROUNDS:
            break
        times = _closer(times, first, second, off)
    return {"times": msgspec.to_builtins(times), "minutes": [first["minutes"], second["minutes"]], "fits": fits}


def _closer(times: Times, first: Mapping[str, Any], second: Mapping[str, Any], off: list[float]) -> Times:
    a, b = first["test_runs"] / 60, first["redone_by_model"] / 60
    c, d = second["test_runs"] / 60, second["redone_by_model"] / 60
    determinant = a * d - b * c
    gate = (off[0] * d - b * off[1]) / determinant
    redo = (a * off[1] - off[0] * c) / determinant
    return msgspec.structs.replace(
        times, gate_s=round(max(0.01, times.gate_s + gate), 3), redo_s=round(max(0.1, times.redo_s + redo), 2)
    )
