"""Killed at random moments, a fleet that asks a real endpoint pays for no answer twice that it had written down."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from world import call, events_of, expect_clean, expect_each_once, ledger_of, of_kind

from qodebase.commands.bench.support import line_job
from qodebase.commands.bench.support.endpoint_plan import Counts, Kind, Plan, key_of
from qodebase.commands.bench.support.endpoint_process import running
from qodebase.commands.bench.support.fleet_run import KEY_VARIABLE, made_up_key, make_repository
from qodebase.commands.bench.support.key_search import places_with

MOMENTS = Path(__file__).with_name("moments.py")
KINDS = ("asked", "answered", "change made", "train built", "landed")

JOB = """
job_file = "{job}"
repo = "code.git"
model = "endpoint"
workers = {agents}
cache = "off"

[models.endpoint]
adapter = "openai"
model = "bench"
api_base = "{base}"
api_key_env = "{variable}"
price = {{ input = 2.0, output = 8.0 }}
"""


def paid_for(run: Path) -> set[str]:
    """Return the intents whose answer stands in the journal."""
    return {event["intent"] for event in of_kind(run, "answered") if event["outcome"] == "answer"}


def calls_for(counts: Counts, run: Path) -> dict[str, int]:
    """Return how often each intent was asked about, as the endpoint saw it."""
    asked = {event["intent"] for event in of_kind(run, "asked")}
    return {intent: len(counts.replies.get(key_of(f"Write the line of {intent}."), [])) for intent in asked}


def killed_and_resumed(
    here: Path, monkeypatch: pytest.MonkeyPatch, *, intents: int, agents: int, kills: int, plan: Plan, seed: int
) -> None:
    key = made_up_key()
    monkeypatch.setenv(KEY_VARIABLE, key)
    make_repository(here / "code.git", intents)
    run = here / "one"
    chance = random.Random(seed)
    with running(plan) as endpoint:
        text = JOB.format(job=line_job.__file__, agents=agents, base=endpoint.base, variable=KEY_VARIABLE)
        (here / "lines.toml").write_text(text)
        words = ["run", "lines.toml", "-o", "one"]
        for _ in range(kills):
            kind = chance.choice(KINDS)
            most = intents // (2 * kills) if kind not in ("train built", "landed") else 3
            moment = f"SIGKILL@{chance.choice(('before', 'after'))}:{kind}:{chance.randint(1, max(1, most))}"
            done = subprocess.run(
                [sys.executable, MOMENTS, moment, *words], capture_output=True, check=False, timeout=300
            )
            assert done.returncode == -signal.SIGKILL, (moment, done.stderr)
            paid = paid_for(run)
            before = {intent: count for intent, count in calls_for(endpoint.counts(), run).items() if intent in paid}
            words = ["resume", "one"]
        assert call("resume", "one").code == 0
        counts = endpoint.counts()
    after = calls_for(counts, run)
    assert {intent: after[intent] for intent in paid} == before
    expect_each_once(run)
    expect_clean(run)
    assert ledger_of(run) == {"landed": intents}
    cut_off = Counter(event["intent"] for event in of_kind(run, "cut off"))
    for intent in after:
        good = counts.replies[key_of(f"Write the line of {intent}.")].count(Kind.GOOD)
        assert 1 <= good <= 1 + cut_off[intent]
    answered = [event for event in of_kind(run, "answered") if event["outcome"] == "answer"]
    assert max(Counter(event["intent"] for event in answered).values()) == 1
    assert counts.paid - sum(cut_off.values()) <= len(answered) <= counts.paid
    assert {event["kind"] for event in events_of(run)} >= {"cut off", "landed"}
    assert places_with(key, here) == []


def test_fifty_agents_that_are_killed_at_random_moments_pay_for_no_kept_answer_again(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = Plan(median_s=0.05)
    killed_and_resumed(here, monkeypatch, intents=100, agents=50, kills=2, plan=plan, seed=1)


@pytest.mark.full
@pytest.mark.parametrize("seed", [2, 3, 4])
def test_two_thousand_agents_that_are_killed_at_random_moments_pay_for_no_kept_answer_again(
    here: Path, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    plan = Plan(seed=seed, median_s=0.3, faults=0.1, kinds=(Kind.ERROR, Kind.BUSY, Kind.DROPPED, Kind.ANOTHERS))
    killed_and_resumed(here, monkeypatch, intents=3000, agents=2000, kills=4, plan=plan, seed=seed)
