"""JavaScript: the header is a ``/** @file ... */`` block, JSDoc's own form for what a file is about."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from fleet.jobs.document.languages._commented import Frame
from fleet.jobs.document.languages._ecmascript import EcmaScript


class JavaScript(EcmaScript):
    """JSDoc, closure and editors read ``@file`` as the file's, so it is never taken for the first symbol's text."""

    name = "javascript"
    grammars: ClassVar[Mapping[bytes, str]] = {
        b".js": "javascript",
        b".mjs": "javascript",
        b".cjs": "javascript",
        b".jsx": "javascript",
    }
    frame = Frame(opener="/**", prefix=" *", closer=" */", tag="@file ")


LANGUAGE = JavaScript()
