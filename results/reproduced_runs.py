"""The full-size figures of reproduced runs that are kept with the product: one JSON file each in ``reproduced``."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from qodebase.codec import BadData

FOLDER = Path(__file__).parent / "reproduced"


def reproduced_run(name: str) -> dict[str, Any] | None:
    """Return what was recorded of a published run's reproduction, None where nothing was.

    Raises:
        BadData: its file is no JSON object.
    """
    file = FOLDER / f"{name}.json"
    if not file.is_file():
        return None
    try:
        found = json.loads(file.read_bytes())
    except ValueError as error:
        raise BadData(f"{file} is not JSON: {error}") from None
    if not isinstance(found, dict):
        raise BadData(f"{file} holds no object")
    return found


def record(name: str, told: Mapping[str, Any]) -> Path:
    """Keep a reproduction, and return its file.

    The words of the command line stay out: they may name folders of one machine, and ``command`` repeats the run.
    """
    if "environment" in told:
        told = {**told, "environment": {key: value for key, value in told["environment"].items() if key != "command"}}
    FOLDER.mkdir(exist_ok=True)
    file = FOLDER / f"{name}.json"
    part = file.with_suffix(".part")
    part.write_text(json.dumps(told, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    return part.replace(file)
