"""Trees in memory, tasks applied one behind the other by the editor through the job, and tests run in this process."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from fleet.jobs.registry import make_job
from fleet.jobs.tasks.codebase import PACKAGE
from fleet.jobs.tasks.fresh import FreshCode
from fleet.jobs.tasks.job import Tasks
from fleet.jobs.tasks.task import Task, Wrong
from fleet.jobs.tasks.world import World
from fleet.models.editor import written
from qodebase.change import REGULAR, Change
from qodebase.check import Check
from qodebase.collision import Entry
from qodebase.edits import blob_id, materialise
from qodebase.paths import CommitId, RepoPath
from qodebase.ports import Accepted, Job, Tree, Unusable


class MemoryTree:
    """See `qodebase.ports.Tree`."""

    commit = CommitId("0" * 40)

    def __init__(self, files: Mapping[RepoPath, bytes]) -> None:
        self.files = dict(files)

    def entry(self, path: RepoPath) -> Entry | None:
        return Entry(REGULAR, blob_id(self.files[path])) if path in self.files else None

    def read(self, path: RepoPath) -> bytes:
        return self.files[path]

    def walk(self) -> Iterator[tuple[RepoPath, Entry]]:
        for path in sorted(self.files):
            yield path, Entry(REGULAR, blob_id(self.files[path]))

    def with_change(self, change: Change) -> MemoryTree:
        """Return the tree with a change."""
        edits = materialise(change, self)
        return MemoryTree(self.files | {path: edit.content for path, edit in edits.items() if edit is not None})


def job_of(world: World) -> Job:
    """Return the opened job of a generated world."""
    job = make_job(Tasks, {"generated": world.plan.text}, source="test")
    job.open(MemoryTree(world.files))
    return job


class Applier:
    """Does tasks through the job."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.job = job_of(world)
        self.intents = {intent.id: intent for intent in self.job.intents()}

    def change(self, task: Task, tree: Tree, wrong: Wrong | None = None) -> Change:
        """Return the change that the editor's answer makes."""
        intent = self.intents[task.id]
        prompt = self.job.prompt(intent, tree)
        accepted = self.job.accept(intent, written(task, prompt.facts["sources"], wrong), tree)
        assert isinstance(accepted, Accepted), (task.id, task.kind, accepted)
        proof = self.job.proof(intent, accepted.change, tree)
        assert not isinstance(proof, Unusable), (task.id, task.kind, proof)
        return accepted.change

    def after(self, tasks: Iterable[Task], tree: MemoryTree) -> MemoryTree:
        """Return the tree with these tasks done one behind the other."""
        for task in tasks:
            tree = tree.with_change(self.change(task, tree))
        return tree


def failures(tree: MemoryTree, files: Mapping[RepoPath, bytes]) -> dict[str, str]:
    """Run all tests of these files on a tree; return those that fail, as ``path::name``, with why."""
    code = FreshCode(tree.files, PACKAGE)
    found = {}
    for path, source in files.items():
        found |= {f"{path.decode()}::{name}": why for name, why in code.failures(path, source).items()}
    return found


def neighbour_failures(
    world: World, tree: MemoryTree, but: Iterable[str] = (), paths: Iterable[RepoPath] = ()
) -> list[str]:
    """Return the neighbour checks (of these paths, else all) that are red on a tree, retired ones left out."""
    left_out = set(but)
    beginnings = tuple(f"base/{path.decode()[5:-3]}." for path in paths) or ("base/",)
    wanted = {name: check for name, check in world.neighbours.items() if name.startswith(beginnings)}
    return red(tree, {name: check for name, check in wanted.items() if name not in left_out})


def red(tree: MemoryTree, checks: Mapping[str, Check]) -> list[str]:
    """Return the names of checks that are red on a tree."""
    files = {path: source for check in checks.values() for path, source in check.files.items()}
    failed = set(failures(tree, files))
    whole = {test.removesuffix("::") for test in failed if test.endswith("::")}
    return [
        name
        for name, check in checks.items()
        if any(test in failed or test.partition("::")[0] in whole for test in check.tests)
    ]
