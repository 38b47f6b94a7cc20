"""Run a bench in a process of its own, that a deadline or an interrupt ends with all its children."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_CALL = "from qodebase.cli import main; main()"
_GRACE_S = 5.0
_MOST_SAID = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """One run of a bench.

    Attributes:
        answer: what it measured; empty: it did not come to its end.
        late: it was ended because its time was over.
        why: what it said when it failed, without keys.
        seconds: how long it took.
    """

    seconds: float
    answer: dict[str, Any]
    late: bool = False
    why: str = ""


def look(bench: str, words: Sequence[str], *, seconds: float) -> Look:
    """Run a bench for so many seconds at most, in a scratch folder that is gone afterwards."""
    space = Path(tempfile.mkdtemp(prefix="qodebase-nightly-"))
    began = time.monotonic()
    try:
        with open(space / "answer", "wb") as out, open(space / "said", "wb") as said:
            process = subprocess.Popen(
                [sys.executable, "-c", _CALL, "bench", bench, *words, "--json"],
                cwd=space,
                env={**os.environ, "TMPDIR": str(space)},
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=said,
                start_new_session=True,
            )
            try:
                code = process.wait(timeout=seconds)
            except subprocess.TimeoutExpired:
                return Look(seconds=time.monotonic() - began, answer={}, late=True)
            finally:
                _end(process)
        return _told(space, code, time.monotonic() - began)
    finally:
        shutil.rmtree(space, ignore_errors=True)


def _told(space: Path, code: int, seconds: float) -> Look:
    if code:
        return Look(seconds=seconds, answer={}, why=f"ended with {code}: {_last_words(space / 'said')}")
    try:
        answer = json.loads((space / "answer").read_bytes())
    except ValueError:
        answer = None
    if not isinstance(answer, dict):
        return Look(seconds=seconds, answer={}, why="its answer is not JSON")
    return Look(seconds=seconds, answer=answer)


def _last_words(file: Path) -> str:
    """Return the error of a bench: its last line that says one, or its last line, without keys."""
    from fleet.scrub import Scrub, keys_in

    lines = [line.strip() for line in file.read_text(errors="replace").splitlines() if line.strip()]
    named = [line for line in lines if line.startswith("error: ")]
    words = next(reversed(named or lines), "no word")
    return Scrub(keys_in(os.environ))(words)[:_MOST_SAID]


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a bench and what it has started; it may tidy up for a moment."""
    if process.poll() is None:
        _tell_all(process.pid, signal.SIGTERM)
        with suppress(subprocess.TimeoutExpired):
            process.wait(timeout=_GRACE_S)
    _tell_all(process.pid, signal.SIGKILL)
    process.wait()


def _tell_all(group: int, what: signal.Signals) -> None:
    with suppress(ProcessLookupError):
        os.killpg(group, what)
