"""A language model on this machine: ``local:smollm2``, or ``local:PATH.gguf``; no key, no network, no price.

A llama.cpp server is started as a child process with the first call, on a free port of 127.0.0.1 and with a key that
only this process knows, and is asked as any OpenAI-compatible endpoint. It ends with the model, and when this process
is gone, however it went.
"""

from __future__ import annotations

import asyncio
import json
import os
import secrets
import sys
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from pathlib import Path
from typing import IO, Any

from fleet.models.openai import OURS, OpenAIModel
from fleet.models.registry import NOTHING, BadModel, ModelContext, ModelSpec, ModelTable, Price
from fleet.models.weights import known_weights, weights_named
from fleet.scrub import names_key
from qodebase.children import modules
from qodebase.errors import QodebaseError
from qodebase.ports import Answer, Clock, NoAnswer, Prompt

ADAPTER = "local"

SLOTS = 8
WINDOW = 4096
"""Answers at a time, and tokens of a prompt with its answer, for weights that are not in ``weights.toml``."""

TIMEOUT_S = 900.0
"""Seconds that a call may take where its table does not say: a processor that is shared is slow."""

START_S = 300.0
STOP_S = 5.0
MOST_STARTS = 3

_RUNTIME = "xllamacpp"
_PIPE = asyncio.subprocess.PIPE
_PROGRAM = Path(__file__).with_name("llama_server.py")
_COMMAND = (sys.executable, "-P", str(_PROGRAM))


class NoRuntime(QodebaseError):
    """The packages that run local models are not installed."""


class NoWeights(QodebaseError):
    """The weights of a local model are not on this machine, or not whole."""


class ServerFailed(QodebaseError):
    """The server of a local model does not start, or does not stay."""

    exit_code = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """What a server is to serve: the weights' file, answers at a time, tokens of a prompt with its answer.

    ``params`` are fields of each request, below those of the model's table.
    """

    weights: Path
    slots: int = SLOTS
    window: int = WINDOW
    params: dict[str, Any] = field(default_factory=dict)


class Server:
    """One child process that serves a model.

    Args:
        order: what it serves.
        command: the program, which speaks as ``llama_server.py`` does.
    """

    def __init__(self, order: Order, command: Sequence[str] = _COMMAND) -> None:
        self.key = secrets.token_urlsafe(24)
        self._order = order
        self._command = command
        self._process: asyncio.subprocess.Process | None = None

    @property
    def pid(self) -> int | None:
        """Return the process's id while it runs."""
        return self._process.pid if self._process is not None and self._process.returncode is None else None

    async def start(self) -> str:
        """Start the process and return its address, once it is ready to answer.

        Raises:
            ServerFailed: it ended, or was not ready in time.
        """
        with tempfile.TemporaryFile() as log:
            try:
                # In a session of its own, a Ctrl-C does not reach it: answers that are under way are still wanted.
                self._process = await asyncio.create_subprocess_exec(
                    *self._command,
                    stdin=_PIPE,
                    stdout=_PIPE,
                    stderr=log,
                    env=_environment(),
                    start_new_session=True,
                )
                async with asyncio.timeout(START_S):
                    return await self._greet(self._process, log)
            except TimeoutError:
                await self.stop()
                raise self._failed(f"it was not ready within {START_S:g} s") from None
            except OSError as error:
                await self.stop()
                raise self._failed(str(error)) from None
            except BaseException:
                await self.stop()
                raise

    async def _greet(self, process: asyncio.subprocess.Process, log: IO[bytes]) -> str:
        assert process.stdin is not None
        assert process.stdout is not None
        order = self._order
        told = {"weights": str(order.weights), "key": self.key, "slots": order.slots, "window": order.window}
        process.stdin.write(json.dumps(told).encode() + b"\n")
        with suppress(ConnectionError):
            await process.stdin.drain()
        line = await process.stdout.readline()
        said = json.loads(line) if line.strip() else {}
        if "base" not in said:
            code = await process.wait()
            raise self._failed(_complaint(log) or said.get("error") or f"it ended with {code}")
        return str(said["base"])

    def _failed(self, why: str) -> ServerFailed:
        return ServerFailed(
            f"the server of the local model {self._order.weights.name} does not start: {' '.join(why.split())[:300]}",
            hint="Is there memory enough, and is the file a GGUF model? `qodebase models list` shows what is there.",
        )

    async def stop(self) -> None:
        """End the process, and wait for its end."""
        process, self._process = self._process, None
        if process is not None:
            assert process.stdin is not None
            process.stdin.close()
            try:
                async with asyncio.timeout(STOP_S):
                    await process.wait()
            except TimeoutError:
                pass
            finally:
                # Also where somebody who is cancelled stops it: Python 3.11.3 and older then tell of no timeout.
                if process.returncode is None:
                    process.kill()
                    await process.wait()


