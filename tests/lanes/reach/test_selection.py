"""Random modules that change at random: a test that mentions nothing of a change comes to what it came to before."""

from __future__ import annotations

import builtins
import importlib
import random
from collections.abc import Mapping
from types import ModuleType

from lanes.reach.difference import names_changed
from lanes.reach.mentions import mentioned
from qodebase.paths import RepoPath

MODULES = ("red", "blue", "green")
NAMES = ("one", "two", "three", "four", "five", "len", "late")
TESTS = """
def test_one():
    return red.call(red.one)

def test_two():
    return len([1]), red.call(blue.three), red.call(green.two)
"""


class Code:
    """Modules whose statements refer to what comes later in `MODULES` and `NAMES`, and random changes of them."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self.texts = {
            module: {
                "import": f"import {', '.join((*MODULES[number + 1 :], 'sys'))}",
                "call": "def call(it):\n    return it(2) if callable(it) else it\n",
                **{name: self._statement(module, name) for name in reversed(NAMES)},
            }
            for number, module in enumerate(MODULES)
        }

    def _statement(self, module: str, name: str) -> str:
        text = self._expression(module, name)
        kinds = [
            f"def {name}(amount=1):\n    return {text}\n",
            f"def {name}(amount=1, more=int):\n    return {text}\n",
            f"def {name}(amount=({text})):\n    return amount\n",
            f"def {name}(amount: ({text})):\n    return {text}\n",
            f"{name} = {self.chance.choice(['[1, 2]', '7', '{1: 2}', '-1'])}\n",
            f"class {name}:\n    def __new__(cls, it):\n        return {text}\n",
            f"@call\ndef {name}(more):\n    return {text}\n",
            f"try:\n    {name} = {text}\nexcept Exception:\n    {name} = None\n",
        ]
        return self.chance.choices(kinds, weights=(20, 2, 1, 1, 4, 4, 1, 1))[0]

    def _expression(self, module: str, name: str) -> str:
        number = str(self.chance.randrange(9))
        later = NAMES[NAMES.index(name) + 1 :] or ("call",)
        modules = MODULES[MODULES.index(module) + 1 :]
        own, other = self.chance.choice(later), self.chance.choice(modules or (module,))
        its = self.chance.choice(NAMES)
        ways = [number, f"call({own})", own]
        if modules:
            ways += [f"call({other}.{its})", f"call(getattr({other}, {its[:2]!r} + {its[2:]!r}))"]
        return f"{self.chance.choices(ways, weights=(40, 20, 8, 20, 1)[: len(ways)])[0]}, {number}"

    def change(self) -> None:
        """Change a module: mostly one body, sometimes what stands around it."""
        module = self.chance.choice(MODULES)
        texts = self.texts[module]
        name = self.chance.choice(NAMES)
        kind = self.chance.randrange(20)
        if kind == 0:
            texts[name] = texts.pop(name)
        elif kind == 1:
            new = self.chance.choice(["int", "more", "new", "callable"])
            texts[new] = f"def {new}(it):\n    return it\n"
        elif kind <= 4:
            texts[name] = self._statement(module, name)
        elif "return " in texts[name]:
            before, _, _ = texts[name].rpartition("return ")
            texts[name] = f"{before}return {self._expression(module, name)}\n"

    @property
    def files(self) -> dict[str, str]:
        """Return the modules, and the tests."""
        made = {module: "\n".join(texts.values()) + "\n" for module, texts in self.texts.items()}
        return {**made, "tests": "".join(f"import {name}\n" for name in MODULES) + TESTS}


def came_to(files: Mapping[str, str], test: str) -> str | None:
    """Return what a test comes to; None where it fails."""
    loaded: dict[str, ModuleType] = {}

    def import_(name: str, *rest: object) -> ModuleType:
        if name not in files:
            return importlib.import_module(name)
        if name not in loaded:
            module = loaded[name] = ModuleType(name)
            vars(module)["__builtins__"] = {**vars(builtins), "__import__": import_}
            exec(compile(files[name], name, "exec", dont_inherit=True), vars(module))
        return loaded[name]

    try:
        return repr(vars(import_("tests"))[test]()).partition(" at 0x")[0]
    except (Exception, RecursionError):
        return None


def passed_by(seed: int) -> int:
    """Change a code again and again; return how often a change did not meet a green test."""
    code = Code(seed)
    found = 0
    for _ in range(20):
        before = code.files
        code.change()
        now = code.files
        changed = [names_changed(before[name].encode(), now[name].encode()) for name in MODULES]
        names = frozenset[str]().union(*(some for some in changed if some))
        for test in ("test_one", "test_two"):
            was = came_to(before, test)
            modules = {RepoPath(f"{name}.py".encode()): text.encode() for name, text in before.items()}
            words = None if was is None or None in changed else mentioned([test], modules)
            if words is not None and all(names.isdisjoint(some) for some in words):
                assert came_to(now, test) == was, (seed, names)
                found += bool(names)
    return found


def test_what_a_green_test_does_not_mention_does_not_change_what_it_comes_to() -> None:
    assert sum(map(passed_by, range(40))) > 200
