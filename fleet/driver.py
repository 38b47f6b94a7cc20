"""The batch driver: one sitting of a run, from opening its folder to the last synced event."""

from __future__ import annotations

import asyncio
import gc
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from fleet.admission import Queue
from fleet.agent import Agents
from fleet.attempts import Attempts
from fleet.budget import Budget, check_price
from fleet.calls import CallNumbers, Calls
from fleet.channels import Channels
from fleet.control import Control
from fleet.engines.local import LocalEngine
from fleet.ground import Ground
from fleet.guard import guard_of, is_screened
from fleet.ramp import ramp_for
from fleet.recovery import recover
from fleet.redo import ModelRedo
from fleet.spending import Spending
from fleet.stall import Stall, hanging
from fleet.stop_if import StopIf
from fleet.turns import short_turns
from fleet.verifying import Verifier
from fleet.workshop.shop import Workshop, is_worth_a_helper
from lanes.desk import Tell, unheard
from lanes.router import Router, SharedByLane
from lanes.verdicts import Verdicts
from lanes.yard import Yard
from qodebase import events
from qodebase.caps import NO_CAPS, Caps
from qodebase.code import CommitTree
from qodebase.collector import seldom_collected
from qodebase.errors import QodebaseError
from qodebase.events import Event
from qodebase.helper_words import Opening
from qodebase.intent import Ending, Intent
from qodebase.journal import Journal, read_events
from qodebase.orders import Orders
from qodebase.ports import Checker, Clock, Engine, Interruptible, Job
from qodebase.runs import RunFolder, Settings, this_process
from qodebase.segments import SegmentReader, SegmentWriter
from qodebase.state import RunState
from qodebase.stoppable import Stoppable
from qodebase.trunk.compaction import CompactionFailed
from qodebase.trunk.landing import Trunk
from qodebase.trunk.living import LivingTrunk
from qodebase.trunk.reader import Reader


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """What a sitting works with.

    Attributes:
        job: opened on the run's base.
        channels: the models; the caller closes them.
        caps: those that are new in this sitting.
        stop_if: conditions that pause the run (`fleet.stop_if`).
        checker: runs checks; None: the job has none.
        verdicts: remembers what agents and gate found green; None: nothing is remembered.
        tell: hears of each tree that is to be judged; see `lanes.desk.Desk`.
        most_attempts: attempts for each intent.
        stall_after_s: see `fleet.stall.Stall`.
        sign: gives a commit's signature, or None.
        listeners: hear each event once it is in the journal.
    """

    job: Job
    channels: Channels
    clock: Clock
    caps: Caps = NO_CAPS
    stop_if: Sequence[str] = ()
    checker: Checker | None = None
    verdicts: Verdicts | None = None
    tell: Tell = unheard
    engine: Engine | None = None
    most_attempts: int = 1
    stall_after_s: float = 600.0
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
        self._journal: Journal | None = None
        self._drained = False
        self._stuck = False
        self._guard = guard_of(settings.privacy)
        self.workshop = Workshop(parts.job)
        self._spending = Spending()
        self._budget = Budget(NO_CAPS, parts.clock, self._spending, closed=self._admit_no_more)
        self._stop_if = StopIf(parts.stop_if, stop=self._admit_no_more)
        self.untidy = ""
        self.state = RunState(folder.intents())

    def drain(self) -> None:
        """Admit nothing more; what agents and lanes have goes on to its end."""
        self._drained = True
        if self._queue is not None:
            self._queue.drain()
        if self._journal is not None and not self.state.draining:
            self._journal.write(events.Ordered, actor="operator", what="drain")

    def _hearing(self) -> Iterator[Callable[[Event], None]]:
        """Yield what stops the sitting where events say so; without caps or conditions there is nothing to hear."""
        if self._budget.capped:
            yield self._budget.apply
        if self._parts.stop_if:
            yield self._stop_if.apply

    def _admit_no_more(self) -> None:
        if self._queue is not None:
            self._queue.drain()

    def _caps(self) -> Caps:
        """Return the caps of this sitting: those of the one before, or of the settings, and what is new.

        Raises:
            UnknownPrice: a cost cap, and a model whose price is not known.
        """
        before = self._settings.caps if self.state.caps is None else self.state.caps
        caps = before.changed(self._parts.caps)
        for channel in self._parts.channels.all if caps.cost_usd is not None else ():
            check_price(channel.model.name, channel.price)
        return caps

    async def run(self) -> str:
        """Take the sitting; return why it stopped: ended, limit, interrupted, stalled, capped or condition."""
        for event in read_events(self._folder.journal) if self._folder.journal.exists() else ():
            self.state.apply(event)
            self._spending.apply(event)
        self._budget.caps = self._caps()
        with ExitStack() as held:
            store = SegmentWriter(self._folder.attempts, gathers=True)
            held.callback(store.close)
            journal = Journal(
                self._folder.journal,
                run=self._settings.run,
                clock=self._parts.clock,
                listeners=(self.state.apply, *self._hearing(), *self._parts.listeners),
                later=asyncio.get_running_loop().call_soon,
                first=store.flush,
            )
            held.callback(journal.close)
            trunk = held.enter_context(open_trunk(self._folder, self._settings))
            reader = held.enter_context(Reader(self._folder.repository))
            before = self.state.sittings
            try:
                why = await self._sit(journal, store, trunk, reader, held)
            except BaseException as error:
                stopped = "interrupted" if isinstance(error, asyncio.CancelledError) else "failed"
                # A sitting that did not begin has no end.
                with suppress(QodebaseError):
                    if self.state.sittings > before:
                        journal.write(events.RunStopped, actor="driver", why=stopped, tip=trunk.tip)
                raise _cause(error) from None
            journal.write(events.RunStopped, actor="driver", why=why, detail=self._detail(why), tip=trunk.tip)
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
        if trunk.living and self.state.unpushed:
            journal.write(events.Pushed, actor="trunk", tip=trunk.tip, landings=self.state.unpushed)
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
            caps=self._budget.caps,
            models=parts.channels.kinds,
            real_pid=os.getpid(),
        )
        ground = Ground(
            job=parts.job,
            settings=settings,
            state=self.state,
            clock=parts.clock,
            journal=journal,
            store=store,
            trunk=trunk,
            reader=reader,
            checker=parts.checker,
            verdicts=parts.verdicts,
            tell=parts.tell,
            sign=parts.sign,
        )
        main = ground.open_main()
        kept = SegmentReader(self._folder.attempts)
        held.callback(kept.close)
        attempts = Attempts(store, kept)
        calls = Calls(
            parts.channels,
            parts.clock,
            budget=self._budget,
            journal=journal,
            store=store,
            kept=kept,
            states=self.state.intents.values(),
            numbers=CallNumbers(self.state.calls),
            guard=self._guard,
            keep_texts=settings.privacy.keep_prompts,
        )
        desk = ground.open_desk(main)
        held.callback(desk.close)
        verifier = Verifier(parts.job, parts.checker, desk.contract, parts.tell, reader, parts.verdicts)
        redo = ModelRedo(
            parts.job,
            calls,
            journal,
            attempts,
            verifier=verifier,
            open_tree=partial(CommitTree, reader),
            asked=lambda intent: self.state.intents[intent].intent.asked,
        )
        yard = ground.open_yard(desk, redo if parts.channels.redoes else None)
        self.workshop = Workshop(parts.job, self._opening(chosen, workers))
        passed_over = partial(_tell_held, journal) if settings.claims else None
        self._queue = Queue(chosen, lambda intent: self.state.intents[intent].ending, held=passed_over)
        self._journal = journal
        if self._drained:
            self.drain()
        agents = Agents(
            workshop=self.workshop,
            channels=parts.channels,
            calls=calls,
            yard=yard,
            main=main,
            queue=self._queue,
            journal=journal,
            attempts=attempts,
            clock=parts.clock,
            state=self.state.intents.__getitem__,
            shared=SharedByLane(Router(settings.lanes), parts.job.shared),
            most_attempts=parts.most_attempts,
            verifier=verifier,
        )
        control = Control(
            Orders(self._folder.root),
            this_process(),
            state=self.state,
            journal=journal,
            queue=self._queue,
            agents=agents,
            stall=Stall(parts.stall_after_s),
            hangs=lambda: self._hanging(agents, yard),
            yard=yard,
        )
        control.begin()
        try:
            await self._work(yard, agents, control, workers)
        finally:
            self._journal = None
        if agents.unreached and not self._drained:
            return "no answers"
        why = self._why(chosen, pending)
        if why == "ended":
            ground.compose()
        return why

    async def _work(self, yard: Yard, agents: Agents, control: Control, workers: int) -> None:
        with seldom_collected(), short_turns():
            async with asyncio.TaskGroup() as tasks:
                serving = [
                    tasks.create_task(yard.serve(), name="yard"),
                    tasks.create_task(self.workshop.serve(), name="helper"),
                ]
                for channel in self._parts.channels.all:
                    if channel.throttle is not None:
                        name = f"throttle {channel.model.name}"
                        serving.append(tasks.create_task(channel.throttle.serve(), name=name))
                waiting = self._budget.end_in_time(self._parts.channels.gates)
                serving.append(tasks.create_task(waiting, name="time cap"))
                ramp = ramp_for(self._parts.channels.fresh.model, self._parts.clock, self._settings.ramp)
                engine = self._parts.engine or LocalEngine(ramp)
                async with Stoppable() as working:
                    serving.append(tasks.create_task(control.serve(working.stop), name="control"))
                    await self._ready()
                    await engine.run(workers, agents.work)
                self._stuck = working.stopped
                for task in serving:
                    task.cancel()

    def _opening(self, chosen: Sequence[Intent], workers: int) -> Opening | None:
        """Return what a helper opens, where the run has work for one."""
        settings, parts = self._settings, self._parts
        models = [channel.model for channel in parts.channels.all]
        if not is_worth_a_helper(parts.job, models, parts.clock, agents=workers, intents=len(chosen)):
            return None
        return Opening(
            job=settings.job,
            job_file=settings.job_file,
            job_digest=settings.job_digest,
            job_settings=settings.job_settings,
            repository=str(self._folder.repository),
            base=settings.base,
            lanes=settings.lanes,
            landings=sum(known.intent.ending is Ending.PENDING for known in self.state.intents.values()),
        )

    async def _ready(self) -> None:
        if self._queue is not None and not self._queue.over():
            with self._parts.clock.working():
                await self._job_is_ready()
                if any(is_screened(channel.model) for channel in self._parts.channels.all):
                    await asyncio.to_thread(self._guard.prepare)
            gc.freeze()

    async def _job_is_ready(self) -> None:
        job = self._parts.job
        try:
            await asyncio.to_thread(job.ready)
        except asyncio.CancelledError:
            if isinstance(job, Interruptible):
                job.interrupt()
            raise

    def _why(self, chosen: Sequence[Intent], pending: Sequence[Intent]) -> str:
        if all(self.state.intents[intent.id].ending is not Ending.PENDING for intent in pending):
            return "ended"
        if all(self.state.intents[intent.id].ending is not Ending.PENDING for intent in chosen) and not self._drained:
            return "limit"
        if self._stuck and not self._drained:
            return "stalled"
        if self._budget.reached and not self._drained:
            return "capped"
        if self._stop_if.told and not self._drained:
            return "condition"
        return "interrupted" if self._drained or len(chosen) == len(pending) else "limit"

    def _hanging(self, agents: Agents, yard: Yard) -> tuple[str, ...]:
        gates = self._parts.channels.gates
        return hanging(
            self.state.intents.values(),
            agents.at_work,
            waiting=yard.waiting(),
            at_gate=sum(gate.waiting for gate in gates),
            paused_s=max((gate.paused_s for gate in gates), default=0.0),
            now=self._parts.clock.now(),
        )

    def _detail(self, why: str) -> str:
        return {"capped": self._budget.told(), "condition": self._stop_if.told}.get(why, "")


def open_trunk(folder: RunFolder, settings: Settings) -> Trunk:
    """Open the trunk of a run's copy, which pushes where the run lands on a branch of another repository."""
    if not settings.land_on:
        return Trunk.open(folder.repository, branch=settings.branch, run=settings.run)
    return LivingTrunk.onto(
        folder.repository,
        branch=settings.branch,
        run=settings.run,
        base=settings.base,
        place=settings.push_to,
        land_on=settings.land_on,
        reached_as=Path(settings.repository),
    )


def _tell_held(journal: Journal, intent: str, by: str) -> None:
    journal.write(events.Held, actor="admission", intent=intent, by=by)


def _cause(error: BaseException) -> BaseException:
    """Return what a group of failures comes from: a failure that a person can act on before a bug, the first of each.

    When one task fails, thousands of agents are cancelled or fail with it; their tracebacks would hide the one.
    """
    if not isinstance(error, BaseExceptionGroup):
        return error
    causes = [_cause(one) for one in error.exceptions]
    return next((cause for cause in causes if isinstance(cause, QodebaseError)), causes[0])
