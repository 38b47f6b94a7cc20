"""A small run, made by plain git and hand-written events, that tests may look at or doctor."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from qodebase import events
from qodebase.change import AnyOperation, Change, Hunk, Patch
from qodebase.codec import JSON, PACK
from qodebase.collision import Collided, Kind, Step
from qodebase.intent import Ending, Intent
from qodebase.journal import Journal
from qodebase.paths import CommitId, RepoPath
from qodebase.ports import Landing, Message, Prompt, Tree
from qodebase.record import Record, Times, Usage, write_note
from qodebase.runs import RunFolder, Settings
from qodebase.segments import SegmentWriter

RUN = "toy-1"
INDEX = RepoPath(b"docs/INDEX.md")
COMMON = RepoPath(b"src/common.py")
HOT = RepoPath(b"src/hot.py")
LAG = 3

_QUICK = ("-c", "core.fsync=none", "-c", "fastimport.unpackLimit=1")
"""Keep an import in one pack, unsynced: runs are copied often here, and no crash is tested."""

KIND = events.ModelKind(simulated=True)
LIMIT = 100

Content = dict[RepoPath, bytes]


@dataclass(frozen=True)
class Told:
    """What a record says of an attempt beside who and where."""

    times: Times = field(default_factory=lambda: Times(admitted=0.0, answered=0.0, queued=0.0, landed=0.0))
    plan: Mapping[str, str] = field(default_factory=dict)
    usage: Usage = field(default_factory=Usage)


class TickingClock:
    """A clock that moves on by a quarter of a second each time that it is read."""

    simulated = True

    def __init__(self) -> None:
        self._now = 1000.0

    def now(self) -> float:
        self._now += 0.25
        return self._now

    async def sleep(self, seconds: float) -> None:
        self._now += seconds

    def working(self) -> AbstractContextManager[None]:
        return nullcontext()


@dataclass(frozen=True)
class Work:
    """One landed intent: what it does to a tree, and which rung of the ladder redid its own path."""

    intent: str
    operations: Callable[[Content], tuple[AnyOperation, ...]]
    redone_by: str = ""


@dataclass(frozen=True)
class Commit:
    """One commit of main as it is written: contents, and the facts for its trailers and note."""

    edits: Mapping[RepoPath, bytes | None]
    intent: str | None
    base: int = 0
    attempt: int = 1
    replay: int = 0
    train: str = ""
    collided: tuple[Collided, ...] = ()
    trailers: Mapping[str, str] = field(default_factory=dict)
    message: str = "a person's work"
    executable: frozenset[RepoPath] = frozenset()


def doc_work(path: RepoPath) -> Work:
    """Insert a header into a file and a line into the index."""

    def operations(tree: Content) -> tuple[AnyOperation, ...]:
        line = index_line(path)
        entries = tree[INDEX].splitlines(keepends=True)[2:]
        at = len(b"# Index\n\n") + sum(map(len, entries[: bisect_left(entries, line)]))
        header = b'"""What ' + path + b' is for."""\n\n'
        return (
            Patch(path=path, hunks=(Hunk(offset=0, text=header),)),
            Patch(path=INDEX, hunks=(Hunk(offset=at, text=line),)),
        )

    return Work(f"doc:{path.decode()}", operations)


def index_line(path: bytes) -> bytes:
    """Return a file's line in the index."""
    return b"- `" + path + b"` `x` constant\n"


def edit_work(intent: str, path: RepoPath, old: bytes, new: bytes, redone_by: str = "") -> Work:
    """Replace a text in a file."""

    def operations(tree: Content) -> tuple[AnyOperation, ...]:
        return (Patch(path=path, hunks=(Hunk(offset=tree[path].index(old), length=len(old), text=new),)),)

    return Work(intent, operations, redone_by)


