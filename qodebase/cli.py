"""The command line: an app made of the files of `qodebase.commands`, each of which adds its own command."""

from __future__ import annotations

import importlib
import signal
import sys
from io import TextIOWrapper
from pathlib import Path
from typing import Annotated

import typer

import qodebase.commands

_HELP = (
    "Run thousands of cheap-model agents on one codebase, and land their work on main by itself. "
    "A RUN is a run's folder, its name in ./runs, or `last`."
)


def make_app() -> typer.Typer:
    """Return the app with every command: a module or package of `qodebase.commands` with ``register(app)``."""
    app = typer.Typer(
        help=_HELP,
        no_args_is_help=True,
        add_completion=False,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
    )
    app.callback()(_root)
    for name in _command_modules():
        importlib.import_module(f"qodebase.commands.{name}").register(app)
    return app


def _command_modules() -> list[str]:
    """Return the modules that add a command, and the packages that add a group of them."""
    folder = Path(qodebase.commands.__path__[0])
    files = [file.stem for file in folder.glob("*.py") if file.stem != "__init__"]
    groups = [file.parent.name for file in folder.glob("*/__init__.py") if file.parent.name != "support"]
    return sorted(files + groups)


def main() -> None:
    """Run the command line on ``sys.argv`` and exit.

    Expected failures say what to do and have their exit codes; a bug shows its traceback and exits with 1. A reader
    that closes the pipe ends the output and shows no error.
    """
    # Without a loop that drains, SIGTERM must unwind like Ctrl-C, so that nothing half made stays.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    try:
        make_app()(prog_name="qodebase")
    except KeyboardInterrupt:
        raise SystemExit(130) from None
    except Exception as error:
        from qodebase.commands.support.disk import refusal_of

        if isinstance(error, OSError) and (refusal := refusal_of(error)) is not None:
            print(f"error: {refusal.message}", file=sys.stderr)
            raise SystemExit(refusal.exit_code) from None
        import traceback

        print(_without_keys(traceback.format_exc()), end="", file=sys.stderr)
        print(f"\nThis is a bug in qodebase {_version()}. {_where_to_report()}", file=sys.stderr)
        raise SystemExit(1) from None


def _without_keys(text: str) -> str:
    import os

    from fleet.scrub import Scrub, keys_in

    return Scrub(keys_in(os.environ))(text)


def _show_version(asked: bool) -> None:
    if asked:
        typer.echo(f"qodebase {_version()}")
        raise typer.Exit


def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    pass


def _version() -> str:
    from importlib.metadata import version

    return version("qodebase")


def _where_to_report() -> str:
    from importlib.metadata import metadata

    addresses = [entry.partition(", ")[2] for entry in metadata("qodebase").get_all("Project-URL") or ()]
    where = f" at {addresses[0]}" if addresses else " to its maintainers"
    return f"Please report it{where}, with the lines above and the command."
