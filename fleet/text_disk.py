"""How the answer cache lays down its rows: text in SQLite, nothing else, ever."""

from __future__ import annotations

from typing import Any

from diskcache import UNKNOWN, Disk
from diskcache.core import MODE_RAW


class NotText(Exception):
    """A row, a key or a value that is not text in the database itself."""


class TextDisk(Disk):  # type: ignore[misc]
    """A diskcache ``Disk`` that knows text only: it never unpickles, and never opens, writes or removes a file."""

    def put(self, key: Any) -> tuple[str, bool]:
        """Return the key as it stands in the database."""
        if type(key) is not str:
            raise NotText("the key is no text")
        return key, True

    def get(self, key: Any, raw: bool) -> str:
        """Return the key of a row."""
        if not raw or type(key) is not str:
            raise NotText("a row whose key is no text")
        return key

    def store(self, value: Any, read: bool, key: Any = UNKNOWN) -> tuple[int, int, None, str]:
        """Return size, mode, file name and value of a row."""
        if read or type(value) is not str:
            raise NotText("the value is no text")
        return 0, MODE_RAW, None, value

    def fetch(self, mode: int, filename: Any, value: Any, read: bool) -> str:
        """Return the value of a row."""
        if read or mode != MODE_RAW or filename is not None or type(value) is not str:
            raise NotText("a row that holds no text")
        return value

    def filename(self, key: Any = UNKNOWN, value: Any = UNKNOWN) -> tuple[str, str]:
        """Refuse to name a file."""
        raise NotText("no value is kept in a file")

    def remove(self, file_path: Any) -> None:
        """Leave alone a file that a row names: it is not the cache's."""
