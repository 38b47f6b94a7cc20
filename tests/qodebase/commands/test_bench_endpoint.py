"""The endpoint of the benches: it does to each call what its plan says, and counts it."""

from __future__ import annotations

import http.client
import json
import math
from collections import Counter
from statistics import median

import pytest

from qodebase.commands.bench.support.endpoint_plan import DRAWN, Kind, Plan, answer_to, key_of
from qodebase.commands.bench.support.endpoint_process import Running, running


def ask(endpoint: Running, text: str, call: str = "call-1") -> tuple[int, dict[str, str], bytes]:
    """Ask as a client does; return status, headers in small letters, and body."""
    port = int(endpoint.base.split(":")[2].split("/")[0])
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    try:
        body = json.dumps({"model": "bench", "messages": [{"role": "user", "content": text}]})
        headers = {"Authorization": "Bearer the-key", "X-Request-Id": call, "Content-Type": "application/json"}
        connection.request("POST", "/v1/chat/completions", body, headers)
        reply = connection.getresponse()
        return reply.status, {name.lower(): value for name, value in reply.getheaders()}, reply.read()
    finally:
        connection.close()


ALL = Plan(median_s=0.0, faults=0.9, slow_s=0.01)


def prompt_for(kind: Kind) -> str:
    """Return a prompt to which the plan of all faults gives this kind of reply."""
    return next(text for number in range(10_000) if ALL.fate(key_of(text := f"prompt {number}"), 1).kind is kind)


def test_a_good_answer_is_right_carries_its_calls_id_and_is_counted_once() -> None:
    with running(Plan(median_s=0.0)) as endpoint:
        status, headers, body = ask(endpoint, "What is it?", "mine")
        counts = endpoint.counts()
    reply = json.loads(body)
    assert (status, headers["x-request-id"], reply["id"]) == (200, "mine", "chatcmpl-mine")
    assert reply["choices"][0]["message"]["content"] == answer_to("What is it?")
    assert counts.replies == {key_of("What is it?"): [Kind.GOOD]}
    assert (counts.paid, counts.input_tokens, counts.output_tokens) == (1, 3, 12)


def test_each_fault_looks_as_it_does_at_providers() -> None:
    with running(ALL) as endpoint:
        before = prompt_for(Kind.GOOD)
        ask(endpoint, before, "other")
        got = {
            kind: ask(endpoint, prompt_for(kind), "mine")
            for kind in (Kind.ANOTHERS, Kind.ERROR, Kind.BUSY, Kind.PAGE, Kind.TRUNCATED, Kind.EMPTY, Kind.REFUSAL)
        }
        with pytest.raises(http.client.IncompleteRead):
            ask(endpoint, prompt_for(Kind.DROPPED))
        with pytest.raises(ConnectionError):
            ask(endpoint, prompt_for(Kind.SLOW))
        counts = endpoint.counts()
    assert {kind: counts.of(kind) for kind in DRAWN} == dict.fromkeys(DRAWN, 1)
    assert [got[kind][0] for kind in (Kind.ERROR, Kind.BUSY)] == [500, 503]
    assert b"the-key" in got[Kind.ERROR][2]
    assert got[Kind.PAGE][1]["content-type"] == "text/html"
    with pytest.raises(json.JSONDecodeError):
        json.loads(got[Kind.TRUNCATED][2])
    assert json.loads(got[Kind.EMPTY][2])["choices"][0]["message"]["content"] == ""
    assert json.loads(got[Kind.REFUSAL][2])["choices"][0]["message"]["refusal"]
    reply = json.loads(got[Kind.ANOTHERS][2])
    assert reply["id"] == "chatcmpl-other"
    assert reply["choices"][0]["message"]["content"] == answer_to(before)


def test_a_burst_turns_all_away_and_says_for_how_long_every_other_time() -> None:
    plan = Plan(median_s=0.0, bursts=1, burst_every=2, burst_s=60)
    with running(plan) as endpoint:
        replies = [ask(endpoint, f"number {number}") for number in range(4)]
    assert [status for status, _, _ in replies] == [200, 200, 429, 429]
    assert {headers["retry-after"] for status, headers, _ in replies if status == 429} == {"60"}


def test_a_caller_that_goes_away_is_counted_as_gone() -> None:
    with running(Plan(median_s=30.0, spread=0.0)) as endpoint:
        port = int(endpoint.base.split(":")[2].split("/")[0])
        connection = http.client.HTTPConnection("127.0.0.1", port)
        connection.request("POST", "/v1/chat/completions", json.dumps({"messages": [{"content": "bye"}]}))
        connection.close()
        for _ in range(1000):
            if counted := endpoint.counts().of(Kind.ABANDONED):
                break
    assert counted == 1


def test_a_seed_decides_latencies_and_faults_whatever_the_order_of_calls() -> None:
    plan = Plan(seed=3, median_s=0.6, spread=0.5, longest_s=2.0, faults=0.3)
    fates = [plan.fate(f"prompt {number}", 1) for number in range(20_000)]
    assert fates == [plan.fate(f"prompt {number}", 1) for number in range(20_000)]
    assert fates != [Plan(seed=4, faults=0.3).fate(f"prompt {number}", 1) for number in range(20_000)]
    kinds = Counter(fate.kind for fate in fates)
    assert kinds[Kind.GOOD] == pytest.approx(14_000, rel=0.02)
    assert all(kinds[kind] == pytest.approx(6000 / len(DRAWN), rel=0.15) for kind in DRAWN)
    latencies = sorted(fate.latency_s for fate in fates if fate.kind is not Kind.SLOW)
    assert median(latencies) == pytest.approx(0.6, rel=0.03)
    assert latencies[int(0.8413 * len(latencies))] == pytest.approx(0.6 * math.exp(0.5), rel=0.05)
    assert latencies[-1] <= 2.0
