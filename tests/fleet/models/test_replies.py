"""Replies of every shape."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fleet.models.registry import Price
from fleet.models.replies import LONGEST_PAUSE_S, Reader, retry_after
from qodebase.codec import JSON
from qodebase.errors import QodebaseError
from qodebase.ports import Answer, NoAnswer

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
