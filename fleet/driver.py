"""The batch driver: one sitting of a run, from opening its folder to the last synced event."""

from __future__ import annotations

import asyncio
import gc
import os
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from functools import partial

from fleet.admission import Queue
from fleet.agent import Agents
from fleet.attempts import Attempts
from fleet.calls import CallNumbers, Calls
from fleet.engines.local import LocalEngine
from fleet.recovery import recover
from fleet.redo import ModelRedo
from fleet.retry import Asker
from fleet.throttle import Throttle
from lanes.desk import Desk
from lanes.fork import Main
from lanes.gate import Gate, NoChecks
from lanes.router import Router
from lanes.step import Terms
from lanes.submission import Submission
from lanes.train import Builder
from lanes.yard import Yard
from qodebase import events
from qodebase.code import CommitTree
from qodebase.errors import QodebaseError
from qodebase.events import Event
from qodebase.intent import Ending, Intent
from qodebase.journal import Journal, JournalFailed, read_events
from qodebase.paths import CommitId
from qodebase.ports import Checker, Clock, Engine, Job, Model
from qodebase.runs import RunFolder, Settings
from qodebase.segments import SegmentReader, SegmentWriter
from qodebase.state import RunState
from qodebase.trunk.batch import Person
from qodebase.trunk.compaction import CompactionFailed
from qodebase.trunk.landing import Trunk
from qodebase.trunk.reader import Reader
from replay_rules.registry import chooser


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """What a sitting works with.

    Attributes:
        job: opened on the run's base.
        model: answers fresh work and model replays; the caller closes it.
        throttle: the gate in front of it, or None.
        checker: runs checks; None: the job has none.
        tries: attempts for each intent.
        sign: gives a commit's signature, or None.
        listeners: hear each event once it is in the journal.
    """

    job: Job
    model: Model
    clock: Clock
    throttle: Throttle | None = None
    checker: Checker | None = None
    engine: Engine | None = None
    tries: int = 1
    sign: Callable[[bytes], bytes] | None = None
    listeners: Sequence[Callable[[Event], None]] = ()


