"""Makes ``dial_world`` importable, and a world of two functions that most tests begin with."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from dial_world import World

ONE_AND_TWO = """LIMIT = 9


def one():
    return 1


def between():
    return "between"


def two():
    return 2
"""


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    """Give a run whose code is two functions that return 1 and 2, and a third between them; nothing happened yet."""
    files = {"shop/__init__.py": "", "shop/a.py": ONE_AND_TWO, "shop/b.py": "def far():\n    return 0\n"}
    world = World(tmp_path / "run", files)
    yield world
    world.close()
