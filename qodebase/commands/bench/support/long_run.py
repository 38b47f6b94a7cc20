"""A made-up run folder with as many events as wanted: what a long run leaves behind, without its repository."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from qodebase import events
from qodebase.codec import JSON
from qodebase.collision import Collided, Kind, Step
from qodebase.intent import Ending, Intent
from qodebase.paths import CommitId, RepoPath
from qodebase.private_files import private
from qodebase.runs import RunFolder, Settings

RUN = "long-1"
_BASE = CommitId("0" * 40)
_INDEX = RepoPath(b"docs/API_INDEX.md")
_TRAIN = 16
_LANES = 24
_EVENTS_OF_A_TRAIN = 2
_MODEL = "made-up"


def write_run(root: Path, *, events_wanted: int, seed: int = 1) -> RunFolder:
    """Write settings, frozen intents and a journal of at least so many events; return the folder.

    Seven of eight intents land, in trains of 16; every change meets a collision at one shared path, every tenth one
    more that a merge or a model redid; every twentieth call fails first.
    """
    chance = random.Random(seed)
    folder = RunFolder.create(root)
    batches: list[list[Intent]] = []
    with open(folder.journal, "wb", opener=private) as out:
        written = _Written(out)
        written.write(events.RunStarted, sitting=1, base=_BASE, tip=_BASE, workers=1000, real_pid=1)
        while written.seq < events_wanted - 1:
            batches.append(_batch(len(batches), chance))
            for kind, fields in _told(batches[-1], len(batches), chance):
                written.write(kind, **fields)
        written.write(events.RunStopped, why="ended", tip=_BASE)
    folder.freeze(_settings(seed), (intent for batch in batches for intent in batch))
    return folder


class _Written:
    """Encodes events with a seq and a time that goes on by half a millisecond."""

    def __init__(self, out: Any) -> None:
        self._out = out
        self.seq = 0

    def write(self, kind: type[events.Event], **fields: Any) -> None:
        self.seq += 1
        at = 1_000_000.0 + self.seq * 0.0005
        self._out.write(JSON.encode(kind(seq=self.seq, at=at, run=RUN, simulated=True, **fields)) + b"\n")


def _batch(number: int, chance: random.Random) -> list[Intent]:
    paths = [RepoPath(b"src/area%02d/part%05d/file%02d.js" % (number % _LANES, number, at)) for at in range(_TRAIN)]
    return [
        Intent(
            id=f"document:{path.decode()}",
            asked=f"Describe {path.decode()}.",
            scope=(path,),
            group="js",
            priority=chance.choice((50, 100, 100, 100)),
        )
        for path in paths
    ]


_Event = tuple[type[events.Event], dict[str, Any]]


def _told(batch: list[Intent], number: int, chance: random.Random) -> Iterator[_Event]:
    """Yield what happens to one batch of intents, which ride on one train."""
    lane = f"area{number % _LANES:02}"
    train = f"{lane}-{number}"
    riding = []
    for at, intent in enumerate(batch):
        who: dict[str, Any] = {"actor": f"agent-{at}", "intent": intent.id, "attempt": 1}
        yield events.Admitted, {"base": _commit(number, 0), **who}
        yield from _called(number * _TRAIN + at, chance, "fresh", who)
        if at % 8 == 7:
            yield events.Ended, {"ending": Ending.NO_ANSWER, "reason": "empty", **who}
            continue
        made = {"base": _commit(number, 0), "change": _digest(number, at), "ref": f"1:{number}", "proof": "equal"}
        yield events.ChangeMade, {"paths": (*intent.scope, _INDEX), **made, **who}
        yield events.Queued, {"lanes": (lane,), "lane": lane, **who}
        riding.append((at, intent, who | {"lane": lane, "train": train}))
    ids = tuple(intent.id for _, intent, _ in riding)
    judged: dict[str, Any] = {"actor": "gate", "lane": lane, "train": train, "tree": _digest(number, 99)}
    yield events.TrainBuilt, {"members": ids, "tip": _commit(number, 0), **judged}
    yield (
        events.Judged,
        {"verdict": "green", "checks": 3, "runs": 1 + (number % 50 == 0), "flake": number % 50 == 0, **judged},
    )
    for at, intent, who in riding:
        yield from _landed(number, at, intent, chance, who)


def _landed(number: int, at: int, intent: Intent, chance: random.Random, who: dict[str, Any]) -> Iterator[_Event]:
    movers = tuple(f"document:src/other{mover}.js" for mover in range(3))
    index = Collided(path=_INDEX, kind=Kind.SHARED, intents=movers, count=3, steps=(Step(by="rule:sorted-index"),))
    yield events.CollisionMet, {"collided": index, **who}
    replay = 0
    if chance.random() < 0.1:
        by_model = chance.random() < 0.3
        replay = int(by_model)
        step = Step(by="merge", declined="both sides changed the same lines" if by_model else "")
        own = Collided(path=intent.scope[0], kind=Kind.CONTENT, intents=movers[:1], count=1, steps=(step,))
        yield events.CollisionMet, {"collided": own, **who}
    if replay:
        yield from _called(-number * _TRAIN - at, chance, "replay", who)
        made = {"base": _commit(number, 0), "change": _digest(number, at), "ref": f"1:{number}"}
        yield events.Replayed, {"replay": 1, **made, **who}
    yield events.Landed, {"commit": _commit(number, at + 1), "parent": _commit(number, at), "replay": replay, **who}


def _called(call: int, chance: random.Random, purpose: str, who: dict[str, Any]) -> Iterator[_Event]:
    fails = 1 if chance.random() < 0.05 else 0
    for again in range(1 + fails):
        which = {"call": call * 2 + again, "model": _MODEL, **who}
        failed = again < fails
        prompt = _digest(call, again)
        yield events.Asked, {"purpose": purpose, "prompt": prompt, "ref": f"1:{call}", "most_tokens": 9000, **which}
        used = {
            "input_tokens": chance.randrange(500, 4000),
            "output_tokens": 0 if failed else chance.randrange(50, 400),
            "cost_usd": 0.0004,
            "latency_s": chance.random(),
        }
        yield events.Answered, {"outcome": "timeout" if failed else "answer", **used, **which}


def _commit(number: int, at: int) -> CommitId:
    return CommitId(f"{number:032x}{at:08x}")


def _digest(number: int, at: int) -> str:
    return f"{abs(number):040x}{at:024x}"


def _settings(seed: int) -> Settings:
    return Settings(
        run=RUN,
        job="made-up",
        job_digest="0",
        job_settings={},
        repository="made-up",
        branch="main",
        base=_BASE,
        model=_MODEL,
        workers=1000,
        seed=seed,
        created=1_000_000.0,
        product="made-up",
    )
