"""What tests write about themselves, a line of JSON each."""

from __future__ import annotations

import json
import os
from json.encoder import encode_basestring_ascii as quoted
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lanes.checking.inside.tally import Mark


class Reporter:
    """A pytest plugin that writes what happened as it happens, so that a crash says which test it was in."""

    def __init__(self, report: int, mark: Mark) -> None:
        self._report = report
        self._mark = mark

    def begin(self, name: str) -> None:
        """Say which test or file is at work from now on; the last one is in the report."""
        self._mark.set(f'{{"begin": {quoted(name)}}}'.encode())

    def write(self, **words: Any) -> None:
        """Write a line."""
        line = memoryview(json.dumps(words).encode() + b"\n")
        while line:
            line = line[os.write(self._report, line) :]

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self.begin(nodeid)

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.when == "call" or not report.passed:
            outcome = "xfailed" if report.skipped and hasattr(report, "wasxfail") else report.outcome
            self.write(test=report.nodeid, outcome=outcome, text=report.longreprtext if report.failed else "")

    def pytest_collectreport(self, report: Any) -> None:
        if report.failed:
            self.write(test=report.nodeid, outcome="failed", text=report.longreprtext)
