"""Words for headers: names as words, lists as text, paths as a reader writes them."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Sequence

from fleet.jobs.document.languages.outline_text import is_safe

Text = tuple[str, list[str]]
"""A header in the making: its summary, and the paragraphs and lists below."""

_PARTS = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+(?:\d+[a-z]*)*|[A-Z]+\d*|\d+")
_CODE_NAME = re.compile(r"[_\d.(]|[a-z][A-Z]|^[A-Z]{2}")


def words(name: str) -> str:
    """Return a name as words: ``get_site`` and ``FlexBox`` as "get site" and "flex box"; acronyms stay large."""
    parts = _PARTS.findall(name)
    return " ".join(part if len(part) > 1 and part.isupper() and len(parts) > 1 else part.lower() for part in parts)


def capital(text: str) -> str:
    """Return text with a large first letter, unless its first word is a name from code."""
    first = text.split(" ", 1)[0]
    if not text or _CODE_NAME.search(first.rstrip(",.:")):
        return text
    return text[0].upper() + text[1:]


def listed(names: Sequence[str], most: int = 4, total: int | None = None) -> str:
    """Return "a, b and c", or "a, b and 5 more" when there are more than ``most``; ``total`` counts unseen ones."""
    count = len(names) if total is None else max(total, len(names))
    shown = list(names[:most])
    if count - len(shown) == 1 and len(names) > len(shown):
        shown = list(names[: most + 1])
    rest = count - len(shown)
    if rest > 0:
        return f"{', '.join(shown)} and {rest} more" if shown else str(count)
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}" if shown else ""


def counted(count: int, noun: str, plural: str = "") -> str:
    """Return "1 test" or "3 tests"."""
    return f"{count} {noun if count == 1 else plural or noun + 's'}"


def fitting(names: Sequence[str], width: int, total: int | None = None) -> str:
    """Return `listed` with as many names as ``width`` characters hold, at least one."""
    most = 1
    size = len(names[0]) if names else 0
    for name in names[1:]:
        size += len(name) + 2
        if size > width:
            break
        most += 1
    return listed(names, most, total)


def safe(names: Sequence[str]) -> list[str]:
    """Return those that can stand in a comment and are not empty, each once, in order."""
    return [name for name in dict.fromkeys(names) if name.strip() and len(name) < 160 and is_safe(name)]


def module_name(path: bytes) -> str:
    """Return a Python file's dotted name from the top of the tree, without a source folder in front."""
    text = path.decode(errors="replace")
    parts = re.sub(r"\.pyw?i?$", "", text).split("/")
    if len(parts) > 1 and parts[0] in ("src", "lib"):
        parts = parts[1:]
    if len(parts) > 1 and parts[-1] == "__init__":
        parts = parts[:-1]
    return ".".join(parts)


def short_path(path: bytes) -> str:
    """Return a file's name with its folder, enough for a reader to find it."""
    text = path.decode(errors="replace")
    return posixpath.join(*text.split("/")[-2:])


def place_name(path: bytes) -> str:
    """Return how the file's language speaks of another file: dotted for Python, else folder and name."""
    return module_name(path) if path.endswith((b".py", b".pyi", b".pyw")) else short_path(path)


def is_test_path(path: bytes) -> bool:
    """Return whether a file lies among tests, by its path alone."""
    parts = path.lower().split(b"/")
    return any(part in (b"test", b"tests", b"__tests__", b"testing", b"idle_test") for part in parts[:-1]) or bool(
        re.match(rb"(test_|tests?\.)|.*(_test|\.test|\.spec)\.", parts[-1])
    )


def bullets(texts: Sequence[str]) -> list[str]:
    """Return the one block that a list makes, or none for an empty list."""
    return ["\n".join(f"- {text}" for text in texts)] if texts else []


def base_name(module: str) -> str:
    """Return the last part of an import's path, without the suffix of a script."""
    return re.sub(r"\.(js|mjs|cjs|ts)$", "", module).rpartition("/")[2] or module
