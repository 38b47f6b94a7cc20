from __future__ import annotations

import asyncio
import random
from pathlib import Path

import pytest

from lanes.checking.inside.selection import Selections
from lanes.checking.results import Shared, shared_of
from lanes.checking.sandbox import Sandbox
from lanes.checking.warm import Request, Warm
from qodebase.check import Limits

pytestmark = pytest.mark.usefixtures("sandboxed")

PLAIN = [
    "def test_{n}():\n    assert double(2) == 4\n",
    "def test_{n}():\n    for number in range(9):\n        assert double(number) == number + number, number\n",
    "def test_{n}():\n    print('said')\n    assert open('data.txt').read() == '1'\n",
    "def test_{n}():\n    import late\n    assert late.VALUE == 1\n",
    "def test_{n}():\n    try:\n        double(None)\n    except TypeError:\n        return\n    assert 0\n",
    "def test_{n}():\n    import warnings\n    warnings.warn('old', DeprecationWarning)\n",
    "def test_{n}():\n    import warnings\n    warnings.simplefilter('error')\n",
    "import logging\n\ndef test_{n}():\n    logging.getLogger('x').warning('heard')\n",
    "def helper_{n}(one=3):\n    return one\n\ndef test_{n}():\n    assert helper_{n}() == 3\n",
    "class Helper_{n}:\n    pass\n\ndef test_{n}():\n    assert Helper_{n}() is not None\n",
    "test_values_{n} = [1, 2]\n\ndef test_{n}():\n    assert test_values_{n}[1] == 2\n",
]
RED = [
    "def test_{n}():\n    assert double(2) == 5\n",
    "def test_{n}():\n    raise KeyError('no')\n",
    "def test_{n}():\n    raise SystemExit(0)\n",
    "def test_{n}():\n    input()\n",
    "def test_{n}():\n    return 1\n",
    "def test_{n}():\n    import no_such_module\n",
    "def test_{n}(no_such_fixture):\n    pass\n",
    "def test_{n}():\n    deep({depth})\n\ndef deep(left):\n    if left:\n        deep(left - 1)\n",
    "async def test_{n}():\n    pass\n",
    "def test_{n}():\n    import warnings\n    with warnings.catch_warnings(record=True) as heard:\n"
    "        warnings.warn('old', DeprecationWarning)\n    assert heard == []\n",
]
FOR_PYTEST = [
    "def test_{n}(tmp_path):\n    assert tmp_path.is_dir()\n",
    "import pytest\n\n@pytest.mark.parametrize('one', [1, 2])\ndef test_{n}(one):\n    assert one\n",
    "import pytest\n\n@pytest.mark.skip\ndef test_{n}():\n    assert False\n",
    "import pytest\n\n@pytest.mark.xfail\ndef test_{n}():\n    assert False\n",
    "class Test_{n}:\n    def test_it(self):\n        assert double(1) == 2\n",
    "import unittest\n\nclass Case_{n}(unittest.TestCase):\n    def test_it(self):\n        assert double(1) == 2\n",
    "STATE_{n} = []\n\ndef setup_function():\n    STATE_{n}.append(1)\n\ndef test_{n}():\n    assert STATE_{n}\n",
    "def setup_module():\n    raise ValueError('no')\n\ndef test_{n}():\n    pass\n",
    "import pytest\n\n@pytest.fixture(autouse=True)\ndef always_{n}():\n    raise ValueError\n\ndef test_{n}(): pass\n",
    "from hidden import *\n\ndef test_{n}():\n    pass\n",
    "from cases import *\n\ndef test_{n}():\n    pass\n",
    "from fixtures import *\n\ndef test_{n}():\n    pass\n",
    "import functools\n\ndef base_{n}(one):\n    assert one\n\ntest_{n} = functools.partial(base_{n}, 1)\n",
    "def test_{n}():\n    yield\n",
    "def test_{n}():\n    assert False\n\ntest_{n}.__test__ = False\n",
]
MODULES = {
    "code_of.py": "from base_of import two\n\ndef double(one):\n    return two() * one\n",
    "base_of.py": "def two():\n    return 2\n",
    "late.py": "VALUE = 1\n",
    "hidden.py": "def setup_module():\n    raise ValueError('hidden')\n",
    "cases.py": "class TestFound:\n    def test_found(self):\n        assert False\n",
    "fixtures.py": "import pytest\n\n@pytest.fixture(autouse=True)\ndef always():\n    raise ValueError('no')\n",
    "data.txt": "1",
}


