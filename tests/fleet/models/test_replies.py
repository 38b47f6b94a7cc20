"""Replies of every shape."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fleet.models.registry import Price
from fleet.models.replies import LONGEST_PAUSE_S, KeyRefused, NoCredit, Reader, retry_after
from qodebase.codec import JSON
from qodebase.errors import QodebaseError
from qodebase.ports import Answer, Failure, NoAnswer

KEYS = ("choices", "message", "content", "finish_reason", "usage", "prompt_tokens", "error", "code", "refusal", "text")
LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.just("length")
BODIES = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=4)
)


@settings(max_examples=60, derandomize=True, deadline=None)
@given(
    body=BODIES
    | st.fixed_dictionaries({"choices": st.lists(st.fixed_dictionaries({"message": BODIES})), "usage": BODIES})
)
def test_no_body_is_a_bug(body: Any) -> None:
    reader = Reader("mine", price=Price(input=1, output=1))
    with suppress(QodebaseError):
        got = reader.completion(body, call="")
        assert isinstance(got, Answer | NoAnswer)
        JSON.encode(got)


@pytest.mark.parametrize(
    "usage",
    [
        pytest.param({"prompt_tokens": 2**63}, id="more than 64 bits hold"),
        pytest.param({"prompt_tokens": 10**25, "completion_tokens": 1}, id="beyond all"),
        pytest.param({"prompt_tokens": 5, "completion_tokens": 10**400}, id="more than a float holds"),
        {},
        {"total_tokens": 9},
        {"prompt_tokens": 0, "completion_tokens": 0},
        {"prompt_tokens": None, "completion_tokens": "3"},
    ],
)
def test_a_use_that_no_call_can_have_is_not_known(usage: dict[str, Any]) -> None:
    body = {"choices": [{"message": {"content": "Hello."}}], "usage": usage}
    got = Reader("mine", price=Price(input=1, output=1)).completion(body, call="")
    assert got == Answer(text="Hello.", model="mine", cost_usd=None)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"Retry-After": "5"}, 5.0),
        ({"retry-after": " 2.5 "}, 2.5),
        ({"Retry-After": "0"}, 0.0),
        ({"Retry-After": "-3"}, None),
        ({"Retry-After": "nan"}, None),
        ({"Retry-After": "inf"}, None),
        ({"Retry-After": "soon"}, None),
        ({"Retry-After": "1e12"}, LONGEST_PAUSE_S),
        ({"retry-after-ms": "250", "retry-after": "1"}, 0.25),
        ({"x-ms-retry-after-ms": "1500"}, 1.5),
        ({"Retry-After": "Wed, 21 Oct 2026 07:28:00 GMT"}, 10.0),
        ({"Retry-After": "Wed, 21 Oct 2026 07:28:00 GMT", "date": "Wed, 21 Oct 2026 07:27:00 GMT"}, 60.0),
        ({"Retry-After": "Wed, 21 Oct 2020 07:28:00 GMT"}, 0.0),
    ],
)
def test_every_form_of_retry_after_is_read(headers: dict[str, str], seconds: float | None) -> None:
    now = 1792567670.0
    assert retry_after(headers, now=now) == seconds


def test_a_date_says_nothing_when_nobody_knows_the_time() -> None:
    assert retry_after({"Retry-After": "Wed, 21 Oct 2026 07:28:00 GMT"}) is None


def test_what_a_provider_says_is_kept_on_one_line_of_bounded_length() -> None:
    kept = Reader("mine").clean("a\x1b[31m\r\n\tb" + "c" * 10_000)
    assert kept.startswith("a [31m bc")
    assert len(kept) == 300


def test_short_secrets_are_not_blotted_out_of_everything() -> None:
    assert Reader("mine", secrets=("", "a", "long-secret")).clean("a cat, long-secret") == "a cat, [secret]"


def said(reason: Any = "stop", text: str = "Half an ans", **choice: Any) -> dict[str, Any]:
    usage = {"prompt_tokens": 10, "completion_tokens": 5}
    return {"choices": [{"finish_reason": reason, "message": {"content": text}, **choice}], "usage": usage}


@pytest.mark.parametrize(
    ("body", "failure", "retry"),
    [
        (said("error", error={"code": 502, "message": "Upstream gone"}), Failure.PROVIDER, True),
        (said("error"), Failure.PROVIDER, True),
        (said(None, error={"code": 502, "message": "Upstream gone"}), Failure.PROVIDER, True),
        (said(provider_specific_fields={"native_finish_reason": "error"}), Failure.PROVIDER, True),
        (said("insufficient_system_resource"), Failure.PROVIDER, True),
        (said("abort"), Failure.PROVIDER, True),
        (said("model_length"), Failure.CUT_OFF, False),
        (said("MAX_TOKENS"), Failure.CUT_OFF, False),
        (said("SAFETY"), Failure.REFUSED, False),
        (said("content_filter: PROHIBITED_CONTENT"), Failure.REFUSED, False),
    ],
)
def test_half_an_answer_is_not_taken_for_a_whole_one_and_is_paid(
    body: dict[str, Any], failure: Failure, retry: bool
) -> None:
    got = Reader("mine", price=Price(input=1e6, output=1e6)).completion(body, call="")
    assert isinstance(got, NoAnswer)
    assert (got.failure, got.retry, got.cost_usd) == (failure, retry, 15.0)
    assert "Half an ans" not in got.why


@pytest.mark.parametrize("reason", ["stop", None, "eos", "end_turn", "STOP", "tool_calls", 7])
def test_an_answer_that_ended_well_is_taken_however_its_end_is_called(reason: Any) -> None:
    assert isinstance(Reader("mine").completion(said(reason), call=""), Answer)


@pytest.mark.parametrize("body", [{"error": "model is loading"}, [{"error": {"code": 503, "message": "busy"}}]])
def test_an_error_of_any_shape_in_a_good_reply_is_tried_again(body: Any) -> None:
    got = Reader("mine").completion(body, call="")
    assert isinstance(got, NoAnswer)
    assert (got.failure, got.retry) == (Failure.PROVIDER, True)
    assert got.why.endswith(("model is loading", "busy"))


@pytest.mark.parametrize(
    ("usage", "tokens"),
    [
        pytest.param(
            {"prompt_tokens": 32, "completion_tokens": 9, "total_tokens": 135}, (32, 103), id="thinking apart"
        ),
        pytest.param({"prompt_tokens": 32, "completion_tokens": 103, "total_tokens": 135}, (32, 103), id="thinking in"),
        pytest.param({"prompt_tokens": 32, "total_tokens": 135}, (32, 103), id="the sum alone"),
        pytest.param({"prompt_tokens": 32, "completion_tokens": 9.0}, (32, 9), id="as floats"),
    ],
)
def test_tokens_of_thinking_are_paid_as_output_wherever_they_are_counted(
    usage: dict[str, Any], tokens: tuple[int, int]
) -> None:
    got = Reader("mine", price=Price(input=1e6, output=1e6)).completion({**said(), "usage": usage}, call="")
    assert (got.input_tokens, got.output_tokens) == tokens
    assert got.cost_usd == sum(tokens)


@pytest.mark.parametrize(
    "usage",
    [
        {"prompt_tokens": 5},
        {"prompt_tokens": 5, "completion_tokens": None},
        {"prompt_tokens": 5, "completion_tokens": 0},
        {"completion_tokens": 5},
        {"prompt_tokens": 5, "completion_tokens": -1},
    ],
)
def test_half_of_what_an_answer_used_is_not_taken_for_all_of_it(usage: dict[str, Any]) -> None:
    got = Reader("mine", price=Price(input=1, output=1)).completion({**said(), "usage": usage}, call="")
    assert got == Answer(text="Half an ans", model="mine", cost_usd=None)


@pytest.mark.parametrize(
    ("status", "error", "kind"),
    [
        (400, {"type": "invalid_request_error", "message": "Your credit balance is too low to use this."}, NoCredit),
        (500, {"code": "insufficient_quota", "message": ""}, NoCredit),
        (403, {"code": "30001", "message": "Sorry, your account balance is insufficient"}, NoCredit),
        (429, {"type": "billing_not_active", "message": "Your account is not active"}, NoCredit),
        (400, {"status": "INVALID_ARGUMENT", "message": "API key not valid. Please pass a valid API key."}, KeyRefused),
    ],
)
def test_an_empty_account_and_a_bad_key_end_the_run_under_any_status(
    status: int, error: dict[str, Any], kind: type[QodebaseError]
) -> None:
    for body in ({"error": error}, [{"error": error}]):
        with pytest.raises(kind):
            Reader("mine").refusal(status, {}, body)


@pytest.mark.parametrize(
    ("status", "error", "failure"),
    [
        (403, {"code": 403, "message": "x requires moderation and your input was flagged"}, Failure.REFUSED),
        (403, {"code": 403, "message": "no", "metadata": {"reasons": ["violence"]}}, Failure.REFUSED),
        (400, {"code": "invalid_prompt", "message": "Your prompt was flagged as a risk"}, Failure.REFUSED),
        (400, {"message": "Output blocked by content filtering policy"}, Failure.REFUSED),
        (429, {"message": "Request too large for m on tokens per min (TPM): Limit 9, Requested 12"}, Failure.TOO_LONG),
    ],
)
def test_what_a_provider_says_of_one_prompt_ends_that_one_alone(
    status: int, error: dict[str, Any], failure: Failure
) -> None:
    got = Reader("mine").refusal(status, {}, {"error": error})
    assert (got.failure, got.retry) == (failure, False)


def test_an_error_in_a_list_says_what_it_says() -> None:
    assert Reader("mine").refusal(400, {}, [{"error": {"message": "no such field"}}]).why == "HTTP 400: no such field"