class ToyRun:
    """A run folder with its repository, journal and attempts; `commits` is main's history above the base.

    `told` is what a record says of an intent's attempt beside who and where.
    """

    def __init__(self, root: Path, *, files: int = 9) -> None:
        self.folder = RunFolder(root)
        self.paths = [RepoPath(f"src/m{number % 3}/f{number:04}.py".encode()) for number in range(files)]
        self.base_content: Content = {
            INDEX: b"# Index\n\n",
            COMMON: b"".join(b"line %d\n" % number for number in range(30)),
            HOT: b"def hot():\n    return 1\n",
            RepoPath(b"src/untouched.py"): b"y = 1\n",
            **{path: b"x = %d\n" % number for number, path in enumerate(self.paths)},
        }
        self.commits: list[Commit] = []
        self.ids: list[CommitId] = []
        self._states: list[Content] = [self.base_content]
        self.told: dict[str | None, Told] = {}

    @property
    def git_dir(self) -> Path:
        return self.folder.repository

    def git(self, *arguments: str, stdin: bytes = b"") -> str:
        """Run git in the run's repository."""
        command = ["git", "-C", str(self.git_dir), *_QUICK, *arguments]
        done = subprocess.run(command, input=stdin, capture_output=True, check=True)
        return done.stdout.decode().strip()

    def works(self) -> list[Work]:
        """Return what lands, in order."""
        return [
            *(doc_work(path) for path in self.paths),
            edit_work("edit:top", COMMON, b"line 2\n", b"line two\n"),
            edit_work("edit:bottom", COMMON, b"line 27\n", b"line twenty-seven\n", "merge"),
            edit_work("hot:first", HOT, b"return 1", b"return 2"),
            edit_work("hot:second", HOT, b"return 1", b"return 3"),
        ]

    def others(self) -> dict[str, Ending]:
        """Return intents that do not land, with their endings."""
        return {
            "skip:one": Ending.SKIPPED,
            "skip:two": Ending.SKIPPED,
            "refuse": Ending.REFUSED,
            "silent": Ending.NO_ANSWER,
            "back": Ending.SENT_BACK,
            "later": Ending.PENDING,
        }

    def build(self) -> ToyRun:
        """Write the honest run."""
        self._init_repository()
        works = self.works()
        changes = [self._plan(work, number) for number, work in enumerate(works)]
        self.ids = self._import(self.commits)
        self._freeze(works)
        self._write_journal(works, changes)
        self.write_notes()
        return self

    def rewrite(self, commits: Iterable[Commit]) -> None:
        """Write main's history and the notes again, as a forger would; the journal stays as it is."""
        self.commits = list(commits)
        self.git("update-ref", "-d", "refs/notes/qodebase")
        self.ids = self._import(self.commits)
        self.write_notes()

    def add_foreign(self, edits: Mapping[RepoPath, bytes | None], message: str = "a person's work") -> CommitId:
        """Put a commit of somebody else on top of main."""
        return self._import([Commit(edits=edits, intent=None, message=message)], onto=self.tip)[-1]

    @property
    def tip(self) -> CommitId:
        return CommitId(self.git("rev-parse", "refs/heads/main"))

    @property
    def base(self) -> CommitId:
        return self.ids[0]

    def commit_of(self, intent: str) -> CommitId:
        """Return the commit on which an intent stands."""
        return self.ids[1 + [commit.intent for commit in self.commits].index(intent)]

    def edit_lines(self, name: str, edit: Callable[[list[dict[str, Any]]], list[dict[str, Any]]]) -> None:
        """Change the lines of a JSON lines file of the run folder."""
        path = self.folder.root / name
        lines = [json.loads(line) for line in path.read_bytes().splitlines()]
        path.write_bytes(b"".join(json.dumps(line).encode() + b"\n" for line in edit(lines)))

    def _plan(self, work: Work, number: int) -> tuple[int, tuple[AnyOperation, ...], tuple[AnyOperation, ...]]:
        base = max(0, number - LAG)
        now = self._states[number]
        first = work.operations(self._states[base])
        landed, collided, replay = first, [], 0
        made_on = self._states[base]
        for operation in first:
            if now.get(operation.path) != made_on.get(operation.path):
                by = "rule:sorted-index" if operation.path == INDEX else work.redone_by
                steps = (Step(by=by),) if by else (Step(by="merge", declined="both sides changed the same lines"),)
                kind = Kind.SHARED if operation.path == INDEX else Kind.CONTENT
                movers = tuple(
                    commit.intent
                    for commit in self.commits[base:number]
                    if commit.intent and operation.path in commit.edits
                )
                collided.append(
                    Collided(path=operation.path, kind=kind, intents=movers, count=len(movers), steps=steps)
                )
        if collided and not collided[-1].resolved_by:
            landed, replay, base = edit_work("", HOT, b"return 2", b"return 2 + 3").operations(now), 1, number
        state = dict(now)
        for operation in landed:
            state[operation.path] = _redone(operation, self._states[base], now)
        self._states.append(state)
        edits = {operation.path: state[operation.path] for operation in landed}
        self.commits.append(
            Commit(
                edits=edits,
                intent=work.intent,
                base=base,
                replay=replay,
                train=f"src-{number}",
                collided=tuple(collided),
            )
        )
        return max(0, number - LAG), first, landed

    def _init_repository(self) -> None:
        self.folder.root.mkdir(parents=True)
        subprocess.run(["git", "init", "-q", "--template=", "--bare", "-b", "main", str(self.git_dir)], check=True)

    def _import(self, commits: Iterable[Commit], *, onto: CommitId | None = None) -> list[CommitId]:
        stream = bytearray(b"feature done\n")
        marks = 0
        if onto is None:
            marks = 1
            stream += _commit_text(1, "base", {}, "", self.base_content, frozenset())
        for number, commit in enumerate(commits, marks + 1):
            trailers = dict(commit.trailers)
            if commit.intent is not None:
                trailers = _trailers(commit) | trailers
            start = f"from {onto}\n" if number == 1 else ""
            stream += _commit_text(number, commit.message, trailers, start, commit.edits, commit.executable)
            marks = number
        stream += b"done\n"
        marks_file = self.folder.root / "marks"
        self.git("fast-import", "--quiet", "--force", f"--export-marks={marks_file}", stdin=bytes(stream))
        ids = dict(line.split() for line in marks_file.read_text().splitlines())
        marks_file.unlink()
        return [CommitId(ids[f":{mark}"]) for mark in range(1, marks + 1)]

    def write_notes(self) -> None:
        """Write the notes of all commits that carry an intent."""
        stream = bytearray(b"feature done\ncommit refs/notes/qodebase\ncommitter T <t@t> 1000 +0000\ndata 0\n")
        for number, commit in enumerate(self.commits):
            if commit.intent is not None:
                note = write_note(self.record(number))
                stream += b"N inline %s\ndata %d\n%s\n" % (self.ids[number + 1].encode(), len(note), note)
        self.git("fast-import", "--quiet", "--force", stdin=bytes(stream + b"done\n"))

    def record(self, number: int) -> Record:
        """Return the record of a commit, by its place in `commits`."""
        commit = self.commits[number]
        told = self.told.get(commit.intent, Told())
        return Record(
            run=RUN,
            intent=commit.intent or "",
            asked=f"Do {commit.intent}.",
            agent="agent-1",
            model="toy",
            attempt=commit.attempt,
            replay=commit.replay,
            lane="src",
            train=commit.train,
            base=self.ids[commit.base],
            parent=self.ids[number],
            tree="",
            verdict="green",
            checks=(),
            collisions=commit.collided,
            symbols=(),
            plan=dict(told.plan),
            usage=told.usage,
            times=told.times,
            simulated=True,
        )

    def _freeze(self, works: list[Work]) -> None:
        intents = [
            Intent(
                id=work.intent,
                asked=f"Do {work.intent}.",
                scope=tuple(operation.path for operation in work.operations(self.base_content)),
                group="toy",
            )
            for work in works
        ]
        for intent, ending in self.others().items():
            frozen = ending if ending == Ending.SKIPPED else Ending.PENDING
            reason = "documented already" if frozen == Ending.SKIPPED else ""
            intents.append(Intent(id=intent, asked=f"Do {intent}.", scope=(), ending=frozen, reason=reason))
        settings = Settings(
            run=RUN,
            job="toy",
            job_digest="0",
            job_settings={},
            repository=str(self.git_dir),
            branch="main",
            base=self.ids[0],
            model="toy",
            workers=2,
            created=1000.0,
            product="test",
        )
        self.folder.freeze(settings, intents)

    def _write_journal(self, works: list[Work], changes: list[tuple[int, Any, Any]]) -> None:
        journal = Journal(self.folder.journal, run=RUN, clock=TickingClock())
        segments = SegmentWriter(self.folder.attempts)
        started = {"base": self.ids[0], "tip": self.ids[0], "workers": 2, "real_pid": 1}
        journal.write(events.RunStarted, sitting=1, models={"toy": KIND}, **started)
        calls = iter(range(1, 10_000))
        for number, work in enumerate(works):
            self._write_landing(journal, segments, calls, number, work, changes[number])
        for intent, ending in self.others().items():
            if ending not in (Ending.SKIPPED, Ending.PENDING):
                journal.write(events.Admitted, intent=intent, attempt=1, actor="agent-2", base=self.tip)
                outcome = "empty" if ending == Ending.NO_ANSWER else "answer"
                self._write_call(journal, segments, next(calls), intent, outcome, None)
                journal.write(events.Ended, intent=intent, attempt=1, ending=ending, reason=f"because {ending}")
        journal.write(events.RunStopped, why="limit", tip=self.tip)
        journal.close()
        segments.close()

    def _write_landing(
        self,
        journal: Journal,
        segments: SegmentWriter,
        calls: Iterator[int],
        number: int,
        work: Work,
        planned: tuple[int, tuple[AnyOperation, ...], tuple[AnyOperation, ...]],
    ) -> None:
        base, first, landed = planned
        commit = self.commits[number]
        which: dict[str, Any] = {"intent": work.intent, "attempt": 1}
        admitted = journal.write(events.Admitted, actor="agent-1", base=self.ids[base], **which)
        usage = Usage(calls=1, input_tokens=10, output_tokens=5, cost_usd=0.001)
        plan = self._write_call(journal, segments, next(calls), work.intent, "answer", 0.001)
        change = Change(base=self.ids[base], operations=first)
        ref, digest = _kept(segments, change)
        made = journal.write(events.ChangeMade, base=change.base, change=digest, ref=ref, paths=change.paths, **which)
        queued = journal.write(events.Queued, lanes=("src",), lane="src", **which)
        train = {"lane": "src", "train": f"src-{number}"}
        journal.write(events.TrainBuilt, members=(work.intent,), tip=self.ids[number], tree="", **train)
        judged = journal.write(events.Judged, tree="", verdict="green", checks=0, **train)
        for collided in commit.collided:
            journal.write(events.CollisionMet, collided=collided, **which, **train)
        if commit.replay:
            plan = self._write_call(journal, segments, next(calls), work.intent, "answer", 0.002, purpose="replay")
            change = Change(base=self.ids[number], operations=landed)
            ref, digest = _kept(segments, change)
            journal.write(events.Replayed, base=change.base, replay=1, change=digest, ref=ref, **which)
            usage += Usage(calls=1, input_tokens=10, output_tokens=5, cost_usd=0.002)
        times = Times(admitted=admitted.at, answered=made.at, queued=queued.at, landed=judged.at)
        self.told[work.intent] = Told(times=times, plan={**plan, "change": digest}, usage=usage)
        journal.write(
            events.Landed, commit=self.ids[number + 1], parent=self.ids[number], replay=commit.replay, **which, **train
        )

    def _write_call(
        self,
        journal: Journal,
        segments: SegmentWriter,
        call: int,
        intent: str,
        outcome: str,
        cost: float | None,
        *,
        purpose: str = "fresh",
    ) -> dict[str, str]:
        """Write a call with its texts; return their digests."""
        which: dict[str, Any] = {"intent": intent, "attempt": 1, "call": call, "model": "toy"}
        prompt = Prompt(messages=(Message(role="user", text=f"Do {intent}, {purpose}."),), max_output_tokens=LIMIT)
        ref = segments.put(JSON.encode(prompt.messages)).text
        journal.write(events.Asked, purpose=purpose, prompt=prompt.digest, ref=ref, limit=LIMIT, **which)
        used = {"cost_usd": cost, "input_tokens": 10, "output_tokens": 5, "latency_s": 0.5}
        text = f"This does {intent}.".encode() if outcome == "answer" else b""
        digest = hashlib.sha256(text).hexdigest() if text else ""
        ref = segments.put(text).text if text else ""
        journal.write(events.Answered, outcome=outcome, answer=digest, ref=ref, **used, **which)
        return {"prompt": prompt.digest, "answer": digest}


