"""Faults and doubled keys of XML: settings, resources, property lists, and what builds projects.

Two elements beside each other are one key twice where they have the same tag and identity: an attribute such as
``name``, the text of a property list's ``<key>``, the tag itself among properties, or an artifact's coordinates. What
reads such files mostly takes the last, and says nothing.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from xml.parsers import expat

SUFFIXES = frozenset(
    {b"xml", b"csproj", b"fsproj", b"vbproj", b"props", b"targets", b"resx", b"config", b"plist", b"xlf", b"xliff"}
)

_NAMING = ("id", "name", "Name", "key", "Key", "Include", "Remove", "Update")
_BESIDE = ("Condition", "type", "Type")
"""Attributes that tell elements of one name apart."""

_TAGGED = frozenset({"properties", "PropertyGroup"})
_COORDINATES = frozenset({"groupId", "artifactId", "version", "type", "classifier"})
_ARTIFACTS = frozenset({"dependency", "plugin"})


class _Refused(Exception):
    """A file that declares entities, which are not expanded here."""


@dataclass(slots=True)
class _Element:
    tag: str
    key: str = ""
    text: str = ""
    coordinates: dict[str, str] = field(default_factory=dict)
    seen: Counter[str] = field(default_factory=Counter)


def xml_keys(content: bytes) -> tuple[int, Counter[bytes]]:
    """Return how many faults a file has, none or one, and the keys that stand twice.

    >>> xml_keys(b'<a><b name="x"/><c name="x"/><b name="x"/></a>')
    (0, Counter({b'x': 2}))
    """
    reading = _Reading()
    parser = expat.ParserCreate()
    parser.buffer_text = True
    parser.StartElementHandler = reading.start
    parser.EndElementHandler = reading.end
    parser.CharacterDataHandler = reading.said
    parser.EntityDeclHandler = reading.refuse
    try:
        parser.Parse(content, True)
    except (expat.ExpatError, _Refused, ValueError):
        return 1, Counter()
    return 0, reading.doubled


class _Reading:
    """What is open while a file is read from its begin to its end, and what was found twice."""

    def __init__(self) -> None:
        self.doubled: Counter[bytes] = Counter()
        self._open = [_Element("")]

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        naming = next((name for name in _NAMING if name in attributes), None)
        beside = [f"{name}={attributes[name]}" for name in _BESIDE if name in attributes]
        named = f"{naming}={attributes[naming]}" if naming is not None else ""
        if not attributes and self._open[-1].tag in _TAGGED:
            named = "="
        self._open.append(_Element(tag, " ".join([named, *beside]) if named else ""))

    def said(self, text: str) -> None:
        if self._open[-1].tag == "key" or self._open[-1].tag in _COORDINATES:
            self._open[-1].text += text

    def end(self, tag: str) -> None:
        own = self._open.pop()
        around = self._open[-1]
        for key, count in own.seen.items():
            if count > 1:
                self.doubled[_name(key)] += 2
        if tag in _COORDINATES and around.tag in _ARTIFACTS:
            around.coordinates[tag] = own.text.strip()
        key = own.key
        if tag == "key" and around.tag == "dict":
            key = f"={own.text}"
        elif tag in _ARTIFACTS and "artifactId" in own.coordinates:
            key = "=" + ":".join(
                own.coordinates.get(part, "") for part in ("groupId", "artifactId", "type", "classifier")
            )
        if key:
            around.seen[f"{tag} {key}"] += 1

    def refuse(self, *_: object) -> None:
        raise _Refused


def _name(key: str) -> bytes:
    tag, _, told = key.partition(" ")
    value = told.partition("=")[2]
    return (value or tag).encode(errors="replace")
