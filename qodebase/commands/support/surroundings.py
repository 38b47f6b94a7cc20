"""What the face takes from its surroundings: the environment and the user's cache folder."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What only the face may read: the environment and the user's folders."""

    environ: Mapping[str, str]
    cache_folder: Path


def surroundings() -> Surroundings:
    """Read the environment; ``QODEBASE_CACHE`` names the answer cache's folder, else it is the user's cache folder."""
    own = os.environ.get("QODEBASE_CACHE")
    home = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Surroundings(environ=os.environ, cache_folder=Path(own) if own else Path(home) / "qodebase" / "answers")
