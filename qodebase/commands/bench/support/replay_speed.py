"""Time the pure part of a replay: clean merges of 300-line files, and the index rule on 6,000 lines."""

from __future__ import annotations

import time
from collections.abc import Callable
from statistics import median

from qodebase.collision import Collision, Resolved, Side
from qodebase.paths import RepoPath

_LINES = 300
_INDEX_LINES = 6000
_CALLS = 200
_PYTHON = '''def part_{0}(value: int) -> int:
    """Return the {0}. step of a value."""
    if value < {0}:
        return value
    total = 0
    for step in range(value):
        total += step * {0}
    return total


'''
_SCRIPT = """// The {0}. step of a value.
export function part{0}(value) {{
  if (value < {0}) {{
    return value;
  }}
  let total = 0;
  for (let step = 0; step < value; step += 1) total += step * {0};
  return total;
}}

"""


def measure(calls: int = _CALLS) -> dict[str, float]:
    """Return medians in microseconds of so many calls each."""
    from replay_rules.clean_merge import merge_file
    from replay_rules.ladder import redo
    from replay_rules.sorted_index import rule

    found: dict[str, float] = {}
    for name, path, text in (("python", b"m.py", _PYTHON), ("javascript", b"m.js", _SCRIPT)):
        one = _two_edits(RepoPath(path), text)
        sides = [side.content or b"" for side in (one.base, one.main, one.change)]
        found[f"merge_{name}"] = _median(lambda sides=sides: merge_file(*sides) is not None, calls)  # type: ignore[misc]
        found[f"merge_with_invariants_{name}"] = _median(
            lambda one=one: isinstance(redo(one, "merge"), Resolved),  # type: ignore[misc]
            calls,
        )
    index = _index()
    found["sorted_index"] = _median(lambda: isinstance(rule(index), Resolved), calls)
    return found


def _median(call: Callable[[], bool], calls: int) -> float:
    times = []
    for _ in range(calls):
        start = time.perf_counter()
        worked = call()
        times.append((time.perf_counter() - start) * 1e6)
        if not worked:
            raise RuntimeError("the work that is timed was declined")
    return round(median(times), 1)


def _two_edits(path: RepoPath, text: str) -> Collision:
    parts = [text.format(number) for number in range(_LINES // text.count("\n"))]
    main, change = parts.copy(), parts.copy()
    main[3] = main[3].replace("return total", "return total + 1")
    main.insert(8, text.format(801))
    change[-4] = change[-4].replace("return total", "return total - 1")
    change.insert(20, text.format(802))
    sides = [Side(content="".join(side).encode()) for side in (parts, main, change)]
    return Collision(path=path, base=sides[0], main=sides[1], change=sides[2])


def _index() -> Collision:
    lines = [f"- `src/part_{number:05}.py` `name` function\n" for number in range(0, 2 * _INDEX_LINES, 2)]
    main, change = lines.copy(), lines.copy()
    main.insert(1000, "- `src/part_01999.py` `name` function\n")
    change.insert(4000, "- `src/part_07999.py` `name` function\n")
    sides = [Side(content=("# Index\n\n" + "".join(side)).encode()) for side in (lines, main, change)]
    return Collision(path=RepoPath(b"docs/API_INDEX.md"), base=sides[0], main=sides[1], change=sides[2])