class Driver:
    """Work on a run until its intents have ended, a limit is reached, or it is told to drain.

    Args:
        folder: the run; its lock must be held by the caller.
        choose: picks what to admit from the pending intents, in frozen order.
        limit: how many intents ``choose`` picks at most, where it leaves some out on purpose.
    """

    def __init__(
        self,
        folder: RunFolder,
        settings: Settings,
        parts: Parts,
        *,
        choose: Callable[[list[Intent]], list[Intent]] = list,
        limit: int | None = None,
    ) -> None:
        self._folder = folder
        self._settings = settings
        self._parts = parts
        self._choose = choose
        self._limit = limit
        self._queue: Queue | None = None
        self._drained = False
        self.untidy = ""
        self.state = RunState(folder.intents())

    def drain(self) -> None:
        """Admit nothing more; what agents and lanes have goes on to its end."""
        self._drained = True
        if self._queue is not None:
            self._queue.drain()

    async def run(self) -> str:
        """Take the sitting; return why it stopped: ended, limit or interrupted."""
        self.state.apply_all(read_events(self._folder.journal)) if self._folder.journal.exists() else None
        with ExitStack() as held:
            journal = Journal(
                self._folder.journal,
                run=self._settings.run,
                clock=self._parts.clock,
                listeners=(self.state.apply, *self._parts.listeners),
            )
            held.callback(journal.close)
            store = SegmentWriter(self._folder.attempts)
            held.callback(store.close)
            trunk = held.enter_context(
                Trunk.open(self._folder.repository, branch=self._settings.branch, run=self._settings.run)
            )
            reader = held.enter_context(Reader(self._folder.repository))
            try:
                why = await self._sit(journal, store, trunk, reader, held)
            except BaseException as error:
                with suppress(JournalFailed):
                    stopped = "interrupted" if isinstance(error, asyncio.CancelledError) else "failed"
                    journal.write(events.RunStopped, actor="driver", why=stopped, tip=trunk.tip)
                raise _cause(error) from None
            journal.write(events.RunStopped, actor="driver", why=why, tip=trunk.tip)
            if why == "ended":
                self._compact(trunk)
        return why

    def _compact(self, trunk: Trunk) -> None:
        """Tidy the repository; the run has ended well also where that fails, and `untidy` says why it did."""
        try:
            trunk.compact()
        except CompactionFailed as error:
            self.untidy = error.message

    async def _sit(self, journal: Journal, store: SegmentWriter, trunk: Trunk, reader: Reader, held: ExitStack) -> str:
        settings, parts = self._settings, self._parts
        recover(settings.run, self.state, journal, reader, tip=trunk.tip, base=settings.base)
        pending = [known.intent for known in self.state.intents.values() if known.ending is Ending.PENDING]
        chosen = self._choose(pending)
        workers = max(1, min(settings.workers, len(chosen)))
        journal.write(
            events.RunStarted,
            actor="driver",
            sitting=self.state.sittings + 1,
            base=settings.base,
            tip=trunk.tip,
            workers=workers,
            limit=self._limit,
            real_pid=os.getpid(),
        )
        if chosen:
            with parts.clock.working():
                await asyncio.to_thread(parts.job.ready)
        main = self._main(reader, trunk.tip)
        kept = SegmentReader(self._folder.attempts)
        held.callback(kept.close)
        attempts = Attempts(store, kept)
        calls = Calls(
            Asker(parts.model, parts.clock, throttle=parts.throttle),
            journal=journal,
            store=store,
            kept=kept,
            states=self.state.intents.values(),
            numbers=CallNumbers(self.state.calls),
        )
        desk = self._desk(journal, store, trunk, reader, main)
        held.callback(desk.close)
        redo = ModelRedo(
            parts.job,
            calls,
            journal,
            attempts,
            open_tree=partial(CommitTree, reader),
            asked=lambda intent: self.state.intents[intent].intent.asked,
        )
        yard = self._yard(journal, desk, redo)
        self._queue = Queue(chosen, lambda intent: self.state.intents[intent].ending)
        if self._drained:
            self._queue.drain()
        agents = Agents(
            job=parts.job,
            model=parts.model,
            calls=calls,
            yard=yard,
            main=main,
            queue=self._queue,
            journal=journal,
            attempts=attempts,
            clock=parts.clock,
            state=self.state.intents.__getitem__,
            tries=parts.tries,
        )
        await self._work(yard, agents, workers)
        if agents.unreached and not self._drained:
            return "no answers"
        return self._why(chosen, pending)

    async def _work(self, yard: Yard, agents: Agents, workers: int) -> None:
        # Ten thousand agents make millions of long-lived objects; the default thresholds would scan them all the time.
        gc.freeze()
        thresholds = gc.get_threshold()
        gc.set_threshold(100_000, 50, 1000)
        try:
            async with asyncio.TaskGroup() as tasks:
                serving = [tasks.create_task(yard.serve(), name="yard")]
                if self._parts.throttle is not None:
                    serving.append(tasks.create_task(self._parts.throttle.serve(), name="throttle"))
                engine = self._parts.engine or LocalEngine()
                await engine.run(workers, agents.work)
                for task in serving:
                    task.cancel()
        finally:
            gc.set_threshold(*thresholds)
            gc.unfreeze()

    def _why(self, chosen: Sequence[Intent], pending: Sequence[Intent]) -> str:
        if all(self.state.intents[intent.id].ending is not Ending.PENDING for intent in pending):
            return "ended"
        return "interrupted" if self._drained or len(chosen) == len(pending) else "limit"

    def _main(self, reader: Reader, tip: CommitId) -> Main:
        main = Main(CommitTree(reader, tip), partial(CommitTree, reader))
        by_commit = {known.commit: known for known in self.state.intents.values() if known.commit}
        for commit in reversed(list(reader.log(tip, self._settings.base))):
            known = by_commit.get(commit.id)
            if known is not None:
                main.remember(known.intent.id, commit.id, known.paths)
            elif commit.parents:
                main.pass_by(commit.id, CommitId(commit.parents[0]))
        return main

    def _desk(self, journal: Journal, store: SegmentWriter, trunk: Trunk, reader: Reader, main: Main) -> Desk:
        def sync() -> None:
            store.sync()
            journal.sync()

        return Desk(
            terms=Terms(
                run=self._settings.run,
                shared=self._parts.job.shared,
                author=self._author,
                sign=self._parts.sign,
                simulated=self._parts.clock.simulated,
            ),
            trunk=trunk,
            main=main,
            journal=journal,
            clock=self._parts.clock,
            open_tree=partial(CommitTree, reader),
            between=lambda old, new: [commit.id for commit in reader.log(new, old)],
            sync=sync,
        )

    def _yard(self, journal: Journal, desk: Desk, redo: ModelRedo) -> Yard:
        job, rules = self._parts.job, self._settings.rules
        return Yard(
            router=Router(self._settings.lanes),
            desk=desk,
            builder=Builder(desk.main, job.shared, chooser(rules.off, rules.bind), job.idempotent),
            gate=Gate(self._parts.checker or NoChecks()),
            journal=journal,
            clock=self._parts.clock,
            redo=redo,
            shared=[shared.path for shared in job.shared],
            train_max=self._settings.train_max,
            sitting=self.state.sittings,
        )

    def _author(self, submission: Submission) -> Person:
        at = int(self._parts.clock.now())
        name, _, mail = self._settings.author.partition("<")
        if name.strip():
            return Person(name=name.strip(), mail=mail.rstrip("> "), time=at)
        return Person(name=submission.agent, mail=f"{submission.agent}@qodebase.invalid", time=at)


def _cause(error: BaseException) -> BaseException:
    """Return what a group of failures comes from: a failure that a person can act on before a bug, the first of each.

    When one task fails, thousands of agents are cancelled or fail with it; their tracebacks would hide the one.
    """
    if not isinstance(error, BaseExceptionGroup):
        return error
    causes = [_cause(one) for one in error.exceptions]
    return next((cause for cause in causes if isinstance(cause, QodebaseError)), causes[0])
