"""Tests run by pytest in a process that has it loaded: each outcome is reported, and what was read."""

from __future__ import annotations

import inspect
import io
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout

from lanes.checking.inside.imports import hear_loading_of_tests
from lanes.checking.inside.reads import Reads
from lanes.checking.inside.reporter import Reporter
from lanes.checking.inside.setting import has_settings, heard
from lanes.checking.inside.together import Together

_QUIET = ["-q", "--no-header", "--color=no", "--tb=short", "-p", "no:cacheprovider"]


def warm_up() -> None:
    """Let pytest load what it loads late: it runs one test that does nothing."""
    import pytest

    # What is loaded after the walls are up may not be found.
    from lanes.checking.inside import hooks  # noqa: F401
    from lanes.checking.inside.plugins import remember
    from lanes.checking.inside.ready import getting_ready

    remember()
    modules, path, folder = set(sys.modules), list(sys.path), os.getcwd()
    space = tempfile.mkdtemp()
    try:
        os.chdir(space)
        with open("test_nothing.py", "w") as out:
            out.write("def test_nothing(tmp_path, capsys, monkeypatch):\n    assert 1 == 1\n")
        with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()), getting_ready(_QUIET):
            pytest.main([*_QUIET, "-c", os.devnull, "--rootdir", space, "--basetemp", f"{space}/tmp", space])
    finally:
        os.chdir(folder)
        shutil.rmtree(space, ignore_errors=True)
        sys.path[:] = path
        for name in set(sys.modules) - modules:
            if name.startswith(("test_nothing", "conftest")):
                del sys.modules[name]
    # The first question where some code belongs looks at every module; failures are shown with their code.
    inspect.getmodule(warm_up.__code__)


def run_tests(folder: str, selection: list[str], reporter: Reporter) -> int:
    """Run tests and report what happened; return pytest's exit code."""
    with _heard(folder) as reads:
        code = _run_pytest(folder, selection, [reporter])
        reporter.write(done=code, read=reads.found())
    return code


def run_together(folder: str, checks: list[list[str]], reporter: Reporter) -> int:
    """Do the same with several selections in one session; what was read is told for each."""
    from lanes.checking.inside.hooks import Hooks

    with _heard(folder) as reads:
        together = Together(checks, reporter, reads)
        hear_loading_of_tests(reads)
        code = _run_pytest(folder, together.selections.paths, [Hooks(together)], "--continue-on-collection-errors")
        together.done(code)
    return code


@contextmanager
def _heard(folder: str) -> Iterator[Reads]:
    from lanes.checking.inside.plugins import remembered_only_harmless

    with heard(folder) as reads:
        # Plugins may do for a test what it does not ask for by an import.
        if reads.unheard_before and not remembered_only_harmless():
            reads.all_may_be_read()
        yield reads


def _run_pytest(folder: str, selection: list[str], plugins: list[object], *more: str) -> int:
    import pytest

    settings = [] if has_settings(folder, selection) else ["-c", os.devnull]
    arguments = [*_QUIET, *more, *settings, "--rootdir", folder, "--confcutdir", folder, "--", *selection]
    return int(pytest.main(arguments, plugins=plugins))
