"""Rule ``twin-functions``: two equal definitions of one name are kept once; unequal ones are declined.

Two intents that each needed a helper may write the same one. Invariant: both are equal token by token and in how these
hang together, comments and layout left out, so whichever stays, the program is the same; main's is kept as it is
written.
"""

from __future__ import annotations

from qodebase.collision import Collision, Declined, Resolved
from replay_rules.file_mode import merged_mode
from replay_rules.grammars import language_of
from replay_rules.hunks import hunks, lines_of
from replay_rules.parts import Item
from replay_rules.places import Place, Policy
from replay_rules.sequences import PATHS
from replay_rules.shapes import structure
from replay_rules.symbols import definitions
from replay_rules.weave import weave

APPLIES = ("*.py", "*.pyi", "*.js", "*.jsx", "*.mjs", "*.cjs", "*.ts", "*.tsx", "*.mts", "*.cts", *PATHS)
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
    alike = _added_alike(collision)
    return weave(collision, POLICIES) if alike is None else alike


def _added_alike(collision: Collision) -> Resolved | None:
    """Keep what both sides added to the letter, where it is nothing but new definitions at the top of the file."""
    base, main, change = (side.content for side in (collision.base, collision.main, collision.change))
    language = language_of(collision.path)
    mode = merged_mode(collision)
    if base is None or main is None or main != change or language is None or isinstance(mode, Declined):
        return None
    known = {one.name for one in definitions(language, base)}
    new = [
        one
        for one in definitions(language, main)
        if not one.parent and one.name not in known and one.kind != "variable"
    ]
    lines, shift = lines_of(main), 0
    for hunk in hunks(lines_of(base), lines):
        if hunk.start != hunk.end:
            return None
        start = sum(map(len, lines[: hunk.start + shift]))
        end = start + sum(map(len, hunk.lines))
        shift += len(hunk.lines)
        inside = [one for one in new if start <= one.head and one.end <= end]
        bare = main[start:end]
        for one in reversed(inside):
            bare = bare[: one.head - start] + bare[one.end - start :]
        if not inside or bare.strip():
            return None
    return Resolved(content=main, mode=mode)


def once(place: Place, main: Item, change: Item) -> Item | Declined:
    """Return main's definition where the change's is equal to it."""
    if main.kind != "def" or main.node is None or change.node is None:
        return Declined(why=f"both sides added {main.name.decode(errors='replace')}: model")
    if list(structure(place.main.parsed, main.node)) != list(structure(place.change.parsed, change.node)):
        return Declined(why=f"both sides wrote another {main.name.decode(errors='replace')}: model")
    return main


POLICIES = (Policy(twin=once),)
