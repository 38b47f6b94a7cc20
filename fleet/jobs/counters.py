"""The counters job: agents raise a few hot counters by one, or add a function to one file, at the same time.

Nothing can be settled here by looking at text: who raised a counter from 5 to 6 beside somebody else meant 7. So the
job is a measure for a queue that must lose nothing and double nothing. Its work lies in directories that are alike, the
sectors; `base_files` makes what a run begins on.
"""

from __future__ import annotations

import ast
import random
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from fleet.jobs.registry import digest_of_file
from fleet.unshared import Unshared
from qodebase.change import Change, Write
from qodebase.check import Check
from qodebase.errors import QodebaseError
from qodebase.intent import Ending, Intent
from qodebase.paths import RepoPath
from qodebase.ports import Accepted, JobAudit, Landing, Message, Prompt, ReplayRequest, SharedPath, Tree, Unusable

COUNTERS = 24
"""Counters of a sector; the one of rank r is raised with a weight of 1/r."""

_ADDED, _OF = 64, 300
_VALUE = re.compile(rb"VALUE = (0|[1-9][0-9]{0,17})\n")
_FIRST = "def first() -> int:\n    return -1\n"
_MOST_OUTPUT_TOKENS = 60


class NoCounters(QodebaseError):
    """Code that the job cannot work on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CountersSettings:
    """What the job can be told."""

    intents: int = field(default=_OF, metadata={"help": "Intents of each sector.", "min": 1})
    sectors: int = field(default=1, metadata={"help": "Directories that hold the same work.", "min": 1, "max": 99})
    draw: int = field(default=1, metadata={"help": "The seed that says which counters are raised, and in what order."})


class Counters:
    """Raise counters and add functions, so that nearly every change meets another one."""

    name = "counters"
    Settings = CountersSettings
    MODEL = "scripted"
    shared: tuple[SharedPath, ...] = ()

    def __init__(self, settings: CountersSettings) -> None:
        self._settings = settings
        self.digest = digest_of_file(Path(__file__))

    def open(self, base: Tree) -> None:
        """Look whether the files are there.

        Raises:
            NoCounters: one is not.
        """
        for path in base_files(self._settings.sectors):
            if base.entry(path) is None:
                raise NoCounters(
                    f"the code has no {path.text}",
                    hint="The job needs code of its own: `qodebase bench counters` makes it and runs the job on it.",
                )

    def ready(self) -> None:
        """Need nothing."""

    def close(self) -> None:
        """Hold nothing."""

    def lanes(self) -> Mapping[str, Sequence[str]]:
        """Give each sector a lane."""
        return {sector: (f"/{sector}/**",) for sector in _sectors(self._settings.sectors)}

    def intents(self) -> Iterator[Intent]:
        """Yield the intents of all sectors, one of each in turn."""
        wanted = _drawn(self._settings.intents, self._settings.draw)
        for number, what in enumerate(wanted):
            for sector in _sectors(self._settings.sectors):
                adds = what.startswith("added")
                path = f"{sector}/{'functions' if adds else what}.py"
                asked = f"Add the function {what} to {path}." if adds else f"Raise the counter in {path} by one."
                yield Intent(
                    id=f"{sector}:{number:03}",
                    asked=asked,
                    scope=(RepoPath(path.encode()),),
                    symbols=(f"{path}#{what if adds else 'VALUE'}",),
                    checks=(f"{sector}/{what}",),
                )

    def checks(self) -> Mapping[str, Check]:
        """Declare one test a counter and one a function: the file can be imported and holds what it should."""
        wanted = dict.fromkeys(_drawn(self._settings.intents, self._settings.draw))
        found = {}
        for sector in _sectors(self._settings.sectors):
            file = f"checks/test_{sector}.py"
            files = {RepoPath(file.encode()): "\n\n".join(_test(sector, what) for what in wanted).encode()}
            for what in wanted:
                found[f"{sector}/{what}"] = Check(tests=(f"{file}::test_{what}",), files=files)
        return found

    def prompt(self, intent: Intent, fork: Tree, replay: ReplayRequest | None = None) -> Prompt:
        """Show the counter and ask for the next value, or ask for the function."""
        path, name = intent.scope[0], _name(intent)
        if name == "VALUE":
            value = _value(fork.read(path))
            return _asking(f"{intent.asked}\n\n{fork.read(path).decode()}", _counter(value + 1).decode())
        return _asking(f"{intent.asked} It returns {_returned(name)}.", _function(name))

    def accept(self, intent: Intent, answer: str, fork: Tree) -> Accepted | Unusable:
        """Write the counter that the answer is, or put the function that it is below the others."""
        path, text = intent.scope[0], answer.strip().encode() + b"\n"
        if _name(intent) == "VALUE":
            if not _VALUE.fullmatch(text):
                return Unusable(ending=Ending.NO_ANSWER, why="not one counter")
            content = text
        else:
            content = fork.read(path) + b"\n\n" + text
        return Accepted(change=Change(base=fork.commit, operations=(Write(path=path, content=content),)))

    def proof(self, intent: Intent, change: Change, fork: Tree) -> str | Unusable:
        """Prove that the change does what was asked on the fork, and nothing else."""
        path, written = intent.scope[0], change.operations[0]
        assert isinstance(written, Write)
        fault = _fault(intent, fork.read(path), written.content)
        return Unusable(ending=Ending.REFUSED, why=fault) if fault else "done once"

    def idempotent(self, path: RepoPath) -> bool:
        """Say that two raises that look alike are two raises."""
        return False

    def audit(self) -> JobAudit:
        """Return the audit that each landing did its one thing once."""
        return CountersAudit()


class CountersAudit(Unshared):
    """Prove of each landing that it raised its counter by one, or added its function, and did nothing else.

    Landings follow each other on main, so a value at the end is that of the base and one for each landing.
    """

    def proof(self, landing: Landing, before: Tree, after: Tree, *, full: bool) -> str:
        """Say what is wrong with what a landing did."""
        path = landing.intent.scope[0]
        return _fault(landing.intent, before.read(path), after.read(path))


def base_files(sectors: int) -> dict[RepoPath, bytes]:
    """Return the code that a run begins on: counters at 0, and one function a sector."""
    files = {}
    for sector in _sectors(sectors):
        for rank in range(1, COUNTERS + 1):
            files[RepoPath(f"{sector}/counter_{rank:02}.py".encode())] = _counter(0)
        files[RepoPath(f"{sector}/functions.py".encode())] = _FIRST.encode()
    return files


def amiss(intents: Iterable[Intent], landed: Iterable[str], read: Mapping[RepoPath, bytes]) -> tuple[int, int]:
    """Return how many landed raises and functions are missing at the end, and how many are there too often.

    Args:
        landed: ids of the intents that landed.
        read: each file as it is now.
    """
    known = {intent.id: intent for intent in intents}
    wanted = Counter((known[id].scope[0], _name(known[id])) for id in landed)
    there: Counter[tuple[RepoPath, str]] = Counter()
    for path, content in read.items():
        if path.endswith(b"/functions.py"):
            there.update((path, function.name) for function in _functions(content) if function.name != "first")
        else:
            there[path, "VALUE"] = _value(content)
    return (wanted - there).total(), (there - wanted).total()


def _sectors(count: int) -> list[str]:
    return [f"sector_{number:02}" for number in range(count)]


def _drawn(intents: int, seed: int) -> list[str]:
    """Return for each intent of a sector the counter that it raises, or the function that it adds."""
    chance = random.Random(seed)
    added = intents * _ADDED // _OF
    ranks = range(1, COUNTERS + 1)
    raised = chance.choices(ranks, [1 / rank for rank in ranks], k=intents - added)
    wanted = [f"counter_{rank:02}" for rank in raised] + [f"added_{number:03}" for number in range(added)]
    chance.shuffle(wanted)
    return wanted


def _name(intent: Intent) -> str:
    return intent.symbols[0].rpartition("#")[2]


def _asking(text: str, right: str) -> Prompt:
    message = Message(role="user", text=f"{text}\n\nAnswer with the Python code alone.")
    return Prompt(messages=(message,), max_output_tokens=_MOST_OUTPUT_TOKENS, facts={"scripted": right})


def _counter(value: int) -> bytes:
    return b"VALUE = %d\n" % value


def _value(content: bytes) -> int:
    found = _VALUE.fullmatch(content)
    if found is None:
        raise ValueError(f"no counter: {content[:60]!r}")
    return int(found[1])


def _returned(name: str) -> int:
    return int(name.removeprefix("added_"))


def _function(name: str) -> str:
    return f"def {name}() -> int:\n    return {_returned(name)}\n"


def _functions(content: bytes) -> list[ast.FunctionDef]:
    body = ast.parse(content).body
    found = [node for node in body if isinstance(node, ast.FunctionDef)]
    if len(found) != len(body):
        raise ValueError("more than functions")
    return found


@lru_cache(maxsize=256)
def _counted(content: bytes) -> Counter[str]:
    """Return how often a file has which function; kept, for what one landing leaves the next one finds."""
    return Counter(map(ast.dump, _functions(content)))


def _fault(intent: Intent, before: bytes, after: bytes) -> str:
    """Return why what was done to an intent's file is not what was asked, or the empty text."""
    name = _name(intent)
    try:
        if name == "VALUE":
            was, now = _value(before), _value(after)
            return "" if now == was + 1 else f"raises the counter from {was} to {now}"
        had, has = _counted(before), _counted(after)
    except (ValueError, SyntaxError) as error:
        return f"leaves {intent.scope[0].text} broken: {error}"
    return "" if has == had + _counted(_function(name).encode()) else f"does not add {name} once, and nothing else"


def _test(sector: str, what: str) -> str:
    if what.startswith("added"):
        says = f"    from {sector} import functions\n\n    assert functions.{what}() == {_returned(what)}\n"
    else:
        says = (
            f"    from {sector} import {what}\n\n"
            f"    assert [name for name in vars({what}) if not name.startswith('_')] == ['VALUE']\n"
            f"    assert type({what}.VALUE) is int and {what}.VALUE >= 1\n"
        )
    return f"def test_{what}() -> None:\n{says}"


JOB = Counters
