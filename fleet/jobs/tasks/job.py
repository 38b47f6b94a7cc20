"""The tasks job: an intent for each task, answered by definitions, judged by its checks and the neighbours'."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from fleet.jobs.registry import code_digest
from fleet.jobs.tasks.answers import BadAnswer, OutOfScope, SaysGone, apply, read
from fleet.jobs.tasks.audit import TasksAudit, fault_of_module
from fleet.jobs.tasks.prompting import messages
from fleet.jobs.tasks.settings import Settings as TasksSettings
from fleet.jobs.tasks.task import Task
from qodebase.change import AnyOperation, Change, Write, patched
from qodebase.check import Check
from qodebase.edits import materialise
from qodebase.errors import QodebaseError
from qodebase.intent import Ending, Intent
from qodebase.paths import RepoPath
from qodebase.ports import Accepted, JobAudit, Prompt, ReplayRequest, SharedPath, Tree, Unusable
from qodebase.runs import digest_of

if TYPE_CHECKING:
    from fleet.jobs.tasks.world import World

MOST_OUTPUT_TOKENS = 4000


class NoTasks(QodebaseError):
    """Settings that name no tasks, or twice, or tasks that do not fit the repository."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Work:
    """The tasks of a run by id, the standing checks, and the lanes (none: by the tree)."""

    tasks: Mapping[str, Task]
    neighbours: Mapping[str, Check]
    lanes: Mapping[str, Sequence[str]]


