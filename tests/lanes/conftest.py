"""Makes ``lane_world`` importable and gives each test a world of its own."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from lane_world import World


@pytest.fixture
def world(tmp_path: Path) -> Iterator[Callable[..., World]]:
    """Return a builder of worlds: ``world({path: content}, **more)``."""
    with ExitStack() as held:

        def make(files: dict[bytes, bytes], **more: Any) -> World:
            number = len(list(tmp_path.iterdir()))
            return held.enter_context(World(tmp_path / f"world-{number}", files, **more))

        yield make
