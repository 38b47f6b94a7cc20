"""C++: line comments below the licence, ahead of the include guard; no line of them ends in a splice."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from fleet.jobs.document.languages._c_family import C_RULES, CFamily, CReader
from fleet.jobs.document.languages._commented import Frame


class Cpp(CFamily):
    """A backslash at the end of a line, or the trigraph for one, would pull the next line into the comment."""

    name = "cpp"
    grammars: ClassVar[Mapping[bytes, str]] = dict.fromkeys((b".cc", b".cpp", b".cxx", b".hh", b".hpp", b".hxx"), "cpp")
    reader = CReader
    frame = Frame(prefix="//")
    rules = C_RULES


LANGUAGE = Cpp()
