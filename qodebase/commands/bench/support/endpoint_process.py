"""Start the benches' endpoint in a process of its own, and ask it what it has seen."""

from __future__ import annotations

import http.client
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import msgspec

from qodebase.commands.bench.support.endpoint_plan import Counts, Plan

_MODULE = "qodebase.commands.bench.support.endpoint"
_PATIENCE_S = 10.0


class Running:
    """An endpoint that runs; ``base`` is what ``/chat/completions`` is appended to."""

    def __init__(self, port: int) -> None:
        self._port = port
        self.base = f"http://127.0.0.1:{port}/v1"

    def counts(self) -> Counts:
        """Return what the endpoint has seen so far."""
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=60)
        try:
            connection.request("GET", "/counts")
            return msgspec.json.decode(connection.getresponse().read(), type=Counts)
        finally:
            connection.close()


@contextmanager
def running(plan: Plan) -> Iterator[Running]:
    """Run an endpoint until the block ends; it ends with this process too."""
    with subprocess.Popen([sys.executable, "-m", _MODULE], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(msgspec.json.encode(plan) + b"\n")
        process.stdin.flush()
        try:
            yield Running(int(process.stdout.readline()))
        finally:
            process.stdin.close()
            try:
                process.wait(_PATIENCE_S)
            except subprocess.TimeoutExpired:
                process.kill()
