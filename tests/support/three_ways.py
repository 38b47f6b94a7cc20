"""Three versions of a file, for tests of rules."""

from __future__ import annotations

from qodebase.collision import Collision, Declined, Resolved, Side
from qodebase.paths import RepoPath


def three(base: bytes, main: bytes, change: bytes, path: bytes = b"m.py", *, idempotent: bool = False) -> Collision:
    sides = [Side(content=content) for content in (base, main, change)]
    return Collision(path=RepoPath(path), base=sides[0], main=sides[1], change=sides[2], idempotent=idempotent)


def inserted(base: bytes, before: bytes, main: bytes, change: bytes, path: bytes = b"m.py") -> Collision:
    """Let both sides insert text before the last occurrence of ``before``; an empty ``before`` is the end."""
    at = base.rindex(before) if before else len(base)
    return three(base, base[:at] + main + base[at:], base[:at] + change + base[at:], path)


def content(outcome: Resolved | Declined) -> bytes:
    assert isinstance(outcome, Resolved), outcome
    return outcome.content


def why(outcome: Resolved | Declined) -> str:
    assert isinstance(outcome, Declined), outcome.content
    return outcome.why
