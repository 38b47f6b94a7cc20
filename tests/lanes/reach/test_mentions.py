from __future__ import annotations

import pytest

from lanes.reach.mentions import mentioned
from qodebase.paths import RepoPath

TEST = """from shop import prices


def test_it():
    assert prices.total(1) == 2


def test_other():
    prices.off()
"""
PRICES = """from shop import taxes
from shop.units import grams as weight

ROWS = {"a": 1}
SALES = {}


def total(amount):
    return amount + len(ROWS) + taxes.tax(amount) - 1


def off():
    return weight(SALES)
"""
TAXES = "from shop import units\n\n\ndef tax(amount):\n    return 0\n\n\ndef grams(more):\n    return more\n"
UNITS = "def grams(one):\n    return inner(one)\n\n\ndef inner(one):\n    return 1\n"


def words(tests: str = "test_it", **contents: str) -> set[str] | None:
    files = {"test_a": TEST, "prices": PRICES, "taxes": TAXES, "units": UNITS} | contents
    modules = {
        RepoPath(f"{'checks' if name.startswith('test') else 'shop'}/{name}.py".encode()): text.encode()
        for name, text in files.items()
    }
    found = mentioned(tests.split(), modules)
    return None if found is None else set().union(*found)


def test_a_test_mentions_what_it_calls_and_what_that_calls_and_uses() -> None:
    found = words()
    assert found is not None
    assert {"test_it", "prices", "total", "ROWS", "tax", "taxes", "len"} <= found
    assert not {"test_other", "off", "SALES", "grams", "weight", "inner"} & found


def test_a_name_under_which_something_is_imported_leads_to_it() -> None:
    found = words("test_other")
    assert found is not None
    assert {"off", "SALES", "weight", "grams", "inner"} <= found
    assert not {"total", "ROWS", "tax"} & found


def test_a_name_is_followed_wherever_it_is_bound() -> None:
    found = words(test_a="from shop import prices\n\n\ndef test_it():\n    assert prices.thing.grams(1)\n")
    assert found is not None
    assert {"more", "one", "inner"} <= found


def test_what_runs_at_import_is_mentioned_by_every_test() -> None:
    found = words(taxes=TAXES + "\n\nSTART = tax(grams(2))\n")
    assert found is not None
    assert {"START", "grams", "inner"} <= found
    decorated = words(taxes=TAXES + "\n\n@property\ndef hook():\n    return grams(1)\n")
    assert decorated is not None
    assert {"hook", "grams", "inner"} <= decorated


@pytest.mark.parametrize(
    "line",
    [
        "getattr(taxes, 'ta' + 'x')(1)",
        "vars(taxes)",
        "taxes.__dict__",
        "show(taxes)",
        "a = taxes",
        "show(shop.taxes)",
        "eval('tax(1)')",
        "open('x').read()",
        "amount.__class__",
        "import numpy",
        "from importlib import reload",
        "import pickle as harmless",
        "raise ValueError().with_traceback(None)",
        "show(getattr(amount, 'format')(taxes.tax))",
        "taxes.tax.__code__.__repr__()",
        "warnings.simplefilter('error', UserWarning, 3)",
        "warnings.filterwarnings('error', **amount)",
        "import logging as log",
    ],
)
def test_nothing_is_said_where_names_may_be_looked_up_in_another_way(line: str) -> None:
    inside = PRICES.replace("    return amount", f"    {line}\n    return amount")
    assert inside != PRICES
    assert words(prices=inside) is None
    elsewhere = PRICES.replace("    return weight", f"    {line}\n    return weight")
    assert words(prices=elsewhere) is not None


