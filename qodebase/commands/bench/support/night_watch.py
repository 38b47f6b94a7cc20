"""Take a night, and leave its files whatever happens to it."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from qodebase.commands.bench.support import night_child, night_files
from qodebase.commands.bench.support.night import Looking, Night, Row
from qodebase.commands.support.environment import environment
from qodebase.errors import QodebaseError
from results.nightly import ALARMS, Verdict, worst
from results.nightly_history import History, machine_class, read_history
from results.nightly_plan import plan, watched_benches

_INTERRUPTED = 130


class NoArtifacts(QodebaseError):
    """A folder that the night's files cannot be written to."""


class UnknownFigure(QodebaseError):
    """A figure to accept that no bench of this night has."""


@dataclass(slots=True, kw_only=True)
class Watch:
    """A night with its history and its files.

    Attributes:
        baseline, artifacts: the folders of the history and of the files.
        seconds: how long the night may take.
        only: the benches to take; empty: all.
        accepted: figures, as ``bench.figure``, whose level of tonight is the new usual one.
        strict: exit with 1 also for what is inconclusive.
        look: how a bench is run.
        environment: what the night is taken with and on; empty: found out.
    """

    baseline: Path
    artifacts: Path
    seconds: float
    only: tuple[str, ...] = ()
    accepted: frozenset[str] = frozenset()
    strict: bool = False
    look: Looking = night_child.look
    environment: Mapping[str, Any] = field(default_factory=dict)
    _began: float = field(default_factory=time.monotonic)
    _night: Night | None = None
    _history: History | None = None
    _error: str = ""
    _code: int = 0

    def keep(self, heard: Callable[[str], None]) -> dict[str, Any]:
        """Take the night, and return what its results.json says.

        Raises:
            NoArtifacts: the folder for its files cannot be written to.
            QodebaseError: the night could not be taken, or its history not be kept; the files say so too.
        """
        try:
            self._write()
            self._take(heard)
        except KeyboardInterrupt:
            heard("stopped; what was measured is kept")
        except QodebaseError as fault:
            self._error, self._code = fault.message, fault.exit_code
            raise
        except Exception as fault:
            self._error, self._code = f"a bug: {type(fault).__name__}", 1
            raise
        finally:
            with _undisturbed():
                results = self._finish()
        return results

    def _take(self, heard: Callable[[str], None]) -> None:
        benches = watched_benches(self.only)
        known = {f"{one.name}.{figure.name}" for one in benches for figure in one.figures}
        if unknown := sorted(self.accepted - known):
            raise UnknownFigure(f"no figure {unknown[0]!r} to accept", hint=f"There are {', '.join(sorted(known))}.")
        self._history = read_history(self.baseline)
        self._night = Night(
            planned=plan(benches, self.seconds),
            history=self._history,
            machine=machine_class(self.environment),
            seconds=self.seconds,
            accepted=self.accepted,
        )

        def hear(text: str) -> None:
            if text:
                heard(text)
            self._write()

        self._write()
        self._night.take(self.look, hear)

    def _finish(self) -> dict[str, Any]:
        if self._night is not None and self._history is not None:
            try:
                commit = self.environment["product_commit"]
                self._history.add(self._night.past_nights(at=self.environment["at"], commit=commit))
            except QodebaseError as fault:
                self._error, self._code = fault.message, fault.exit_code
                self._write()
                raise
        return self._write()

    def _write(self) -> dict[str, Any]:
        self.environment = self.environment or environment()
        results = self._results()
        try:
            self.artifacts.mkdir(parents=True, exist_ok=True)
            night_files.write_all(self.artifacts, results, self.environment)
        except OSError as fault:
            raise NoArtifacts(f"{self.artifacts}: {fault.strerror}", hint="Give another --artifacts.") from None
        return results

    def _results(self) -> dict[str, Any]:
        rows = list(self._night.rows()) if self._night else []
        verdict = worst([row.judgement.verdict for row in rows])
        stopped = self._night is None or not self._night.ended
        return {
            "verdict": str(verdict),
            "exit_code": self._exit_code(verdict, stopped=stopped),
            "stopped": stopped,
            "error": self._error,
            "at": self.environment["at"],
            "machine": machine_class(self.environment),
            "commit": self.environment["product_commit"],
            "time_budget_s": self.seconds,
            "seconds": round(time.monotonic() - self._began, 1),
            "unreadable": self._history.unreadable if self._history else 0,
            "looks": {
                bench: [round(look.seconds, 1) for look in looks]
                for bench, looks in (self._night.looks if self._night else {}).items()
            },
            "rows": [_plain(row) for row in rows],
        }

    def _exit_code(self, verdict: Verdict, *, stopped: bool) -> int:
        if self._error:
            return self._code
        if stopped:
            return _INTERRUPTED
        return int(verdict in ALARMS or (self.strict and verdict is Verdict.INCONCLUSIVE))


def _plain(row: Row) -> dict[str, Any]:
    figure = asdict(row.figure)
    figure["figure"] = figure.pop("name")
    judgement = asdict(row.judgement)
    plain = {"verdict": str(row.judgement.verdict), "values": list(row.judgement.values), "simulated": row.simulated}
    return {"bench": row.bench, "size": row.size, **figure, **judgement, **plain}


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Let nobody interrupt the block: what it writes takes no time worth it."""
    signals = (signal.SIGINT, signal.SIGTERM)
    before = [signal.signal(one, signal.SIG_IGN) for one in signals]
    try:
        yield
    finally:
        for one, handler in zip(signals, before, strict=True):
            signal.signal(one, handler)
