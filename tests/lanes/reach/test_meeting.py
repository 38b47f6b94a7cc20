"""Changes that make a green test red: each meets the test, or cannot be told by names."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from meeting_world import Case, assert_meets

MARK = b"\xef\xbb\xbf".decode()
TEST = "import mod\n\n\ndef test_it():\n    assert mod.three() == 3\n"
STRICT = f"import warnings\n\nwarnings.simplefilter('error')\n{TEST}"
THREE = "def three():\n    return 3\n\n\n"
FUTURE = "from __future__ import annotations\n\n"

OF_A_MODULE = {
    "a default runs what is another thing now": (
        TEST,
        THREE + "def one(n):\n    return n\n\n\ndef two(a=one(1)):\n    return a\n",
        ("return n", "raise ValueError"),
    ),
    "an annotation asks for what is gone": (
        TEST,
        THREE + "class C:\n    x = 1\n\n\ndef two(a: C.x):\n    return a\n",
        ("    x = 1", "    y = 1"),
    ),
    "an annotation that nobody evaluates becomes a default": (
        TEST,
        FUTURE + THREE + "def one(n):\n    raise ValueError\n\n\ndef two(a: one(1)):\n    return a\n",
        ("a: one(1)", "a=one(1)"),
    ),
    "a class calls a member of its own": (
        TEST,
        THREE + "class C:\n    def property(f):\n        return f\n\n    @property\n    def x(self): pass\n",
        ("return f", "raise ValueError"),
    ),
    "a class calls what is no function any more": (
        TEST,
        THREE + "class C:\n    size = 1\n\n    @property\n    def x(self): pass\n",
        ("size", "property"),
    ),
    "Python takes no number for the name of a class": (
        TEST,
        THREE + "class C:\n    size = 1\n",
        ("size", "__qualname__"),
    ),
    "Python takes no function for the name of a class": (
        TEST,
        THREE + "class C:\n    def size(self): pass\n",
        ("size", "__qualname__"),
    ),
    "Python cannot keep the text of a class": (
        TEST,
        THREE + "class C:\n    '''A text.'''\n",
        ("A text.", "\\ud800"),
    ),
    "a class calls what a function put in place of Python's": (
        "import mod\n\n\ndef test_it():\n    assert len(mod.SEEN) == 1\n",
        "SEEN = []\n\n\ndef start():\n    global property\n    property = SEEN.append\n\n\nstart()\n\n\n"
        "class C:\n    @property\n    def x(self): pass\n",
        ("    @property\n", "    @property\n    def y(self): pass\n\n    @property\n"),
    ),
    "a class calls what a pattern put in place of Python's": (
        "import mod\n\n\ndef test_it():\n    assert len(mod.SEEN) == 1\n",
        "SEEN = []\n\n\nmatch SEEN.append:\n    case property:\n        pass\n\n\n"
        "class C:\n    @property\n    def x(self): pass\n",
        ("    @property\n", "    @property\n    def y(self): pass\n\n    @property\n"),
    ),
    "the text about a module is none any more": (
        "import mod\n\n\ndef test_it():\n    assert mod.__doc__\n",
        '"""About it."""\n',
        ('"""About', 'NEW = 1\n"""About'),
    ),
    "there is a mark of bytes in the middle": (TEST, THREE + "X = 1\n", ("X = 1", f"{MARK}X = 2")),
    "a name is global before it is": (TEST, THREE + "global X\n", ("global X", "X = 1\nglobal X")),
    "texts are read in another way": (
        "import mod\n\n\ndef test_it():\n    assert len(mod.A) == 1\n",
        "# How it is written.\nA = '\u00e9'\n",
        ("# How it is written.", "# coding: latin-1"),
    ),
    "an annotation is none that may be kept as a text": (
        TEST,
        FUTURE + THREE,
        ("return 3\n", "return 3\n\n\ndef new():\n    a: (b := 1) = 2\n"),
    ),
    "a warning is an error": (STRICT, THREE + "def new(a):\n    return a\n", ("return a", "return a is 5")),
    "a warning of a text is an error": (STRICT, THREE + "def new(a):\n    return a\n", ("return a", "return '\\d'")),
    "a name holds a sign that is no letter": (
        "import mod\n\n\ndef test_it():\n    assert mod.l\u00b7l() == 3\n",
        "def l\u00b7l():\n    return 3\n",
        ("3", "4"),
    ),
    "a name holds a mark": (
        "import mod\n\n\ndef test_it():\n    assert mod.\u0915\u093f() == 3\n",
        "def \u0915\u093f():\n    return 3\n",
        ("3", "4"),
    ),
    "what Python writes for a class looks for a name": (
        "import mod\n\n\ndef test_it():\n    assert len({mod.C(1), mod.C(1)}) == 1\n",
        "import dataclasses\n\nX = 1\n\n\n@dataclasses.dataclass(frozen=True)\nclass C:\n    x: int\n",
        ("X = 1", "def hash(one):\n    raise ValueError(one)"),
    ),
    "an annotation is none that Python evaluates": (
        TEST,
        THREE + "def new(a):\n    return a\n",
        ("return a", "def inner(b: a(c=1, c=2)): pass"),
    ),
    "a text is written in parts": (
        TEST.replace("three()", "three(1)"),
        "import functools\n\n\nclass Other:\n    pass\n\n\n"
        "@functools.singledispatch\ndef three(a=1):\n    return 3\n\n\n"
        "def bind():\n    @three.register\n    def _(a: 'Ot' 'h\\x65r'):\n        return 4\n\n\nbind()\n",
        ("class Other:\n    pass", "Other = 1"),
    ),
    "a text that is put together names what it shows": (
        "import mod\n\n\ndef test_it():\n    assert ('{0._' + '_globals_' + '_[RO' + 'WS]}').format(mod.two) == '1'\n",
        "ROWS = 1\n\n\ndef two():\n    pass\n",
        ("1", "2"),
    ),
    "a function that asks is called by what it is": (
        "import mod\n\n\ndef test_it():\n    found = getattr.__call__(mod.two, '_' + '_globals_' + '_')\n"
        "    assert found['RO' + 'WS'] == 1\n",
        "ROWS = 1\n\n\ndef two():\n    pass\n",
        ("1", "2"),
    ),
    "names are gathered by how they begin": (
        "import mod\n\n\ndef test_it():\n    assert len(mod.Codes) == 1\n",
        "import enum\n\nF_A = 1\nCodes = enum.IntEnum._convert_('Codes', __name__, lambda one: one[:2] == 'F' + '_')\n",
        ("F_A = 1", "F_A = 1\nF_B = 2"),
    ),
    "what is logged shows lines": (
        "import io, logging\nimport mod\n\n\ndef test_it():\n    out = io.StringIO()\n"
        "    logging.getLogger('x').addHandler(logging.StreamHandler(out))\n    mod.two()\n"
        "    assert 'line 8' in out.getvalue()\n",
        "import logging\n\n\ndef two():\n    def three():\n        return [][0]\n"
        "    try:\n        three()\n    except IndexError:\n        logging.getLogger('x').exception('no')\n\n\n"
        + THREE,
        ("import logging\n\n\n", "import logging\n\n\ndef new():\n    return 1\n\n\n"),
    ),
    "a warning shows its line": (
        "import warnings\nimport mod\n\n\ndef test_it():\n    with warnings.catch_warnings(record=True) as told:\n"
        "        mod.two()\n    assert ': 9,' in str(told[0])\n",
        "import warnings\n\n\ndef one():\n    return 1\n\n\ndef two():\n    warnings.warn('no')\n",
        ("    return 1", "    # It is one.\n    return 1"),
    ),
    "code shows its line": (
        "import mod\n\n\ndef test_it():\n    assert 'line 8' in mod.two()\n",
        "import sys\n\n\ndef one():\n    return 1\n\n\ndef two(): return str(sys._getframe())\n",
        ("    return 1", "    # It is one.\n    return 1"),
    ),
    "a module reads itself": (
        "import mod\n\n\ndef test_it():\n    assert mod.SIZE < 64\n",
        "import io\n\nA = 1\nSIZE = len(io.FileIO('mod.' + 'py').read())\n",
        ("A = 1", "A = 1111111111111"),
    ),
}

OF_A_PACKAGE: dict[str, tuple[Mapping[str, str], str, tuple[str, str]]] = {
    "a new name hides a module": (
        {
            "shop/__init__.py": "",
            "shop/prices.py": "from shop.seen import SEEN\n\nSEEN.append(1)\n",
            "shop/seen.py": "SEEN = []\n",
            "shop/other.py": "from shop import prices\n",
            "test_it.py": "import shop.other\nfrom shop.seen import SEEN\n\n\ndef test_it():\n    assert SEEN == [1]\n",
        },
        "shop/__init__.py",
        ("", "def prices():\n    pass\n"),
    ),
    "a module of Python has the name of one of the package": (
        {
            "shop/__init__.py": "",
            "shop/pickle.py": "X = 1\n",
            "shop/prices.py": "def total():\n    return 1\n",
            "test_it.py": "import pickle\nfrom shop import prices\nfrom shop.pickle import X\n\n\n"
            "def test_it():\n    assert pickle.loads(b'cshop.prices\\ntot' + b'al\\n.')() == X\n",
        },
        "shop/prices.py",
        ("return 1", "return 2"),
    ),
    "a module is renamed twice": (
        {
            "shop/__init__.py": "",
            "shop/taxes.py": "ROWS = 1\n",
            "shop/prices.py": "from shop import taxes as rates\n",
            "test_it.py": "from shop.prices import rates as all_of_it\n\n\n"
            "def test_it():\n    assert ('{0.RO' + 'WS}').format(all_of_it) == '1'\n",
        },
        "shop/taxes.py",
        ("1", "2"),
    ),
    "settings name what they make by a text": (
        {
            "shop/__init__.py": "",
            "shop/made.py": "import logging\n\n\ndef make():\n    return logging.NullHandler()\n",
            "test_it.py": "import logging.config\nimport shop.made\n\n\ndef test_it():\n"
            "    made = {'()': 'shop.made.ma' + 'ke'}\n"
            "    logging.config.dictConfig({'version': 1, 'handlers': {'made': made}})\n",
        },
        "shop/made.py",
        ("return logging.NullHandler()", "raise ValueError"),
    ),
    "another module puts something in place of Python's": (
        {
            "mod.py": "SEEN = []\nimport other\n\n\nclass C:\n    @property\n    def x(self): pass\n",
            "other.py": "import mod\n\nmod.property = mod.SEEN.append\n",
            "test_it.py": "import mod\n\n\ndef test_it():\n    assert len(mod.SEEN) == 1\n",
        },
        "mod.py",
        ("    @property\n", "    @property\n    def y(self): pass\n\n    @property\n"),
    ),
    "Python's own modules import one of the same name": (
        {
            "textwrap.py": "def dedent(a):\n    return a\n\n\ndef wrap(*a):\n    return ['d']\n\n\n"
            "def fill(*a, **b):\n    return 'd'\n",
            "test_it.py": "import argparse\n\n\ndef test_it():\n"
            "    assert argparse.ArgumentParser(prog='p', description='d').format_help()\n",
        },
        "textwrap.py",
        ("return 'd'", "raise ValueError"),
    ),
    "a module is reached by way of another one": (
        {
            "mod.py": "def one():\n    pass\n",
            "test_it.py": "import dataclasses\nimport mod\n\n\ndef test_it():\n    ask = dataclasses.inspect\n"
            "    assert len(ask.getmembers(ask.getmodule(mod.one), ask.isfunction)) == 1\n",
        },
        "mod.py",
        ("def one", "def new():\n    pass\n\n\ndef one"),
    ),
}

CASES = {
    **{
        why: ({"mod.py": module, "test_it.py": test}, "mod.py", swap)
        for why, (test, module, swap) in OF_A_MODULE.items()
    },
    **OF_A_PACKAGE,
}
if sys.version_info >= (3, 14):
    # There an annotation is evaluated only when somebody asks for it.
    del CASES["an annotation asks for what is gone"]


@pytest.mark.parametrize("why", CASES)
def test_a_change_that_makes_a_test_red_meets_it(why: str, tmp_path: Path) -> None:
    files, path, swap = CASES[why]
    assert_meets(Case(files, path, *swap), tmp_path)
