"""The run of the counters bench: its repository, the process that works on it, and what came out.

Run as a module it is that process, so that it can be killed.
"""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from qodebase.commands.bench.support.workload import PERSON, TIME, GitFailed, environment, git
from qodebase.runs import RunFolder

if TYPE_CHECKING:
    from qodebase.commands.support.surroundings import Surroundings
    from qodebase.events import Event
    from qodebase.intent import Intent
    from qodebase.paths import RepoPath

_MODULE = "qodebase.commands.bench.support.counters_run"

AT_MOST_S = {1: 20.0, 10: 90.0}
"""Seconds that a run of the published size may take, by sectors."""

MOST_TEST_RUNS = 105
PUBLISHED_INTENTS = 300
TRAIN_MAX = 12
MODEL = "scripted:latency=0.05,spread=0"

_APPENDED = "symbols-added"
_POLL_S = 0.02
_PATIENCE_S = 120.0
_MOST_FINDINGS = 5


class NotKilled(GitFailed):
    """A process that was to be killed half-way and was not there any more."""


def measure(
    space: Path, *, agents: int, intents: int, sectors: int, seed: int, kill: bool = False, claims: bool = False
) -> dict[str, Any]:
    """Take a run on a made repository, audit it, and count what main holds.

    Args:
        agents, intents: of each sector.
        kill: kill the process once a third has landed, and go on in a new one.
        claims: intents that raise the same counter are worked on one after the other.
    """
    folder = _frozen(space, agents=agents * sectors, intents=intents, sectors=sectors, seed=seed, claims=claims)
    if kill:
        _killed(folder, landed=intents * sectors // 3)
    _worked(folder, first=not kill)
    figures = {"agents": agents * sectors, "sectors": sectors, "killed": kill, "claims": claims, **_figures(folder)}
    targets = _targets(figures)
    told = {name: f"{sign} {limit}" for name, (sign, limit) in targets.items()}
    return {**figures, "targets": told, "missed": _missed(figures, targets)}


def _frozen(space: Path, *, agents: int, intents: int, sectors: int, seed: int, claims: bool) -> RunFolder:
    from fleet.jobs.counters import base_files
    from qodebase.clock import SystemClock
    from qodebase.commands.support.starting import Order, freeze, prepared
    from qodebase.rule_settings import RuleSettings
    from replay_rules.registry import rule_names

    repository = space / "code.git"
    repository.mkdir(parents=True)
    git(repository, "init", "-q", "--bare", "-b", "main", ".")
    name, mail = PERSON
    stream = [f"commit refs/heads/main\ncommitter {name} <{mail}> {TIME} +0000\ndata 4\nbase\n".encode()]
    for path, content in base_files(sectors).items():
        stream.append(b"M 100644 inline %s\ndata %d\n%s\n" % (path, len(content), content))
    git(repository, "fast-import", "--quiet", input=b"".join(stream))
    order = Order(
        job="counters",
        settings={"intents": intents, "sectors": sectors, "draw": seed},
        repository=repository,
        out=space / "run",
        model=MODEL,
        workers=agents,
        train_max=TRAIN_MAX,
        claims=claims,
        rules=RuleSettings(off=tuple(name for name in rule_names() if name != _APPENDED)),
        cache="off",
        source="the bench",
    )
    clock = SystemClock()
    with prepared(order, _surroundings(space), clock) as ready:
        return freeze(ready, clock)


def _surroundings(space: Path) -> Surroundings:
    from qodebase.commands.support.surroundings import Surroundings

    return Surroundings(environ={}, cache_folder=space / "cache")


def _process(folder: RunFolder, *, first: bool) -> subprocess.Popen[bytes]:
    words = [str(folder.root), "first" if first else "again"]
    return subprocess.Popen(
        [sys.executable, "-m", _MODULE, *words], env=environment(), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )


def _worked(folder: RunFolder, *, first: bool) -> None:
    """Let a process work on the run to its end.

    Raises:
        GitFailed: it failed.
    """
    process = _process(folder, first=first)
    _, said = process.communicate()
    if process.returncode:
        raise GitFailed(f"the run's process failed: {said.decode(errors='replace')[-2000:]}")


def _killed(folder: RunFolder, *, landed: int) -> None:
    """Let a process work on the run, and kill it once so many intents have landed.

    Raises:
        NotKilled: it had ended before, or nothing came of it.
    """
    process = _process(folder, first=True)
    until = time.monotonic() + _PATIENCE_S
    while _landings(folder) < landed and process.poll() is None and time.monotonic() < until:
        time.sleep(_POLL_S)
    ended = process.poll() is not None
    process.kill()
    _, said = process.communicate()
    if ended:
        raise NotKilled(f"the run's process was not there to be killed: {said.decode(errors='replace')[-2000:]}")


def _landings(folder: RunFolder) -> int:
    return folder.journal.read_bytes().count(b'"kind":"landed"') if folder.journal.exists() else 0


def _figures(folder: RunFolder) -> dict[str, Any]:
    from fleet.jobs.counters import amiss
    from qodebase.commands.verify import audit_of
    from qodebase.events import Held, Judged, Landed, RunStarted
    from qodebase.journal import read_events
    from results.summary import Tally

    events = list(read_events(folder.journal))
    intents = list(folder.intents())
    summary = Tally(intents).apply_all(events).summary()
    began = next(event.at for event in events if isinstance(event, RunStarted))
    landings = [event for event in events if isinstance(event, Landed)]
    lost, doubled = amiss(intents, {str(event.intent) for event in landings}, _on_main(folder))
    audit = audit_of(str(folder.root), full=True)
    return {
        "intents": summary.intents,
        "landed": summary.landed,
        "endings": {str(ending): count for ending, count in summary.endings.items() if count},
        "lost": lost,
        "doubled": doubled,
        "held": len({event.intent for event in events if isinstance(event, Held)}),
        "collided": summary.collided_intents,
        "seconds": round(landings[-1].at - began, 2) if landings else 0.0,
        "test_runs": sum(event.runs for event in events if isinstance(event, Judged)),
        "merged_by_git": summary.redone_by("merge"),
        "merged_by_rule": summary.redone_by("rule"),
        "redone_by_model": summary.redone_by("model"),
        "sittings": summary.sittings,
        "verified": audit.ok and not audit.not_checked,
        "findings": [finding.message for finding in audit.findings[:_MOST_FINDINGS]],
        "by_sector": _by_sector(intents, events),
    }


def _on_main(folder: RunFolder) -> dict[RepoPath, bytes]:
    """Return every file that main holds at the end."""
    from qodebase.trunk.reader import Reader

    with Reader(folder.repository) as reader:
        tip = reader.tip("main")
        assert tip is not None
        return {path: reader.blob(entry.id) for path, entry in reader.files(tip)}


def _by_sector(intents: Iterable[Intent], events: Iterable[Event]) -> dict[str, dict[str, Any]]:
    """Return what landed in each sector, what collided there, and how often its lane's trains were tested."""
    from qodebase.events import CollisionMet, Judged, Landed

    of = {intent.id: intent.scope[0].partition(b"/")[0].decode() for intent in intents}
    found: dict[str, Counter[str]] = {sector: Counter(intents=count) for sector, count in Counter(of.values()).items()}
    collided: set[str] = set()
    for event in events:
        match event:
            case Landed():
                found[of[str(event.intent)]]["landed"] += 1
            case CollisionMet() if event.intent not in collided:
                collided.add(str(event.intent))
                found[of[str(event.intent)]]["collided"] += 1
            case Judged() if event.lane in found:
                found[event.lane]["test_runs"] += event.runs
    names = ("intents", "landed", "collided", "test_runs")
    return {sector: {name: counts[name] for name in names} for sector, counts in sorted(found.items())}


def _targets(figures: Mapping[str, Any]) -> dict[str, tuple[str, float]]:
    """Return what a run aims at: a comparison and a limit for each figure; times are only known for two sizes."""
    intents, sectors = figures["intents"], figures["sectors"]
    targets: dict[str, tuple[str, float]] = {
        "landed": (">=", intents),
        "lost": ("<=", 0),
        "doubled": ("<=", 0),
        "verified": (">=", True),
    } | ({"redone_by_model": ("<=", 0)} if figures["claims"] else {"collided": (">=", intents // 2)})
    if intents == PUBLISHED_INTENTS * sectors and sectors in AT_MOST_S:
        targets["seconds"] = ("<=", AT_MOST_S[sectors])
        if sectors == 1:
            targets["test_runs"] = ("<=", MOST_TEST_RUNS)
    return targets


def _missed(figures: Mapping[str, Any], targets: Mapping[str, tuple[str, float]]) -> list[str]:
    return [
        name
        for name, (sign, limit) in targets.items()
        if (figures[name] > limit if sign == "<=" else figures[name] < limit)
    ]


async def _sit(folder: RunFolder, *, first: bool) -> None:
    from qodebase.clock import SystemClock
    from qodebase.commands.support.sitting import sit

    await sit(folder, _surroundings(folder.root.parent), SystemClock(), first=first)


if __name__ == "__main__":
    root, when = sys.argv[1:]
    asyncio.run(_sit(RunFolder(Path(root)), first=when == "first"))
