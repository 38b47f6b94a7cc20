"""Make prompts and changes: here where there is little to do, shared with a helper process where there is much."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from fleet.attempts import Packed
from fleet.making import Made, make_change
from fleet.workshop.helper import Helper
from lanes.fork import Fork
from qodebase.children import processors
from qodebase.helper_words import AnySaid, Changed, Failed, Opening, Prompted, Request
from qodebase.intent import Intent
from qodebase.paths import RepoPath
from qodebase.ports import Answer, Clock, Job, Model, NoAnswer, Prompt, Unusable

_OUT = 1024
"""Requests that the helper has at once: enough to keep it busy during a long turn of the loop."""

_TURN_S = 0.002
"""How long pieces are done here before the loop turns."""

_MANY_AGENTS = 256
_MANY_INTENTS = 2000
_MOST_CONTENT = 1 << 16
"""Bytes of shared paths that are worth sending along."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompting:
    """A prompt, and its messages as segments hold them where that was made along with it."""

    prompt: Prompt
    packed: bytes | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Making:
    """A change or why there is none, and the change as segments hold it where that was made along with it."""

    made: Made | Unusable
    packed: Packed | None = None


@dataclass(slots=True, kw_only=True)
class _Piece:
    """A piece of work that waits: what it asks of the helper, how it is done here, and who waits."""

    intent: Intent
    fork: Fork
    shared: tuple[RepoPath, ...]
    answer: str | None
    here: Callable[[], Prompting | Making]
    done: asyncio.Future[Any] = field(default_factory=lambda: asyncio.get_running_loop().create_future())


class Workshop:
    """Make the prompts and changes of a run; what comes out is the same wherever it is made.

    Pieces wait in one line. The helper takes them as fast as it can; what it has no room for is done here, some
    pieces a turn of the loop. Without a helper nothing waits: a piece is done at once.

    ``opened`` is set when the helper is there, ``helped`` counts the pieces that it made, and ``proof_s`` the seconds
    that proofs took in both processes.
    """

    def __init__(self, job: Job, opening: Opening | None = None) -> None:
        self._job = job
        self._helper = None if opening is None else Helper(opening, self._hear, self._gone)
        self._waiting: deque[_Piece] = deque()
        self._out: dict[int, _Piece] = {}
        self._number = 0
        self._due = False
        self.opened = asyncio.Event()
        self.proof_s = 0.0
        self.helped = 0

    async def serve(self) -> None:
        """Keep the helper, if there is one, until cancelled."""
        if self._helper is not None:
            await self._helper.serve()

    @property
    def helper_pid(self) -> int | None:
        """Return the id of the helper's process; None where there is none, or it is not open."""
        return self._helper.pid if self._helper is not None and self._helper.open else None

    async def prompt(self, intent: Intent, fork: Fork, shared: Sequence[RepoPath]) -> Prompting:
        """Return what to ask."""

        def here() -> Prompting:
            return Prompting(prompt=self._job.prompt(intent, fork))

        if not self._shares(intent, fork, shared):
            return here()
        done: Prompting = await self._wait(
            _Piece(intent=intent, fork=fork, shared=tuple(shared), answer=None, here=here)
        )
        return done

    async def change(
        self, intent: Intent, outcome: Answer | NoAnswer, fork: Fork, shared: Sequence[RepoPath]
    ) -> Making:
        """Turn what a model gave into a change against ``fork``, or say how the intent ends."""

        def here() -> Making:
            made = make_change(self._job, intent, outcome, fork, shared)
            self.proof_s += made.proof_s if isinstance(made, Made) else 0.0
            return Making(made=made)

        if isinstance(outcome, NoAnswer) or not self._shares(intent, fork, shared):
            return here()
        done: Making = await self._wait(
            _Piece(intent=intent, fork=fork, shared=tuple(shared), answer=outcome.text, here=here)
        )
        return done

    def _shares(self, intent: Intent, fork: Fork, shared: Sequence[RepoPath]) -> bool:
        if self._helper is None or not self._helper.open or intent.given is not None:
            return False
        return sum(len(fork.held(path) or b"") for path in shared) <= _MOST_CONTENT

    async def _wait(self, piece: _Piece) -> Any:
        self._waiting.append(piece)
        self._look_soon()
        return await piece.done

    def _look_soon(self) -> None:
        if not self._due:
            self._due = True
            asyncio.get_running_loop().call_soon(self._look)

    def _look(self) -> None:
        """Give the helper what it has room for, and do some of the other pieces here."""
        self._due = False
        if self._helper is not None and self._helper.open:
            requests = []
            while len(self._out) < _OUT and (piece := self._next()) is not None:
                self._number += 1
                self._out[self._number] = piece
                requests.append(_request(self._number, piece))
            if requests:
                self._helper.send(requests)
        until = time.perf_counter() + _TURN_S
        while (piece := self._next()) is not None:
            _settle(piece)
            if time.perf_counter() > until:
                self._look_soon()
                return

    def _next(self) -> _Piece | None:
        while self._waiting:
            piece = self._waiting.popleft()
            if not piece.done.done():
                return piece
        return None

    def _hear(self, said: Sequence[AnySaid]) -> None:
        self.opened.set()
        for one in said:
            piece = self._out.pop(one.number)
            if piece.done.done():
                continue
            if isinstance(one, Failed):
                _settle(piece)
            else:
                self.helped += 1
                piece.done.set_result(self._taken(piece, one))
        self._look_soon()

    def _taken(self, piece: _Piece, said: AnySaid) -> Prompting | Making:
        if isinstance(said, Prompted):
            prompt = Prompt(messages=said.messages, max_output_tokens=said.max_output_tokens, shows=said.shows)
            return Prompting(prompt=prompt.digested(said.digest), packed=said.packed)
        if isinstance(said, Changed):
            self.proof_s += said.proof_s
            for path, content in said.contents:
                piece.fork.know(path, content)
            made = Made(change=said.change, proof=said.proof, sanitised=said.sanitised, proof_s=said.proof_s)
            return Making(made=made, packed=Packed(said.digest, said.packed))
        assert not isinstance(said, Failed)
        return Making(made=said.unusable)

    def _gone(self) -> None:
        """Take back what the helper had."""
        self._waiting.extendleft(reversed(self._out.values()))
        self._out.clear()
        self._look_soon()


