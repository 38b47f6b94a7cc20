"""What tests write about themselves, a line of JSON each."""

from __future__ import annotations

import json
import os
from typing import Any


class Reporter:
    """A pytest plugin that writes what happened as it happens, so that a crash says which test it was in."""

    def __init__(self, report: int) -> None:
        self._report = report

    def write(self, **words: Any) -> None:
        """Write a line."""
        line = memoryview(json.dumps(words).encode() + b"\n")
        while line:
            line = line[os.write(self._report, line) :]

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self.write(begin=nodeid)

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.when == "call" or not report.passed:
            outcome = "xfailed" if report.skipped and hasattr(report, "wasxfail") else report.outcome
            self.write(test=report.nodeid, outcome=outcome, text=report.longreprtext if report.failed else "")

    def pytest_collectreport(self, report: Any) -> None:
        if report.failed:
            self.write(test=report.nodeid, outcome="failed", text=report.longreprtext)
