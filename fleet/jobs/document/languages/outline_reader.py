"""What the readers of all languages share: texts of nodes, the symbols found so far, who raises what."""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING

from fleet.jobs.document.languages.outline import Call, Import, Item, Kind, Member, Symbol
from replay_rules.parsing import Parsed

if TYPE_CHECKING:
    from tree_sitter import Node

MOST_MEMBERS = 80
"""Members of one class that are read."""

_LONGEST_NAME = 100
_LONGEST_TEXT = 400
_LONGEST_VALUE = 60


class Reader:
    """Collect the symbols, imports and calls of one parsed file; a language's reader fills it."""

    def __init__(self, parsed: Parsed) -> None:
        self.parsed = parsed
        self.symbols: list[Symbol] = []
        self.spans: list[tuple[int, int]] = []
        self.imports: list[Import] = []
        self.calls: list[Call] = []
        self.tests = 0

    def text(self, node: Node | None) -> str:
        """Return the text of a node, empty for None."""
        return "" if node is None else self.parsed.text(node).decode(errors="replace")

    def is_public(self, name: str) -> bool:
        """Return whether a name alone makes a symbol public."""
        return not name.startswith("_")

    def _add(
        self,
        name: str,
        kind: Kind,
        node: Node,
        *,
        summary: str = "",
        bases: tuple[str, ...] = (),
        members: tuple[Member, ...] = (),
        decorators: tuple[str, ...] = (),
        signature: str = "",
        returns: str = "",
        value: str = "",
        items: tuple[Item, ...] = (),
        size: int = 0,
        label: str = "",
        asynchronous: bool = False,
        generator: bool = False,
    ) -> None:
        """Add a symbol that ``node`` declares; names that no reader could use are left out."""
        if not name or "\ufffd" in name or len(name) > _LONGEST_NAME:
            return
        self.spans.append((node.start_byte, node.end_byte))
        self.symbols.append(
            Symbol(
                name=name,
                kind=kind,
                line=node.start_point[0] + 1,
                public=self.is_public(name),
                summary=summary,
                bases=bases,
                members=members,
                decorators=decorators,
                signature=signature,
                returns=returns,
                value=value,
                items=items,
                size=size,
                label=label,
                asynchronous=asynchronous,
                generator=generator,
            )
        )

    def _raised(self, statement: str) -> dict[int, tuple[str, ...]]:
        """Return the names of the errors that each symbol raises, by the symbol's number.

        Args:
            statement: the kind of node that raises.
        """
        found: dict[int, dict[str, None]] = {}
        order = sorted(range(len(self.spans)), key=lambda at: self.spans[at])
        starts = [self.spans[at][0] for at in order]
        for node in self.parsed.nodes(statement) if order else []:
            at = bisect_right(starts, node.start_byte) - 1
            if at < 0 or node.start_byte >= self.spans[order[at]][1] or not node.named_children:
                continue
            if name := self._error_name(node.named_children[0]):
                found.setdefault(order[at], {})[name] = None
        return {at: tuple(names) for at, names in found.items()}

    def _error_name(self, raised: Node) -> str:
        """Return the name of the error that an expression behind ``raise`` makes, or an empty string."""
        raise NotImplementedError

    def _flat(self, node: Node | None) -> str:
        """Return a node's text on one line, empty where it is long."""
        return (
            "" if node is None or node.end_byte - node.start_byte > _LONGEST_TEXT else " ".join(self.text(node).split())
        )

    def _brief(self, node: Node | None) -> str:
        """Return the text of a short plain value: a number, a string, a name, a call of a few names."""
        if node is None or node.end_byte - node.start_byte > _LONGEST_VALUE or node.start_point[0] != node.end_point[0]:
            return ""
        return self.text(node)
