"""Imports follow the arrows of the layout, and third parties stay in the package that owns them."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest

ROOT = Path(__file__).parents[1]
PACKAGES = ("qodebase", "replay_rules", "lanes", "fleet", "results")
FACE = "the face"
BELOW: Mapping[str, frozenset[str]] = {
    "qodebase": frozenset(),
    "replay_rules": frozenset({"qodebase"}),
    "lanes": frozenset({"qodebase", "replay_rules"}),
    "fleet": frozenset({"qodebase", "replay_rules", "lanes"}),
    "results": frozenset({"qodebase", "replay_rules"}),
    FACE: frozenset({"qodebase", "replay_rules", "lanes", "fleet", "results"}),
}
OWNERS: Mapping[str, str] = {
    "dulwich": "qodebase",
    "msgspec": "qodebase",
    "pygit2": "replay_rules",
    "cydifflib": "replay_rules",
    "tree_sitter": "replay_rules",
    "tree_sitter_javascript": "replay_rules",
    "tree_sitter_python": "replay_rules",
    "tree_sitter_typescript": "replay_rules",
    "tomlkit": "replay_rules",
    "ruamel": "replay_rules",
    "litellm": "fleet",
    "aiohttp": "fleet",
    "asyncio_throttle": "fleet",
    "tenacity": "fleet",
    "diskcache": "fleet",
    "xllamacpp": "fleet",
    "polars": "results",
    "altair": "results",
    "vl_convert": "results",
    "typer": FACE,
    "rich": FACE,
}
TYPES = frozenset({(FACE, "polars"), ("fleet", "tree_sitter")})
"""Whose types another room may name where only a type checker looks."""


class Import(NamedTuple):
    """One imported module: where, what, and whether only a type checker sees it."""

    file: Path
    line: int
    module: str
    typing_only: bool


def room_of(module: str) -> str:
    """Return which room a module of ours is in."""
    parts = module.split(".")
    if module == "qodebase" or parts[:2] in (["qodebase", "cli"], ["qodebase", "commands"]):
        return FACE
    return parts[0]


def imports_of(file: Path, root: Path) -> Iterator[Import]:
    """Yield every import of a file, also those inside functions and under ``TYPE_CHECKING``."""
    relative = file.relative_to(root).with_suffix("")
    package = relative.parts[:-1]
    text = file.read_text()
    for node, hidden in statements_of(ast.parse(text, str(file)).body):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield Import(file, node.lineno, alias.name, hidden)
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else ()
            module = ".".join([*above, *([node.module] if node.module else [])])
            folder = root.joinpath(*module.split("."))
            for alias in node.names:
                inner = (folder / f"{alias.name}.py").is_file() or (folder / alias.name).is_dir()
                yield Import(file, node.lineno, f"{module}.{alias.name}" if inner else module, hidden)
        elif "import_module" in text:
            for named in modules_asked_for(node):
                yield Import(file, node.lineno, named, hidden)


_BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")


def statements_of(block: Iterable[ast.AST], hidden: bool = False) -> Iterator[tuple[Any, bool]]:
    """Yield the statements of a block and of those in it, and whether only a type checker sees them."""
    for node in block:
        yield node, hidden
        checked = isinstance(node, ast.If) and last_name(node.test) == "TYPE_CHECKING"
        for name in _BLOCKS:
            yield from statements_of(getattr(node, name, ()), hidden or (checked and name == "body"))


def last_name(expression: ast.expr) -> str:
    """Return the name that an expression ends with: ``c`` of ``a.b.c``; empty where it is no name."""
    return getattr(expression, "attr", "") or getattr(expression, "id", "")


def modules_asked_for(statement: ast.AST) -> Iterator[str]:
    """Yield the modules that a statement's own expressions import by name."""
    for child in ast.iter_child_nodes(statement):
        if isinstance(child, ast.stmt | ast.excepthandler | ast.match_case):
            continue
        for node in ast.walk(child):
            if isinstance(node, ast.Call) and last_name(node.func).endswith("import_module"):
                yield from (str(named.value) for named in node.args[:1] if isinstance(named, ast.Constant))


def fault_of_import(room: str, found: Import) -> str:
    """Say why a room may not import a module, or the empty text."""
    top = found.module.partition(".")[0]
    if top in PACKAGES:
        target = room_of(found.module)
        if room == FACE or target == room or target in BELOW[room]:
            return ""
        return f"{room} imports {found.module} of {target}"
    owner = OWNERS.get(top, room)
    if owner == room or (room == FACE and owner == "qodebase") or (found.typing_only and (room, top) in TYPES):
        return ""
    return f"{room} imports {top}, which lives in {owner}"


