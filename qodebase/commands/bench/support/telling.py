"""Tell what a bench measured, the same way for every bench."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from qodebase.commands.support.console import put, put_json


def tell(answer: Mapping[str, Any], *, json: bool, check: bool) -> int:
    """Print the figures, and return the exit code: 1 where ``check`` is asked for and ``missed`` names a target."""
    if json:
        put_figures(answer)
    else:
        width = max(map(len, answer))
        put("\n".join(f"{name:{width}}  {value}" for name, value in answer.items()))
    return 1 if check and answer["missed"] else 0


def put_figures(answer: Mapping[str, Any]) -> None:
    """Print figures as JSON, the environment beside them."""
    from qodebase.commands.support.environment import environment

    put_json({**answer, "environment": environment()})
