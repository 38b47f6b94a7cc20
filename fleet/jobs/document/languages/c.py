"""C: a plain block comment below the licence, ahead of the include guard; every C compiler reads it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import ClassVar

from fleet.jobs.document.languages._c_family import C_RULES, CFamily, CReader
from fleet.jobs.document.languages._commented import BLOCK_FRAME, BLOCK_RULES
from fleet.jobs.document.languages.outline import Outline
from fleet.jobs.document.languages.outline_declared import outlined

_CPP = re.compile(rb"^\s*(?:namespace\b|template\s*<|class\s+\w+[^;(]*$|using\s|(?:public|private|protected):)", re.M)


class C(CFamily):
    """Headers too, C++'s among them: both languages read a block comment, and the grammar of C++ takes either."""

    name = "c"
    grammars: ClassVar[Mapping[bytes, str]] = {b".c": "c", b".h": "cpp"}
    frame = BLOCK_FRAME
    reader = CReader
    rules = (*BLOCK_RULES, *C_RULES)

    def outline(self, path: bytes, content: bytes) -> Outline:
        """Return the outline of a file; a header that holds C++ is read as C++."""
        header = path.lower().endswith(b".h") and _CPP.search(content)
        return outlined(CReader, self.marks, "cpp" if header else "c", content, self.prose(content))


LANGUAGE = C()
