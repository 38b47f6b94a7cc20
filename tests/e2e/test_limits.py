"""Caps, stop conditions and several models: what a run does at a limit, and how it goes on."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from test_bad_input import expect_refused
from world import (
    Done,
    call,
    events_of,
    expect_clean,
    expect_each_once,
    expect_nothing_asked_twice,
    git,
    ledger_of,
    make_small,
    of_kind,
)

import qodebase as qb
from fleet.budget import UnknownPrice
from qodebase.runs import RunFolder

JOB = Path(__file__).parents[1] / "support" / "edit_job.py"
FILES = 16
DEAR = ("--price", "1000:1000")
"""A price at which a call of these jobs is cents to a dollar."""


@pytest.fixture
def code(here: Path) -> Path:
    """A repository of a few files in ``code``."""
    return make_small(here / "code", FILES)


def document(*words: str, code: int = 0) -> Done:
    """Run the document job on a scripted model; fail where it does not end with ``code``."""
    done = call("run", "document", "--repo", "code", "-o", "one", "--json", "--model", "scripted", *words)
    assert done.code == code, done.err
    return done


def edit(*words: str, twice: int = 4, code: int = 0) -> Done:
    """Have two intents each put a line above one of the files; the second of them is a model's replay."""
    edits = [word for part in range(twice) for line in "ab" for word in ("--edits", f"part{part}.py=# {line}")]
    done = call("run", "--job", JOB, "--repo", "code", "-o", "one", "--json", *words, *edits)
    assert done.code == code, done.err
    return done


def test_a_cost_cap_stops_new_work_and_a_higher_one_brings_the_rest_home(code: Path) -> None:
    run = Path("one")
    first = document("-w", "4", *DEAR, "--cost-cap", "2.5", code=3).data
    assert first["state"] == "capped"
    assert first["stopped_detail"] == f"cost cap of $2.5: ${first['spent']['usd']:.6g} spent"
    assert first["spent"]["usd"] == pytest.approx(first["cost_usd"])
    assert 1 < first["cost_usd"] <= 2.5
    assert first["ledger"]["landed"] + first["ledger"]["pending"] == FILES
    assert first["ledger"]["landed"] == first["calls"] > 4
    assert first["next"][0] == "qodebase resume one --cost-cap USD"
    text = call("status", "one").out
    assert "stopped: capped, cost cap of $2.5" in text
    assert f"${first['cost_usd']:.2f} of $2.50" in text
    expect_clean(run)
    second = call("resume", "one", "--cost-cap", "100", "--json")
    assert (second.code, second.data["ledger"]["landed"], second.data["caps"]["cost_usd"]) == (0, FILES, 100.0)
    expect_each_once(run)
    expect_nothing_asked_twice(run)
    expect_clean(run)


def test_at_a_cap_replays_stay_pending_and_what_was_paid_is_not_asked_again(code: Path) -> None:
    run = Path("one")
    done = edit("--model", "scripted", "-w", "8", "--token-cap", "500", code=3)
    assert done.data["stopped_detail"].startswith("token cap of 500")
    assert ledger_of(run) == {"landed": 4, "pending": 4}
    assert {event["why"] for event in of_kind(run, "postponed")} == {"the token cap is reached"}
    assert not [event for event in of_kind(run, "asked") if event["purpose"] == "replay"]
    expect_clean(run)
    again = call("resume", "one", "--json", "--token-cap", "100000")
    assert (again.code, again.data["ledger"]["landed"], again.data["redone_by_model"]) == (0, 8, 4)
    expect_each_once(run)
    expect_nothing_asked_twice(run)
    expect_clean(run, full=True)


def test_tokens_of_all_sittings_count_and_a_cap_that_is_not_raised_stays_reached(code: Path) -> None:
    run = Path("one")
    first = document("-w", "2", "--token-cap", "3000", code=3).data
    spent = first["spent"]["tokens"]
    assert 0 < spent <= 3000
    assert spent == first["input_tokens"] + first["output_tokens"]
    assert 0 < first["ledger"]["pending"] < FILES
    second = call("resume", "one", "--json")
    assert (second.code, second.data["spent"]["tokens"]) == (3, spent)
    assert [event["caps"] for event in of_kind(run, "run started")] == [
        {"cost_usd": None, "tokens": 3000, "seconds": None}
    ] * 2
    third = call("resume", "one", "--json", "--token-cap", "4000", "--time-cap", "1h").data
    assert spent < third["spent"]["tokens"] <= 4000
    assert of_kind(run, "run started")[-1]["caps"] == {"cost_usd": None, "tokens": 4000, "seconds": 3600.0}
    assert call("resume", "one", "--json", "--token-cap", "1000000").data["ledger"] == {
        **dict.fromkeys(third["ledger"], 0),
        "landed": FILES,
    }
    expect_each_once(run)
    expect_nothing_asked_twice(run)
    expect_clean(run)


