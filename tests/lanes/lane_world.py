"""A real trunk on a real repository with desk, builder, gate and yard around it; only the checker is made up."""

from __future__ import annotations

import asyncio
import os
import subprocess
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import ExitStack, asynccontextmanager
from pathlib import Path
from types import TracebackType

from lanes.contract import Contract
from lanes.desk import Desk
from lanes.fork import Fork, Main
from lanes.gate import Gate
from lanes.judging import Judge
from lanes.policy import Policy
from lanes.router import Router
from lanes.step import Terms
from lanes.submission import Outcome, Submission
from lanes.train import Builder
from lanes.yard import Yard
from qodebase import events
from qodebase.change import AnyOperation, Change, Write
from qodebase.clock import SystemClock
from qodebase.code import CommitTree
from qodebase.events import Event
from qodebase.intent import Intent
from qodebase.journal import Journal, read_events
from qodebase.paths import CommitId, RepoPath
from qodebase.ports import Checker, Clock, Judgement, Redo, SharedPath, Verdict
from qodebase.record import Record, read_note
from qodebase.trailers import INTENT, RUN
from qodebase.trunk.batch import Person
from qodebase.trunk.files import Files
from qodebase.trunk.landing import Trunk
from qodebase.trunk.reader import Reader

RUN_ID = "run-1"
DEADLINE_S = 60
ENVIRONMENT = {
    "PATH": os.environ["PATH"],
    "HOME": "/nonexistent",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_NAME": "Person",
    "GIT_AUTHOR_EMAIL": "person@example.org",
    "GIT_COMMITTER_NAME": "Person",
    "GIT_COMMITTER_EMAIL": "person@example.org",
}


def git(repository: Path, *words: str, given: bytes = b"", **environment: str) -> bytes:
    """Let C git do something."""
    done = subprocess.run(
        ["git", "-C", repository, *words], env=ENVIRONMENT | environment, input=given, capture_output=True, check=False
    )
    assert done.returncode == 0, (words, done.stderr)
    return done.stdout


class FakeChecker:
    """Red for every train that holds a bad intent; knows from the journal which train a tree belongs to."""

    def __init__(self) -> None:
        self.bad: set[str] = set()
        self.flaky: set[str] = set()
        self.members: dict[str, tuple[str, ...]] = {}
        self.ran: list[tuple[str, ...]] = []
        self.before: Callable[[tuple[str, ...]], None] = lambda members: None

    def hear(self, event: Event) -> None:
        """Take in which train a tree belongs to."""
        if isinstance(event, events.TrainBuilt):
            self.members[event.tree] = event.members

    async def check(self, tree: str, checks: Sequence[str]) -> Judgement:
        """Judge a tree."""
        members = self.members.get(tree, ())
        self.ran.append(members)
        self.before(members)
        await asyncio.sleep(0)
        flaked = self.flaky & set(members)
        self.flaky -= flaked
        bad = self.bad & set(members) | flaked
        verdict, output = (Verdict.RED, f"{', '.join(sorted(bad))} broke it") if bad else (Verdict.GREEN, "")
        return Judgement(
            tree=tree, verdict=verdict, checks=tuple(checks), output=output, reads=dict.fromkeys(checks, ())
        )


