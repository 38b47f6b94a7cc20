"""Changes that move what a test shows lines of: each meets the test, or cannot be told by names."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from meeting_world import EARLY, LATER, assert_meets, of_a_module

PLAIN = EARLY + "def two():\n    return 1\n"
NESTED = EARLY + "def two():\n    def three():\n        return 1\n    return three\n"
FAILING = EARLY + "def two():\n    return [][0]\n"
WARNING = "import warnings\n\n\n" + EARLY + "def two():\n    warnings.warn('no')\n"
LOGGING = "import logging\n\n\n" + EARLY + "def two():\n    logging.getLogger('x').error('no')\n"
IN_A_THREAD = "it = threading.Thread(target=mod.two)\nit.start()\nit.join()\n"
OF_WARNING = "try:\n    mod.two()\nexcept UserWarning:\n    return\nraise ValueError\n"

CASES = {
    "constants of code": (NESTED, "assert 'line 6' in str(mod.two.__code__.co_consts)"),
    "code tells of itself": (PLAIN, "assert 'line 5' in mod.two.__code__.__repr__()"),
    "code made from code": (PLAIN, "assert 'line 5' in str(mod.two.__code__.replace())"),
    "code that a pattern takes": (
        PLAIN,
        "match mod.two:\n    case object(__code__=code):\n        assert 'line 5' in str(code)",
    ),
    "a warning that is an error on its line": (
        WARNING,
        f"import warnings\n---\nwarnings.simplefilter('ignore')\n"
        f"warnings.simplefilter('error', UserWarning, 9)\n{OF_WARNING}",
    ),
    "a filter that is put among the others": (
        WARNING,
        f"import warnings\n---\nwarnings.filters.insert(0, ('error', None, UserWarning, None, 9))\n{OF_WARNING}",
    ),
    "what is handled when it is logged": (
        LOGGING,
        "import logging\n\nSEEN = []\n\n\nclass Seen(logging.Handler):\n    def emit(self, record):\n"
        "        SEEN.append(str(record))\n---\n"
        "logging.getLogger('x').addHandler(Seen())\nmod.two()\nassert ', 9,' in SEEN[0]",
    ),
    "what handles it has no name of its own": (
        LOGGING,
        "import logging as log\n\nSEEN = []\n\n\nclass Seen(log.Handler):\n    def emit(self, record):\n"
        "        SEEN.append(str(record))\n---\n"
        "log.getLogger('x').handlers.append(Seen())\nmod.two()\nassert ', 9,' in SEEN[0]",
    ),
    "what handles it only looks like that": (
        LOGGING,
        "import logging\n\nSEEN = []\n\n\nclass Seen:\n    level = 0\n    def handle(self, record):\n"
        "        SEEN.append(str(record))\n---\n"
        "logging.getLogger('x').addHandler(Seen())\nmod.two()\nassert ', 9,' in SEEN[0]",
    ),
    "an error that asyncio logs": (
        FAILING,
        "import asyncio, io, logging\n\n\nasync def work():\n"
        "    asyncio.get_running_loop().call_soon(mod.two)\n    await asyncio.sleep(0)\n---\n"
        "out = io.StringIO()\nlogging.basicConfig(stream=out)\nasyncio.run(work())\n"
        "assert 'line 6' in out.getvalue()",
    ),
    "an error that asyncio hands on": (
        FAILING,
        "import asyncio\n\nSEEN = []\n\n\nasync def work():\n    loop = asyncio.get_running_loop()\n"
        "    loop.set_exception_handler(lambda loop, what: SEEN.append(str(what)))\n    loop.call_soon(mod.two)\n"
        "    await asyncio.sleep(0)\n---\nasyncio.run(work())\nassert ':5>' in SEEN[0]",
    ),
    "an error that ends a thread": (
        FAILING,
        "import sys, threading\n\nSEEN = []\n---\n"
        f"sys.stderr.write = SEEN.append\n{IN_A_THREAD}assert 'line 6' in ''.join(SEEN)",
    ),
    "the same where errors are told under another name": (
        FAILING,
        "import sys, threading\n\nSEEN = []\n---\n"
        f"told = sys.stderr\ntold.write = SEEN.append\n{IN_A_THREAD}assert 'line 6' in ''.join(SEEN)",
    ),
    "the same where another function is told of it": (
        FAILING,
        "import sys, threading\n\nSEEN = []\n\n\ndef swap(file):\n    file.write = SEEN.append\n---\n"
        f"swap(file=sys.stderr)\n{IN_A_THREAD}assert 'line 6' in ''.join(SEEN)",
    ),
    "the same where errors are told to a pipe": (
        FAILING,
        f"import os, threading\n---\nout, into = os.pipe()\nos.dup2(into, 2)\n{IN_A_THREAD}"
        "assert b'line 6' in os.read(out, 9999)",
    ),
}

OF_THREADS = "import threading\n\nSEEN = []\n---\n"
IF_NEW = {
    (3, 12, "a function that is told of every line"): (
        PLAIN,
        "import sys\n\nSEEN = []\n---\n"
        "told = sys.monitoring\ntold.use_tool_id(3, 'it')\nline = told.events.LINE\n"
        "told.register_callback(3, line, lambda code, at: SEEN.append(at))\ntold.set_events(3, line)\nmod.two()\n"
        "told.set_events(3, 0)\nassert 6 in SEEN",
    ),
    (3, 12, "a function that follows all threads"): (
        PLAIN,
        f"{OF_THREADS}threading.settrace_all_threads(lambda frame, *_: SEEN.append(str(frame)))\nmod.two()\n"
        "threading.settrace_all_threads(None)\nassert any('line 5' in one for one in SEEN)",
    ),
    (3, 12, "a function that measures all threads"): (
        PLAIN,
        f"{OF_THREADS}threading.setprofile_all_threads(lambda frame, *_: SEEN.append(str(frame)))\nmod.two()\n"
        "threading.setprofile_all_threads(None)\nassert any('line 5' in one for one in SEEN)",
    ),
    (3, 13, "the members of a class"): (
        f"{EARLY}class Numbers(type):\n    def __new__(made_by, name, bases, members):\n"
        "        made = super().__new__(made_by, name, bases, members)\n"
        "        made.total = sum(one for one in members.values() if isinstance(one, int))\n        return made\n\n\n"
        "class Two(metaclass=Numbers):\n    two = 2\n",
        "assert mod.Two.total == 14",
    ),
    (3, 13, "the members of a class, given to a function"): (
        f"{EARLY}TOTAL = []\n\n\ndef made(name, bases, members):\n    TOTAL.append(str(members))\n\n\n"
        "class Two(metaclass=made):\n    two = 2\n",
        "assert ': 12,' in mod.TOTAL[0]",
    ),
    (3, 14, "who waits for whom"): (
        f"import asyncio\n\n\n{EARLY}async def two():\n    return asyncio.format_call_graph()\n",
        "import asyncio\n---\nassert 'line 9' in asyncio.run(mod.two())",
    ),
}
CASES |= {why: case for (*since, why), case in IF_NEW.items() if sys.version_info[:2] >= tuple(since)}


@pytest.mark.parametrize("why", CASES)
def test_a_change_that_moves_what_shows_its_line_meets_the_test(why: str, tmp_path: Path) -> None:
    module, test = CASES[why]
    assert_meets(of_a_module(module, test, LATER), tmp_path)