def test_caps_and_prices_stand_in_a_job_file_as_well(code: Path, here: Path) -> None:
    (here / "job.toml").write_text(
        'job = "document"\nrepo = "code"\nout = "one"\nmodel = "dear"\nworkers = 2\n'
        'cost_cap = 3\ntoken_cap = 1000000\ntime_cap = "1h"\nstop_if = ["refused>50%/10"]\n'
        '[models.dear]\nadapter = "scripted"\nprice = { input = 1000, output = 1000.0 }\n'
    )
    assert call("run", "job.toml", "--json").code == 3
    settings = json.loads(Path("one/settings.json").read_text())
    assert settings["caps"] == {"cost_usd": 3.0, "tokens": 1_000_000, "seconds": 3600.0}
    assert settings["stop_if"] == ["refused>50%/10"]
    assert call("resume", "one", "--cost-cap", "50").code == 0


RUN = ("run", "document", "--repo", "code", "-o", "one")
ENDPOINT = """
job = "document"
repo = "code"
out = "one"
model = "here"
cost_cap = 1

[models.here]
adapter = "openai"
model = "some"
api_base = "http://127.0.0.1:9/v1"
"""


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("run", "job.toml"), "a cost cap needs the price of the model here"),
        (("run", "job.toml", "--model", "scripted", "--replay-model", "here"), "the price of the model here"),
        ((*RUN, "--model", "scripted", "--cost-cap", "inf"), "a cost cap of inf USD cannot be"),
        ((*RUN, "--cost-cap", "-1"), "--cost-cap"),
        ((*RUN, "--time-cap", "soon"), "--time-cap 'soon' is no duration"),
        ((*RUN, "--price", "cheap"), "IN:OUT"),
        ((*RUN, "--price", "1"), "IN:OUT"),
        ((*RUN, "--price", "1:-2"), "IN:OUT"),
        ((*RUN, "--price", "gpt=1:2"), "the run asks no model gpt"),
        ((*RUN, "--stop-if", "no_answer"), "is no stop condition"),
        ((*RUN, "--stop-if", "lost>20%/200"), "no intent ends as 'lost'"),
        ((*RUN, "--replay-model", "gpt"), "unknown model `gpt`"),
        ((*RUN, "--escalate-model", "openai:gpt"), "OPENAI_API_KEY"),
    ],
)
def test_what_cannot_be_a_cap_a_price_or_a_model_is_refused_before_anything_is_written(
    words: tuple[str, ...], said: str, code: Path, here: Path
) -> None:
    (here / "job.toml").write_text(ENDPOINT)
    assert said in expect_refused(here, *words)


def test_a_cost_cap_that_comes_with_a_resume_needs_a_price_too(code: Path, here: Path) -> None:
    (here / "job.toml").write_text(ENDPOINT.replace("cost_cap = 1", "token_cap = 1"))
    assert call("run", "job.toml").code == 3
    before = events_of(Path("one"))
    done = call("resume", "one", "--cost-cap", "5")
    assert (done.code, before) == (2, events_of(Path("one")))
    assert "the price of the model here" in done.err


def test_a_run_that_goes_bad_pauses_and_a_resume_gives_it_a_new_chance(code: Path) -> None:
    words = ("--model", "scripted:empty=1.0", "-w", "1", "--stop-if", "no_answer>50%/3")
    done = document(*words, code=3)
    assert done.data["state"] == "condition"
    assert done.data["stopped_detail"] == "no_answer>50%/3: 3 of the last 3 intents ended so"
    assert done.data["ledger"]["no answer"] == 3
    assert "no_answer>50%/3: 3 of the last 3" in call("status", "one").out
    assert call("resume", "one", "--json").data["ledger"]["no answer"] == 6
    expect_clean(Path("one"))