def faults(root: Path) -> list[str]:
    """Return every import against the arrows, and every module that is called utils."""
    found = []
    for package in PACKAGES:
        for file in sorted((root / package).rglob("*.py")):
            relative = file.relative_to(root)
            if "corpus" in relative.parts:
                continue
            if file.stem in ("utils", "util") or "utils" in relative.parts:
                found.append(f"{relative}: a module that says nothing of what it holds")
            module = ".".join(relative.with_suffix("").parts).removesuffix(".__init__")
            for one in imports_of(file, root):
                fault = fault_of_import(room_of(module), one)
                if fault:
                    found.append(f"{relative}:{one.line}: {fault}")
    return found


def plant(root: Path, name: str, text: str) -> None:
    """Write a module, and an empty package around it."""
    file = root / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


def test_every_import_follows_the_arrows_and_third_parties_stay_with_their_owners() -> None:
    assert faults(ROOT) == []


def test_all_five_packages_are_really_walked() -> None:
    for package in PACKAGES:
        assert len(list((ROOT / package).rglob("*.py"))) > 4, package


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("qodebase/journal.py", "from lanes.desk import Desk\n", "qodebase imports lanes.desk of lanes"),
        ("qodebase/trunk/step.py", "import qodebase.cli\n", "qodebase imports qodebase.cli of the face"),
        ("qodebase/trunk/step.py", "from qodebase import run\n", "qodebase imports qodebase of the face"),
        ("qodebase/trunk/step.py", "from ..commands import run\n", "qodebase imports qodebase.commands of the face"),
        ("qodebase/clock.py", "def f():\n    import replay_rules.ladder\n", "qodebase imports replay_rules.ladder"),
        ("replay_rules/ladder.py", "from lanes import gate\n", "replay_rules imports lanes of lanes"),
        (
            "lanes/gate.py",
            "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from fleet.driver import Driver\n",
            "lanes imports fleet.driver of fleet",
        ),
        ("lanes/gate.py", "import results.audit as audit\n", "lanes imports results.audit of results"),
        ("fleet/driver.py", "import importlib\nimportlib.import_module('results.audit')\n", "of results"),
        ("fleet/driver.py", "async def f():\n    from results import audit\n", "fleet imports results of results"),
        ("results/audit.py", "from lanes.gate import Gate\n", "results imports lanes.gate of lanes"),
        ("results/audit.py", "from fleet import driver\n", "results imports fleet of fleet"),
        ("lanes/gate.py", "import msgspec.json\n", "lanes imports msgspec, which lives in qodebase"),
        ("qodebase/journal.py", "import aiohttp\n", "qodebase imports aiohttp, which lives in fleet"),
        ("fleet/driver.py", "from pygit2 import Repository\n", "fleet imports pygit2, which lives in replay_rules"),
        ("qodebase/commands/run.py", "import polars\n", "the face imports polars, which lives in results"),
        ("results/audit.py", "import rich.table\n", "results imports rich, which lives in the face"),
        ("fleet/utils.py", "", "a module that says nothing"),
    ],
)
def test_a_planted_fault_is_found(tmp_path: Path, name: str, text: str, said: str) -> None:
    plant(tmp_path, name, text)
    found = faults(tmp_path)
    assert found
    assert all(line.startswith(name) for line in found)
    assert said in found[0]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("qodebase/commands/run.py", "import results.audit, fleet.driver, lanes.yard, typer\nfrom rich import print\n"),
        (
            "qodebase/commands/run.py",
            "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import polars\nfrom .support import plan\n",
        ),
        ("qodebase/__init__.py", "def __getattr__(name):\n    from qodebase.commands.support import notebook\n"),
        ("fleet/driver.py", "import aiohttp\nfrom lanes.yard import Yard\nfrom replay_rules import ladder\n"),
        ("lanes/gate.py", "from lanes.train import Train\nfrom qodebase.ports import Checker\nimport asyncio\n"),
    ],
)
def test_an_import_along_the_arrows_is_no_fault(tmp_path: Path, name: str, text: str) -> None:
    plant(tmp_path, name, text)
    assert faults(tmp_path) == []
