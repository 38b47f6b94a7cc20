"""The synchronous steps of the replay ladder: clean merge, then rules in order, each step written down."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from qodebase.collision import Collision, Declined, Kind, Resolved, Step
from replay_rules.clean_merge import merge
from replay_rules.file_mode import merged_mode
from replay_rules.invariants import merge_objection, objection
from replay_rules.registry import is_proved, load_rule
from replay_rules.releases import clean_doubt
from replay_rules.symbol_rename import stale_use


class Climbed(NamedTuple):
    """What the ladder came to: the result, or None where every step declined, and the steps."""

    resolved: Resolved | None
    steps: tuple[Step, ...]


def climb(collision: Collision, rules: Sequence[str] = ()) -> Climbed:
    """Try the clean merge, then the named rules; the first whose result every invariant allows wins."""
    steps: list[Step] = []
    for by in ("merge", *(f"rule:{name}" for name in rules)):
        outcome = redo(collision, by)
        if isinstance(outcome, Resolved):
            return Climbed(outcome, (*steps, Step(by=by)))
        steps.append(Step(by=by, declined=outcome.why))
    return Climbed(None, tuple(steps))


def redo(collision: Collision, by: str) -> Resolved | Declined:
    """Take one step of the ladder, ``merge`` or ``rule:NAME``, with the invariants behind it.

    A doubt is a decline whose reason begins with the name of the invariant, as ``I2:``. The mode is merged on its own,
    whatever a rule says.
    """
    if by == "merge":
        outcome = merge(collision)
        if isinstance(outcome, Declined):
            return outcome
        doubt = (
            merge_objection(collision, outcome.content)
            or stale_use(collision, outcome.content)
            or clean_doubt(collision, outcome.content)
        )
        return Declined(why=doubt) if doubt else outcome
    name = by.removeprefix("rule:")
    outcome = load_rule(name)(collision)
    if isinstance(outcome, Declined) or not is_proved(name):
        return outcome
    mode = merged_mode(collision)
    if isinstance(mode, Declined):
        return mode
    content = _as_git_lays_it_out(collision, outcome.content)
    doubt = objection(collision, content) or stale_use(collision, content)
    return Declined(why=doubt) if doubt else Resolved(content=content, mode=mode)


def _as_git_lays_it_out(collision: Collision, content: bytes) -> bytes:
    """Return the clean merge where a rule proves it, all but the blank lines: a rule has no say in those."""
    clean = merge(collision)
    if isinstance(clean, Resolved) and _written(clean.content) == _written(content):
        return clean.content
    return content


def _written(content: bytes) -> list[bytes]:
    return [line for line in content.splitlines() if line.strip()]


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