class Tasks:
    """Do small coding tasks that tests judge; see `qodebase.ports.Job`."""

    name = "tasks"
    Settings = TasksSettings
    shared: tuple[SharedPath, ...] = ()

    def __init__(self, settings: TasksSettings) -> None:
        self._settings = settings
        self._base: Tree | None = None
        if bool(settings.tasks) == bool(settings.generated):
            raise NoTasks(
                "the tasks job needs either a folder of tasks or generated ones",
                hint="Give --tasks DIR (see the README).",
            )
        if settings.sampled and not settings.tasks:
            raise NoTasks("--sampled takes part of a folder's tasks", hint="Give --tasks DIR with it.")

    @cached_property
    def digest(self) -> str:
        """Return a digest of the job's code and of its tasks."""
        settings = [self._settings.sampled, self._settings.generated, self._settings.most_text]
        told = [[task.id, task.text, _texts(task.checks), _texts(task.hidden)] for task in self._work.tasks.values()]
        return digest_of([code_digest(sys.modules["fleet.jobs.tasks"]), settings, told])

    def open(self, base: Tree) -> None:
        """Take the code that the run began on.

        Raises:
            NoTasks: it is not the codebase that the generated tasks are made for.
        """
        self._base = base
        if not self._settings.generated:
            return
        for path, content in self._world.files.items():
            if base.entry(path) is None or base.read(path) != content:
                raise NoTasks(
                    f"{path.text} is not as in the codebase of the generated tasks ({self._world.plan.text})",
                    hint="They need the codebase that is generated with them; `qodebase bench dial` makes it.",
                )

    def ready(self) -> None:
        """Need nothing more."""

    def close(self) -> None:
        """Hold nothing."""

    def lanes(self) -> Mapping[str, Sequence[str]]:
        """Return a lane for each generated module; else leave the lanes to the tree."""
        return self._work.lanes

    def checks(self) -> Mapping[str, Check]:
        """Return each task's check under its id, and the neighbour checks of generated code."""
        return {**{task.id: task.check for task in self._work.tasks.values() if task.checks}, **self._work.neighbours}

    def verifying(self) -> Mapping[str, Check]:
        """Return the checks that agents run themselves, by intent: those of its task."""
        tasks = self._work.tasks.values() if self._settings.verify else ()
        return {task.id: task.check for task in tasks if task.checks}

    def intents(self) -> Iterator[Intent]:
        """Yield an intent for each task."""
        for task in self._work.tasks.values():
            intent = Intent(
                id=task.id,
                asked=task.text,
                scope=task.paths,
                symbols=task.targets,
                checks=(task.id,) if task.checks else (),
                retires=task.retires,
                group=task.kind,
            )
            reason = self._unfit(task)
            yield intent.ended(Ending.SKIPPED, reason) if reason else intent

    def prompt(self, intent: Intent, fork: Tree, replay: ReplayRequest | None = None) -> Prompt:
        """Return the question: the task, its checks, and its files as the fork has them."""
        task = self._work.tasks[intent.id]
        sources = {path: _source(fork, path) for path in intent.scope}
        facts = {"task": task, "sources": sources}
        if replay is not None:
            facts |= {"attempt": replay.attempt, "replay": replay.replay}
        return Prompt(
            messages=messages(task, sources, again=replay is not None),
            max_output_tokens=MOST_OUTPUT_TOKENS,
            facts=facts,
        )

    def accept(self, intent: Intent, answer: str, fork: Tree) -> Accepted | Unusable:
        """Put an answer's definitions into the files, as hunks of the lines that differ."""
        operations: list[AnyOperation] = []
        try:
            for path, section in read(answer, intent.scope).items():
                patch = apply(path, _source(fork, path), section)
                new = fork.entry(path) is None
                operations.append(Write(path=path, content=patched(b"", patch.hunks)) if new else patch)
        except SaysGone as error:
            return Unusable(ending=Ending.REFUSED, why=f"the model says that it is gone: {error}")
        except OutOfScope as error:
            return Unusable(ending=Ending.REFUSED, why=str(error))
        except BadAnswer as error:
            return Unusable(ending=Ending.NO_ANSWER, why=f"no usable answer: {error}")
        symbols = self._work.tasks[intent.id].targets
        return Accepted(change=Change(base=fork.commit, operations=tuple(operations), symbols=symbols))

    def proof(self, intent: Intent, change: Change, fork: Tree) -> str | Unusable:
        """Compile every module that the change touches."""
        edits = materialise(change, fork)
        for path, edit in edits.items():
            if edit is not None and (fault := fault_of_module(path, edit.content)):
                return Unusable(ending=Ending.REFUSED, why=fault)
        return f"compiles: {len(edits)} {'file' if len(edits) == 1 else 'files'}"

    def idempotent(self, path: RepoPath) -> bool:
        """Say that no hunk is meant once where two tasks make it."""
        return False

    def audit(self) -> JobAudit:
        """Return the audit of this job's promise."""
        return TasksAudit()

    @cached_property
    def _work(self) -> _Work:
        if self._settings.generated:
            world = self._world
            return _Work(tasks={task.id: task for task in world.tasks}, neighbours=world.neighbours, lanes=world.lanes)
        from fleet.jobs.tasks.folder import load
        from fleet.jobs.tasks.resampling import Sampling, resampled

        tasks = load(self._settings.tasks)
        if self._settings.sampled:
            tasks = resampled(tasks, Sampling.parse(self._settings.sampled)).tasks
        return _Work(tasks={task.id: task for task in tasks}, neighbours={}, lanes={})

    @cached_property
    def _world(self) -> World:
        from fleet.jobs.tasks.plan import Plan
        from fleet.jobs.tasks.world import world_of

        return world_of(Plan.parse(self._settings.generated))

    def _unfit(self, task: Task) -> str:
        """Return why a task cannot be asked, or the empty text."""
        assert self._base is not None, "the job was not opened on a tree"
        size = 0
        for path in task.paths:
            if self._base.entry(path) is None:
                continue
            content = self._base.read(path)
            size += len(content)
            try:
                content.decode()
            except UnicodeDecodeError:
                return f"{path.text} is no UTF-8 text"
        most = self._settings.most_text
        return f"its files have {size} bytes, and a prompt shows {most} (--most-text)" if size > most else ""


def _source(fork: Tree, path: RepoPath) -> str:
    """Return a file's text; empty where there is none."""
    return fork.read(path).decode(errors="replace") if fork.entry(path) is not None else ""


def _texts(files: Mapping[RepoPath, bytes]) -> list[list[str]]:
    return [[path.text, content.decode(errors="replace")] for path, content in files.items()]
