"""Which replay rules a run tries where."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleSettings:
    """See `replay_rules.registry.rules_for`.

    Attributes:
        off: rules that are not tried.
        bind: rules with the paths that they are tried on, in gitignore syntax, instead of their own.
    """

    off: tuple[str, ...] = ()
    bind: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
