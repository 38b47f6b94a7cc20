"""Paths inside a repository: bytes in memory, readable text in files.

Git allows every byte but NUL in a path. A path that is plain UTF-8 is written as it is; any other, and one that
begins with a double quote, is written as git quotes it (``core.quotePath``), so that each path has exactly one text
and each text one path.
"""

from __future__ import annotations

import re
from typing import NewType

_ESCAPES = {7: "a", 8: "b", 9: "t", 10: "n", 11: "v", 12: "f", 13: "r", 34: '"', 92: "\\"}
_NEEDS_QUOTES = re.compile('^"|[\x00-\x1f\x7f]')
_UNESCAPES = {text: byte for byte, text in _ESCAPES.items()}


class RepoPath(bytes):
    """A path inside a repository, as git keeps it: bytes, ``/`` between its parts, relative to the root."""

    __slots__ = ()

    @property
    def text(self) -> str:
        """Return the path as text that `RepoPath.parse` reads back to the same bytes."""
        return path_text(self)

    @classmethod
    def parse(cls, text: str) -> RepoPath:
        """Read back what `text` gave.

        Raises:
            ValueError: the text opens a quotation and does not end it, or has an escape that git does not write.
        """
        if not text.startswith('"'):
            return cls(text.encode())
        if len(text) < 2 or not text.endswith('"'):
            raise ValueError(f"a quoted path without its closing quote: {text}")
        return cls(_unquote(text[1:-1]))


CommitId = NewType("CommitId", str)
"""The 40 hex digits of a commit."""


def path_text(path: bytes) -> str:
    """Return a path as text, quoted as git quotes it where plain UTF-8 cannot hold it or would not stay on a line."""
    try:
        text = path.decode()
    except UnicodeDecodeError:
        return _quote(path)
    if _NEEDS_QUOTES.search(text):
        return _quote(path)
    return text


def _quote(path: bytes) -> str:
    parts = []
    for byte in path:
        if byte in _ESCAPES:
            parts.append("\\" + _ESCAPES[byte])
        elif 32 <= byte < 127:
            parts.append(chr(byte))
        else:
            parts.append(f"\\{byte:03o}")
    return '"' + "".join(parts) + '"'


def _unquote(body: str) -> bytes:
    out = bytearray()
    at = 0
    while at < len(body):
        char = body[at]
        if char != "\\":
            out += char.encode()
            at += 1
        elif body[at + 1 : at + 2] in _UNESCAPES:
            out.append(_UNESCAPES[body[at + 1]])
            at += 2
        else:
            digits = body[at + 1 : at + 4]
            if len(digits) != 3 or any(digit not in "01234567" for digit in digits):
                raise ValueError(f"an escape that git does not write: \\{digits}")
            out.append(int(digits, 8))
            at += 4
    return bytes(out)
