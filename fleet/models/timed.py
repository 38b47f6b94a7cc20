"""A real model in simulated time: its answers take the virtual seconds that they took on the wall."""

from __future__ import annotations

import time

from qodebase.ports import Answer, Clock, Model, NoAnswer, Prompt


class Timed:
    """A model whose calls hold virtual time still, and are then charged to it as long as they took."""

    def __init__(self, inner: Model, clock: Clock) -> None:
        self.name = inner.name
        self.deterministic = inner.deterministic
        self.simulated = inner.simulated
        self.local = inner.local
        self._inner = inner
        self._clock = clock

    async def answer(self, prompt: Prompt) -> Answer | NoAnswer:
        """Ask the model; an answer says how long it took."""
        began = time.monotonic()
        with self._clock.working():
            outcome = await self._inner.answer(prompt)
        took = time.monotonic() - began
        await self._clock.sleep(took)
        return outcome.taking(took) if isinstance(outcome, Answer) else outcome

    async def close(self) -> None:
        """Give back what the model holds."""
        await self._inner.close()


def in_time(model: Model, clock: Clock) -> Model:
    """Return the model as a run on this clock asks it: one that takes real time is timed where time is simulated."""
    return Timed(model, clock) if clock.simulated and not model.deterministic else model
