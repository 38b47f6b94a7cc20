"""Sessions that start from what was made ready are like any other."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from checking_world import CheckingWorld

from qodebase.check import Check

SHOWS = b"""
def named(plugins):
    return ["by its identity" if name.isdigit() else name for name in plugins]

def test_shows(request, pytestconfig, tmp_path, here):
    manager = request.session._fixturemanager
    for name, found in sorted(manager._arg2node2fixturedefs.items()):
        for node, definitions in found.items():
            where = type(node).__name__
            print(name, where, [(one.scope, one.func.__module__, one.func.__qualname__) for one in definitions])
    for node, names in manager._node_autousenames.items():
        print(type(node).__name__, names)
    print(named(name for name, _ in pytestconfig.pluginmanager.list_name_plugin()))
    for hook in sorted(vars(pytestconfig.hook)):
        if hook.startswith("pytest_"):
            print(hook, named(one.plugin_name for one in getattr(pytestconfig.hook, hook).get_hookimpls()))
    print(sorted(vars(pytestconfig.option).items()), pytestconfig.invocation_params)
"""
CONFTEST = b"""
import _pytest.capture
import _pytest.mark
import _pytest.setuponly
import pytest

@pytest.fixture
def here():
    return 1

_pytest.capture.put_there = here
_pytest.mark.put_there_too = here
_pytest.setuponly.annotations = here
"""
SESSION = """
import os, sys
sys.path.insert(0, {root!r})
sys.dont_write_bytecode = True
import pytest
from lanes.checking.inside.tests import _QUIET, warm_up
if {ready}:
    warm_up()
sys.exit(pytest.main([*_QUIET, "-s", "--rootdir", os.getcwd(), "--", "test_shows.py"]))
"""
FILES = {
    b"conftest.py": CONFTEST,
    b"test_shows.py": SHOWS,
    b"test_put.py": (
        b"def test_put(put_there, put_there_too, annotations):\n"
        b"    assert put_there == put_there_too == annotations == 1\n"
    ),
    b"test_inner.py": (
        b"import pytest\n\ndef test_inner(tmp_path):\n"
        b"    (tmp_path / 'test_a.py').write_text('def test_a(tmp_path): pass')\n"
        b"    assert pytest.main(['-q', '-p', 'no:cacheprovider', str(tmp_path)]) == 0\n"
    ),
    b"ini/pytest.ini": b"[pytest]\naddopts = -p no:logging\n",
    b"ini/test_ini.py": (
        b"def test_ini(pytestconfig):\n    assert not pytestconfig.pluginmanager.hasplugin('logging')\n"
        b"    assert pytestconfig.getini('addopts') == ['-p', 'no:logging']\n"
    ),
}


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory, sandboxed: None) -> Iterator[CheckingWorld]:
    with CheckingWorld(tmp_path_factory.mktemp("ready") / "repo.git", FILES) as made:
        yield made


def test_a_session_has_the_same_plugins_hooks_fixtures_and_options(tmp_path: Path) -> None:
    root = str(Path(__file__).parents[3])
    for name in (b"conftest.py", b"test_shows.py"):
        (tmp_path / name.decode()).write_bytes(FILES[name])
    shown = []
    for ready in (False, True):
        script = SESSION.format(root=root, ready=ready)
        done = subprocess.run(
            [sys.executable, "-I", "-c", script], cwd=tmp_path, capture_output=True, text=True, check=True
        )
        shown.append([line for line in done.stdout.splitlines() if not line.endswith(("s", "[100%]"))])
    assert len(shown[0]) > 80
    assert shown[0] == shown[1]


@pytest.mark.parametrize("path", ["test_put.py", "test_inner.py", "ini/test_ini.py"])
def test_what_the_tree_changes_about_its_session_counts(world: CheckingWorld, path: str) -> None:
    found = world.judge_one(Check(tests=(path,)), {b"other.txt": b"1"})
    assert (found.failed, found.output) == ((), "")