class World:
    """Everything between a submission and main, for one test."""

    def __init__(
        self,
        root: Path,
        files: Mapping[bytes, bytes],
        *,
        shared: Mapping[bytes, str] | None = None,
        lanes: Mapping[str, Sequence[str]] | None = None,
        redo: Redo | None = None,
        policy: Policy | None = None,
        standing: Sequence[str] = (),
        checker: Checker | None = None,
        clock: Clock | None = None,
        files_of_trunk: Files | None = None,
    ) -> None:
        self.repository = root
        self.clock = clock or SystemClock()
        self.listeners: list[Callable[[Event], None]] = []
        self.checker = FakeChecker()
        self.shared = [SharedPath(path=RepoPath(path), rule=rule) for path, rule in (shared or {}).items()]
        self._lanes = lanes or {}
        self._redo = redo
        self.policy = policy or Policy()
        self._standing = standing
        self._checker = checker or self.checker
        self._files_of_trunk = files_of_trunk or Files(durable=False)
        self._held = ExitStack()
        root.mkdir()
        git(root, "init", "-q", "--bare", "-b", "main", "--template=")
        stream = [b"commit refs/heads/main\ncommitter Person <person@example.org> 1700000000 +0000\ndata 4\nbase\n"]
        stream += [b"M 100644 inline %s\ndata %d\n%s\n" % (name, len(text), text) for name, text in files.items()]
        git(root, "fast-import", "--quiet", given=b"".join(stream))
        self.base = self.tip()

    def __enter__(self) -> World:
        held = self._held
        self.journal = Journal(
            self.repository.with_suffix(".jsonl"),
            run=RUN_ID,
            clock=self.clock,
            listeners=(self.checker.hear, self._hear),
        )
        held.callback(self.journal.close)
        self.trunk = held.enter_context(
            Trunk.open(self.repository, branch="main", run=RUN_ID, _files=self._files_of_trunk)
        )
        self.reader = held.enter_context(Reader(self.repository))
        self.main = self.main_of(self.reader)
        self.contract = Contract(self.policy, self.main, standing=self._standing)
        self.syncs = 0
        self.desk = Desk(
            terms=Terms(
                run=RUN_ID,
                shared=self.shared,
                author=lambda submission: Person(name=submission.agent, mail="agent@example.org", time=1_700_000_000),
            ),
            trunk=self.trunk,
            main=self.main,
            journal=self.journal,
            clock=self.clock,
            open_tree=self.tree,
            between=lambda old, new: [commit.id for commit in self.reader.log(new, old)],
            sync=self._sync,
            contract=self.contract,
        )
        held.callback(self.desk.close)
        self.builder = Builder(self.main, self.shared, lambda path: (), lambda path: False)
        self.gate = Gate(self._checker)
        self.judge = Judge(
            gate=self.gate,
            desk=self.desk,
            journal=self.journal,
            tree_of=lambda commit: self.reader.commit(commit).tree,
        )
        self.yard = Yard(
            router=Router(self._lanes),
            desk=self.desk,
            builder=self.builder,
            judge=self.judge,
            journal=self.journal,
            clock=self.clock,
            redo=self._redo,
            shared=[shared.path for shared in self.shared],
            policy=self.policy,
            sitting=1,
        )
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._held.close()

    def _hear(self, event: Event) -> None:
        for listener in self.listeners:
            listener(event)

    def _sync(self) -> None:
        self.syncs += 1
        self.journal.sync()

    def main_of(self, reader: Reader) -> Main:
        """Return the loop's view of main as it is now, with nothing landed."""
        shared = frozenset(shared.path for shared in self.shared)
        return Main(CommitTree(reader, self.tip()), self.tree, reader.differences, shared)

    def tree(self, commit: CommitId) -> CommitTree:
        """Return the code at a commit."""
        return CommitTree(self.reader, commit)

    def foreign(self, files: Mapping[bytes, bytes | None]) -> CommitId:
        """Commit to main with plain git, as another person would; None deletes."""
        index = str(self.repository / "index-of-a-person")
        git(self.repository, "read-tree", "--empty", GIT_INDEX_FILE=index)
        head = subprocess.run(
            ["git", "-C", self.repository, "rev-parse", "-q", "--verify", "refs/heads/main"],
            capture_output=True,
            check=False,
        ).stdout.decode()
        parent = head.strip()
        if parent:
            git(self.repository, "read-tree", parent, GIT_INDEX_FILE=index)
        lines = []
        for path, content in files.items():
            if content is None:
                lines.append(b"0 " + b"0" * 40 + b"\t" + path)
            else:
                blob = git(self.repository, "hash-object", "-w", "--stdin", given=content).strip()
                lines.append(b"100644 " + blob + b"\t" + path)
        git(
            self.repository,
            "update-index",
            "-z",
            "--index-info",
            given=b"".join(line + b"\0" for line in lines),
            GIT_INDEX_FILE=index,
        )
        tree = git(self.repository, "write-tree", GIT_INDEX_FILE=index).decode().strip()
        words = ["commit-tree", tree, "-m", "by a person", *(["-p", parent] if parent else [])]
        commit = git(self.repository, *words).decode().strip()
        git(self.repository, "update-ref", "refs/heads/main", commit, parent or "0" * 40)
        return CommitId(commit)

    def fork(self, *paths: bytes) -> Fork:
        """Take a fork of main as it is now."""
        return self.main.fork([RepoPath(path) for path in paths], [shared.path for shared in self.shared])

    def submission(
        self,
        name: str,
        edits: Mapping[bytes, bytes] | Sequence[AnyOperation],
        *,
        priority: int = 100,
        checks: tuple[str, ...] = ("check",),
        fork: Fork | None = None,
    ) -> Submission:
        """Make what an agent would hand in."""
        operations = (
            tuple(Write(path=RepoPath(path), content=content) for path, content in edits.items())
            if isinstance(edits, Mapping)
            else tuple(edits)
        )
        paths = [operation.path for operation in operations]
        fork = fork or self.fork(*paths)
        return Submission(
            intent=Intent(id=name, asked=f"Do {name}.", scope=tuple(paths), checks=checks, priority=priority),
            attempt=1,
            agent=f"agent-{name}",
            model="scripted",
            change=Change(base=fork.commit, operations=operations),
            fork=fork,
        )

    @asynccontextmanager
    async def serving(self) -> AsyncIterator[Yard]:
        """Run the yard around a block, which ends within the deadline."""
        async with asyncio.timeout(DEADLINE_S), asyncio.TaskGroup() as tasks:
            serving = tasks.create_task(self.yard.serve(), name="yard")
            yield self.yard
            serving.cancel()

    def land_all(self, *submissions: Submission) -> list[Outcome]:
        """Hand changes in all at once and return what became of each."""

        async def work() -> list[Outcome]:
            async with self.serving() as yard:
                futures = [yard.submit(submission) for submission in submissions]
                return [await future for future in futures]

        return asyncio.run(work())

    def events(self, kind: type[Event] = Event) -> list[Event]:
        """Return the journal's events of a kind."""
        return [event for event in read_events(self.repository.with_suffix(".jsonl")) if isinstance(event, kind)]

    def tip(self) -> CommitId:
        """Return main as C git sees it."""
        return CommitId(git(self.repository, "rev-parse", "refs/heads/main").decode().strip())

    def files(self) -> dict[bytes, bytes]:
        """Return main's files as C git sees them."""
        listed = git(self.repository, "ls-tree", "-r", "-z", "--full-tree", "main").split(b"\0")[:-1]
        pairs = [(line.split(b"\t", 1)[1], line.split()[2]) for line in listed]
        out = git(self.repository, "cat-file", "--batch", given=b"".join(id + b"\n" for _, id in pairs))
        found = {}
        for path, _ in pairs:
            head, _, out = out.partition(b"\n")
            size = int(head.split()[2])
            found[path], out = out[:size], out[size + 1 :]
        return found

    def landed(self) -> list[str]:
        """Return the intents on main by their trailers, oldest first; each must stand once."""
        words = [dict(commit.trailers) for commit in self.reader.log(self.tip(), self.base)]
        names = [one[INTENT] for one in reversed(words) if one.get(RUN) == RUN_ID]
        assert len(set(names)) == len(names)
        return names

    def record(self, intent: str) -> Record:
        """Return the record of a landed intent."""
        for commit in self.reader.log(self.tip(), self.base):
            if dict(commit.trailers).get(INTENT) == intent:
                note = self.reader.note(commit.id)
                assert note is not None
                return read_note(note)
        raise AssertionError(f"{intent} has not landed")

    def assert_whole(self) -> None:
        """Let the repository, the loop's view of it and the journal agree."""
        git(self.repository, "fsck", "--strict", "--no-dangling")
        assert self.main.tip == self.tip()
        landed = [event.intent for event in self.events(events.Landed)]
        assert landed == self.landed()
        for path, content in self.files().items():
            assert self.main.read(RepoPath(path)) == content
