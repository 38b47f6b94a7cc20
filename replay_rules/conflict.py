"""What clashes in a collision that nothing could redo, as data and as text that an agent can act on."""

from __future__ import annotations

from collections.abc import Iterable

from qodebase.collision import Clash, Collision
from replay_rules.grammars import language_of
from replay_rules.hunks import conflicts, hunks, lines_of
from replay_rules.symbols import definitions

_MOST_BYTES = 1 << 20


def clashes(collision: Collision) -> tuple[Clash, ...]:
    r"""Return the regions that both sides edited, in order; none where a side is missing, binary or over 1 MiB.

    >>> from qodebase.collision import Side
    >>> from qodebase.paths import RepoPath
    >>> texts = (b"def f():\n    return 1\n", b"def f():\n    return 2\n", b"def f():\n    return 3\n")
    >>> base, main, change = (Side(content=text) for text in texts)
    >>> (clash,) = clashes(Collision(path=RepoPath(b"a.py"), base=base, main=main, change=change))
    >>> clash.line, clash.symbol, clash.main
    (2, 'f', '    return 2\n')
    """
    base, main, change = (side.content for side in (collision.base, collision.main, collision.change))
    if main is None or change is None:
        return ()
    sides = (base or b"", main, change)
    if any(b"\0" in side or len(side) > _MOST_BYTES for side in sides):
        return ()
    old, new, own = (lines_of(side) for side in sides)
    moves = hunks(old, new)
    language = language_of(collision.path)
    known = definitions(language, main) if language else ()
    found = []
    for region in conflicts(old, new, own):
        moved = sum(len(hunk.lines) - (hunk.end - hunk.start) for hunk in moves if hunk.end < region.start)
        line = region.start + moved
        at = sum(map(len, new[:line]))
        around = [one for one in known if one.start <= at < one.end]
        found.append(
            Clash(
                line=line + 1,
                symbol=around[-1].qualified if around else "",
                base=_text(region.base),
                main=_text(region.main),
                change=_text(region.change),
            )
        )
    return tuple(found)


def described(path: str, found: Iterable[Clash]) -> str:
    """Return clashes as text: where, and the three versions of each."""
    parts = []
    for clash in found:
        where = f"{path} line {clash.line}" + (f", in {clash.symbol}" if clash.symbol else "")
        parts.append(
            f"{where}\n"
            f"--- as it was\n{_ended(clash.base)}--- as main has it now\n{_ended(clash.main)}"
            f"--- as this change wants it\n{_ended(clash.change)}"
        )
    return "\n".join(parts)


def _text(lines: tuple[bytes, ...]) -> str:
    return b"".join(lines).decode(errors="replace")


def _ended(text: str) -> str:
    return text if not text or text.endswith("\n") else text + "\n"
