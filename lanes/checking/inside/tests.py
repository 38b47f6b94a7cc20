"""Tests run by pytest in a process that has it loaded: each outcome is reported, and what was read."""

from __future__ import annotations

import io
import json
import os
import shutil
import sys
import tempfile
from contextlib import redirect_stderr, redirect_stdout
from typing import Any

from lanes.checking.inside.reads import Reads

_QUIET = ["-q", "--no-header", "--color=no", "--tb=short", "-p", "no:cacheprovider"]
_OURS = ("lanes", "qodebase")
_SETTINGS = {
    "pytest.ini": "",
    ".pytest.ini": "",
    "pytest.toml": "",
    ".pytest.toml": "",
    "pyproject.toml": "[tool.pytest",
    "tox.ini": "[pytest]",
    "setup.cfg": "[tool:pytest]",
}


def warm_up() -> None:
    """Let pytest load what it loads late: it runs one test that does nothing."""
    import pytest

    modules, path, folder = set(sys.modules), list(sys.path), os.getcwd()
    space = tempfile.mkdtemp()
    try:
        os.chdir(space)
        with open("test_nothing.py", "w") as out:
            out.write("def test_nothing(tmp_path, capsys, monkeypatch):\n    assert 1 == 1\n")
        with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
            pytest.main([*_QUIET, "-c", os.devnull, "--rootdir", space, "--basetemp", f"{space}/tmp", space])
    finally:
        os.chdir(folder)
        shutil.rmtree(space, ignore_errors=True)
        sys.path[:] = path
        for name in set(sys.modules) - modules:
            if name.startswith(("test_nothing", "conftest")):
                del sys.modules[name]


def run_tests(folder: str, selection: list[str], report: int) -> int:
    """Run tests and write what happened, a line of JSON each, to a file descriptor; return pytest's exit code."""
    import pytest

    for name in list(sys.modules):
        if name.partition(".")[0] in _OURS:
            del sys.modules[name]
    tempfile.tempdir = None
    sys.dont_write_bytecode = True
    sys.path.insert(0, folder)
    sys.argv = ["pytest"]
    with open(report, "w") as out:
        reporter = _Reporter(out)
        reads = Reads(folder)
        sys.addaudithook(reads.hear)
        settings = [] if _has_settings(folder, selection) else ["-c", os.devnull]
        arguments = [*_QUIET, *settings, "--rootdir", folder, "--confcutdir", folder, "--", *selection]
        code = int(pytest.main(arguments, plugins=[reporter]))
        sys.stdout.flush()
        sys.stderr.flush()
        reporter.write(done=code, read=reads.found())
    return code


class _Reporter:
    """A pytest plugin that writes what happened as it happens, so that a crash says which test it was in."""

    def __init__(self, out: io.TextIOBase) -> None:
        self._out = out

    def write(self, **words: Any) -> None:
        self._out.write(json.dumps(words) + "\n")
        self._out.flush()

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self.write(begin=nodeid)

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.when == "call" or not report.passed:
            outcome = "xfailed" if report.skipped and hasattr(report, "wasxfail") else report.outcome
            self.write(test=report.nodeid, outcome=outcome, text=report.longreprtext if report.failed else "")

    def pytest_collectreport(self, report: Any) -> None:
        if report.failed:
            self.write(test=report.nodeid, outcome="failed", text=report.longreprtext)


def _has_settings(folder: str, selection: list[str]) -> bool:
    """Return whether the tree has settings for pytest, which else would look for some in the folders above."""
    paths = [os.path.join(folder, *one.partition("::")[0].split("/")) for one in selection]
    at = os.path.commonpath(paths)
    at = at if os.path.isdir(at) else os.path.dirname(at)
    while at == folder or at.startswith(folder + "/"):
        for name, mark in _SETTINGS.items():
            try:
                with open(os.path.join(at, name), encoding="utf-8", errors="replace") as text:
                    if mark in text.read():
                        return True
            except OSError:
                continue
        at = os.path.dirname(at)
    return False
