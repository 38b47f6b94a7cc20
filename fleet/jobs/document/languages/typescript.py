"""TypeScript: the header is a plain ``/* ... */`` block.

TypeScript's language service and TypeDoc hang every ``/**`` block on the declaration below it, blank line or not,
and TSDoc knows no tag for a file that is no package entry; a plain block is read by people and by no tool.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from fleet.jobs.document.languages._commented import BLOCK_FRAME
from fleet.jobs.document.languages._ecmascript import EcmaScript


class TypeScript(EcmaScript):
    """Declaration files describe code that is documented where it stands, so they take no header."""

    name = "typescript"
    grammars: ClassVar[Mapping[bytes, str]] = {
        b".ts": "typescript",
        b".mts": "typescript",
        b".cts": "typescript",
        b".tsx": "typescript.tsx",
    }
    declarations = (b".d.ts", b".d.mts", b".d.cts")
    frame = BLOCK_FRAME


LANGUAGE = TypeScript()
