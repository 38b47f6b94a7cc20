"""The synchronous steps of the replay ladder: clean merge, then rules in order, each step written down."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from qodebase.collision import Collision, Declined, Kind, Resolved, Step
from replay_rules.clean_merge import merge
from replay_rules.registry import load_rule


class Climbed(NamedTuple):
    """What the ladder came to: the result, or None where every step declined, and the steps."""

    resolved: Resolved | None
    steps: tuple[Step, ...]


def climb(collision: Collision, rules: Sequence[str] = ()) -> Climbed:
    """Try the clean merge, then the named rules; the first that proves its result wins."""
    steps: list[Step] = []
    for by, attempt in (("merge", merge), *((f"rule:{name}", load_rule(name)) for name in rules)):
        outcome = attempt(collision)
        if isinstance(outcome, Resolved):
            return Climbed(outcome, (*steps, Step(by=by)))
        steps.append(Step(by=by, declined=outcome.why))
    return Climbed(None, tuple(steps))


def climb_shared(collision: Collision, rule: str) -> Climbed:
    """Redo a shared path by the one rule that it is bound to."""
    outcome = load_rule(rule)(collision)
    if isinstance(outcome, Declined):
        return Climbed(None, (Step(by=f"rule:{rule}", declined=outcome.why),))
    return Climbed(outcome, (Step(by=f"rule:{rule}"),))


def kind_of(collision: Collision) -> Kind:
    """Name why a path collided."""
    base, main, change = collision.base, collision.main, collision.change
    if base.content is None:
        return Kind.ADDED_TWICE
    if main.content is None or change.content is None:
        return Kind.DELETED
    if main.content == base.content or change.content == base.content:
        return Kind.MODE
    return Kind.CONTENT
