"""Which files take a header: cheap looks at the path and the bytes, each with its own ending."""

from __future__ import annotations

import re
from dataclasses import dataclass

from fleet.jobs.document.language import Ending, NoPlace, Place
from fleet.jobs.document.languages import language_of
from qodebase.change import SUBMODULE, SYMLINK

MAX_BYTES = 1_000_000
LONG_LINE = 500
MEAN_LINE = 110

_VENDORED = re.compile(
    rb"(?:^|/)(?:_?vendor(?:s|ed)?|third[-_]?party|3rd[-_]?party|node_modules|bower_components|jspm_packages|"
    rb"site-packages|\.yarn|\.venv|_bundled)/",
    re.IGNORECASE,
)
_GENERATED_NAME = re.compile(
    rb"(?:_pb2(?:_grpc)?\.pyi?|_pb\.(?:[cm]?[jt]s|rb)|\.pb(?:\.gw|\.validate)?\.(?:[jt]s|go|cc|h|swift)|\.designer\.cs|"
    rb"(?:[.-]generated|\.gen|\.g)\.\w+|[._-]bundle\.[cm]?js|"
    rb"(?:^|/)(?:parsetab|lextab)\.py)$",
    re.IGNORECASE,
)
_MINIFIED_NAME = re.compile(rb"[.-]min\.[cm]?js$", re.IGNORECASE)
_GENERATED = re.compile(
    rb"@generated\b|\bdo\s+not\s+edit\b|\bdo\s+not\s+modify\s+(?:this\s+file|manually|directly|by\s+hand)|"
    rb"\bauto(?:matically)?[-\s]?generated\b|\bcode\s+generated\b|"
    rb"^[^\w\r\n]{0,80}(?:(?:this|the)\s+\w{1,20}\s+(?:is|was|has\s+been)\s+)?(?:(?:file|code|types|bindings|machine)\s+)?"
    rb"generated\s+(?:by|from|with|using|on|via)\b",
    re.IGNORECASE | re.MULTILINE,
)
_LEADING = re.compile(
    rb"(?:[ \t\f\v]*(?:(?:#|//)[^\r\n]*)?(?:\r\n|\n|\r)|[ \t]*/\*.*?\*/|\xef\xbb\xbf|[ \t]*(?:#|//)[^\r\n]*\Z)*+",
    re.DOTALL,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Eligible:
    """A file that lacks a header and can take one: its language's name and the place."""

    language: str
    place: Place


@dataclass(frozen=True, slots=True, kw_only=True)
class NotEligible:
    """A file that takes no header, with its ending and the reason in words."""

    ending: Ending
    reason: str


def assess(path: bytes, content: bytes, mode: int, *, max_bytes: int = MAX_BYTES) -> Eligible | NotEligible:
    """Return whether a file takes a header from this job.

    ``content`` is the blob's bytes and ``mode`` git's; both may be anything. ``max_bytes`` bounds the size. The
    first reason in this order is given: mode, language, vendored, size, empty, binary, generated, minified, and
    then what the language itself says.
    """
    reason = _refused_by_path(path, mode) or _refused_by_bytes(path, content, max_bytes)
    if reason is not None:
        return reason
    language = language_of(path)
    assert language is not None
    found = language.find_place(content)
    if isinstance(found, NoPlace):
        return NotEligible(ending=found.ending, reason=found.reason)
    return Eligible(language=language.name, place=found)


def _refused_by_path(path: bytes, mode: int) -> NotEligible | None:
    if mode == SYMLINK:
        return NotEligible(ending=Ending.SYMLINK, reason="it is a symbolic link")
    if mode == SUBMODULE:
        return NotEligible(ending=Ending.SUBMODULE, reason="it is a submodule")
    language = language_of(path)
    if language is None:
        return NotEligible(ending=Ending.LANGUAGE, reason="its suffix belongs to no language of this job")
    vendored = _VENDORED.search(path)
    if vendored:
        folder = vendored[0].strip(b"/").decode()
        return NotEligible(ending=Ending.VENDORED, reason=f"it stands below {folder}")
    if path.lower().endswith(language.declarations):
        return NotEligible(ending=Ending.DECLARATIONS, reason="it only declares what is documented elsewhere")
    if _GENERATED_NAME.search(path):
        return NotEligible(ending=Ending.GENERATED, reason="its name says that it is generated")
    if _MINIFIED_NAME.search(path):
        return NotEligible(ending=Ending.MINIFIED, reason="its name says that it is minified")
    return None


def _refused_by_bytes(path: bytes, content: bytes, max_bytes: int) -> NotEligible | None:
    if len(content) > max_bytes:
        return NotEligible(ending=Ending.TOO_LARGE, reason=f"{len(content)} bytes are more than {max_bytes}")
    if not content or content.isspace():
        return NotEligible(ending=Ending.EMPTY, reason="it holds nothing")
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        return NotEligible(ending=Ending.ENCODING, reason="it is UTF-16")
    if b"\0" in content:
        return NotEligible(ending=Ending.BINARY, reason="it holds a NUL byte")
    leading = _LEADING.match(content)
    marker = _GENERATED.search(content, 0, leading.end()) if leading else None
    if marker:
        words = " ".join(marker[0].decode("ascii", "replace").split())
        return NotEligible(ending=Ending.GENERATED, reason=f"its first comment says: {words}")
    if _is_minified(content):
        return NotEligible(ending=Ending.MINIFIED, reason=f"most of it stands on lines over {LONG_LINE} bytes")
    return None


def _is_minified(content: bytes) -> bool:
    """Return whether more than half of the bytes stand on very long lines."""
    if len(content) < 4 * LONG_LINE or len(content) < MEAN_LINE * (content.count(b"\n") + 1):
        return False
    long = sum(length for line in content.split(b"\n") if (length := len(line)) > LONG_LINE)
    return 2 * long > len(content)
