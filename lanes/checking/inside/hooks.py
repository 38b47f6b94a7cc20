"""The plugin with which pytest runs the tests of several checks, and no others, in one session."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from lanes.checking.inside.together import Together


class Hooks:
    """Tells what is going on. Whole files are collected, so that a test that is not there stops no other one."""

    def __init__(self, together: Together) -> None:
        self._together = together

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        items[:] = [item for item in items if self._together.selections.chosen(item.nodeid)]

    @pytest.hookimpl(hookwrapper=True)
    def pytest_make_collect_report(self, collector: Any) -> Iterator[None]:
        if collector.nodeid.endswith(".py"):
            with self._together.collecting(collector.nodeid):
                yield
        else:
            yield

    def pytest_collectreport(self, report: Any) -> None:
        if report.failed:
            text = report.longreprtext
            self._together.reporter.write(test=report.nodeid, outcome="failed", text=text, importing=True)

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_protocol(self, item: Any) -> Iterator[None]:
        self._together.begin(item.nodeid)
        yield
        self._together.end()

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_call(self) -> Iterator[None]:
        self._together.leftovers.begin()
        yield
        self._together.leftovers.end()

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtestloop(self) -> Iterator[None]:
        # Warnings are shown with their source, between tests.
        with self._together.aside():
            yield

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_makereport(self) -> Iterator[None]:
        # A failure is shown with its source.
        with self._together.aside():
            yield

    def pytest_runtest_logreport(self, report: Any) -> None:
        self._together.reporter.pytest_runtest_logreport(report)
        if report.failed and report.when == "teardown":
            self._together.reporter.write(shaken=report.nodeid)
