"""Rule ``twin-functions``: two equal definitions of one name are kept once; unequal ones are declined.

Two intents that each needed a helper may write the same one. Invariant: both are equal token by token, comments and
layout left out, so whichever stays, the program is the same; main's is kept as it is written.
"""

from __future__ import annotations

from qodebase.collision import Collision, Declined, Resolved
from replay_rules.parts import Item
from replay_rules.places import Place, Policy
from replay_rules.shapes import tokens
from replay_rules.weave import weave

APPLIES = ("*.py", "*.pyi", "*.js", "*.jsx", "*.mjs", "*.cjs", "*.ts", "*.tsx", "*.mts", "*.cts")
ORDER = 200


def rule(collision: Collision) -> Resolved | Declined:
    r"""Keep an equal twin once.

    >>> from qodebase.collision import Side
    >>> from qodebase.paths import RepoPath
    >>> base = b"def a():\n    return 1\n"
    >>> twin = b"\n\ndef half(x):\n    return x / 2\n"
    >>> sides = [Side(content=text) for text in (base, base + twin, twin[2:] + b"\n\n" + base)]
    >>> result = rule(Collision(path=RepoPath(b"m.py"), base=sides[0], main=sides[1], change=sides[2]))
    >>> result.content == base + twin
    True
    """
    return weave(collision, POLICIES)


def once(place: Place, main: Item, change: Item) -> Item | Declined:
    """Return main's definition where the change's is equal to it."""
    if main.kind != "def" or main.node is None or change.node is None:
        return Declined(why=f"both sides added {main.name.decode(errors='replace')}: model")
    if list(tokens(place.main.parsed, main.node)) != list(tokens(place.change.parsed, change.node)):
        return Declined(why=f"both sides wrote another {main.name.decode(errors='replace')}: model")
    return main


POLICIES = (Policy(twin=once),)
