"""The program that serves one GGUF file to one run: llama.cpp behind an OpenAI-compatible address on loopback.

It is run as a script, by the Python that runs the fleet. It reads one line of JSON from standard input (``weights``,
``key``, ``slots``, ``window``), writes one line of JSON to standard output (``base``, the address, or ``error``), and
serves until its standard input ends or its parent is gone, whichever way that came about.
"""

from __future__ import annotations

import json
import os
import select
import sys
from typing import Any, NoReturn

_LOOK_AGAIN_S = 1.0


def main() -> NoReturn:
    """Serve until the parent is gone."""
    parent = os.getppid()
    said = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    order = json.loads(sys.stdin.buffer.raw.readline())  # type: ignore[union-attr]
    try:
        server = serve(order)
        told = {"base": server.listening_address}
    except Exception as error:
        told = {"error": f"{type(error).__name__}: {error}"}
    try:
        said.write(json.dumps(told) + "\n")
        said.close()
    except OSError:
        leave(1)
    if "error" in told:
        leave(1)
    while os.getppid() == parent:
        ready, _, _ = select.select([0], [], [], _LOOK_AGAIN_S)
        if ready and not os.read(0, 4096):
            break
    leave(0)


def serve(order: dict[str, Any]) -> Any:
    """Load the weights and listen on a free port of 127.0.0.1; return llama.cpp's server."""
    # llama.cpp's threads spin while they wait for each other. Where processors are shared that is many times slower, so
    # they sleep, and one processor is left to the fleet.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    import xllamacpp

    params = xllamacpp.CommonParams()
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    for cpu in (params.cpuparams, params.cpuparams_batch):
        cpu.n_threads = max(1, usable - 1)
        cpu.poll = 0
    params.model.path = order["weights"]
    params.n_parallel = order["slots"]
    params.n_ctx = order["slots"] * order["window"]
    params.cache_ram_mib = 0
    params.api_keys = [order["key"]]
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.ui = False
    params.endpoint_slots = False
    params.endpoint_props = False
    params.offline = True
    params.verbosity = 1
    return xllamacpp.Server(params)


def leave(code: int) -> NoReturn:
    """End at once: an answer that is under way is nobody's any more."""
    os._exit(code)


if __name__ == "__main__":
    main()
