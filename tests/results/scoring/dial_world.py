"""A run's folder made by hand, event by event and commit by commit, so that each definition can be looked at alone."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

from qodebase import events
from qodebase.change import Change, Delete, Write
from qodebase.codec import PACK
from qodebase.collision import Collided, Kind, Step
from qodebase.intent import Ending, Intent
from qodebase.journal import Journal
from qodebase.paths import CommitId, RepoPath
from qodebase.runs import RunFolder, Settings
from qodebase.segments import SegmentWriter
from results.scoring.score import Score, score_run
from results.scoring.suite import Suite, Test, TestKind

RUN = "dial-1"
Files = dict[str, str]


class SetClock:
    """A clock that says what it is told."""

    def __init__(self, *, simulated: bool = True) -> None:
        self.simulated = simulated
        self.at = 1000.0

    def now(self) -> float:
        return self.at

    async def sleep(self, seconds: float) -> None:
        self.at += seconds

    def working(self) -> AbstractContextManager[None]:
        return nullcontext()


class World:
    """A run that is written down as it goes; `score` reads it back.

    Files are texts by path. A change is what its files replace, with an empty text for one that it deletes.
    """

    def __init__(self, root: Path, files: Files, *, simulated: bool = True) -> None:
        self.folder = RunFolder(root)
        root.mkdir()
        subprocess.run(["git", "init", "-q", "--template=", "--bare", "-b", "main", self.folder.repository], check=True)
        self._import = subprocess.Popen(
            ["git", "-C", self.folder.repository, "-c", "core.fsync=none", "fast-import", "--quiet", "--force"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        self.clock = SetClock(simulated=simulated)
        self.journal = Journal(self.folder.journal, run=RUN, clock=self.clock)
        self.segments = SegmentWriter(self.folder.attempts)
        self.intents: dict[str, Intent] = {}
        self.tests: list[Test] = []
        self.retires: dict[str, tuple[str, ...]] = {}
        self.states: dict[CommitId, Files] = {}
        self.changes: dict[tuple[str, int, int], tuple[CommitId, Files]] = {}
        self._trains = 0
        self._closed = False
        self.base = self.commit(files)
        self.tip = self.base
        self.journal.write(
            events.RunStarted, sitting=1, base=self.base, tip=self.base, workers=2, real_pid=1, actor="driver"
        )

    def intent(self, name: str, *, symbols: tuple[str, ...] = (), scope: str = "shop/a.py") -> None:
        """Add an intent."""
        paths = (RepoPath(scope.encode()),)
        self.intents[name] = Intent(id=name, asked=f"Do {name}.", scope=paths, symbols=symbols)

    def test(self, name: str, source: str, *, intent: str = "", kind: str = "hidden") -> Test:
        """Add a test; its function is called ``test``."""
        test = Test(
            name=name,
            intent=intent,
            kind=TestKind(kind if intent else "neighbour"),
            path=RepoPath(b"checks/test_%s_%d.py" % (name.encode(), len(self.tests))),
            source=source.encode(),
            function="test",
        )
        self.tests.append(test)
        return test

    def answer(
        self, intent: str, files: Files, *, base: CommitId | None = None, attempt: int = 1, replay: int = 0
    ) -> None:
        """Hand a change in, fresh or redone."""
        if intent not in self.intents:
            self.intent(intent)
        base = base or self.tip
        self.changes[intent, attempt, replay] = base, files
        operations = tuple(
            Write(path=RepoPath(path.encode()), content=text.encode()) if text else Delete(path=RepoPath(path.encode()))
            for path, text in files.items()
        )
        change = Change(base=base, operations=operations)
        ref = self.segments.put(PACK.encode(change)).text
        kind: Any = events.Replayed if replay else events.ChangeMade
        more = {"replay": replay} if replay else {}
        self.journal.write(
            kind, intent=intent, attempt=attempt, base=base, change="", ref=ref, paths=change.paths, **more
        )
        if not replay:
            self.journal.write(events.Queued, intent=intent, attempt=attempt, lane="code", lanes=("code",))

    def couple(self, *intents: str, guessed: bool = False) -> str:
        """Build a train; return its name."""
        self._trains += 1
        train = f"code#{self._trains}"
        self.journal.write(
            events.TrainBuilt, members=intents, tip=self.tip, tree="", lane="code", train=train, guessed=guessed
        )
        return train

    def judge(self, train: str, verdict: str, *, runs: int = 1) -> None:
        """Give the gate's verdict on a train."""
        self.journal.write(events.Judged, tree="", verdict=verdict, checks=1, runs=runs, lane="code", train=train)

    def meet(self, intent: str, by: str, *, attempt: int = 1, replay: int = 0, path: str = "shop/a.py") -> None:
        """Journal a collision and what resolved it."""
        steps = (Step(by=by),) if by else (Step(by="merge", declined="both sides changed the same lines"),)
        collided = Collided(path=RepoPath(path.encode()), kind=Kind.CONTENT, steps=steps)
        self.journal.write(events.CollisionMet, intent=intent, attempt=attempt, replay=replay, collided=collided)

    def land(
        self, intent: str, files: Files | None = None, *, attempt: int = 1, replay: int = 0, train: bool = True
    ) -> CommitId:
        """Land a change, as it is or as ``files`` say that it was merged."""
        if train:
            self.judge(self.couple(intent), "green")
        edits = self.changes[intent, attempt, replay][1] if files is None else files
        trailers = {
            "Qodebase-Run": RUN,
            "Qodebase-Intent": intent,
            "Qodebase-Attempt": attempt,
            "Qodebase-Replay": replay,
        }
        before = self.tip
        self.tip = self.commit(edits, before, trailers)
        self.journal.write(events.Landed, intent=intent, attempt=attempt, replay=replay, commit=self.tip, parent=before)
        return self.tip

    def refuse(self, intent: str, *, attempt: int = 1, ahead: tuple[str, ...] = ()) -> None:
        """Have the gate refuse a change, and send it back."""
        self.judge(self.couple(*ahead, intent), "red", runs=2)
        self.send_back(intent, attempt=attempt, reason="checks failed")

    def send_back(self, intent: str, *, attempt: int = 1, reason: str) -> None:
        """Send a change back."""
        self.journal.write(events.SentBack, intent=intent, attempt=attempt, reason=reason)

    def end(self, intent: str, ending: Ending, reason: str) -> None:
        """End an intent without landing."""
        if intent not in self.intents:
            self.intent(intent)
        self.journal.write(events.Ended, intent=intent, ending=ending, reason=reason)

    def foreign(self, files: Files) -> CommitId:
        """Commit as somebody else."""
        self.tip = self.commit(files, self.tip)
        self.journal.write(events.Foreign, commits=(self.tip,))
        return self.tip

    def commit(
        self, edits: Files, parent: CommitId | None = None, trailers: Mapping[str, Any] | None = None
    ) -> CommitId:
        """Write a commit with plain git."""
        state = dict(self.states[parent]) if parent else {}
        state |= edits
        state = {path: text for path, text in state.items() if text}
        message = "\n".join(["work", "", *(f"{name}: {value}" for name, value in (trailers or {}).items())]).encode()
        mark = len(self.states) + 1
        stream = [] if parent else [b"reset refs/heads/main\n"]
        stream += [b"commit refs/heads/main\nmark :%d\ncommitter T <t@t> 1000 +0000\n" % mark]
        stream += [b"data %d\n%s\n" % (len(message), message)]
        stream += [b"from :%d\n" % (list(self.states).index(parent) + 1)] if parent else []
        stream += [b"deleteall\n"]
        for path, text in state.items():
            stream += [b"M 100644 inline %s\ndata %d\n%s\n" % (path.encode(), len(text.encode()), text.encode())]
        stream += [b"get-mark :%d\n" % mark]
        assert self._import.stdin is not None
        assert self._import.stdout is not None
        self._import.stdin.write(b"".join(stream))
        self._import.stdin.flush()
        id = CommitId(self._import.stdout.readline().decode().strip())
        self.states[id] = state
        return id

    def close(self) -> None:
        """Write down what is missing, once."""
        if self._closed:
            return
        self._closed = True
        self._import.communicate()
        assert self._import.returncode == 0
        self.journal.write(events.RunStopped, why="ended", tip=self.tip, actor="driver")
        self.journal.close()
        self.segments.close()
        settings = Settings(
            run=RUN,
            job="tasks",
            job_digest="0",
            job_settings={},
            repository=str(self.folder.repository),
            branch="main",
            base=self.base,
            model="scripted",
            workers=2,
            created=1000.0,
            product="test",
        )
        self.folder.freeze(settings, self.intents.values())

    @property
    def suite(self) -> Suite:
        """Return the tests."""
        return Suite(tests=tuple(self.tests), retires=self.retires)

    def score(self, **more: Any) -> Score:
        """Score the run."""
        self.close()
        return score_run(self.folder, self.suite, workers=1, **more)

    def row(self) -> dict[str, Any]:
        """Score the run and return its row."""
        return self.score().row(share=0.6, queue="lanes", rules=True, seed=1)
