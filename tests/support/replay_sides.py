"""Build collisions for the tests of rules, and say what a rule made of them."""

from __future__ import annotations

from qodebase.collision import Collision, Declined, Resolved, Side
from qodebase.paths import RepoPath
from qodebase.ports import Rule

ODD = (
    b"",
    b"\n",
    b"\0\1\2",
    b"\xff\xfe\x00a",
    b"caf\xe9: 1\n",
    b"\xef\xbb\xbfa = 1\n",
    b"{",
    b"a: [",
    b"[[",
    b"| a |",
    b"# \r\n\r",
    b"[" * 5000,
)
"""Contents on which a rule must neither raise nor guess."""


def collide(path: str, base: bytes, main: bytes, change: bytes, *, idempotent: bool = False) -> Collision:
    """Return the collision of three regular files."""
    sides = [Side(content=content) for content in (base, main, change)]
    return Collision(path=RepoPath(path.encode()), base=sides[0], main=sides[1], change=sides[2], idempotent=idempotent)


def edited(base: bytes, *edits: tuple[bytes, bytes]) -> bytes:
    """Return the text with each edit made at the only place where it fits."""
    for old, new in edits:
        assert base.count(old) == 1, old
        base = base.replace(old, new)
    return base


def content_of(outcome: Resolved | Declined) -> bytes:
    """Return what a rule made; a decline fails the test with its reason."""
    assert isinstance(outcome, Resolved), outcome
    return outcome.content


def reason_of(outcome: Resolved | Declined) -> str:
    """Return why a rule declined; a result fails the test."""
    assert isinstance(outcome, Declined), outcome
    return outcome.why


def takes_odd_bytes(rule: Rule, path: str, good: bytes) -> None:
    """Fail where a rule raises, or resolves what it cannot have read."""
    for odd in ODD:
        for sides in ((odd, good, good + b"x"), (good, odd, good + b"x"), (good, good + b"x", odd), (odd,) * 3):
            outcome = rule(collide(path, *sides))
            again = rule(collide(path, *sides))
            assert outcome == again
            if isinstance(outcome, Resolved):
                assert outcome.content in sides
