"""What every command prints: data to stdout, status and errors to stderr, JSON on demand."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from functools import wraps
from typing import Annotated, Any, ParamSpec

import typer

from qodebase.errors import QodebaseError

P = ParamSpec("P")

Json = Annotated[bool, typer.Option("--json", help="Print JSON for scripts, and nothing else, to stdout.")]
RunName = Annotated[str, typer.Argument(metavar="RUN", help="A run's folder, its name in ./runs, or `last`.")]


def say(text: str = "") -> None:
    """Print status to stderr."""
    print(text, file=sys.stderr, flush=True)


def put(text: str) -> None:
    """Print data to stdout."""
    print(text, flush=True)


def put_json(value: Any) -> None:
    """Print one JSON document to stdout."""
    print(json.dumps(value, indent=2, ensure_ascii=False), flush=True)


def reporting(command: Callable[P, int | None]) -> Callable[P, None]:
    """Turn a command's return value into the exit code, and an expected failure into a message and its code."""

    @wraps(command)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        try:
            code = command(*args, **kwargs)
        except QodebaseError as error:
            say(f"error: {error.message}")
            if error.hint:
                say(f"  {error.hint}")
            raise typer.Exit(error.exit_code) from None
        except BrokenPipeError:
            sys.stderr.close()
            raise typer.Exit(141) from None
        raise typer.Exit(code or 0)

    return run
