"""The process that runs tests: it is started by its path, imports nothing of ours, and serves requests on its pipes.

It compiles and never runs what it is given; the tasks of a request are run in a child that is forked for them, each
with modules of its own; what is red there is run once more in other modules. A request is ``marshal`` behind its
length in eight bytes (it comes from whom the process serves), an answer one line of JSON: for each task which of its
tests are red, by number, and why.

Modules are compiled in pieces, each top-level definition by itself, and a piece is compiled once: two versions of a
module have nearly all of them in common.
"""

from __future__ import annotations

import contextlib
import gc
import json
import marshal
import mmap
import os
import re
import resource
import select
import signal
import sys
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import CodeType, FrameType, ModuleType
from typing import Any, BinaryIO, NamedTuple, NoReturn

_TOP = re.compile(rb"^(?=(?:def|async|class|@))", re.MULTILINE)
_FUTURE = 0x1FF0000
_WHY = 300
_LINE = 4096
_OPEN = 1024
_TICKS = 10
_KEPT_PIECES = 50_000

GREEN, RED, IMPORT = "green", "red", "import"
Result = tuple[str, str]
_GREEN: Result = (GREEN, "")
Codes = dict[str, "list[CodeType] | str"]


class TimedOut(BaseException):
    """A test that used all the processor time that it may use."""


class Compiler:
    """Turn sources into code, piece by piece."""

    def __init__(self) -> None:
        self._known: dict[tuple[bytes, int], CodeType] = {}

    def compile(self, source: bytes, name: str) -> list[CodeType] | str:
        """Return a module's code in order, or why it does not compile."""
        with contextlib.suppress(Exception):
            return self._in_pieces(source, name)
        try:
            return [compile(source, name, "exec", dont_inherit=True)]
        except Exception as error:
            return f"{type(error).__name__}: {error}"

    def _in_pieces(self, source: bytes, name: str) -> list[CodeType]:
        """Compile definitions one by one.

        A piece that ends inside of a string or a bracket does not compile, so pieces that do are the module.
        """
        if b"coding" in b"".join(source.split(b"\n", 2)[:2]):
            raise ValueError("the encoding is declared in the first piece, and is that of all")
        above, *others = pieces(source)
        if any(b"__future__" in piece for piece in others):
            raise ValueError("only the first piece may say what holds for all")
        first = self._piece(above, name, 0)
        flags = first.co_flags & _FUTURE
        return [first, *(self._piece(piece, name, flags) for piece in others)]

    def _piece(self, piece: bytes, name: str, flags: int) -> CodeType:
        key = (piece, flags)
        if key not in self._known:
            if len(self._known) >= _KEPT_PIECES:
                self._known.clear()
            self._known[key] = compile(piece, name, "exec", flags=flags, dont_inherit=True)
        return self._known[key]


def pieces(source: bytes) -> list[bytes]:
    """Split a module before each top-level definition; the first piece is what stands above them, maybe nothing."""
    found: list[bytes] = []
    for piece in _TOP.split(source):
        if found and found[-1].startswith(b"@"):
            found[-1] += piece
        else:
            found.append(piece)
    return found


class InTree(MetaPathFinder, Loader):
    """Import modules of one tree, which is a mapping of paths to the ids of contents; `forget` ends that."""

    def __init__(self, tree: dict[bytes, str], codes: Codes) -> None:
        self._tree = tree
        self._codes = codes
        self._folders = {path[:at] for path in tree for at in range(len(path)) if path[at : at + 1] == b"/"}
        self._names: set[str] = set()

    def find_spec(self, fullname: str, path: Any, target: ModuleType | None = None) -> ModuleSpec | None:
        """Find a module of the tree; all others are left to Python."""
        stem = fullname.replace(".", "/").encode()
        self._names.add(fullname)
        for place, is_package in ((stem + b"/__init__.py", True), (stem + b".py", False)):
            if place in self._tree:
                origin = place.decode(errors="replace")
                spec = ModuleSpec(fullname, self, origin=origin, is_package=is_package, loader_state=self._tree[place])
                spec.has_location = True
                return spec
        if stem in self._folders:
            return ModuleSpec(fullname, None, is_package=True)
        self._names.discard(fullname)
        return None

    def exec_module(self, module: ModuleType) -> None:
        """Run a module's pieces in order."""
        spec = module.__spec__
        assert spec is not None
        run(self._codes[spec.loader_state], module.__dict__)

    def test_file(self, path: bytes) -> ModuleType:
        """Make the module of a test file, as one that others may import; it was not run yet."""
        text = path.decode(errors="replace")
        module = ModuleType(text.rpartition("/")[2].removesuffix(".py"))
        module.__file__ = text
        self._names.add(module.__name__)
        sys.modules[module.__name__] = module
        return module

    def forget(self) -> None:
        """Take every module of the tree out of Python again."""
        for name in self._names:
            sys.modules.pop(name, None)