def is_worth_a_helper(job: Job, models: Sequence[Model], clock: Clock, *, agents: int, intents: int) -> bool:
    """Return whether a run has so much to do that a second processor pays, and a job and models that it may serve.

    The facts of a prompt do not travel, so that each model must say that it reads only the words (``reads_words``).
    Simulated time would not know how long a helper takes.
    """
    if agents < _MANY_AGENTS or intents < _MANY_INTENTS or clock.simulated or processors() < 2:
        return False
    return getattr(job, "apart", False) and all(getattr(model, "reads_words", False) for model in models)


def _request(number: int, piece: _Piece) -> Request:
    fork = piece.fork
    known = [(path, fork.entry(path)) for path in (*piece.intent.scope, *piece.shared)]
    held = [(path, fork.held(path)) for path in piece.shared]
    return Request(
        number=number,
        intent=piece.intent,
        commit=fork.commit,
        entries=tuple([(path, 0, "") if entry is None else (path, entry.mode, entry.id) for path, entry in known]),
        contents=tuple([(path, content) for path, content in held if content is not None]),
        shared=piece.shared,
        answer=piece.answer,
    )


def _settle(piece: _Piece) -> None:
    """Do a piece here; a job's failure is its own."""
    try:
        done = piece.here()
    except StopIteration as error:
        # No future takes one; this is what becomes of it where a piece is not waited for.
        failed = RuntimeError("coroutine raised StopIteration")
        failed.__cause__ = error
        piece.done.set_exception(failed)
    except Exception as error:
        piece.done.set_exception(error)
    else:
        piece.done.set_result(done)
