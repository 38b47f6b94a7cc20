"""Made-up JavaScript files with the sizes of a real tree of modules, each different, the same for the same seed."""

from __future__ import annotations

import math
import random

SIZES = (
    50, 87, 223, 544, 873, 1392, 1887, 2574, 3132, 3798, 4504, 5160, 6286, 7606, 9368, 11229, 14073, 17943, 23587,
    37537, 133102,
)  # fmt: skip
"""Twentieths of the sizes in bytes of monaco-editor's ``esm/vs/**.js``, the last at 99%: median 4.5 kB, mean 10 kB."""

_WORDS = (
    "editor", "model", "view", "range", "position", "token", "cursor", "selection", "line", "column", "decoration",
    "marker", "widget", "provider", "service", "registry", "option", "buffer", "text", "event", "emitter",
    "listener", "command", "context", "key", "binding", "theme", "color", "font", "layout", "scroll", "viewport",
    "folding", "suggestion", "snippet", "diff", "hunk", "language", "grammar", "state", "cache", "queue", "task",
    "promise", "worker", "channel", "message", "request", "response", "storage", "resource", "label", "action",
    "menu", "tree", "list", "node", "path",
)  # fmt: skip
_LINES = (
    "import {{ {A}{B} }} from './{a}{C}.js';\n",
    "const {a}{B} = new Map([['{c}', {n}], ['{d}', '{e}']]);\n",
    "export const {A}_{B} = {n};\n",
    "// The {a} {b} keeps its {c} until the {d} is {e}.\n",
    "\n",
)
_FUNCTION = "function {a}{B}({c}, {d}) {{\n    return {c}.{e}{D}({d}, {n});\n}}\n"
_CLASS = "export class {A}{B} extends {C}{D} {{\n"
_MEMBERS = (
    "    constructor({a}, {b}, {c} = {n}) {{\n        super({a});\n        this._{b} = {b};\n    }}\n",
    "    get {a}{B}() {{ return this._{c}{D} ?? {n}; }}\n",
)
_METHOD = "    {a}{B}({c}, {d}) {{\n"
_STATEMENTS = (
    "        if ({a}{B}.length > {n} && !this._{c}.{d}) {{\n            return undefined;\n        }}\n",
    "        for (const {a} of this._{b}{C}) {{\n            {a}.{d}({n}, '{e}');\n        }}\n",
    "        this._register({a}{B}.on{C}{D}(({e}) => this.{b}{A}({e})));\n",
    "        // The {a} {b} keeps its {c} until the {d} is {e}.\n",
    "        throw new Error(`{a} ${{{b}}} is no {c} of the {d}`);\n",
)
_DOING = (
    ("keeps each {2} of the {0} in step with its {1}.", "maps a {2} to the {0} that its {1} belongs to."),
    ("tells listeners when a {1} loses its {2}.", "waits until no {0} needs the {2}, then drops both."),
    ("is what other modules use to find a {2} by {0} and {1}.", "sorts by {1}, because a {2} may come before its {0}."),
)
_POOL = 1500
_ROOM = 800
"""Bytes that are left of a file which ends with whole lines, so that it is not much longer than it shall be."""


class ScriptText:
    """Statements about one editor, from which files are put together."""

    def __init__(self, chance: random.Random) -> None:
        self._chance = chance
        self._lines = [self._filled(chance.choice(_LINES)) for _ in range(_POOL)]
        self._blocks = [self._block() for _ in range(_POOL)]

    def size(self) -> int:
        """Return the size in bytes that a file shall have."""
        place = self._chance.random() * (len(SIZES) - 1)
        low, high = SIZES[int(place)], SIZES[int(place) + 1]
        return round(math.exp(math.log(low) + (math.log(high) - math.log(low)) * (place % 1)))

    def file(self, number: int, size: int) -> bytes:
        """Return a file of about so many bytes that no other number has."""
        parts = [b"export const MODULE_%d = '%s';\n" % (number, self._chance.randbytes(4).hex().encode())]
        size -= len(parts[0])
        while size > 0:
            parts.append(self._chance.choice(self._blocks if size > _ROOM else self._lines))
            size -= len(parts[-1])
        return b"".join(parts)

    def header(self, path: bytes) -> str:
        """Return what a model could have said about a file: a sentence and some points."""
        words = self._chance.sample(_WORDS, 12)
        points = "\n".join(
            f"- {one.title()}{other.title()} {self._chance.choice(doing).format(one, other, third)}"
            for one, other, third, doing in zip(words[3::3], words[4::3], words[5::3], _DOING, strict=True)
        )
        name = path.rpartition(b"/")[2].decode()
        return f"Keeps the {words[0]} {words[1]} of each {words[2]} ({name}).\n\n{points}"

    def _block(self) -> bytes:
        """Return a line, a function or a class."""
        kind = self._chance.random()
        if kind < 0.3:
            return self._chance.choice(self._lines)
        if kind < 0.6:
            return self._filled(_FUNCTION)
        members = [self._member() for _ in range(self._chance.randint(1, 4))]
        return b"".join((self._filled(_CLASS), *members, b"}\n"))

    def _member(self) -> bytes:
        if self._chance.random() < 0.4:
            return self._filled(self._chance.choice(_MEMBERS))
        statements = [self._filled(one) for one in self._chance.choices(_STATEMENTS, k=self._chance.randint(1, 3))]
        return b"".join((self._filled(_METHOD), *statements, b"    }\n"))

    def _filled(self, template: str) -> bytes:
        words = self._chance.choices(_WORDS, k=5)
        small = dict(zip("abcde", words, strict=True))
        large = {letter.upper(): word.title() for letter, word in small.items()}
        return template.format(**small, **large, n=self._chance.randrange(2000)).encode()
