"""The command line: an app made of the files of `qodebase.commands`, each of which adds its own command."""

from __future__ import annotations

import os
import signal
import sys
import warnings
from io import TextIOWrapper
from typing import Annotated

import typer
from typer.exceptions import TyperException

from qodebase.commands.support.found import FoundCommands

_HELP = (
    "Run thousands of cheap-model agents on one codebase, and land their work on main by itself. "
    "A RUN is a run's folder, its name in ./runs, or `last`."
)


class Commands(FoundCommands):
    """Every module or package of `qodebase.commands` but ``support``."""

    package = "qodebase.commands"


def make_app() -> typer.Typer:
    """Return the app with every command."""
    app = typer.Typer(
        cls=Commands,
        help=_HELP,
        no_args_is_help=True,
        add_completion=False,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
    )
    app.callback()(_root)
    return app


def main() -> None:
    """Run the command line on ``sys.argv`` and exit.

    Expected failures say what to do and have their exit codes; a bug shows its traceback and exits with 1. A reader
    that closes the pipe ends the output and shows no error.
    """
    _unwind_when_ended()
    _fill_closed_streams()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    # Of code that models write it is judged whether it compiles; what is odd in it is no news of this program.
    warnings.filterwarnings("ignore", category=SyntaxWarning)
    try:
        code = make_app()(prog_name="qodebase", standalone_mode=False)
        raise SystemExit(code or 0)
    except TyperException as misused:
        raise SystemExit(_tell_misuse(misused)) from None
    except KeyboardInterrupt:
        raise SystemExit(130) from None
    except Exception as error:
        from qodebase.commands.support.console import OUTPUT
        from qodebase.commands.support.disk import refusal_of

        if isinstance(error, OSError) and error.filename is None:
            error.filename = OUTPUT
        if isinstance(error, OSError) and (refusal := refusal_of(error)) is not None:
            print(f"error: {refusal.message}", file=sys.stderr)
            raise SystemExit(refusal.exit_code) from None
        import traceback

        print(_without_keys(traceback.format_exc()), end="", file=sys.stderr)
        from qodebase.installed import somebodys_line

        where = somebodys_line(error)
        ours = f"This is a bug in qodebase {_version()}. {_where_to_report()}"
        print(f"\n{f'This comes from {where}, which is no part of qodebase.' if where else ours}", file=sys.stderr)
        raise SystemExit(1) from None
    finally:
        # All is safe by now: one more Ctrl-C need not wait for threads, nor tell of them.
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            if signal.getsignal(number) is signal.default_int_handler:
                signal.signal(number, signal.SIG_DFL)


def _unwind_when_ended() -> None:
    """Let SIGTERM, and a terminal that closes, unwind like Ctrl-C where no loop drains: nothing half made may stay.

    What is to outlive its terminal (`nohup`) does.
    """
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    if signal.getsignal(signal.SIGHUP) is signal.SIG_DFL:
        signal.signal(signal.SIGHUP, signal.default_int_handler)


def _tell_misuse(error: TyperException) -> int:
    """Say what is wrong with the words of a command, as a document too where one is asked for; return the exit code."""
    error.show()  # type: ignore[attr-defined]
    if "--json" in sys.argv:
        from qodebase.commands.support.console import put_json

        hint = "`--help` after the command says what it takes."
        put_json({"error": error.format_message(), "hint": hint, "exit_code": error.exit_code})
    return error.exit_code


def _fill_closed_streams() -> None:
    """Let standard streams that a caller has closed lead nowhere.

    Else the next file opened, a journal say, would get the number of one, and what anybody prints would go into it.
    """
    while (opened := os.open(os.devnull, os.O_RDWR)) <= 2:
        os.set_inheritable(opened, True)
    os.close(opened)
    sys.stdin = sys.stdin or open(0, closefd=False)  # noqa: SIM115
    sys.stdout = sys.stdout or open(1, "w", closefd=False)  # noqa: SIM115
    sys.stderr = sys.stderr or open(2, "w", closefd=False)  # noqa: SIM115


def _without_keys(text: str) -> str:
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
