"""Makes ``checking_world`` importable, and tells tests whether this machine can hold checks."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from lanes.checking.sandbox import available


@pytest.fixture(scope="session")
def sandboxed() -> None:
    """Skip where there can be no sandbox."""
    why = available() if sys.platform == "linux" else f"no sandbox on {sys.platform}"
    if why:
        pytest.skip(why)
