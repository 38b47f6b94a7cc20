"""One sitting of a run: work on it, stop it by signals, say how it ended."""

from __future__ import annotations

import asyncio
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from qodebase.caps import NO_CAPS, Caps
from qodebase.commands.support.checks import judging_of
from qodebase.commands.support.disk import disk_of
from qodebase.commands.support.environment import NamedModels
from qodebase.commands.support.models import channels_of
from qodebase.commands.support.opening import opened
from qodebase.commands.support.surroundings import Surroundings
from qodebase.events import Event
from qodebase.intent import Ending, Intent
from qodebase.runs import RunFolder, Settings

if TYPE_CHECKING:
    from fleet.driver import Driver
    from qodebase.ports import Clock, Model

INTERRUPTED = 130


@dataclass(frozen=True, slots=True, kw_only=True)
class Sat:
    """How a sitting ended: why it stopped, how many intents are pending, and the exit code that says so.

    ``untidy`` says why the repository could not be tidied at the end, where that is so.
    """

    why: str
    pending: int
    seconds: float
    untidy: str = ""

    @property
    def exit_code(self) -> int:
        """Return 0 for ended and for a limit that was asked for, 130 for interrupted, 3 for any other stop."""
        return {"ended": 0, "limit": 0, "interrupted": INTERRUPTED}.get(self.why, 3)


async def sit(
    folder: RunFolder,
    surroundings: Surroundings,
    clock: Clock,
    *,
    first: bool,
    limit: int | None = None,
    model: Model | None = None,
    caps: Caps = NO_CAPS,
    stall_after_s: float | None = None,
    charge_s: float = 0.0,
    listeners: Sequence[Callable[[Event], None]] = (),
    started: Callable[[Driver], None] = lambda driver: None,
) -> Sat:
    """Work on a run until it ends, a limit is reached or it is drained.

    Args:
        first: the sample of the settings is what is admitted.
        limit: the most intents to admit.
        model: use this one instead of the model that the settings name.
        caps: new caps, which hold from now on; the others stay as they were.
        stall_after_s: instead of what the settings say; see `qodebase.runs.Settings`.
        charge_s: simulated seconds that a judgement of the gate takes.
        started: is handed the driver before it runs, to drain it.

    Raises:
        JobChanged: the job is not the one of the freeze.
        RunHeld: another process works on the run.
    """
    from fleet.driver import Driver, Parts

    began = time.monotonic()
    with disk_of(folder.root), folder.locked(), opened(folder, same_job=True) as run:
        settings = run.settings
        channels = channels_of(settings, surroundings, clock, model=model)
        judging = judging_of(run, clock, charge_s=charge_s)
        named = NamedModels(folder.root)
        driver = Driver(
            folder,
            settings,
            Parts(
                job=run.job,
                channels=channels,
                clock=clock,
                caps=caps,
                checker=judging.checker,
                verdicts=judging.verdicts,
                tell=judging.tell,
                stop_if=settings.stop_if,
                most_attempts=settings.attempts,
                stall_after_s=settings.stall_after_s if stall_after_s is None else stall_after_s,
                sign=_signer(settings),
                listeners=(*listeners, named),
            ),
            choose=_chooser(settings, first=first, limit=limit),
            limit=settings.sample if first else limit,
        )
        started(driver)
        try:
            why = await driver.run()
        finally:
            for channel in channels.all:
                await channel.model.close()
            await judging.close()
            named.keep()
    pending = driver.state.ledger()[Ending.PENDING]
    return Sat(why=why, pending=pending, seconds=time.monotonic() - began, untidy=driver.untidy)


@contextmanager
def stopped_by_signals(driver: Driver, say: Callable[[str], None]) -> Iterator[None]:
    """Drain at the first Ctrl-C or SIGTERM, stop at the second; must be entered inside the event loop.

    A terminal that closes drains too, unless the caller is to outlive it (`nohup`), and never stops: shell and kernel
    may both tell of it.
    """
    loop = asyncio.get_running_loop()
    task = asyncio.current_task()
    heard = 0

    def hear() -> None:
        nonlocal heard
        heard += 1
        if heard == 1:
            say("draining: what is under way lands, nothing new starts; once more to stop at once")
            driver.drain()
        elif task is not None:
            task.cancel()

    def hang_up() -> None:
        if not heard:
            hear()

    signals = [signal.SIGINT, signal.SIGTERM]
    for number in signals:
        loop.add_signal_handler(number, hear)
    if signal.getsignal(signal.SIGHUP) in (signal.SIG_DFL, signal.default_int_handler):
        loop.add_signal_handler(signal.SIGHUP, hang_up)
        signals.append(signal.SIGHUP)
    try:
        yield
    finally:
        for number in signals:
            loop.remove_signal_handler(number)


def _chooser(settings: Settings, *, first: bool, limit: int | None) -> Callable[[list[Intent]], list[Intent]]:
    from fleet.sampling import sample
    from lanes.router import Router

    router = Router(settings.lanes)

    def choose(pending: list[Intent]) -> list[Intent]:
        if first and settings.sample is not None:
            return sample(
                pending,
                settings.sample,
                seed=settings.seed,
                stratum=lambda intent: f"{intent.group}\0{'+'.join(router.lanes(intent.scope))}",
            )
        return pending if limit is None else pending[:limit]

    return choose


def _signer(settings: Settings) -> Callable[[bytes], bytes] | None:
    if not settings.sign:
        return None
    from qodebase.signing import signer

    return signer(Path(settings.repository))
