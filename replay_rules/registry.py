"""Find rules: a module of this folder, or an entry point in the group ``qodebase.rules``, that defines ``rule``.

The rule of the file ``sorted_index.py`` is called ``sorted-index``.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import pkgutil
from functools import cache
from typing import cast

import replay_rules
from qodebase.errors import QodebaseError
from qodebase.ports import Rule


class UnknownRule(QodebaseError):
    """A rule that is not there."""


@cache
def load_rule(name: str) -> Rule:
    """Return a rule by name.

    Raises:
        UnknownRule: neither this folder nor an entry point has it; the message lists those there are.
    """
    module_name = name.replace("-", "_")
    if module_name in _modules():
        found = getattr(importlib.import_module(f"replay_rules.{module_name}"), "rule", None)
        if found is not None:
            return cast(Rule, found)
    for point in importlib.metadata.entry_points(group="qodebase.rules", name=name):
        return cast(Rule, point.load())
    raise UnknownRule(f"no rule {name!r}", hint=f"There are: {', '.join(rule_names())}.")


def rule_names() -> list[str]:
    """Return the names of all rules, sorted."""
    ours = [
        name.replace("_", "-")
        for name in _modules()
        if hasattr(importlib.import_module(f"replay_rules.{name}"), "rule")
    ]
    return sorted({*ours, *(point.name for point in importlib.metadata.entry_points(group="qodebase.rules"))})


def _modules() -> list[str]:
    return [module.name for module in pkgutil.iter_modules(replay_rules.__path__)]
