"""Bring the layouts of a container's three versions together: rows or one row, blank lines, the words around."""

from __future__ import annotations

from dataclasses import replace

from replay_rules.parts import Container
from replay_rules.places import Undecided


def one_layout(*sides: Container) -> tuple[Container, Container, Container]:
    """Lay inline versions out in lines where a side did so."""
    tall = [side for side in (sides[1], sides[2]) if not side.inline]
    if all(side.inline for side in sides) or not any(side.inline for side in sides):
        return sides[0], sides[1], sides[2]
    if not tall:
        raise Undecided("both sides joined the lines of one container: model")
    model = tall[0]
    indent = model.items[0].text[: len(model.items[0].text) - len(model.items[0].text.lstrip())] if model.items else b""
    laid = [_tall(side, model, indent) if side.inline else side for side in sides]
    return laid[0], laid[1], laid[2]


def _tall(side: Container, model: Container, indent: bytes) -> Container:
    if _bare(side.prefix) != _bare(model.prefix) or _bare(side.suffix) != _bare(model.suffix):
        raise Undecided("both the layout and the words around a container changed: model")
    items = tuple(item._replace(text=indent + item.text, at=item.at + len(indent)) for item in side.items)
    return replace(
        side,
        items=items,
        prefix=model.prefix,
        suffix=model.suffix,
        inline=False,
        last_comma=model.last_comma,
    )


def _bare(text: bytes) -> bytes:
    return b"".join(text.split()).replace(b"(", b"").replace(b")", b"")


def shell(base: bytes, main: bytes, change: bytes) -> bytes:
    if main == base:
        return change
    if change == base or b"".join(main.split()) == b"".join(change.split()):
        return main
    raise Undecided("both sides changed the words around one container: model")


def lead(base: bytes, main: bytes, change: bytes) -> bytes:
    if main == base:
        return change
    return main if change == base else max(main, change, key=len)
