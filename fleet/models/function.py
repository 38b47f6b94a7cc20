"""A model that is a caller's own async function, for notebooks and tests."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from qodebase.ports import Answer, Failure, NoAnswer, Prompt

Function = Callable[[Prompt], Awaitable[str | Answer | NoAnswer]]


class FunctionModel:
    """See `qodebase.ports.Model`; text that the function returns is an answer whose cost is not known."""

    deterministic = False
    simulated = False
    local = False

    def __init__(self, function: Function) -> None:
        self._function = function
        self.name = f"function:{getattr(function, '__name__', 'model')}"

    async def answer(self, prompt: Prompt) -> Answer | NoAnswer:
        """Ask the function; empty text is no answer."""
        said = await self._function(prompt)
        if not isinstance(said, str):
            return said
        if not said.strip():
            return NoAnswer(failure=Failure.EMPTY, why="the function returned no text", model=self.name, cost_usd=None)
        return Answer(text=said, model=self.name, cost_usd=None)

    async def close(self) -> None:
        """Hold nothing."""