def run(code: list[CodeType] | str, names: dict[str, Any]) -> None:
    """Run a module; raises `SyntaxError` where it does not compile."""
    if isinstance(code, str):
        raise SyntaxError(code)
    for piece in code:
        exec(piece, names)


class Server:
    """Answer requests until the pipe is closed."""

    def __init__(self) -> None:
        self._compiler = Compiler()
        self._codes: Codes = {}
        self._base: dict[bytes, str] = {}
        self._cpu_s = self._wall_s = 0.0

    def serve(self, requests: BinaryIO, answers: BinaryIO) -> None:
        """Take requests in order."""
        while len(head := requests.read(8)) == 8:
            request = marshal.loads(requests.read(int.from_bytes(head, "big")))
            answers.write(json.dumps([_told(results) for results in self._answer(request)]).encode() + b"\n")
            answers.flush()

    def _answer(self, request: dict[str, Any]) -> list[list[Result]]:
        for id, (name, source) in request["sources"].items():
            self._codes[id] = self._compiler.compile(source, name)
        if request["base"] is not None:
            self._base = request["base"]
        self._cpu_s, self._wall_s = request["cpu_s"], request["wall_s"]
        groups = [Group(self._tree(delta), tests) for delta, tests in request["tasks"]]
        found = self._run(groups)
        red = [_red(results) for results in found]
        left = self._again(groups, found, [(number, places) for number, places in enumerate(red) if places])
        spoilt = [number for number, places in enumerate(red) if 0 < len(left.get(number, ())) < len(places)]
        self._again(groups, found, [(number, [place]) for number in spoilt for place in left[number]])
        self._again(groups, found, _late(found))
        return found

    def _again(
        self, groups: list[Group], found: list[list[Result]], wanted: list[tuple[int, list[int]]]
    ) -> dict[int, list[int]]:
        """Run tests of groups once more, in new modules; return which are red still."""
        left: dict[int, list[int]] = {}
        again = [
            Group(groups[number].tree, [groups[number].tests[place] for place in places]) for number, places in wanted
        ]
        for (number, places), results in zip(wanted, self._run(again), strict=True):
            for place, result in zip(places, results, strict=True):
                found[number][place] = result
                if result[0] != GREEN:
                    left.setdefault(number, []).append(place)
        return left

    def _tree(self, delta: dict[bytes, str | None]) -> dict[bytes, str]:
        return {path: id for path, id in (self._base | delta).items() if id is not None}

    def _run(self, groups: list[Group]) -> list[list[Result]]:
        """Run groups in a child, and what a child that was ended left in another one."""
        found: list[list[Result]] = [[] for _ in groups]
        left = [(number, place) for number, group in enumerate(groups) for place in range(len(group.tests))]
        while left:
            here = [Group(group.tree, group.tests[len(done) :]) for group, done in zip(groups, found, strict=True)]
            results = Child(here, self._codes, len(left), self._cpu_s).results(self._wall_s)
            for (number, _), result in zip(left, results, strict=False):
                found[number].append(result)
            left = left[len(results) :]
        return found


def _red(results: list[Result]) -> list[int]:
    """Return which tests of a group are to be run once more, the last one first.

    Tests of one group share its modules, so a red one may owe that to one before it, which is not there any more or
    behind it the second time. Where that turns out so for one, all others are run alone.
    """
    if len(results) == 1:
        return []
    red = [place for place, (word, why) in enumerate(results) if word == RED and not why.startswith(_ENDED)]
    return red[::-1]


def _late(found: list[list[Result]]) -> list[tuple[int, list[int]]]:
    """Return each test that came to no end in its time, by itself: it may have been the machine that stood still."""
    return [
        (number, [place])
        for number, results in enumerate(found)
        for place, (_, why) in enumerate(results)
        if why.startswith(_LATE)
    ]


def _told(results: list[Result]) -> dict[int, str]:
    """Return why tests are red, by their numbers."""
    return {number: why for number, (word, why) in enumerate(results) if word != GREEN}


class Group(NamedTuple):
    """Tests that share the modules of a tree; one is the path and id of its file, and its function."""

    tree: dict[bytes, str]
    tests: list[tuple[bytes, str, str]]


_ENDED = "ended: "
_NO_END = "no end after"
_LATE = _ENDED + _NO_END


