"""What every command prints: data to stdout, status and errors to stderr, JSON on demand."""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import wraps
from typing import Annotated, Any, ParamSpec

import typer

from qodebase.commands.support.disk import refusal_of
from qodebase.errors import QodebaseError

P = ParamSpec("P")

OUTPUT = "the output"

Json = Annotated[bool, typer.Option("--json", help="Print JSON for scripts, and nothing else, to stdout.")]
RunName = Annotated[str, typer.Argument(metavar="RUN", help="A run's folder, its name in ./runs, or `last`.")]


def say(text: str = "") -> None:
    """Print status to stderr; where nobody reads it any more it is lost, and what it tells of goes on."""
    # A run is drained, and an order obeyed, also after the `tee` behind it has gone.
    with contextlib.suppress(OSError, ValueError):
        print(text, file=sys.stderr, flush=True)


def put(text: str) -> None:
    """Print data to stdout.

    Raises:
        OSError: it cannot be printed; its file is `OUTPUT`.
    """
    with to_output():
        print(text, flush=True)


@contextlib.contextmanager
def to_output() -> Iterator[None]:
    """Give an error of the system in writing to stdout `OUTPUT` as its file."""
    try:
        yield
    except OSError as error:
        error.filename = OUTPUT
        raise


def put_json(value: Any) -> None:
    """Print one JSON document to stdout, in ASCII where stdout is no UTF-8."""
    encoding = (getattr(sys.stdout, "encoding", None) or "utf-8").lower().replace("-", "")
    put(json.dumps(value, indent=2, ensure_ascii=encoding != "utf8"))


def reporting(command: Callable[P, int | None]) -> Callable[P, None]:
    """Turn a command's return value into the exit code, and an expected failure into a message and its code.

    With ``json`` a failure is a JSON document on stdout too: ``error``, ``hint``, ``exit_code``.
    """

    @wraps(command)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        try:
            try:
                code = command(*args, **kwargs)
            except QodebaseError as error:
                code = _told(error, json=_wants_json(kwargs))
            except OSError as error:
                refusal = refusal_of(error)
                if refusal is None:
                    raise
                code = _told(refusal, json=_wants_json(kwargs) and error.filename != OUTPUT)
        except BrokenPipeError:
            sys.stderr.close()
            raise typer.Exit(141) from None
        raise typer.Exit(code or 0)

    return run


def _wants_json(given: Mapping[str, Any]) -> bool:
    """Return whether a command was given ``json``, read or still a word."""
    return bool(given.get("json")) or "--json" in (given.get("arguments") or ())


def _told(error: QodebaseError, *, json: bool) -> int:
    """Tell a failure and return its exit code."""
    say(f"error: {error.message}")
    if error.hint:
        say(f"  {error.hint}")
    if json:
        put_json({"error": error.message, "hint": error.hint, "exit_code": error.exit_code})
    return error.exit_code
