"""qodebase: a fleet runner that lands the work of thousands of agents on one codebase.

>>> import qodebase as qb
>>> run = qb.run("document", repo="path/to/repository", model="outline")  # doctest: +SKIP
>>> run.landings  # doctest: +SKIP
"""

from __future__ import annotations

from typing import Any


def __getattr__(name: str) -> Any:
    if name in ("run", "arun", "start", "open_run", "compare", "Run"):
        from qodebase.commands.support import notebook

        return getattr(notebook, name)
    if name in ("dial", "adial"):
        from qodebase.commands.bench.support import dialling

        return getattr(dialling, name)
    if name == "reproduce":
        from qodebase.commands.support.reproducing import reproduce_anywhere

        return reproduce_anywhere
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
