from __future__ import annotations

import base64
from urllib.parse import quote

import pytest

from fleet.scrub import Scrub, keys_in
from tests.support.made_secrets import MIXED

KEY = "a/key+" + MIXED[:30] + "="


@pytest.mark.parametrize(
    "spelled", [KEY, quote(KEY, safe=""), base64.b64encode(KEY.encode()).decode(), repr(KEY), f"'{KEY}'"]
)
def test_a_known_key_is_blotted_out_in_every_spelling_that_it_travels_in(spelled: str) -> None:
    assert MIXED[:12] not in Scrub([KEY])(f"the call with {spelled} failed")
    assert spelled.strip("'") not in Scrub([KEY])(f"the call with {spelled} failed")


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        (f"Authorization: Bearer {MIXED[:20]}", "Authorization: Bearer [secret]"),
        (f"{{'Authorization': 'Bearer {MIXED[:20]}', 'Accept': '*/*'}}", None),
        (f"Illegal header value b'Bearer {MIXED[:20]}'", "Illegal header value b'Bearer [secret]'"),
        (f'{{"x-api-key": "{MIXED[:20]}", "model": "m"}}', '{"x-api-key": "[secret]", "model": "m"}'),
        (f"api_key='{MIXED[:20]}')", "api_key='[secret]')"),
        (f"GET /v1?key={MIXED[:20]}&alt=json", "GET /v1?key=[secret]&alt=json"),
        (f"http://user:{MIXED[:9]}@proxy:3128 refused", "http://[secret]@proxy:3128 refused"),
    ],
)
def test_what_stands_where_keys_stand_is_blotted_out_unknown_as_it_is(text: str, clean: str | None) -> None:
    found = Scrub()(text)
    assert MIXED[:9] not in found
    assert clean is None or found == clean


def test_other_words_stay() -> None:
    for text in (
        "HTTP 401: the bearer of this letter may not enter",
        "maximum context length is 8192 tokens, however you asked for 9000",
        "no connection: Cannot connect to host 127.0.0.1:8080 ssl:default",
        "the basic plan does not hold this model",
    ):
        assert Scrub(["", "a"])(text) == text


def test_variables_that_are_named_like_keys_hold_keys() -> None:
    environ = {"FAR_API_KEY": MIXED[:20], "HF_TOKEN": MIXED[3:20], "HOME": "/home/somebody", "A_KEY": "short"}
    assert keys_in(environ) == (MIXED[:20], MIXED[3:20])


def test_a_long_key_is_told_in_an_answer_and_a_short_one_may_be_a_word() -> None:
    scrub = Scrub([MIXED[:20], "document"])
    assert scrub.holds_key(f"use {MIXED[:20]} to document it")
    assert not scrub.holds_key("use it to document it")