def _kept(segments: SegmentWriter, change: Change) -> tuple[str, str]:
    """Keep a change, and return where, and its digest."""
    payload = PACK.encode(change)
    return segments.put(payload).text, hashlib.sha256(payload).hexdigest()


def _redone(operation: AnyOperation, made_on: Content, now: Content) -> bytes:
    """Lay an operation on the newest content; every toy operation finds its own place there."""
    assert isinstance(operation, Patch)
    (hunk,) = operation.hunks
    path = operation.path
    before = made_on[path]
    wanted = before[: hunk.offset] + hunk.text + before[hunk.offset + hunk.length :]
    if now[path] == before:
        return wanted
    if path == INDEX:
        lines = now[path].splitlines(keepends=True)
        return b"".join([*lines[:2], *sorted([*lines[2:], hunk.text])])
    return now[path].replace(before[hunk.offset : hunk.offset + hunk.length], hunk.text)


def _trailers(commit: Commit) -> dict[str, str]:
    return {
        "Qodebase-Run": RUN,
        "Qodebase-Intent": commit.intent or "",
        "Qodebase-Attempt": str(commit.attempt),
        "Qodebase-Lane": "src",
        "Qodebase-Train": commit.train,
        "Qodebase-Replay": str(commit.replay),
    }


def _commit_text(
    mark: int,
    message: str,
    trailers: Mapping[str, str],
    start: str,
    edits: Mapping[RepoPath, bytes | None],
    executable: frozenset[RepoPath],
) -> bytes:
    text = "\n".join([message, "", *(f"{key}: {value}" for key, value in trailers.items())]) + "\n"
    out = f"commit refs/heads/main\nmark :{mark}\ncommitter T <t@t> {1000 + mark} +0000\n".encode()
    out += b"data %d\n%s\n%s" % (len(text.encode()), text.encode(), start.encode())
    for path, content in edits.items():
        if content is None:
            out += b"D %s\n" % path
        else:
            mode = b"100755" if path in executable else b"100644"
            out += b"M %s inline %s\ndata %d\n%s\n" % (mode, path, len(content), content)
    return out