def _complaint(log: IO[bytes]) -> str:
    """Return the first error of llama.cpp's log, or the last line of any other."""
    log.seek(0)
    lines = log.read().decode(errors="replace").splitlines()
    errors = [line.partition(" E ")[2] for line in lines if " E " in line]
    return (errors or lines[-1:] or [""])[0]


class LocalModel:
    """Asks a server that it starts with the first call; a server that ended is started again, a few times.

    Args:
        name: as in flags and records.
        order: what is served.
        table: more fields of each request, and how long one may take.
    """

    deterministic = False
    reads_words = True
    simulated = False
    local = True

    def __init__(
        self, name: str, order: Order, table: ModelTable, clock: Clock, *, command: Sequence[str] = _COMMAND
    ) -> None:
        self.name = name
        self.most_in_flight = order.slots
        self._table = table
        self._clock = clock
        self._server = Server(order, command)
        self._model: OpenAIModel | None = None
        self._starting = asyncio.Lock()
        self._starts = 0

    @property
    def pid(self) -> int | None:
        """Return the id of the server's process while it runs."""
        return self._server.pid

    async def answer(self, prompt: Prompt) -> Answer | NoAnswer:
        """Make one call, without retry.

        Raises:
            ServerFailed: the server does not start, or ended too often.
        """
        async with self._starting:
            model = self._model
            if model is None or self._server.pid is None:
                with self._clock.working():
                    model = await self._started()
        return await model.answer(prompt)

    async def _started(self) -> OpenAIModel:
        await self.close()
        if self._starts == MOST_STARTS:
            raise ServerFailed(
                f"the server of the local model {self.name} ended {MOST_STARTS} times",
                hint="Is there memory enough? `qodebase resume last` goes on with what is left.",
            )
        self._starts += 1
        base = await self._server.start()
        self._model = OpenAIModel(
            name=self.name,
            model=self.name,
            table=replace(self._table, api_base=f"{base}/v1"),
            headers={"Authorization": f"Bearer {self._server.key}"},
            clock=self._clock,
        )
        return self._model

    async def close(self) -> None:
        """Close the connections and end the server."""
        model, self._model = self._model, None
        try:
            if model is not None:
                await model.close()
        finally:
            await self._server.stop()


def create(spec: ModelSpec, context: ModelContext) -> LocalModel:
    """Make the model; a missing runtime and missing weights are errors here."""
    table = spec.table
    if clash := sorted(set(OURS) & set(table.params)):
        raise BadModel(f"`params` of the model {spec.name} must not set {', '.join(clash)}")
    order = _order(table.model or spec.argument, spec.name, context.weights_folder)
    if find_spec(_RUNTIME) is None:
        raise NoRuntime(
            f"the model {spec.name} needs the package {_RUNTIME}, which is not installed",
            hint="pip install 'qodebase[local]'",
        )
    unset = ModelTable(adapter=ADAPTER)
    timeout_s = TIMEOUT_S if table.timeout_s == unset.timeout_s else table.timeout_s
    set_up = replace(table, params={**order.params, **table.params}, timeout_s=timeout_s, price=price(spec))
    return LocalModel(spec.name, order, set_up, context.clock)


def _order(model: str, name: str, folder: Path | None) -> Order:
    """Return what to serve.

    Raises:
        BadModel, UnknownModel: no such weights.
        NoWeights: they are not there, or not whole.
    """
    if not model:
        known = ", ".join(f"local:{weights}" for weights in known_weights())
        raise BadModel(f"the model {name} names no weights", hint=f"Write {known}, or local:PATH.gguf.")
    if model.endswith(".gguf"):
        path = Path(model).expanduser()
        if not path.is_file():
            raise NoWeights(f"there are no weights at {path}", hint="Give the path of a GGUF file.")
        return Order(weights=path.resolve())
    weights = weights_named(model)
    state = weights.state(folder)
    if folder is None or state != "fetched":
        raise NoWeights(f"the weights of the model {name} are {state}", hint=f"qodebase models fetch {weights.name}")
    return Order(weights=weights.path(folder), slots=weights.slots, window=weights.window, params=dict(weights.params))


def price(spec: ModelSpec) -> Price:
    """Return no price: it is a program on this machine."""
    return spec.table.price or NOTHING


def lacks(context: ModelContext) -> str:
    """Return what this machine lacks for a local model, or the empty text."""
    if find_spec(_RUNTIME) is None:
        return "pip install 'qodebase[local]'"
    if not any(weights.state(context.weights_folder) == "fetched" for weights in known_weights().values()):
        return f"qodebase models fetch {next(iter(known_weights()))}"
    return ""


def _environment() -> dict[str, str]:
    """Return what the server finds: libraries in it may have settings of their own, so all but keys."""
    return {name: value for name, value in os.environ.items() if not names_key(name)} | modules()