class Child:
    """A forked process that runs groups in order and notes after each test how it went, in memory that both share."""

    def __init__(self, groups: list[Group], codes: Codes, tests: int, cpu_s: float) -> None:
        self._tests = tests
        self._told = Told(tests)
        self._id = os.fork()
        if self._id == 0:
            _become(self._told, groups, codes, cpu_s)

    def results(self, wall_s: float) -> list[Result]:
        """Return what the tests came to, up to the first that ended the child or took too long."""
        why = "it ended the process"
        watch = os.pidfd_open(self._id)
        before = -1
        while not select.select([watch], [], [], wall_s)[0]:
            now = self._told.size
            if now == before:
                why = f"{_NO_END} {wall_s:g} s"
                break
            before = now
        self._end(watch)
        results = [_parsed(line) for line in self._told.lines()][: self._tests]
        return results if len(results) == self._tests else [*results, (RED, _ENDED + why)]

    def _end(self, watch: int) -> None:
        for kill in (os.killpg, os.kill):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                kill(self._id, signal.SIGKILL)
        os.waitpid(self._id, 0)
        os.close(watch)


class Told:
    """Lines in memory that a process shares with the one that it was forked from; their length stands before them."""

    def __init__(self, lines: int) -> None:
        self._memory = mmap.mmap(-1, 8 + lines * _LINE)

    @property
    def size(self) -> int:
        """Return how many bytes were written."""
        return min(int.from_bytes(self._memory[:8], "big"), len(self._memory) - 8)

    def put(self, line: bytes) -> None:
        """Write a line, which may be empty."""
        at = 8 + self.size
        self._memory[at : at + len(line) + 1] = line + b"\n"
        self._memory[:8] = (at + len(line) - 7).to_bytes(8, "big")

    def lines(self) -> list[bytes]:
        """Return the lines, and forget them."""
        found = self._memory[8 : 8 + self.size].split(b"\n")[:-1]
        self._memory.close()
        return found


def _parsed(line: bytes) -> Result:
    if not line:
        return _GREEN
    try:
        word, why = json.loads(line)
    except ValueError:
        return (RED, "it wrote into what is not its own")
    return (IMPORT if word == IMPORT else RED, str(why)[:_WHY])


def _become(told: Told, groups: list[Group], codes: Codes, cpu_s: float) -> NoReturn:
    """Be the child; does not return."""
    try:
        os.setsid()
        nothing = os.open(os.devnull, os.O_RDWR)
        for target in (0, 1, 2):
            os.dup2(nothing, target)
        os.closerange(3, _OPEN)
        timer = Timer(cpu_s)
        for group in groups:
            tree = InTree(group.tree, codes)
            sys.meta_path.insert(0, tree)
            files: dict[tuple[bytes, str], dict[str, Any] | Result] = {}
            for path, id, function in group.tests:
                if (path, id) not in files:
                    files[path, id] = _names(tree, codes[id], path, timer)
                result = _result(files[path, id], function, timer)
                told.put(b"" if result[0] == GREEN else json.dumps(result).encode())
            sys.meta_path.remove(tree)
            tree.forget()
    finally:
        os._exit(0)


def _names(tree: InTree, code: list[CodeType] | str, path: bytes, timer: Timer) -> dict[str, Any] | Result:
    """Import a test file; return its names, or why that cannot be done."""
    module = tree.test_file(path)
    why = timer.call(lambda: run(code, module.__dict__))
    return (IMPORT, why) if why else module.__dict__


def _result(names: dict[str, Any] | Result, function: str, timer: Timer) -> Result:
    if isinstance(names, tuple):
        return names
    test = names.get(function)
    if not callable(test):
        return (IMPORT, f"there is no function {function}")
    why = timer.call(test)
    return (RED, why) if why else _GREEN


class Timer:
    """Interrupts what uses too much processor time, again and again: a loop may catch everything once."""

    def __init__(self, seconds: float) -> None:
        self._ticks = 0
        self._on = False
        signal.signal(signal.SIGPROF, self._tick)
        signal.setitimer(signal.ITIMER_PROF, seconds / _TICKS, seconds / _TICKS)

    def call(self, function: Any) -> str:
        """Call a function; return what it raised, or the empty text."""
        self._ticks = 0
        self._on = True
        try:
            function()
        except BaseException as error:
            # Its text is the tree's code too, so the timer still runs; what that raises ends the child.
            return f"{type(error).__name__}: {error}"[:_WHY]
        finally:
            self._on = False
        return ""

    def _tick(self, number: int, frame: FrameType | None) -> None:
        self._ticks += 1
        if self._on and self._ticks > _TICKS:
            raise TimedOut("it used all its processor time")


def main() -> None:
    """Limit this process and what it starts, then serve."""
    limits = json.loads(sys.argv[1])
    wanted = {resource.RLIMIT_AS: limits["memory_bytes"], resource.RLIMIT_FSIZE: 0, resource.RLIMIT_CORE: 0}
    for kind, most in wanted.items():
        hard = resource.getrlimit(kind)[1]
        most = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(kind, (most, most))
    for name in limits["preload"]:
        __import__(name)
    os.environ.clear()
    gc.disable()
    gc.freeze()
    Server().serve(sys.stdin.buffer, sys.stdout.buffer)


if __name__ == "__main__":
    main()
