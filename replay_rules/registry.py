"""Find rules: a module of this folder, or an entry point in the group ``qodebase.rules``, that defines ``rule``.

The rule of the file ``sorted_index.py`` is called ``sorted-index``. Beside ``rule`` the module may hold ``APPLIES``,
the paths that it is tried on, in gitignore syntax (none: only where it is bound), and ``ORDER``, its place among the
rules, lower first. ``UNPROVED`` true says that no invariant is asked about its results: a control that must go wrong.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import cast

import replay_rules
from qodebase.errors import QodebaseError
from qodebase.installed import added
from qodebase.paths import RepoPath
from qodebase.patterns import matcher
from qodebase.ports import Rule

EMPTY: Mapping[str, Sequence[str]] = MappingProxyType({})
_LAST = 1000


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
    for point in added("qodebase.rules").select(name=name):
        return cast(Rule, point.load())
    raise UnknownRule(f"no rule {name!r}", hint=f"There are: {', '.join(rule_names())}.")


@cache
def is_proved(name: str) -> bool:
    """Return whether the invariants are asked about a rule's results."""
    return not getattr(inspect.getmodule(load_rule(name)), "UNPROVED", False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """A rule's place: its name, and the paths that it is tried on by itself; sorted by order, then name."""

    order: int
    name: str
    applies: tuple[str, ...]


def rules_for(path: RepoPath, off: Iterable[str] = (), bind: Mapping[str, Sequence[str]] = EMPTY) -> tuple[str, ...]:
    """Return the names of the rules to try on a path, in their order.

    Args:
        path: where two changes collided.
        off: rules that are not tried.
        bind: rules with the paths that they are tried on, instead of their own.

    Raises:
        UnknownRule: ``off`` or ``bind`` names a rule that is not there.
    """
    return chooser(off, bind)(path)


def chooser(
    off: Iterable[str] = (), bind: Mapping[str, Sequence[str]] = EMPTY
) -> Callable[[RepoPath], tuple[str, ...]]:
    """Return `rules_for` with its settings filled in, for many paths.

    Raises:
        UnknownRule: ``off`` or ``bind`` names a rule that is not there.
    """
    left_out = frozenset(off)
    for name in (*left_out, *bind):
        load_rule(name)
    tried = [
        (placed.name, matcher(patterns))
        for placed in placed_rules()
        if placed.name not in left_out and (patterns := tuple(bind.get(placed.name, placed.applies)))
    ]
    return lambda path: tuple(name for name, takes in tried if takes(path))


@cache
def placed_rules() -> tuple[Placed, ...]:
    """Return every rule with its place, in order."""
    found = []
    for name in rule_names():
        module = inspect.getmodule(load_rule(name))
        applies = tuple(getattr(module, "APPLIES", ()))
        found.append(Placed(order=getattr(module, "ORDER", _LAST), name=name, applies=applies))
    return tuple(sorted(found, key=lambda placed: (placed.order, placed.name)))


def inverse_of(name: str) -> str | None:
    """Return the rule that undoes what a rule did, ``NAME-undo`` of ``NAME`` and the reverse; None where there is none.

    >>> inverse_of("sorted-index"), inverse_of("sorted-index-undo"), inverse_of("imports")
    ('sorted-index-undo', 'sorted-index', None)
    """
    other = name.removesuffix("-undo") if name.endswith("-undo") else f"{name}-undo"
    return other if other in rule_names() else None


def rule_names() -> list[str]:
    """Return the names of all rules, sorted."""
    ours = [
        name.replace("_", "-")
        for name in _modules()
        if hasattr(importlib.import_module(f"replay_rules.{name}"), "rule")
    ]
    return sorted({*ours, *(point.name for point in added("qodebase.rules"))})


@cache
def _modules() -> list[str]:
    return [module.name for module in pkgutil.iter_modules(replay_rules.__path__) if not module.ispkg]
