"""The weights of local models: which are known (``weights.toml``), and what of them is on this machine."""

from __future__ import annotations

import difflib
import tomllib
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path, PurePosixPath
from typing import Any

from fleet.models.registry import UnknownModel
from qodebase.codec import convert


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """The weights of one model; what each field says stands in ``weights.toml``."""

    name: str
    title: str
    package: str
    version: str
    member: str
    sha256: str
    size: int
    licence: str
    slots: int
    window: int
    params: dict[str, Any]

    def path(self, folder: Path) -> Path:
        """Return where the weights are kept in a folder of weights."""
        return folder / PurePosixPath(self.member).name

    def state(self, folder: Path | None) -> str:
        """Return ``fetched``, ``missing`` or ``damaged`` (the size is not the pinned one)."""
        path = folder and self.path(folder)
        if path is None or not path.is_file():
            return "missing"
        return "fetched" if path.stat().st_size == self.size else "damaged"


@cache
def known_weights() -> dict[str, Weights]:
    """Return all weights that can be fetched, by name."""
    source = resources.files(__package__) / "weights.toml"
    tables = tomllib.loads(source.read_text(encoding="utf-8"))
    return {name: convert({"name": name, **table}, Weights, source="weights.toml") for name, table in tables.items()}


def weights_named(name: str) -> Weights:
    """Return the weights of a name.

    Raises:
        UnknownModel: there are none; the message lists what there is.
    """
    known = known_weights()
    if name in known:
        return known[name]
    near = difflib.get_close_matches(name, known, n=1)
    raise UnknownModel(
        f"unknown weights `{name}`" + (f"; did you mean `{near[0]}`?" if near else ""),
        hint=f"There are: {', '.join(sorted(known))}.",
    )
