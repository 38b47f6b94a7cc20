"""How fast many agents ask one model: the fleet's gate, patience and models, without intents and landings."""

from __future__ import annotations

import asyncio
import resource
import sys
import time
import warnings
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fleet.engines.local import LocalEngine
from fleet.models.registry import ModelContext, ModelSpec, ModelTable, Price, create_model
from fleet.ramp import PER_S, Ramp
from fleet.retry import Asker
from fleet.throttle import gate_for
from qodebase.clock import SystemClock
from qodebase.collector import seldom_collected
from qodebase.commands.bench.support.endpoint_plan import Kind, Plan
from qodebase.commands.bench.support.endpoint_process import running
from qodebase.commands.bench.support.fleet_run import KEY_VARIABLE, PRICE, made_up_key, table_for
from qodebase.ports import Answer, Message, NoAnswer, Prompt

_TICK_S = 0.01
_TIMEOUT_S = 30.0
_QUESTION = "Say in one sentence what the module number {} is for.\n" + "def part(number):\n    return number\n" * 25


@dataclass(slots=True, kw_only=True)
class Tally:
    """What a fleet's calls came to.

    Attributes:
        processor_s: the processor's time that this process took.
        lags_s: how late each tick of the event loop came.
    """

    answers: int = 0
    errors: int = 0
    processor_s: float = 0.0
    lags_s: list[float] = field(default_factory=list)

    def forget(self) -> None:
        """Begin again: what came before is not measured."""
        self.answers = self.errors = 0
        self.processor_s = time.process_time()
        self.lags_s.clear()

    def now(self) -> Tally:
        """Return how it stands."""
        return Tally(
            answers=self.answers,
            errors=self.errors,
            processor_s=time.process_time() - self.processor_s,
            lags_s=list(self.lags_s),
        )


def measure(
    *,
    agents: int,
    per_s: float,
    seconds: float,
    litellm_seconds: float,
    median_s: float,
    errors: float,
    seed: int,
) -> dict[str, Any]:
    """Return the figures of the direct path and, unless ``litellm_seconds`` is 0, of litellm's."""
    plan = Plan(seed=seed, median_s=median_s, faults=errors, kinds=(Kind.ERROR, Kind.BUSY))
    with running(plan) as endpoint:
        direct = asyncio.run(_asked("openai", endpoint.base, agents=agents, per_s=per_s, seconds=seconds))
        peak_rss_mib = _peak_rss_mib()
        open_calls = endpoint.counts().most_open
        litellm = None
        if litellm_seconds:
            litellm = asyncio.run(_asked("litellm", endpoint.base, agents=agents, per_s=None, seconds=litellm_seconds))
    found = {
        "agents": agents,
        "median_latency_s": median_s,
        "error_share": errors,
        "gate_per_s": per_s,
        "seconds": seconds,
        "direct_per_s": round(direct.answers / seconds, 1),
        "direct_errors_per_s": round(direct.errors / seconds, 1),
        "direct_processor_ms_an_answer": _each_ms(direct),
        "most_in_flight": open_calls,
        "loop_lag_p50_ms": _percentile_ms(direct.lags_s, 0.5),
        "loop_lag_p99_ms": _percentile_ms(direct.lags_s, 0.99),
        "peak_rss_mib": round(peak_rss_mib, 1),
    }
    if litellm is not None:
        found |= {
            "litellm_per_s": round(litellm.answers / litellm_seconds, 1),
            "litellm_seconds": litellm_seconds,
            "litellm_processor_ms_an_answer": _each_ms(litellm),
            "litellm_loop_lag_p99_ms": _percentile_ms(litellm.lags_s, 0.99),
        }
    return found


async def _asked(adapter: str, base: str, *, agents: int, per_s: float | None, seconds: float) -> Tally:
    """Let agents ask all the time, after one call that loads what is needed; count from a second after their ramp."""
    clock = SystemClock()
    raw = table_for(adapter, base, timeout_s=_TIMEOUT_S)
    limit = None if per_s is None else per_s * 60
    table = ModelTable(**{**raw, "price": Price(**PRICE), "requests_per_minute": limit})
    environ = {KEY_VARIABLE: made_up_key()}
    context = ModelContext(environ=environ, cache_folder=Path("/nonexistent"), clock=clock)
    model = create_model(ModelSpec(name="bench", adapter=adapter, argument=table.model, table=table), context)
    throttle = gate_for(model, table, clock, workers=agents)
    asker = Asker(model, clock, throttle=throttle)
    tally, numbers = Tally(), iter(range(sys.maxsize))

    def after(number: int, outcome: Answer | NoAnswer, latency_s: float, /) -> None:
        if isinstance(outcome, Answer):
            tally.answers += 1
        else:
            tally.errors += 1

    async def work(number: int) -> None:
        while True:
            await asker.ask(_question(next(numbers)), before=_unheard, after=after)

    try:
        with seldom_collected(), warnings.catch_warnings():
            # litellm leaves coroutines behind when its calls are cancelled at the end.
            warnings.filterwarnings("ignore", message="coroutine .* was never awaited", category=RuntimeWarning)
            async with asyncio.TaskGroup() as tasks:
                beside = [tasks.create_task(throttle.serve(), name="gate")]
                await asker.ask(_question(next(numbers)), before=_unheard, after=after)
                fleet = LocalEngine(Ramp(clock, PER_S))
                beside.append(tasks.create_task(fleet.run(agents, work), name="fleet"))
                beside.append(tasks.create_task(_watch(tally.lags_s), name="lag"))
                await asyncio.sleep(agents / PER_S + 1)
                tally.forget()
                await asyncio.sleep(seconds)
                measured = tally.now()
                for task in beside:
                    task.cancel()
    finally:
        await model.close()
    return measured


async def _watch(lags_s: list[float]) -> None:
    loop = asyncio.get_running_loop()
    while True:
        due = loop.time() + _TICK_S
        await asyncio.sleep(_TICK_S)
        lags_s.append(loop.time() - due)


def _question(number: int) -> Prompt:
    return Prompt(messages=(Message(role="user", text=_QUESTION.format(number)),), max_output_tokens=100)


def _unheard(number: int, /) -> None:
    pass


def _percentile_ms(values_s: list[float], share: float) -> float:
    ranked = sorted(values_s)
    return round(1000 * ranked[min(len(ranked) - 1, int(share * len(ranked)))], 1) if ranked else 0.0


def _each_ms(tally: Tally) -> float:
    return round(1000 * tally.processor_s / max(1, tally.answers), 3)


def _peak_rss_mib() -> float:
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / (1 << 20)
