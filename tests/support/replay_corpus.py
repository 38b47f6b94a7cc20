"""Make the generated half of the shipped replay corpus, whose truth is known because it is put together from items.

Run as ``python tests/support/replay_corpus.py FOLDER``: each case becomes ``FOLDER/KIND/made-NUMBER``. The same
script always makes the same bytes.
"""

from __future__ import annotations

import random
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

WORDS = tuple(
    re.findall(
        r"\w+",
        """
amber anchor basil beacon birch canyon cedar cinder cobalt copper coral cypress delta drift ember falcon fern fjord
flint garnet ginger glacier harbor hazel heron indigo iris ivory jasper juniper kelp lagoon larch lilac linen maple
marble meadow mistral nectar north oasis ochre olive onyx opal orchid otter pebble pepper pine prairie quartz quill
raven reef river saffron sage sierra slate sorrel spruce summit tarn thistle tidal topaz umber vale velvet walnut
willow winter yarrow zephyr
""",
    )
)
CASES_OF_A_KIND = 6
RENAME = "symbol rename against edit"


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """One case: the words of ``case.toml`` and the files by tree, None where a tree does not have the path.

    ``moved`` holds a path and its text by tree, for what lies elsewhere there.
    """

    kind: str
    path: str
    trees: Mapping[str, str | None]
    more: Sequence[str] = field(default_factory=tuple)
    moved: Mapping[str, tuple[str, str]] = field(default_factory=dict)

    @property
    def files(self) -> Mapping[str, str]:
        """Return every file's text by its tree and path, with a slash between."""
        found = {f"{tree}/{self.path}": text for tree, text in self.trees.items() if text is not None}
        return found | {f"{tree}/{path}": text for tree, (path, text) in self.moved.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """A file that is a row of like items: ``{w}`` is an item's word, ``{W}`` in capitals, ``{n}`` its length."""

    kind: str
    path: str
    item: str
    head: str = ""
    foot: str = ""
    between: str = ""
    is_sorted: bool = False
    at_front: bool = False


SHAPES = (
    Shape(
        kind="sorted index",
        path="docs/API_INDEX.md",
        head="# Index\n\n",
        item="- `src/{w}.py` `{w}` function\n",
        is_sorted=True,
    ),
    Shape(
        kind="sorted index",
        path="INDEX.md",
        head="# Names\n\nKept sorted.\n\n",
        item="- `lib/{w}/main.ts` `{W}` constant, {n} letters\n",
        is_sorted=True,
    ),
    Shape(
        kind="unsorted list",
        path="app/names.py",
        head="KNOWN = frozenset(\n    {\n",
        item='        "{w}",\n',
        foot="    }\n)\n",
    ),
    Shape(
        kind="unsorted list",
        path="web/names.js",
        head="export const known = new Set([\n",
        item='  "{w}",\n',
        foot="]);\n",
    ),
    Shape(
        kind="unsorted list",
        path="app/__init__.py",
        head='"""Public names."""\n\n__all__ = [\n',
        item='    "{w}",\n',
        foot="]\n",
        is_sorted=True,
    ),
    Shape(
        kind="appended functions",
        path="app/sums.py",
        head='"""Sums."""\n',
        item="\n\ndef {w}(value: int) -> int:\n    return value + {n}\n",
    ),
    Shape(
        kind="appended functions",
        path="tests/test_sums.py",
        head="from app import sums\n",
        item="\n\ndef test_{w}_adds_its_length():\n    assert sums.{w}(1) == 1 + {n}\n",
    ),
    Shape(
        kind="appended functions",
        path="web/sums.js",
        head="// Sums.\n",
        item="\nexport function {w}(value) {{\n  return value + {n};\n}}\n",
    ),
    Shape(
        kind="appended functions",
        path="web/shop.ts",
        head="export class Shop {\n  private sum = 0;\n",
        item="\n  {w}(value: number): void {{\n    this.sum += value * {n};\n  }}\n",
        foot="}\n",
    ),
    Shape(
        kind="imports",
        path="app/main.py",
        head='"""Main."""\n\n',
        item="from app.{w} import {w}\n",
        foot="\n\ndef main() -> None:\n    amber()\n",
    ),
    Shape(
        kind="imports",
        path="web/main.js",
        item='import {{ {w} }} from "./{w}.js";\n',
        foot="\nexport default function main() {\n  return 1;\n}\n",
    ),
    Shape(
        kind="imports",
        path="app/wide.py",
        head="from app.parts import (\n",
        item="    {w},\n",
        foot=")\n\nVALUE = 1\n",
        is_sorted=True,
    ),
    Shape(
        kind="enum members",
        path="app/states.py",
        head="from enum import Enum\n\n\nclass State(Enum):\n",
        item='    {W} = "{w}"\n',
    ),
    Shape(kind="enum members", path="web/states.ts", head="export enum State {\n", item='  {W} = "{w}",\n', foot="}\n"),
    Shape(
        kind="registry dictionary",
        path="app/registry.py",
        head="from app import makers\n\nMAKERS = {\n",
        item='    "{w}": makers.make_{w},\n',
        foot="}\n",
    ),
    Shape(
        kind="registry dictionary",
        path="web/registry.js",
        head='import * as makers from "./makers.js";\n\nexport const registry = {\n',
        item="  {w}: makers.{w},\n",
        foot="};\n",
    ),
    Shape(
        kind="registry dictionary",
        path="web/prices.ts",
        head="export const prices: Record<string, number> = {\n",
        item='  "{w}": {n},\n',
        foot="};\n",
    ),
    Shape(
        kind="route table",
        path="app/urls.py",
        head="from django.urls import path\n\nfrom app import views\n\nurlpatterns = [\n",
        item='    path("{w}/", views.{w}),\n',
        foot="]\n",
    ),
    Shape(
        kind="route table",
        path="web/routes.js",
        head='import { app } from "./app.js";\nimport * as views from "./views.js";\n\n',
        item='app.get("/{w}", views.{w});\n',
    ),
    Shape(
        kind="changelog",
        path="CHANGELOG.md",
        head="# Changelog\n\n## Unreleased\n\n### Added\n\n",
        item="- The {w} command takes {n} words.\n",
        foot="\n## 1.0.0\n\n- First release.\n",
    ),
    Shape(
        kind="changelog",
        path="CHANGES.rst",
        head="Changes\n=======\n\nVersion 2.1\n-----------\n\nUnreleased\n\n",
        item="-   The option ``{w}`` is read from\n    the settings.\n",
        foot="\nVersion 2.0\n-----------\n\n-   First release.\n",
    ),
    Shape(
        kind="changelog",
        path="HISTORY.md",
        head="# History\n\n## Next\n\n",
        item="* Fixed `{w}` on Windows.\n",
        foot="\n## 0.1\n\n* Began.\n",
        at_front=True,
    ),
    Shape(
        kind="same function",
        path="app/cost.py",
        head="def cost(name: str) -> int:\n    match name:\n",
        item='        case "{w}":\n            return {n}\n',
    ),
    Shape(
        kind="same function",
        path="web/cost.js",
        head="export function cost(name) {\n  switch (name) {\n",
        item='    case "{w}":\n      return {n};\n',
        foot="  }\n}\n",
    ),
    Shape(
        kind="same function",
        path="tests/test_cost.py",
        head='import pytest\n\n\n@pytest.mark.parametrize(\n    ("name", "cost"),\n    [\n',
        item='        ("{w}", {n}),\n',
        foot="    ],\n)\ndef test_cost(name, cost):\n    assert len(name) == cost\n",
    ),
    Shape(
        kind="json",
        path="data/sizes.json",
        head="{\n",
        item='  "{w}": {n}',
        between=",\n",
        foot="\n}\n",
    ),
    Shape(
        kind="json",
        path="package.json",
        head='{\n  "name": "shop",\n  "dependencies": {\n',
        item='    "{w}": "^{n}.1.0"',
        between=",\n",
        foot='\n  },\n  "private": true\n}\n',
        is_sorted=True,
    ),
    Shape(
        kind="json",
        path="names.json",
        head='{\n  "keywords": [\n',
        item='    "{w}"',
        between=",\n",
        foot="\n  ]\n}\n",
    ),
    Shape(
        kind="toml",
        path="pyproject.toml",
        head='[project]\nname = "shop"\ndependencies = [\n',
        item='    "{w}>={n}.0",\n',
        foot="]\n\n[tool.shop]\nlevel = 3\n",
        is_sorted=True,
    ),
    Shape(kind="toml", path="Cargo.toml", head='[package]\nname = "shop"\n\n[dependencies]\n', item='{w} = "{n}.2"\n'),
    Shape(
        kind="toml",
        path="settings.toml",
        head="# Settings of each part.\n",
        item="\n# The part {w}.\n[parts.{w}]\nsize = {n}\n",
    ),
    Shape(kind="yaml", path="values.yaml", head="image: shop\nenv:\n", item='  {W}: "{n}"\n'),
    Shape(
        kind="yaml",
        path=".github/workflows/ci.yml",
        head="name: CI\n\non: [push]\n\njobs:\n",
        item="  {w}:\n    runs-on: ubuntu-latest\n    steps:\n      - run: make {w}\n\n",
    ),
    Shape(kind="yaml", path="names.yml", head="# Who may.\nmembers:\n", item="  - {w}\n", foot="open: true\n"),
    Shape(
        kind="markdown table",
        path="README.md",
        head="# Shop\n\n| name | letters |\n| --- | --- |\n",
        item="| {w} | {n} |\n",
        foot="\nThat is all.\n",
    ),
    Shape(
        kind="markdown table",
        path="docs/flags.md",
        head="## Flags\n\n| Flag | Meaning | Default |\n|:-----|:-------:|--------:|\n",
        item="| `--{w}` | sets the {w} | {n} |\n",
        is_sorted=True,
    ),
)


def made() -> Iterator[tuple[str, Made]]:
    """Yield every generated case with its folder, kinds in order."""
    kinds = sorted({shape.kind for shape in SHAPES})
    for kind in kinds:
        shapes = [shape for shape in SHAPES if shape.kind == kind]
        for number in range(CASES_OF_A_KIND):
            shape = shapes[number % len(shapes)]
            yield folder(kind, number), of_shape(shape, random.Random(f"{kind} {number}"))
    for kind, make in MAKERS.items():
        for number in range(CASES_OF_A_KIND):
            yield folder(kind, number), make(random.Random(f"{kind} {number}"), number)


def folder(kind: str, number: int) -> str:
    """Return where a case lies below the corpus."""
    return f"{kind.replace(' ', '-')}/made-{number}"


def of_shape(shape: Shape, source: random.Random) -> Made:
    """Let both sides add items at one place of a shape."""
    words = source.sample(WORDS, source.randint(6, 9))
    main_count, change_count = source.randint(1, 2), source.randint(1, 2)
    base = words[: len(words) - main_count - change_count]
    main, change = words[len(base) : len(base) + main_count], words[len(base) + main_count :]
    front = shape.at_front
    sides = {
        "base": base,
        "main": main + base if front else base + main,
        "change": change + base if front else base + change,
        "expected": main + change + base if front else base + main + change,
    }
    trees = {name: _text(shape, sorted(side) if shape.is_sorted else side) for name, side in sides.items()}
    return Made(kind=shape.kind, path=shape.path, trees=trees)


def bumped(source: random.Random, number: int) -> Made:
    """Let both sides raise one version number."""
    path, text = (
        ("pyproject.toml", '[project]\nname = "shop"\nversion = "{}"\nreadme = "README.md"\n'),
        ("app/__init__.py", '"""Shop."""\n\n__version__ = "{}"\n'),
        ("package.json", '{{\n  "name": "shop",\n  "version": "{}",\n  "private": true\n}}\n'),
    )[number % 3]
    major, minor, patch = source.randint(0, 4), source.randint(0, 9), source.randint(0, 9)
    numbers = [f"{major}.{minor}.{patch}", f"{major}.{minor}.{patch + 1}", f"{major}.{minor + 1}.0"]
    if number % 2:
        numbers[1], numbers[2] = numbers[2], numbers[1]
    best = numbers[1] if number % 2 else numbers[2]
    names = ("base", "main", "change", "expected")
    trees = {name: text.format(value) for name, value in zip(names, [*numbers, best], strict=True)}
    return Made(kind="version bump", path=path, trees=trees)


def twin(source: random.Random, number: int) -> Made:
    """Let both sides add the same function, once with other blanks, beside one of their own."""
    base, name, ours, theirs = source.sample(WORDS, 4)
    if number % 2:
        path, head, item = "web/twins.js", "// Twins.\n", "\nexport function {0}(value) {{\n  return value + {1};\n}}\n"
    else:
        path, head, item = "app/twins.py", '"""Twins."""\n', "\n\ndef {0}(value: int) -> int:\n    return value + {1}\n"
    start = head + item.format(base, 1)
    both = item.format(name, 7)
    main, change = (both, both) if number < 2 else (both + item.format(ours, 2), both + item.format(theirs, 3))
    expected = start + (both if number < 2 else both + item.format(ours, 2) + item.format(theirs, 3))
    trees = {"base": start, "main": start + main, "change": start + change, "expected": expected}
    return Made(kind="twin function", path=path, trees=trees)


def moded(source: random.Random, number: int) -> Made:
    """Let one side set the executable bit and the other edit the text."""
    first, second = source.sample(WORDS, 2)
    base, edited = f"#!/bin/sh\necho {first}\n", f"#!/bin/sh\necho {first}\necho {second}\n"
    by_main, takes_away = bool(number % 2), number >= 4
    before, after = ("100755", "100644") if takes_away else ("100644", "100755")
    modes = {"base": before, "main": after if by_main else before, "change": before if by_main else after}
    trees = {"base": base, "main": base if by_main else edited, "change": edited if by_main else base}
    stated = ", ".join(f'{name} = "{mode}"' for name, mode in {**modes, "expected": after}.items())
    return Made(
        kind="file mode", path=f"bin/{first}", trees={**trees, "expected": edited}, more=[f"modes = {{ {stated} }}"]
    )


def added(source: random.Random, number: int) -> Made:
    """Let both sides add one file with the same bytes."""
    words = source.sample(WORDS, 3)
    path = (f"app/{words[0]}/__init__.py", f"data/{words[0]}.txt")[number % 2]
    text = "" if number == 0 else "".join(f"# {word}\n" for word in words)
    return Made(kind="both add a file", path=path, trees={"base": None, "main": text, "change": text, "expected": text})


def renamed(source: random.Random, number: int) -> Made:
    """Let one side rename a function and the other edit the line that calls it."""
    old, new, caller = source.sample(WORDS, 3)
    script = number % 2 == 1
    text = (
        "function {0}(value) {{\n  return value + 1;\n}}\n\nfunction {1}(value) {{\n  return {2};\n}}\n"
        if script
        else "def {0}(value):\n    return value + 1\n\n\ndef {1}(value):\n    return {2}\n"
    )
    edit = f"{number + 2} * " + "{0}(value)"
    sides = [
        text.format(old, caller, f"{old}(value)"),
        text.format(new, caller, f"{new}(value)"),
        text.format(old, caller, edit.format(old)),
    ]
    if number >= 3:
        sides[1], sides[2] = sides[2], sides[1]
    names = ("base", "main", "change", "expected")
    trees = dict(zip(names, [*sides, text.format(new, caller, edit.format(new))], strict=True))
    return Made(kind=RENAME, path=f"{'web' if script else 'app'}/calls.{'js' if script else 'py'}", trees=trees)


def moved(source: random.Random, number: int) -> Made:
    """Let main move a file, once with an edit of its own, while the change edits it at the old path."""
    words = source.sample(WORDS, 12)
    before = "".join(f"{word} = {len(word)}\n" for word in words)
    ours = before.replace(f"{words[0]} =", f"{words[0]}_ =") if number % 2 else before
    edited = before.replace(f"{words[-1]} = {len(words[-1])}\n", f"{words[-1]} = 0\n")
    path, new = f"app/{words[1]}.py", f"app/parts/{words[2]}.py"
    expected = edited.replace(f"{words[0]} =", f"{words[0]}_ =") if number % 2 else edited
    return Made(
        kind="file rename against edit",
        path=path,
        trees={"base": before, "main": None, "change": edited, "expected": None},
        moved={"main": (new, ours), "expected": (new, expected)},
    )


def write(case: Made, into: Path) -> None:
    """Write a case as a folder."""
    into.mkdir(parents=True, exist_ok=True)
    (into / "case.toml").write_text(case_toml(case))
    for name, text in case.files.items():
        file = into / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode())


def case_toml(case: Made) -> str:
    """Return the words of ``case.toml``; a case without an expected file has to be declined."""
    expect = "file" if "expected" in case.trees else "decline"
    return "\n".join([f'kind = "{case.kind}"', f'path = "{case.path}"', f'expect = "{expect}"', *case.more]) + "\n"


def _text(shape: Shape, words: Sequence[str]) -> str:
    items = [shape.item.format(w=word, W=word.upper(), n=len(word)) for word in words]
    return shape.head + shape.between.join(items) + shape.foot


MAKERS: Mapping[str, Callable[[random.Random, int], Made]] = {
    "version bump": bumped,
    "twin function": twin,
    "file mode": moded,
    "both add a file": added,
    RENAME: renamed,
    "file rename against edit": moved,
}

if __name__ == "__main__":
    for place, case in made():
        write(case, Path(sys.argv[1]) / place)
