"""The folder of a new run: one process alone makes it, and nothing stays of it where that fails."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from qodebase.errors import QodebaseError
from qodebase.runs import RunExists, RunFolder, RunHeld

_LOCK = "lock"
_SETTINGS = "settings.json"
_BEGUN = {_LOCK, _SETTINGS + ".part", "environment.json", "intents.jsonl", "repo.git"}
"""What a start that is killed may leave behind."""


class NoFolder(QodebaseError):
    """A run folder that cannot be made."""


@contextmanager
def made(out: Path, *, numbered: bool = False) -> Iterator[RunFolder]:
    """Make a run folder and hold it until what it is to have stands in it.

    Args:
        numbered: the name ends with a number that was free a moment ago; where it is taken by now, so is the next one.

    Raises:
        RunExists: there is something already, or another process makes it.
        NoFolder: it cannot be written.
    """
    with ExitStack() as held:
        folder = _taken(out, held, numbered=numbered)
        try:
            yield folder
        except BaseException as error:
            shutil.rmtree(folder.root, ignore_errors=True)
            if isinstance(error, OSError):
                why = f"the run folder {folder.root} cannot be written: {error.strerror}"
                raise NoFolder(why, hint="Make room, or give another folder with --out.") from None
            raise


def _taken(out: Path, held: ExitStack, *, numbered: bool) -> RunFolder:
    while True:
        try:
            folder = RunFolder.create(out)
            held.enter_context(folder.locked())
            # Another process may have made all of it since it was looked at.
            if [entry.name for entry in out.iterdir()] == [_LOCK]:
                return folder
        except (RunExists, RunHeld):
            pass
        except OSError as error:
            why = f"the run folder {out} cannot be made: {error.strerror}"
            raise NoFolder(why, hint="Give another one with --out.") from None
        held.close()
        if not numbered:
            raise _exists(out)
        out = _next(out)


def _exists(out: Path) -> RunExists:
    """Return that a folder is taken, with what can be done about it."""
    folder = RunFolder(out)
    message = f"{out} exists already"
    if (out / _SETTINGS).is_file():
        again = f"`qodebase resume {folder.called}`"
        return RunExists(message, hint=f"Go on with it: {again}; or give another folder with --out.")
    if out.is_dir() and (holder := folder.holder()):
        return RunExists(f"{out} is being made by {holder}", hint="Give another folder with --out.")
    if out.is_dir() and {entry.name for entry in out.iterdir()} <= _BEGUN:
        hint = "It holds no run, but a start that was cut off: remove it, or give another folder with --out."
        return RunExists(message, hint=hint)
    return RunExists(message, hint="It holds no run: give another folder with --out.")


def _next(out: Path) -> Path:
    """Return the path with the number at its end raised by one.

    >>> _next(Path("runs/document-code-9"))
    PosixPath('runs/document-code-10')
    """
    return out.with_name(re.sub(r"\d+$", lambda number: str(int(number[0]) + 1), out.name))
