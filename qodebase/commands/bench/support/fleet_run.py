"""A whole run of the line job against the benches' endpoint: repository, fleet, lanes, trunk, audit."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from qodebase.clock import SystemClock
from qodebase.commands.bench.support import line_job
from qodebase.commands.bench.support.workload import PERSON, TIME, git
from qodebase.commands.support.sitting import sit
from qodebase.commands.support.starting import Order, freeze, prepared
from qodebase.commands.support.surroundings import Surroundings
from qodebase.runs import RunFolder

KEY_VARIABLE = "QODEBASE_BENCH_KEY"
PRICE = {"input": 2.0, "output": 8.0}
"""USD per million tokens, made up."""

_FOLDER = 100


def made_up_key() -> str:
    """Return a key that opens nothing, unlike any other text."""
    return f"sk-bench-{secrets.token_hex(16)}"


def make_repository(path: Path, files: int) -> Path:
    """Make a bare repository of so many one-line files, a hundred a folder."""
    path.mkdir(parents=True)
    git(path, "init", "-q", "--bare", "-b", "main", ".")
    name, mail = PERSON
    lines = [f"commit refs/heads/main\ncommitter {name} <{mail}> {TIME} +0000\ndata 4\nbase"]
    for number in range(files):
        content = f"line {number}\n"
        lines.append(
            f"M 100644 inline part_{number // _FOLDER:03}/file_{number:05}.txt\ndata {len(content)}\n{content}"
        )
    git(path, "fast-import", "--quiet", input="\n".join(lines).encode())
    return path


def table_for(adapter: str, base: str, *, timeout_s: float) -> dict[str, Any]:
    """Return the ``[models.NAME]`` table of the endpoint."""
    return {
        "adapter": adapter,
        "model": "openai/bench" if adapter == "litellm" else "bench",
        "api_base": base,
        "api_key_env": KEY_VARIABLE,
        "price": PRICE,
        "timeout_s": timeout_s,
    }


def run_lines(
    space: Path, repository: Path, table: Mapping[str, Any], *, key: str, workers: int, name: str = "run"
) -> RunFolder:
    """Run the line job on a repository to its end, with an answer cache of its own; return the run's folder."""
    order = Order(
        job="",
        job_file=line_job.__file__,
        repository=repository,
        out=space / name,
        model="endpoint",
        models={"endpoint": dict(table)},
        workers=workers,
        source="the bench",
    )
    clock = SystemClock()
    surroundings = Surroundings(environ={KEY_VARIABLE: key}, cache_folder=space / f"{name}-cache")
    with prepared(order, surroundings, clock) as ready:
        folder = freeze(ready, clock)
    asyncio.run(sit(folder, surroundings, clock, first=True))
    return folder