def sources() -> dict[str, list[str]]:
    """Return the parts of many test files: each part alone, then seeded mixtures."""
    chance = random.Random(6)
    alone = [[part] for part in (*PLAIN, *RED, *FOR_PYTEST)]
    plain = [chance.choices(PLAIN, k=4) for _ in range(12)]
    mixed = [chance.choices((*PLAIN, *RED, *FOR_PYTEST), k=3) for _ in range(24)]
    return {f"checks/test_{number}.py": parts for number, parts in enumerate([*alone, *plain, *mixed])}


def written(folder: Path, files: dict[str, list[str]]) -> None:
    folder.chmod(0o755)
    (folder / "checks").mkdir(mode=0o755)
    for name, text in MODULES.items():
        (folder / name).write_text(text)
    for name, parts in files.items():
        text = "\n\n".join(part.format(n=number, depth=930) for number, part in enumerate(parts))
        (folder / name).write_text("from code_of import double\n\n" + text)


def shared(folder: Path, selected: list[tuple[str, ...]], *, plain: bool) -> Shared:
    """Run checks, plainly or by pytest."""

    async def run() -> Shared:
        warm = Warm(Sandbox(keep=(folder,), preload=() if plain else ("pytest",)))
        request = Request(folder=folder, together=tuple(selected), plain=plain, limits=Limits(wall_s=60.0))
        try:
            assert await warm.may_be_plain()
            return shared_of(request, await warm.run(request), Selections(selected))
        finally:
            await warm.close()

    return asyncio.run(run())


def both(folder: Path, selected: list[tuple[str, ...]]) -> tuple[Shared, Shared]:
    """Run checks plainly and by pytest."""
    return shared(folder, selected, plain=True), shared(folder, selected, plain=False)


def test_what_passes_plainly_passes_in_pytest_with_the_same_reads_and_plain_files_are_enough(tmp_path: Path) -> None:
    files = sources()
    written(tmp_path, files)
    plain, real = both(tmp_path, [(name,) for name in files])
    assert plain.ended
    assert real.ended
    assert set(plain.green) <= set(real.green)
    wanted = {number for number, parts in enumerate(files.values()) if set(parts) <= set(PLAIN)}
    assert wanted <= set(plain.green)
    assert len(plain.green) < len(real.green) < len(files)
    for number, result in plain.green.items():
        assert result.passed == real.green[number].passed
        assert result.read == real.green[number].read


def test_single_tests_of_plain_files_are_chosen_as_pytest_chooses_them(tmp_path: Path) -> None:
    files = {f"checks/test_{number}.py": parts for number, parts in enumerate([PLAIN[:3], PLAIN[3:6], PLAIN[6:]])}
    written(tmp_path, files)
    selected: list[tuple[str, ...]] = [
        (f"{name}::test_{number}",) for name, parts in files.items() for number in range(len(parts) + 1)
    ]
    plain, real = both(tmp_path, selected)
    assert set(plain.green) == set(real.green)
    assert [plain.green[number].passed for number in plain.green] == [
        frozenset(selected[number]) for number in plain.green
    ]
    assert len(plain.green) == len(PLAIN)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("conftest.py", "import pytest\n\n@pytest.fixture(autouse=True)\ndef no():\n    raise ValueError('no')\n"),
        ("checks/conftest.py", "def pytest_runtest_call(item):\n    raise ValueError('no')\n"),
        ("pytest.ini", "[pytest]\npython_functions = other\n"),
        ("pyproject.toml", "[tool.pytest.ini_options]\nfilterwarnings = ['error']\n"),
        ("checks/__init__.py", "def setup_module():\n    raise ValueError('no')\n"),
    ],
)
def test_nothing_is_plain_where_the_tree_says_how_tests_are_run(tmp_path: Path, name: str, text: str) -> None:
    written(tmp_path, {"checks/test_0.py": [PLAIN[0]]})
    (tmp_path / name).write_text(text)
    plain = shared(tmp_path, [("checks/test_0.py",)], plain=True)
    assert (plain.ended, plain.green) == (True, {})
