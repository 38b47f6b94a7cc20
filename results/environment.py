"""What a run was made with and on, as its folder keeps it."""

from __future__ import annotations

import json
from typing import Any

from qodebase.codec import BadData
from qodebase.runs import RunFolder

FILE = "environment.json"


def environment_of(folder: RunFolder) -> dict[str, Any]:
    """Return what the run folder keeps of its environment, nothing where it keeps none; raises `BadData`."""
    path = folder.root / FILE
    if not path.exists():
        return {}
    try:
        found = json.loads(path.read_bytes())
    except ValueError as error:
        raise BadData(f"{path} is not JSON: {error}") from None
    if not isinstance(found, dict):
        raise BadData(f"{path} holds no object")
    return found
