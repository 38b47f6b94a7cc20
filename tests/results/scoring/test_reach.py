"""What a test reaches, read off the imports."""

from __future__ import annotations

import pytest

from qodebase.edits import blob_id
from qodebase.paths import RepoPath
from results.scoring.reach import Imports, Reach, reach

TREE = {
    b"shop/__init__.py": b"",
    b"shop/cart.py": b"from shop import prices\n",
    b"shop/prices.py": b"import json\nfrom .deep.tax import rate\n",
    b"shop/deep/__init__.py": b"",
    b"shop/deep/tax.py": b"if True:\n    from ..units import (\n        gram,  # (not) kilo\n        g as lb\n    )\n",
    b"shop/units.py": b"gram = 1\n",
    b"shop/alone.py": b"x = 1; import shop.units as u, \\\n    shop.cart\n",
    b"shop/computed.py": b"import importlib\n",
    b"shop/opens.py": b"x = open('f')\n",
    b"shop/opening.py": b"opening = 'open'\nreopen = 1\n",
}


def reached(source: bytes, tree: dict[bytes, bytes] = TREE) -> Reach:
    contents = {blob_id(content): content for content in tree.values()}

    def blob(path: RepoPath) -> str | None:
        content = tree.get(path)
        return None if content is None else blob_id(content)

    return reach(RepoPath(b"checks/test_x.py"), source, blob, contents.__getitem__, Imports())


def there(source: bytes) -> set[bytes]:
    found = reached(source)
    assert found is not None
    return {path for path in found if path in TREE}


@pytest.mark.parametrize(
    ("source", "paths"),
    [
        (b"import os\n", set()),
        (b"from shop.units import gram\n", {b"shop/__init__.py", b"shop/units.py"}),
        (b"from shop import units\n", {b"shop/__init__.py", b"shop/units.py"}),
        (b"def test():\n    import shop.opening as o\n", {b"shop/__init__.py", b"shop/opening.py"}),
        (
            b"from shop.prices import *\n",
            {b"shop/__init__.py", b"shop/prices.py", b"shop/deep/__init__.py", b"shop/deep/tax.py", b"shop/units.py"},
        ),
        (b"import shop.alone\n", set(TREE) - {b"shop/computed.py", b"shop/opens.py", b"shop/opening.py"}),
    ],
)
def test_a_test_reaches_what_it_imports_and_what_that_imports(source: bytes, paths: set[bytes]) -> None:
    assert there(source) == paths


def test_places_at_which_nothing_is_yet_are_reached_too() -> None:
    found = reached(b"from shop.units import gram\n")
    assert found is not None
    assert b"shop/units/__init__.py" in found


@pytest.mark.parametrize(
    "source", [b"import shop.computed\n", b"import shop.opens\n", b"__import__('shop')\n", b"exec('x')\n"]
)
def test_a_source_that_could_reach_further_reaches_everything(source: bytes) -> None:
    assert reached(source) is None