class ToyAudit:
    """The toy job's own promise: a header on top and nothing else, and an index with one line for each file."""

    def __init__(self) -> None:
        self._account: dict[str, int] = {}
        self.full: set[bool] = set()

    def proof(self, landing: Landing, before: Tree, after: Tree, *, full: bool) -> str:
        self.full.add(full)
        kind, _, name = landing.intent.id.partition(":")
        path = RepoPath(name.encode())
        if kind != "doc" or after.read(path).endswith(b'is for."""\n\n' + before.read(path)):
            return ""
        return "more than a header was changed"

    def shared_edit(self, landing: Landing, path: RepoPath, before: Tree, after: Tree) -> str:
        was, now = (
            Counter(before.read(path).splitlines(keepends=True)),
            Counter(after.read(path).splitlines(keepends=True)),
        )
        own = Counter(_hunk_text(landing.change, path))
        return "" if now - was == own and not was - now else "its lines are not what it added"

    def shared_whole(
        self, path: RepoPath, base: bytes | None, final: bytes | None, landed: Iterable[Landing]
    ) -> list[str]:
        expected = Counter((base or b"").splitlines(keepends=True))
        for landing in landed:
            expected.update(_hunk_text(landing.change, path))
        there = Counter((final or b"").splitlines(keepends=True))
        self._account = {"expected": expected.total(), "there": there.total()}
        missing = [f"missing: {line.decode().strip()}" for line in expected - there]
        return missing + [f"too many: {line.decode().strip()}" for line in there - expected]

    def account(self, path: RepoPath) -> Mapping[str, int]:
        return self._account


