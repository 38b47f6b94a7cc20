"""HTML that is escaped by construction: what is not `Markup` already is text."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

_VOID = frozenset({"meta", "br", "wbr", "input", "link", "hr"})


class Markup(str):
    """Text that is HTML already; only this module and the page's own files make it."""

    __slots__ = ()


Child = str | int | None | Iterable["Child"]


def el(tag: str, *children: Child, **attributes: str | bool | None) -> Markup:
    """Return an element; an attribute's ``_`` stands for ``-``, one at its end (``class_``) is dropped.

    >>> print(el("p", "a < b", el("b", "c"), class_="note"))
    <p class="note">a &lt; b<b>c</b></p>
    """
    words = "".join(_attribute(name, value) for name, value in attributes.items() if value not in (None, False))
    if tag in _VOID:
        return Markup(f"<{tag}{words}>")
    return Markup(f"<{tag}{words}>{''.join(map(_text, children))}</{tag}>")


def breakable(text: str) -> list[Markup | str]:
    """Return a name that breaks behind its ``_`` and ``.`` where it must, and nowhere else.

    >>> print(el("b", breakable("cost_usd")))
    <b>cost_<wbr>usd</b>
    """
    first, *rest = re.split(r"(?<=[_.])", text)
    return [first, *(part for one in rest for part in (el("wbr"), one))]


def data_block(id: str, value: Any) -> Markup:
    """Return data for the page's script; nothing in it can end the block or begin another element.

    >>> print(data_block("x", "</script>"))
    <script type="application/json" id="x">"\\u003c/script>"</script>
    """
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    safe = text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
    return Markup(f'<script type="application/json" id="{escape(id)}">{safe}</script>')


def packed_block(id: str, base64: str) -> Markup:
    """Return packed data for the page's script; base64 holds no character that HTML reads."""
    return Markup(f'<script type="text/plain" id="{escape(id)}">{base64}</script>')


def table(caption: str, head: Sequence[str], rows: Iterable[Sequence[Child]], *, numbers: Sequence[int] = ()) -> Markup:
    """Return a table with a caption and headers, in a box that scrolls by itself where the page is narrow.

    Args:
        numbers: columns that hold numbers; they stand to the right.
    """

    def cell(tag: str, at: int, value: Child, **more: str) -> Markup:
        return el(tag, value, class_="n" if at in numbers else None, **more)

    top = el("tr", (cell("th", at, name, scope="col") for at, name in enumerate(head)))
    body = (
        el("tr", (cell("th", at, one, scope="row") if at == 0 else cell("td", at, one) for at, one in enumerate(row)))
        for row in rows
    )
    whole = el("table", el("caption", caption), el("thead", top), el("tbody", body))
    return el("div", whole, class_="scroll", tabindex="0", role="region", aria_label=caption)


def _text(child: Child) -> str:
    if isinstance(child, Markup):
        return child
    if child is None:
        return ""
    if isinstance(child, str | int):
        return escape(str(child))
    return "".join(map(_text, child))


def _attribute(name: str, value: str | bool | None) -> str:
    name = name.rstrip("_").replace("_", "-")
    return f" {name}" if value is True else f' {name}="{escape(str(value))}"'
