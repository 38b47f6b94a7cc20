"""What a run against a failing endpoint came to, held against what the endpoint itself has seen."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fleet.retry import Patience
from qodebase.commands.bench.support.endpoint_plan import PAID, UNKNOWN, Counts, Kind, Plan, Used, key_of, used_by
from qodebase.commands.bench.support.endpoint_process import running
from qodebase.commands.bench.support.fleet_run import PRICE, made_up_key, make_repository, run_lines, table_for
from qodebase.commands.bench.support.key_search import places_with
from qodebase.events import Answered, Asked, CutOff, Ended, Landed
from qodebase.intent import Ending
from qodebase.journal import read_events
from qodebase.ports import Failure
from qodebase.runs import RunFolder
from qodebase.state import IntentState, RunState

TIMEOUT_S = 3.0
BURSTS = 5
BURST_S = 1.0
DEMANDS = ("every_intent_right", "ledger_balances", "cost_counted_once")
_NAMED = 5

RIGHT = {
    Kind.GOOD: "lands, with the text that was asked for",
    Kind.LIMITED: "the whole fleet keeps still as long as it says; asked again",
    Kind.LIMITED_SILENTLY: "the whole fleet keeps still for a second; asked again",
    Kind.ERROR: "asked again",
    Kind.BUSY: "asked again",
    Kind.SLOW: "given up at the timeout, cost unknown; asked again",
    Kind.DROPPED: "cost unknown; asked again",
    Kind.TRUNCATED: "cost unknown; asked again",
    Kind.PAGE: "cost unknown; asked again",
    Kind.ANOTHERS: "known by the id of the call that it was for, cost unknown; asked again",
    Kind.EMPTY: "ends as no answer, paid",
    Kind.REFUSAL: "ends as refused, paid",
}
"""What is right for an intent after a reply of each kind; after the last try without an answer it ends as no answer."""

_ENDS = {Kind.GOOD: Ending.LANDED, Kind.EMPTY: Ending.NO_ANSWER, Kind.REFUSAL: Ending.REFUSED}
_TURNED_AWAY = (Kind.LIMITED, Kind.LIMITED_SILENTLY)


def measure(
    space: Path, *, adapter: str, intents: int, workers: int, faults: float, bursts: int, median_s: float, seed: int
) -> dict[str, Any]:
    """Run the same intents without and with faults, and return the figures of the second run."""
    repository = make_repository(space / "code.git", intents)
    key = made_up_key()
    if adapter == "litellm":
        _warm(space, key)
    calm = Plan(seed=seed, median_s=median_s, longest_s=TIMEOUT_S * 0.8)
    with running(calm) as endpoint:
        table = table_for(adapter, endpoint.base, timeout_s=TIMEOUT_S)
        calm_seconds = seconds_of(run_lines(space, repository, table, key=key, workers=workers, name="calm"))
    plan = Plan(
        seed=seed,
        median_s=median_s,
        longest_s=TIMEOUT_S * 0.8,
        faults=faults,
        slow_s=TIMEOUT_S * 10,
        bursts=bursts,
        burst_s=BURST_S,
        burst_every=max(1, intents // (bursts + 1)),
    )
    with running(plan) as endpoint:
        table = table_for(adapter, endpoint.base, timeout_s=TIMEOUT_S)
        folder = run_lines(space, repository, table, key=key, workers=workers, name="faults")
        counts = endpoint.counts()
    found = judged(folder, counts)
    seconds = seconds_of(folder)
    return {
        **found,
        "secrets_found": len(places_with(key, space)),
        "workers": workers,
        "median_latency_s": median_s,
        "replies": {str(kind): counts.of(kind) for kind in Kind if counts.of(kind)},
        "bursts_of_429": bursts,
        "most_in_flight": counts.most_open,
        "seconds": round(seconds, 2),
        "seconds_fault_free": round(calm_seconds, 2),
        "ratio_to_fault_free": round(seconds / calm_seconds, 2),
    }


def _warm(space: Path, key: str) -> None:
    """Load litellm, which takes seconds, before anything is measured."""
    with running(Plan(median_s=0.0)) as endpoint:
        table = table_for("litellm", endpoint.base, timeout_s=60.0)
        run_lines(space, make_repository(space / "warm.git", 1), table, key=key, workers=1, name="warm")


def judged(folder: RunFolder, counts: Counts) -> dict[str, Any]:
    """Return whether every intent ended right, the ledger balances and cost was counted once."""
    from qodebase.commands.verify import audit_of

    state = RunState(folder.intents()).apply_all(read_events(folder.journal))
    heard = {known.intent.asked: _heard(known, counts) for known in state.intents.values()}
    wrong = [fault for known in state.intents.values() if (fault := _fault(known, heard[known.intent.asked]))]
    audit = audit_of(str(folder.root), full=True)
    endings = {str(ending): count for ending, count in state.ledger().items() if count}
    cost = costs(folder, heard)
    return {
        "intents": len(state.intents),
        "endings": endings,
        "every_intent_right": not wrong,
        "wrong": wrong[:_NAMED],
        "ledger_balances": audit.ok and sum(endings.values()) == len(state.intents),
        "findings": [finding.message for finding in audit.findings[:_NAMED]],
        "cost_counted_once": cost["journal"] == cost["endpoint"],
        "cost": cost,
        "replies_that_came_too_late": counts.paid - cost["endpoint"]["paid_calls"],
    }


def _heard(known: IntentState, counts: Counts) -> list[Kind]:
    """Return what the endpoint replied about an intent, as far as its caller was still there to hear it.

    On a busy machine a call may be given up before it reaches the endpoint, or while its reply is on the way.
    """
    replies = list(counts.replies.get(key_of(known.intent.asked), []))
    outcomes = [known.answered[call].outcome for call in sorted(known.answered)]
    heard = []
    for number, outcome in enumerate(outcomes):
        given_up = outcome == Failure.TIMEOUT
        if not replies or (given_up and len(replies) < len(outcomes) - number):
            heard.append(Kind.ABANDONED)
            continue
        kind = replies.pop(0)
        heard.append(Kind.ABANDONED if given_up and kind is not Kind.SLOW else kind)
    return heard + replies


def _fault(known: IntentState, replies: list[Kind]) -> str:
    """Return what is wrong with an intent's ending, given what the endpoint replied, or the empty text."""
    if not replies:
        return f"{known.intent.id} ended as {known.ending} and was never asked about"
    right = _ENDS.get(replies[-1])
    tries = sum(kind not in _TURNED_AWAY for kind in replies)
    if right is None and tries >= Patience().tries:
        right = Ending.NO_ANSWER
    asked_on = any(kind in _ENDS for kind in replies[:-1])
    if right is known.ending and not asked_on:
        return ""
    return f"{known.intent.id} ended as {known.ending} after {', '.join(replies)}"