def _hunk_text(change: Change, path: RepoPath) -> list[bytes]:
    return [
        hunk.text
        for operation in change.operations
        if isinstance(operation, Patch) and operation.path == path
        for hunk in operation.hunks
    ]


@pytest.fixture(scope="session")
def honest(tmp_path_factory: pytest.TempPathFactory) -> ToyRun:
    """A run that nobody may change."""
    return ToyRun(tmp_path_factory.mktemp("honest") / "run").build()


@pytest.fixture
def toy(honest: ToyRun, tmp_path: Path) -> ToyRun:
    """A copy of the honest run, to be doctored."""
    shutil.copytree(honest.folder.root, tmp_path / "run")
    copy = ToyRun(tmp_path / "run")
    copy.commits, copy.ids, copy.told = list(honest.commits), list(honest.ids), honest.told
    return copy


@pytest.fixture
def toy_audit() -> ToyAudit:
    """The toy job's audit."""
    return ToyAudit()


@pytest.fixture
def empty_run(tmp_path: Path) -> RunFolder:
    """A run whose intents are frozen and in which nothing has happened: there is no journal and no repository."""
    folder = RunFolder.create(tmp_path / "empty")
    run = ToyRun(tmp_path / "unused")
    settings = Settings(
        run=RUN,
        job="toy",
        job_digest="0",
        job_settings={},
        repository="r",
        branch="main",
        base=CommitId("0" * 40),
        model="toy",
        workers=2,
        created=1000.0,
        product="test",
    )
    folder.freeze(settings, [Intent(id="doc:a", asked="Do a.", scope=(run.paths[0],))])
    return folder
