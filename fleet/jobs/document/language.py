"""What the document job must know of a language; each language is one file in ``languages/``."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from importlib import import_module
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from fleet.jobs.document.languages.outline import Import, Outline
    from fleet.jobs.document.text_rules import Rule
    from replay_rules.parsing import Parsed

BOM = b"\xef\xbb\xbf"


class Ending(StrEnum):
    """Why a file gets no header from this job."""

    DOCUMENTED = "already documented"
    GENERATED = "generated"
    VENDORED = "vendored"
    MINIFIED = "minified"
    BINARY = "binary"
    EMPTY = "empty"
    TOO_LARGE = "too large"
    SYMLINK = "symlink"
    SUBMODULE = "submodule"
    DECLARATIONS = "declarations only"
    ENCODING = "unsupported encoding"
    LANGUAGE = "unsupported language"
    NO_PLACE = "no safe place"


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where the header of one content goes; it follows from the content alone.

    ``offset`` is in bytes; what stands before it is called ``after`` in words. ``blank_before`` and ``blank_after``
    are the blank lines that the run brings with it. ``newline`` is the file's own, ``encoding`` the one that a run
    may be written in (``ascii`` where anything else could be misread). ``needs_reparse`` is False only if nothing
    but comments, blank lines and whole lines stand before the place, so that no token can meet the run.
    """

    offset: int
    after: str
    needs_reparse: bool = False
    breaks_line: bool = False
    blank_before: int = 0
    blank_after: int = 1
    newline: str = "\n"
    encoding: str = "utf-8"


@dataclass(frozen=True, slots=True, kw_only=True)
class NoPlace:
    """The content takes no header: the ending and the reason in words."""

    ending: Ending
    reason: str


class Language(ABC):
    """One language: where its headers stand, how they are written and what would make them live.

    ``grammars`` maps each suffix (lower case, with its dot) to the grammar that parses such files. ``rules`` are the
    text rules beyond the common ones. ``ahead`` are the kinds of leaves that may stand before a header.
    ``outline_module`` holds the function ``outline``. With ``pulls_in``, files are asked which others they pull in.
    With ``header_apart``, a header that no comment stands beside changes nothing in the outline.
    """

    name: ClassVar[str]
    grammars: ClassVar[Mapping[bytes, str]]
    declarations: ClassVar[tuple[bytes, ...]] = ()
    ahead: ClassVar[frozenset[str]]
    rules: ClassVar[tuple[Rule, ...]]
    outline_module: ClassVar[str]
    pulls_in: ClassVar[bool] = False
    header_apart: ClassVar[bool] = False

    def grammar(self, path: bytes) -> str:
        """Return the grammar for a path of this language."""
        name = path.rpartition(b"/")[2].lower()
        return self.grammars[name[name.rindex(b".") :]]

    def outline(self, path: bytes, content: bytes) -> Outline:
        """Return the outline of a file of this language."""
        found: Outline = import_module(self.outline_module).outline(content)
        return found

    def imported_paths(self, path: bytes, one: Import) -> Iterator[bytes]:
        """Yield the paths that an import in the file ``path`` may name; a leading ``/`` stands for any folders."""
        yield from ()

    def pulled_in(self, path: bytes, content: bytes) -> Iterator[bytes]:
        """Yield the files that ``content`` pulls in as text, of which a header could make an error."""
        yield from ()

    @abstractmethod
    def find_place(self, content: bytes) -> Place | NoPlace:
        """Return where the header of ``content`` goes, or why it takes none."""

    @abstractmethod
    def render(self, text: str, place: Place) -> bytes:
        """Return sanitised ``text`` as the run to insert at ``place``, blank lines included."""

    @abstractmethod
    def body_of(self, run: bytes, place: Place) -> str | None:
        """Return the text inside of ``run``, or None unless the run alone is exactly one comment or docstring.

        It reads the run by the language's own lexical rules and knows nothing of how `render` lays text out, except
        that the file's newline is the only one and that only newlines stand around the comment.
        """

    @abstractmethod
    def stands_alone(self, parsed: Parsed, start: int, end: int) -> bool:
        """Return whether the bytes ``start`` to ``end`` of a tree are one comment or docstring of their own."""
