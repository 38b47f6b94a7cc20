"""Doubled keys of texts that are read line by line: properties, environments, Makefiles, shell, and protocol buffers.

Most of what reads these takes the last of two equal keys and says nothing, so that one side's work is gone. Some allow
a key twice on purpose, so how often it stands is not counted.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator

Doubled = Counter[bytes]

_PROPERTY = re.compile(rb"[ \t\f]*([^\s#!=:][^\s=:\\]*)[ \t\f]*[=:]")
_VARIABLE = re.compile(rb"[ \t]*(?:export[ \t]+)?([A-Za-z_][\w.]*)[ \t]*=")
_STRING = re.compile(rb'[ \t]*("(?:[^"\\]|\\.)*"|[\w.]+)[ \t]*=')
_FUNCTION = re.compile(rb"(?:function[ \t]+)?([\w:.-]+)[ \t]*\([ \t]*\)")
_ASSIGNED = re.compile(rb"([A-Za-z_][\w.-]*)[ \t]*:{0,3}=")
_TARGETS = re.compile(rb"([^\s#:=.$(%][^:=#$%]*):(?!=)")
_IF = re.compile(rb"[ ]*(?:ifn?eq|ifn?def)\b")
_END_IF = re.compile(rb"[ ]*endif\b")
# What is not closed goes on to its end, so that nothing is read twice.
_SKIPPED = re.compile(rb"""//[^\n]*|/\*.*?(?:\*/|\Z)|"(?:[^"\\\n]|\\.)*+"?|'(?:[^'\\\n]|\\.)*+'?""", re.DOTALL)
_STATEMENT = re.compile(rb"([^{};]*+)([{};]|\Z)")
_FIELD = re.compile(rb"(?<!\w)(\w+)\s*=\s*(-?(?:0[xX][0-9a-fA-F]+|[0-9]+))\s*(?:\[[^\]]*\]\s*)?")


def text_reader(name: bytes) -> Callable[[bytes], Doubled] | None:
    """Return what finds the doubled keys of a file with this name in lower case, or None.

    >>> read = text_reader(b"app.properties")
    >>> dict(read(b"a = 1\\nb = 2\\na = 3\\n")) if read else None
    {b'a': 2}
    """
    if name == b".env" or name.startswith(b".env."):
        return _env
    if name in (b"makefile", b"gnumakefile"):
        return _makefile
    return _READERS.get(name.rpartition(b".")[2])


def _twice(keys: Iterable[bytes]) -> Doubled:
    return Counter({key: 2 for key, count in Counter(keys).items() if count > 1})


def _properties(content: bytes) -> Doubled:
    return _twice(found[1] for line in _unbroken(content) if (found := _PROPERTY.match(line)))


def _unbroken(content: bytes) -> Iterator[bytes]:
    """Yield the lines that do not go on with the one before."""
    goes_on = False
    for line in content.splitlines():
        if not goes_on:
            yield line
        goes_on = (len(line) - len(line.rstrip(b"\\"))) % 2 == 1


def _env(content: bytes) -> Doubled:
    return _twice(found[1] for line in content.split(b"\n") if (found := _VARIABLE.match(line)))


def _strings(content: bytes) -> Doubled:
    return _twice(found[1] for line in content.split(b"\n") if (found := _STRING.match(line)))


def _shell(content: bytes) -> Doubled:
    return _twice(found[1] for line in content.split(b"\n") if (found := _FUNCTION.match(line)))


def _makefile(content: bytes) -> Doubled:
    """Find variables that are set twice and targets with two recipes; what stands in a condition may be one of several.

    A target without a recipe only says what more it needs, and may stand often.
    """
    keys: list[bytes] = []
    depth = 0
    lines = [*_unbroken(content), b""]
    for line, below in itertools.pairwise(lines):
        depth += bool(_IF.match(line)) - bool(_END_IF.match(line))
        if depth > 0:
            continue
        if found := _ASSIGNED.match(line):
            keys.append(found[1])
        elif below.startswith(b"\t") and (found := _TARGETS.match(line)):
            keys += found[1].split()
    return _twice(keys)


def _proto(content: bytes) -> Doubled:
    """Find names and numbers that two fields of one message bear; those of a ``oneof`` are the message's own."""
    keys: list[bytes] = []
    around = [0]
    for number, found in enumerate(_STATEMENT.finditer(_SKIPPED.sub(b" ", content)), 1):
        text = found[1].strip()
        if found[2] == b"{":
            around.append(around[-1] if text.startswith(b"oneof") else number)
        elif found[2] == b"}":
            around = around[:-1] or [0]
        elif (
            found[2] and not text.startswith(b"option ") and (field := _FIELD.search(text)) and field.end() == len(text)
        ):
            keys += (b"%d %s" % (around[-1], key) for key in field.groups())
    return Counter({key.partition(b" ")[2]: 2 for key in _twice(keys)})


_READERS: dict[bytes, Callable[[bytes], Doubled]] = {
    b"properties": _properties,
    b"env": _env,
    b"strings": _strings,
    b"mk": _makefile,
    b"sh": _shell,
    b"bash": _shell,
    b"zsh": _shell,
    b"proto": _proto,
}