def costs(folder: RunFolder, heard: Mapping[str, list[Kind]]) -> dict[str, dict[str, float]]:
    """Return paid calls, their tokens and USD, and the calls of unknown cost: by the journal, and by the endpoint."""
    answered = [event for event in read_events(folder.journal) if isinstance(event, Answered)]
    cut_off = sum(isinstance(event, CutOff) for event in read_events(folder.journal))
    paid = [event for event in answered if event.source == "provider" and event.cost_usd]
    used = [used_by(prompt, kind) for prompt, kinds in heard.items() for kind in kinds if kind in PAID]
    tokens = Used(sum(one.input_tokens for one in used), sum(one.output_tokens for one in used))
    return {
        "journal": _cost(
            len(paid),
            sum(event.input_tokens for event in paid),
            sum(event.output_tokens for event in paid),
            sum(event.cost_usd or 0.0 for event in paid),
            sum(event.cost_usd is None for event in answered) + cut_off,
        ),
        "endpoint": _cost(
            len(used),
            tokens.input_tokens,
            tokens.output_tokens,
            (tokens.input_tokens * PRICE["input"] + tokens.output_tokens * PRICE["output"]) / 1e6,
            sum(kind in UNKNOWN for kinds in heard.values() for kind in kinds),
        ),
    }


def _cost(paid: int, input_tokens: int, output_tokens: int, usd: float, unknown: int) -> dict[str, float]:
    return {
        "paid_calls": paid,
        "input_tokens": input_tokens,
        "output_tokens": output_tokens,
        "usd": round(usd, 9),
        "calls_of_unknown_cost": unknown,
    }


def seconds_of(folder: RunFolder) -> float:
    """Return the seconds from a run's first question to its last ending."""
    asked, ended = math.inf, -math.inf
    for event in read_events(folder.journal):
        if isinstance(event, Asked):
            asked = min(asked, event.at)
        elif isinstance(event, Landed | Ended):
            ended = max(ended, event.at)
    return ended - asked


def missed(answer: Mapping[str, Any], *, ratio: float) -> list[str]:
    """Return which targets a measurement misses, those of its litellm part with that name before them."""
    found = [name for name in DEMANDS if not answer[name]]
    found += ["secrets_found"] if answer["secrets_found"] else []
    found += ["ratio_to_fault_free"] if answer["ratio_to_fault_free"] > ratio else []
    if "litellm" in answer:
        found += [f"litellm: {name}" for name in missed(answer["litellm"], ratio=ratio)]
    return found
