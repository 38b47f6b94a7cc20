"""Fixtures of the tests from end to end; what they are built of stands in ``world``."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from world import Shell, make_codebase, make_small


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    """A shell in a fresh folder."""
    return Shell(tmp_path)


@pytest.fixture(scope="session")
def codebase(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The codebase; nobody may change it."""
    return make_codebase(tmp_path_factory.mktemp("codebase") / "code")


@pytest.fixture(scope="session")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository of three files; nobody may change it."""
    return make_small(tmp_path_factory.mktemp("small") / "code")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A fresh current folder, with no key and no settings of the machine in reach."""
    monkeypatch.chdir(tmp_path)
    for name in [name for name in os.environ if name.endswith("_API_KEY")]:
        monkeypatch.delenv(name)
    for name, value in Shell(tmp_path).environment.items():
        monkeypatch.setenv(name, value)
    return tmp_path
