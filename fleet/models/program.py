"""The model ``program``: a program of one's own that answers, ``--model 'program:python rewrite.py'`` say.

It is started for each question, without a shell, in the folder in which the run was started or its job file stands,
wherever the run goes on (`folder` in a table names another one). Its standard input is one JSON object:
``messages`` (each with ``role`` and ``text``) and ``facts``, the same question as data (the edit job gives ``path``,
``text`` and ``row``). What it prints is the answer. Records say that no language model was asked: one that the program
asks in turn is better reached by an endpoint of its own, for its calls to be counted, cached and capped.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import json
import os
import shlex
import shutil
import signal
from asyncio.subprocess import PIPE, Process
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fleet.models.registry import NOTHING, BadModel, ModelContext, ModelSpec, Price
from qodebase.children import processors
from qodebase.codec import JSON
from qodebase.ports import Answer, Clock, Failure, NoAnswer, Prompt

ADAPTER = "program"
DETERMINISTIC = True

LARGEST_ANSWER = 8 << 20
"""Bytes that a program may print; one that prints more is ended."""

_SHOWN = 500
_END_S = 5.0
_FOR_NOW = (errno.EAGAIN, errno.EMFILE, errno.ENFILE, errno.ENOMEM)


class ProgramModel:
    """See `qodebase.ports.Model`.

    Args:
        words: the program and its arguments.
        folder: where it is started.
        timeout_s: seconds of wall time that one answer may take.
        in_flight: how many may run at a time.
    """

    deterministic = True
    simulated = False
    local = True

    def __init__(
        self,
        name: str,
        words: tuple[str, ...],
        clock: Clock,
        *,
        environ: Mapping[str, str],
        folder: Path,
        timeout_s: float,
        in_flight: int,
    ) -> None:
        self.name = name
        self._words = words
        self._clock = clock
        self._environ = dict(environ)
        self._folder = folder
        self._timeout_s = timeout_s
        self._free = asyncio.Semaphore(in_flight)

    async def answer(self, prompt: Prompt) -> Answer | NoAnswer:
        """Ask the program; a failure, silence, or output that is no text is no answer."""
        said = _question(prompt)
        async with self._free:
            with self._clock.working():
                try:
                    # In a session of its own, a Ctrl-C does not reach it: answers that are under way are still wanted.
                    process = await asyncio.create_subprocess_exec(
                        *self._words, stdin=PIPE, stdout=PIPE, stderr=PIPE, env=self._environ, cwd=self._folder,
                        start_new_session=True,
                    )  # fmt: skip
                except OSError as error:
                    return self._unstarted(error)
                try:
                    async with asyncio.timeout(self._timeout_s):
                        out, err = await _told(process, said)
                except TimeoutError:
                    return self._none(Failure.TIMEOUT, f"no answer within {self._timeout_s:g} s")
                finally:
                    await _end(process)
        if len(out) > LARGEST_ANSWER:
            return self._none(Failure.TOO_LONG, f"the program printed more than {LARGEST_ANSWER >> 20} MiB")
        if process.returncode:
            told = err.decode(errors="replace").strip()[-_SHOWN:]
            return self._none(Failure.EMPTY, f"the program ended with {process.returncode}: {told}")
        try:
            text = out.decode()
        except UnicodeDecodeError:
            return self._none(Failure.EMPTY, "the program printed what is no UTF-8 text")
        if not text.strip():
            return self._none(Failure.EMPTY, "the program printed nothing")
        return Answer(text=text, model=self.name, cost_usd=0.0)

    async def close(self) -> None:
        """Hold nothing."""

    def _unstarted(self, error: OSError) -> NoAnswer:
        """Return that a machine which is full did not start the program; else no other question would start it."""
        if error.errno in _FOR_NOW:
            return self._none(Failure.PROVIDER, f"the program was not started: {error}", retry=True)
        raise BadModel(
            f"the program of the model {self.name} cannot be started: {error}",
            hint="A script needs a first line that names its interpreter (#!/bin/sh, say), or a command before it.",
        ) from None

    def _none(self, failure: Failure, why: str, *, retry: bool = False) -> NoAnswer:
        return NoAnswer(failure=failure, why=why, model=self.name, retry=retry)


def create(spec: ModelSpec, context: ModelContext) -> ProgramModel:
    """Make the model; its argument, or ``model`` of its table, is the command.

    Raises:
        BadModel: there is no such program, or not its folder.
    """
    try:
        words = tuple(shlex.split(spec.argument))
    except ValueError as error:
        raise BadModel(f"the model program:{spec.argument}: {error}", hint="Close its quotes.") from None
    folder = Path(spec.table.folder or ".")
    if not folder.is_dir():
        raise BadModel(
            f"the folder in which the program {spec.argument} is started is not there: {folder}",
            hint="Bring it back, or name another one with `folder` in a [models.NAME] table.",
        )
    program = str(folder / words[0]) if words and "/" in words[0] else "".join(words[:1])
    if shutil.which(program, path=context.environ.get("PATH")) is None:
        raise BadModel(
            f"the model program needs a program: {words[0] if words else 'none'} is not to be found",
            hint="Write --model 'program:python rewrite.py', or `model` in a table with `adapter = \"program\"`.",
        )
    return ProgramModel(
        spec.name,
        words,
        context.clock,
        environ=context.environ,
        folder=folder,
        timeout_s=spec.table.timeout_s,
        in_flight=spec.table.in_flight or processors(),
    )


def price(spec: ModelSpec) -> Price:
    """Return no price: it is a program on this machine."""
    return NOTHING


def _question(prompt: Prompt) -> bytes:
    facts: dict[str, Any] = {}
    for name, value in prompt.facts.items():
        # Facts that only programs of this process can read have no form in JSON.
        with contextlib.suppress(TypeError, NotImplementedError):
            facts[name] = json.loads(JSON.encode(value))
    return JSON.encode({"messages": prompt.messages, "facts": facts}) + b"\n"


async def _told(process: Process, question: bytes) -> tuple[bytes, bytes]:
    """Tell a program its question; return what it printed, at most a little more than may be, and its last errors."""
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(_feed(process.stdin, question), name="question")
        out = tasks.create_task(_printed(process, process.stdout), name="answer")
        err = tasks.create_task(_last(process.stderr), name="errors")
    await process.wait()
    return out.result(), err.result()


async def _feed(stream: asyncio.StreamWriter, question: bytes) -> None:
    with contextlib.suppress(ConnectionError):
        stream.write(question)
        await stream.drain()
    stream.close()


async def _printed(process: Process, stream: asyncio.StreamReader) -> bytes:
    kept = bytearray()
    while piece := await stream.read(1 << 16):
        if len(kept) <= LARGEST_ANSWER:
            kept += piece
            if len(kept) > LARGEST_ANSWER:
                _kill(process)
    return bytes(kept)


async def _last(stream: asyncio.StreamReader) -> bytes:
    kept = b""
    while piece := await stream.read(1 << 16):
        kept = (kept + piece)[-4 * _SHOWN :]
    return kept


def _kill(process: Process) -> None:
    """Kill a program that has not ended, and all that it started."""
    if process.returncode is None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)


async def _end(process: Process) -> None:
    """End a program; its end is heard only once what it printed is read, by whomever it left its pipes to."""
    try:
        if process.returncode is None:
            _kill(process)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_END_S):
                    for stream in (process.stdout, process.stderr):
                        while stream is not None and await stream.read(1 << 16):
                            pass
                    await process.wait()
    finally:
        process._transport.close()  # type: ignore[attr-defined]
