"""What Java and Kotlin share: a plain block comment below the licence, ahead of ``package`` and annotations."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from fleet.jobs.document.languages._commented import BLOCK_FRAME, Commented, Marks
from fleet.jobs.document.languages.outline import Import
from fleet.jobs.document.languages.outline_declared import Declared

if TYPE_CHECKING:
    from tree_sitter import Node

JVM_MARKS = Marks(
    directive=re.compile(
        rb"\A[/*\s]*(?:CHECKSTYLE\b|checkstyle:|@formatter:|spotless:|ktlint-disable|detekt:|PMD\b|"
        rb"-\*-|(?:vim?|ex):|language=|NOSONAR\b|NOPMD\b|(?:tag|end)::)",
        re.IGNORECASE,
    ),
    next_line=re.compile(rb"//\s*(?:noinspection\b|ktlint-disable-next)|/\*\s*package\s*\*/"),
    file_code=re.compile(rb"package\b|import\b|@file:|module\b|open\s+module\b"),
)


class Jvm(Commented):
    """A plain block, because Javadoc and KDoc read ``/**`` as the text of what stands below."""

    frame = BLOCK_FRAME
    marks = JVM_MARKS

    def imported_paths(self, path: bytes, one: Import) -> Iterator[bytes]:
        """Yield the files that the name's package holds: Java's, and Kotlin's that is called so."""
        for name in one.names:
            place = "/".join([*one.module.split("."), name]).encode(errors="replace")
            yield from (b"/" + place + suffix for suffix in (b".java", b".kt"))


class JvmReader(Declared):
    """Read imports as package and names."""

    documents = ("/**",)

    def imported_name(self, node: Node, dotted: str) -> Import:
        """Return an import of a dotted name as its package and the name in it."""
        star = dotted.endswith("*") or any(child.type in ("asterisk", "*") for child in node.children)
        parts = dotted.removesuffix("*").strip(".").split(".")
        line = node.start_point[0] + 1
        if star or len(parts) == 1:
            return Import(module=".".join(parts), names=("*",), line=line)
        return Import(module=".".join(parts[:-1]), names=(parts[-1],), line=line)