def test_replays_and_escalation_ask_models_of_their_own_at_their_own_price(code: Path) -> None:
    words = ("--replay-model", "scripted:refused=1.0", "--escalate-model", "scripted:seed=2")
    prices = ("--price", "1:1", "--price", "scripted:refused=1.0=2:2", "--price", "scripted:seed=2=1000:1000")
    edit("--model", "scripted", "-w", "8", *words, *prices)
    run = Path("one")
    assert ledger_of(run) == {"landed": 8}
    asked = [(event["purpose"], event["model"]) for event in of_kind(run, "asked")]
    assert asked.count(("fresh", "scripted")) == len({*asked} - {("fresh", "scripted")}) * 4 == 8
    assert asked.count(("replay", "scripted:refused=1.0")) == asked.count(("replay", "scripted:seed=2")) == 4
    cost = {
        event["model"]: event["cost_usd"] / (event["input_tokens"] + event["output_tokens"])
        for event in of_kind(run, "answered")
    }
    assert cost == pytest.approx({"scripted": 1e-6, "scripted:refused=1.0": 2e-6, "scripted:seed=2": 1e-3})
    steps = [event["collided"]["steps"][-2:] for event in of_kind(run, "collision")]
    assert [step[-1]["by"] for step in steps] == ["model:scripted:seed=2"] * 4
    expect_clean(run, full=True)


def test_an_unusable_answer_is_asked_again_of_the_model_to_escalate_to(code: Path) -> None:
    words = ("-w", "4", "--model", "scripted:empty=0.5,refused=0.2,seed=1", "--escalate-model", "scripted:seed=2")
    run = Path("one")
    document(*words)
    assert ledger_of(run) == {"landed": FILES}
    models = {event["intent"]: (event["attempt"], event["model"]) for event in of_kind(run, "asked")}
    second = [intent for intent, asked in models.items() if asked == (2, "scripted:seed=2")]
    assert 0 < len(second) < FILES
    assert {event["intent"] for event in of_kind(run, "sent back")} == {*second}
    note = git(run / "repo.git", "log", "--notes=qodebase", "--format=%N", "--grep", f"Qodebase-Intent: {second[0]}")
    assert "landed from attempt 2" in note
    expect_clean(run)


def test_a_dry_run_says_what_a_run_costs_and_what_that_takes_for_granted(code: Path) -> None:
    plan = document("--dry-run", *DEAR, "--replay-model", "scripted:seed=3").data
    assert plan["prices"] == {
        "scripted": {"input": 1000.0, "output": 1000.0, "cached": None},
        "scripted:seed=3": {"input": 0.0, "output": 0.0, "cached": None},
    }
    tokens = plan["input_tokens"] + plan["output_tokens"]
    assert plan["cost_usd"] == pytest.approx(tokens * 1e-3)
    assert plan["max_cost_usd"] == pytest.approx(plan["max_tokens"] * 1e-3)
    assert plan["output_tokens"] * 2 == plan["max_output_tokens"]
    assert document(*DEAR).data["cost_usd"] < plan["max_cost_usd"]
    text = call(*RUN[:4], "--model", "scripted", "--dry-run", *DEAR, "--replay-model", "scripted:seed=3").out
    assert f"cost: about ${plan['cost_usd']:,.2f}, at most ${plan['max_cost_usd']:,.2f}" in text
    assert "model replays ask scripted:seed=3, whose price is 0 in, 0 out" in text


def test_a_price_that_is_not_known_is_said_and_is_no_zero(code: Path, here: Path) -> None:
    (here / "job.toml").write_text(ENDPOINT.replace("cost_cap = 1", ""))
    plan = call("run", "job.toml", "--dry-run", "--json").data
    assert (plan["cost_usd"], plan["max_cost_usd"], plan["prices"]) == (None, None, {"here": None})
    assert "cost: unknown: the price of here is not known" in call("run", "job.toml", "--dry-run").out


def test_a_notebook_sets_caps_and_a_function_of_its_own_has_no_price(code: Path) -> None:
    async def model(prompt: object) -> str:
        return "Hold the code of this part."

    with pytest.raises(UnknownPrice, match="the price of the model function:model"):
        qb.run("document", repo="code", out="one", model=model, cost_cap=1.0)
    assert not Path("one").exists()
    run = qb.run("document", repo="code", out="one", model=model, workers=1, token_cap=3000, stop_if=["refused>50%/4"])
    status = run.status()
    assert (status["state"], status["unknown_cost_calls"]) == ("capped", status["calls"])
    assert 0 < status["spent"]["tokens"] <= 3000
    assert status["spent"]["guessed_calls"] + status["spent"]["unpriced_calls"] == status["calls"]
    assert f"unknown ({status['calls']} of {status['calls']} calls)" in repr(run)
    assert run.resume(model=model, token_cap=1_000_000).status()["ledger"]["landed"] == FILES


def test_new_caps_are_refused_while_a_process_works_on_the_run(code: Path) -> None:
    document("-w", "1", "--token-cap", "1500", code=3)
    with RunFolder(Path("one")).locked():
        done = call("resume", "one", "--token-cap", "9999")
    assert done.code == 2
    assert "hold from the next sitting on" in done.err
