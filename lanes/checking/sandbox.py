"""Where checks run: what they see, who they are, and whether this machine can hold them."""

from __future__ import annotations

import asyncio
import os
import pwd
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from lanes.checking.space import space_for_checks
from lanes.checking.warm import NotStarted, Request, Warm
from qodebase.check import Limits


@dataclass(frozen=True, slots=True, kw_only=True)
class Sandbox:
    """How checks are held.

    Attributes:
        on: with namespaces, limits and a user of their own; else only limits.
        hide: folders that look empty to checks, beside `/tmp`, `/run` and the user's home.
        keep: folders in hidden ones that checks see all the same, beside Python's own.
        python: the interpreter that runs tests.
        preload: modules that it loads before the first check.
        bytecode: a folder for compiled modules that only the sandbox writes; None: nothing is kept.
    """

    on: bool = True
    hide: tuple[Path, ...] = ()
    keep: tuple[Path, ...] = ()
    python: str = sys.executable
    preload: tuple[str, ...] = ()
    bytecode: Path | None = None

    @property
    def hidden(self) -> list[str]:
        """Return every folder that looks empty."""
        return [str(path) for path in (*self.hide, *_homes())]

    @property
    def kept(self) -> list[str]:
        """Return every folder that stays visible."""
        return [str(path) for path in self.keep]


def _homes() -> list[Path]:
    """Return the user's home by the environment and by the system; ``/``, which some containers name, is none."""
    found = []
    with suppress(RuntimeError):
        found.append(Path.home())
    with suppress(KeyError):
        found.append(Path(pwd.getpwuid(os.getuid()).pw_dir))
    return [path for path in found if path.is_absolute() and path != Path("/")]


def available(python: str = sys.executable) -> str:
    """Try to hold a command; return why this machine cannot, or the empty text. May take a second."""

    async def tried(folder: Path) -> str:
        warm = Warm(Sandbox(keep=(folder,), python=python))
        try:
            outcome = await warm.run(Request(folder=folder, command=("/bin/sh", "-c", "exit 7"), limits=Limits()))
        except NotStarted as error:
            return error.message
        finally:
            await warm.close()
        return "" if outcome.exit == 7 else outcome.why or outcome.output or f"a try ended with {outcome.exit}"

    with space_for_checks() as folder, ThreadPoolExecutor(max_workers=1) as thread:
        return thread.submit(asyncio.run, tried(folder)).result()
