"""The queues that the dial compares: how each makes lanes and trains, and redoes what collided."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

from qodebase.codec import BadData, convert
from qodebase.errors import QodebaseError

RULES = ("on", "off", "theirs-wins")
"""``theirs-wins`` is the sabotage control: instead of all rules, one that guesses."""

_LANES = ("one", "modules")


class UnknownQueue(QodebaseError):
    """A queue that is neither built in nor a file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """How a merge queue works; it holds no times, for all queues have the same.

    Attributes:
        name: what the figures call it.
        lanes: ``one`` queue, a lane for each of the codebase's ``modules``, or lane names with path patterns.
        train_max: the largest train.
        prefetch: whether the next train is made while one is at the gate.
        rules: whether replay rules are tried before a model; git's clean merge always is.
        replays: whether a model redoes a change ``beside`` the queue, or ``inside`` it, so that the queue waits.
        contract: whether checks of what landed stay in force.
        read_sets: whether what a check read decides that it runs again before main moves, and that it need not run
            where it was green on another tree.
        claims: whether an intent waits while another that claims the same symbols is worked on.
        replay_model: the model that redoes collided changes; empty: the same as for fresh work.
    """

    name: str
    lanes: str | dict[str, tuple[str, ...]] = "one"
    train_max: int = 64
    prefetch: bool = True
    rules: str = "on"
    replays: Literal["beside", "inside"] = "beside"
    contract: bool = True
    read_sets: bool = True
    claims: bool = False
    replay_model: str = ""
    fixed: tuple[str, ...] = field(default=(), repr=False)

    @property
    def patterns(self) -> dict[str, tuple[str, ...]]:
        """Return lane names with patterns; none: the job says them, a lane a module."""
        if isinstance(self.lanes, dict):
            return dict(self.lanes)
        return {} if self.lanes == "modules" else {"main": ("/**",)}

    def with_rules(self, rules: str) -> Policy:
        """Return the same queue with rules on or off; one that is defined by having none stays as it is."""
        return self if "rules" in self.fixed else replace(self, rules=rules)


BUILT_IN: Mapping[str, Policy] = MappingProxyType(
    {
        policy.name: policy
        for policy in (
            # One by one, nothing lands meanwhile; and such a queue tests every tree.
            Policy(
                name="classic",
                train_max=1,
                prefetch=False,
                rules="off",
                replays="inside",
                read_sets=False,
                fixed=("rules",),
            ),
            Policy(name="single", prefetch=False),
            Policy(name="lanes", lanes="modules", prefetch=False),
            Policy(name="prefetch", lanes="modules"),
            Policy(name="claims", lanes="modules", claims=True),
        )
    }
)


def policy_of(name: str) -> Policy:
    """Return a built-in queue, or the one that a TOML file describes (the fields of `Policy`).

    Raises:
        UnknownQueue: neither.
        BadData: the file has a wrong field or value.
    """
    if name in BUILT_IN:
        return BUILT_IN[name]
    path = Path(name)
    if path.suffix != ".toml":
        raise UnknownQueue(
            f"there is no queue {name!r}", hint=f"There are {', '.join(BUILT_IN)}, or give a .toml file."
        )
    return _from_file(path)


def _from_file(path: Path) -> Policy:
    try:
        values: dict[str, Any] = tomllib.loads(path.read_bytes().decode())
    except OSError as error:
        raise BadData(f"{path} cannot be read: {error.strerror}", hint="Give the path of a queue's file.") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BadData(f"{path} is no TOML: {error}") from None
    allowed = [one.name for one in fields(Policy) if one.name != "fixed"]
    for key in values:
        if key not in allowed:
            raise BadData(f"{path}: no setting {key!r}", hint=f"Allowed: {', '.join(sorted(allowed))}.")
    if isinstance(values.get("rules"), bool):
        values["rules"] = "on" if values["rules"] else "off"
    policy = convert({"name": path.stem, **values}, Policy, source=str(path))
    for name, value, known in (
        ("rules", policy.rules, RULES),
        *((("lanes", policy.lanes, _LANES),) if isinstance(policy.lanes, str) else ()),
    ):
        if value not in known:
            raise BadData(f"{path}: `{name}` is {value!r}", hint=f"It is one of {', '.join(known)}.")
    if policy.train_max < 1:
        raise BadData(f"{path}: `train_max` is {policy.train_max}", hint="A train has at least one member.")
    return replace(policy, fixed=("rules",) if "rules" in values else ())
