"""Made-up source files that are as long and as compressible as real ones, the same for the same seed."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence

MEDIAN = 3500
SPREAD = 1.25
LARGEST = 120_000
"""Sizes are log-normal: half of the files are shorter than 3.5 kB and the mean is about 7 kB, as in common trees."""

_WORDS = [
    "request",
    "response",
    "value",
    "index",
    "parse",
    "build",
    "field",
    "cache",
    "node",
    "tree",
    "path",
    "name",
    "key",
    "item",
    "state",
    "token",
    "buffer",
    "handle",
    "config",
    "option",
    "result",
    "error",
    "count",
    "size",
    "limit",
    "start",
    "stop",
    "next",
    "first",
    "last",
    "merge",
    "split",
    "write",
    "read",
    "open",
    "close",
    "send",
    "receive",
    "encode",
    "decode",
    "format",
    "filter",
    "select",
    "update",
    "remove",
    "insert",
    "create",
    "delete",
    "check",
    "valid",
    "default",
    "module",
    "source",
    "target",
    "queue",
    "worker",
    "thread",
    "event",
    "signal",
    "message",
    "header",
    "body",
    "stream",
    "block",
    "chunk",
    "offset",
    "length",
    "match",
    "pattern",
    "rule",
    "group",
    "entry",
    "record",
    "column",
    "table",
    "query",
    "schema",
    "model",
    "view",
    "form",
    "widget",
    "layout",
    "color",
    "theme",
    "font",
    "image",
    "audio",
    "video",
]
_LINES = (
    "def {a}_{b}(self, {c}: int, {d}: str) -> None:\n",
    "    {a}_{b} = self._{c}.{d}_{e}({a}, {b})\n",
    "    if {a}_{b} is None or {c} < {n}:\n",
    "        raise {A}{B}Error(f\"{c} {d} is not {e}: {{{a}_{b}!r}}\")\n",
    "    for {a}, {b} in enumerate({c}_{d}):\n",
    "        {a}_{b}.append({c}[{n}] + {d}.get(\"{e}\", {n}))\n",
    "    return {a}_{b}({c}={n}, {d}=self.{e})\n",
    "    # The {a} {b} keeps its {c} until the {d} is {e}.\n",
    "class {A}{B}({C}{D}):\n",
    "    \"\"\"Return the {a} of a {b} {c}, or {d} when there is no {e}.\"\"\"\n",
    "from {a}.{b} import {C}{D}, {c}_{d}, {e}\n",
    "\n",
    "    with self.{a}_{b}({c}) as {d}, open({e}_path) as file:\n",
    "        assert {a}.{b} == {c}_{n}, \"{d} {e}\"\n",
    "    try:\n        {a} = {b}_{c}({d})\n    except {A}Error as error:\n        log.debug(\"%s: %s\", {e}, error)\n",
)  # fmt: skip
_TOPICS = 300
_TOPICS_OF_A_FILE = 4
_TOPIC_WORDS = 24
_TOPIC_LINES = 60


class CodeText:
    """Made-up lines about many topics, from which files are put together: a file is about a few topics."""

    def __init__(self, chance: random.Random) -> None:
        self._chance = chance
        self._topics = [self._topic() for _ in range(_TOPICS)]

    def _topic(self) -> list[bytes]:
        words = self._chance.sample(_WORDS, _TOPIC_WORDS)
        return [self._line(words) for _ in range(_TOPIC_LINES)]

    def _line(self, vocabulary: Sequence[str]) -> bytes:
        words = self._chance.choices(vocabulary, k=5)
        small = dict(zip("abcde", words, strict=True))
        large = {letter.upper(): word.title() for letter, word in small.items()}
        number = self._chance.randrange(2000)
        return self._chance.choice(_LINES).format(**small, **large, n=number).encode()

    def size(self, scale: float) -> int:
        """Return the size in bytes that a file shall have."""
        drawn = math.exp(self._chance.gauss(math.log(MEDIAN), SPREAD))
        return int(min(drawn, LARGEST) * scale)

    def file(self, size: int) -> bytes:
        """Return a file of about so many bytes."""
        parts: list[bytes] = []
        pool = [line for topic in self._chance.choices(self._topics, k=_TOPICS_OF_A_FILE) for line in topic]
        while size > 0:
            for line in self._chance.choices(pool, k=max(1, size // 48)):
                parts.append(line)
                size -= len(line)
                if size <= 0:
                    break
        return b"".join(parts)

    def lines(self, count: int) -> bytes:
        """Return so many lines of which no other file has the same."""
        return b"".join([self._line(_WORDS) for _ in range(count)])

    def edited(self, content: bytes) -> bytes:
        """Return a content in which up to 3 lines are replaced by 3 to 12 new ones, somewhere."""
        at = content.find(b"\n", self._chance.randrange(len(content) + 1)) + 1
        end = at
        for _ in range(self._chance.randrange(4)):
            end = content.find(b"\n", end) + 1 or len(content)
        return content[:at] + self.lines(self._chance.randint(3, 12)) + content[end:]
