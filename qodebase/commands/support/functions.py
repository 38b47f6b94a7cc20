"""A caller's own async function as a model."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from qodebase.errors import QodebaseError

if TYPE_CHECKING:
    from qodebase.ports import Answer, Model, NoAnswer, Prompt

    Asked = str | Callable[[Prompt], Awaitable[str | Answer | NoAnswer]]


class NotAsync(QodebaseError):
    """A model that is neither a name nor an async function."""


def made_model(model: Asked | None) -> Model | None:
    if model is None or isinstance(model, str):
        return None
    from fleet.models.function import FunctionModel

    if not (inspect.iscoroutinefunction(model) or inspect.iscoroutinefunction(type(model).__call__)):
        raise NotAsync(f"the model {model!r} is no async function", hint="Write `async def model(prompt): ...`.")
    return FunctionModel(_careful(model))


def _careful(function: Callable[[Prompt], Awaitable[str | Answer | NoAnswer]]) -> Callable[[Prompt], Awaitable[Any]]:
    """Return the function with what it raises, and what is no answer, as a call without an answer.

    One prompt that it fails at must not stop the others; a `QodebaseError` means that none can work.
    """
    from functools import update_wrapper

    from qodebase.ports import Answer, Failure, NoAnswer

    async def ask(prompt: Prompt) -> str | Answer | NoAnswer:
        try:
            said: object = await function(prompt)
        except QodebaseError:
            raise
        except Exception as error:
            why = f"the function raised {type(error).__name__}: {error}"
        else:
            if isinstance(said, str | Answer | NoAnswer):
                return said
            why = f"the function returned {type(said).__name__}, not text"
        return NoAnswer(failure=Failure.PROVIDER, why=why, model=getattr(ask, "__name__", "model"), cost_usd=None)

    return update_wrapper(ask, function)