@pytest.mark.parametrize(
    "line",
    [
        "'{} of {}'.format(taxes.tax(1), 2)",
        "print(taxes.tax.__name__, taxes.__name__, file=sys.stderr)",
        "sys.stderr.write('x')",
        "taxes.tax.__code__.co_argcount",
        "logging.getLogger('x').warning('no')",
        "logging.getLogger('x').addHandler(logging.NullHandler())",
        "stat.S_ISREG(1)",
        "warnings.simplefilter('error', UserWarning)",
        "show(shlex.split('a b'))",
        "self.property = 1",
        "amount.hash, amount.type = 1, 2",
    ],
)
def test_what_shows_no_names_and_no_lines_is_told(line: str) -> None:
    inside = PRICES.replace("    return amount", f"    {line}\n    return amount")
    assert words(prices=inside) is not None


@pytest.mark.parametrize(
    "line", ["import numpy", "from django import conf", "from shop.units import *", "print(globals())", "def broken("]
)
def test_nothing_is_said_of_tests_whose_modules_do_so_when_they_are_imported(line: str) -> None:
    assert words(units=f"{line}\n\n{UNITS}") is None


def test_a_module_under_another_name_is_still_a_module() -> None:
    renamed = PRICES.replace("from shop import taxes", "from shop import taxes as rates").replace(
        "taxes.tax", "rates.tax"
    )
    assert words(prices=renamed) is not None
    assert words(prices=renamed.replace("return amount", "return show(rates)")) is None


def test_a_name_that_is_asked_for_by_a_text_is_mentioned() -> None:
    asking = PRICES.replace(
        "taxes.tax(amount)", "getattr(taxes, 'gr' 'a\\x6ds', None)(1) + len(taxes.tax.__code__.co_varnames)"
    )
    found = words(prices=asking)
    assert found is not None
    assert {"grams", "more", "tax", "inner"} <= found
    assert words(prices=asking.replace("'gr'", "f'gr'")) is None
    assert words(prices=asking.replace("getattr(taxes", "show(getattr, taxes")) is None


def test_what_is_evaluated_with_a_function_is_mentioned_by_every_test() -> None:
    found = words(
        units=UNITS.replace("def inner(one)", "def inner(one, two=first(3)):\n    return 2\n\n\ndef first(one)")
    )
    assert found is not None
    assert "first" in found
    assert "inner" not in found


def test_a_test_mentions_the_modules_that_it_reads() -> None:
    found = words()
    assert found is not None
    assert {"shop", "units", "taxes", "prices"} <= found


def test_what_every_class_has_is_no_module() -> None:
    base = "class Base(dict):\n    def __init__(self):\n        super().__init__()\n"
    assert words(__init__=base, prices=PRICES) is not None
    assert (
        words(__init__=base, prices=PRICES.replace("from shop import taxes", "from shop import taxes, __init__"))
        is None
    )


def test_a_module_may_be_named_like_one_of_python_where_nobody_can_mean_that() -> None:
    assert words(statistics="A = 1\n", prices=PRICES.replace("import taxes", "import taxes, statistics")) is not None
    assert words(inspect="A = 1\n", prices=PRICES.replace("import taxes", "import taxes, inspect")) is None
    assert words(inspector="A = 1\n", prices=f"import inspector\n{PRICES}") is not None
    assert words(tomlkit="A = 1\n", prices=f"import tomlkit\n{PRICES}") is None


@pytest.mark.parametrize("path", ["queue.py", "checks/queue.py", "checks/queue/__init__.py"])
def test_a_module_may_not_lie_where_python_would_take_it_for_its_own(path: str) -> None:
    modules = {RepoPath(b"checks/of/test_it.py"): b"def test_it():\n    assert 1\n", RepoPath(b"shop/queue.py"): b""}
    assert mentioned(["test_it"], modules) is not None
    assert mentioned(["test_it"], {**modules, RepoPath(path.encode()): b"A = 1\n"}) is None
    searching = b"import sys\n\nsys.path.append('shop')\n"
    assert mentioned(["test_it"], {**modules, RepoPath(b"checks/a.py"): searching}) is None


def test_a_text_that_names_a_module_uses_it_as_a_whole() -> None:
    asking = PRICES.replace("taxes.tax(amount)", "taxes.tax(getattr(taxes, 'grams'))")
    assert words(prices=asking) is not None
    assert words(prices=asking.replace("'grams'", "'units'")) is None
