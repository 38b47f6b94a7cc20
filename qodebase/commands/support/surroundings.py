"""What the face takes from its surroundings: the environment and the user's cache folder."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What only the face may read: the environment and the user's folders; None: no weights."""

    environ: Mapping[str, str]
    cache_folder: Path
    weights_folder: Path | None = None


def surroundings() -> Surroundings:
    """Read the environment.

    ``QODEBASE_CACHE`` names the answer cache's folder, and weights lie in it; else both are in the user's cache folder.
    """
    own = os.environ.get("QODEBASE_CACHE")
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "qodebase"
    return Surroundings(
        environ=os.environ,
        cache_folder=Path(own) if own else home / "answers",
        weights_folder=(Path(own) if own else home) / "weights",
    )
