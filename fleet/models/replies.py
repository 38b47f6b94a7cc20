"""What a provider's reply means: an answer, a call without one, or an error that ends the run."""

from __future__ import annotations

import itertools
import math
import re
import secrets
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from functools import lru_cache
from typing import Any

from fleet.models.registry import Price
from fleet.scrub import Scrub
from qodebase.errors import QodebaseError
from qodebase.ports import Answer, Failure, NoAnswer, Prompt

CALL_HEADER = "X-Request-Id"
_NUMBERS = itertools.count(secrets.randbits(32))
_CALL = re.compile(r"qodebase-([0-9a-f]{16})-[0-9a-f]{8}")
LONGEST_PAUSE_S = 86_400.0
_LONGEST_WHY = 300
_NAMES = 64
_MOST_TOKENS = 10**9
_TOO_LONG = (
    "context_length_exceeded",
    "maximum context length",
    "context window",
    "context size",
    "prompt is too long",
)
_TOO_LARGE = "request too large"
"""So says a rate limit that one call alone is over: no wait helps."""

_FILTERED = (
    "content_filter",
    "content_policy_violation",
    "content management policy",
    "content filtering policy",
    "input was flagged",
    "prompt was flagged",
    "requires moderation",
)
_NO_CREDIT = (
    "insufficient_quota",
    "billing_hard_limit_reached",
    "billing_not_active",
    "exceeded_current_quota_error",
    "credit balance is too low",
    "insufficient balance",
    "balance is insufficient",
)
_BAD_KEY = ("api key not valid", "api_key_invalid")

_STREAM = re.compile(r"\s*(?:data|event|id|retry): ?\S|\s*:")
"""How a stream of events begins (server-sent events, HTML standard 9.2)."""

_CUT_OFF = ("length", "max_tokens", "model_length", "max_output_tokens")
_FILTER = ("content_filter", "safety", "recitation", "prohibited_content", "blocklist", "spii", "refusal")
_BROKEN = ("error", "abort", "insufficient_system_resource", "network_error")
"""Finish reasons beside the standard's own, as gateways, vLLM, SGLang, Mistral, DeepSeek and Gemini give them."""


class KeyRefused(QodebaseError):
    """The provider does not take the key."""


class ModelRefused(QodebaseError):
    """The provider does not have the model, or not for this key."""


class NoCredit(QodebaseError):
    """The provider's account has run dry."""

    exit_code = 3


class BadEndpoint(QodebaseError):
    """The address does not answer as a provider does."""


class Reader:
    """Reads the replies to one model's calls.

    Args:
        model: the model's name, for answers and errors.
        price: USD per million tokens, or None where it is not known.
        secrets: texts that must not appear in anything that is kept; a provider may send them back.
    """

    def __init__(self, model: str, *, price: Price | None = None, secrets: tuple[str, ...] = ()) -> None:
        self.model = model
        self.price = price
        self._scrub = Scrub(secrets)
        self._cleaned = lru_cache(_NAMES)(self.clean)

    def clean(self, text: object) -> str:
        """Return a text on one line, cut to a length that is fit to be kept, with secrets blotted out."""
        line = self._scrub(str(text))
        line = "".join(char if char.isprintable() else " " for char in line[: 4 * _LONGEST_WHY])
        line = " ".join(line.split())
        return line if len(line) <= _LONGEST_WHY else line[: _LONGEST_WHY - 1] + "…"

    def none(self, failure: Failure, why: object, **more: Any) -> NoAnswer:
        """Return a call that gave no answer."""
        return NoAnswer(failure=failure, why=self.clean(why), model=self.model, **more)

    def completion(
        self, body: object, *, call: str, echoed: str = "", cost_usd: float | None = None
    ) -> Answer | NoAnswer:
        """Read the body of a chat completion, which may be anything.

        Args:
            body: the decoded JSON.
            call: the id that the call was sent with, from `call_id`.
            echoed: the id in the reply's headers, where the provider gives one.
            cost_usd: what the call cost as far as the caller knows; the price, where there is one, goes before it.

        Raises:
            QodebaseError: the body reports an error that every other call would meet too.
        """
        body = _unlisted(body)
        if not isinstance(body, dict):
            return self.none(Failure.PROVIDER, "the reply is no JSON object", retry=True, cost_usd=None)
        error = body.get("error")
        if error and isinstance(error, dict | str) and not body.get("choices"):
            code = error.get("code") if isinstance(error, dict) else None
            return self.refusal(code if isinstance(code, int) and 400 <= code < 600 else 500, {}, body)
        if is_anothers(call, body.get("id")) or is_anothers(call, echoed):
            # What it used belongs to the other call, so this one's use is not known.
            return self.none(Failure.ANOTHERS, "the reply carries the id of another call", retry=True, cost_usd=None)
        choices = body.get("choices")
        choice = choices[0] if isinstance(choices, list) and choices else None
        message = choice.get("message") if isinstance(choice, dict) else None
        text = _text(message.get("content")) if isinstance(message, dict) else ""
        used = self._used(body.get("usage"), cost_usd, answered=bool(text))
        if not isinstance(choice, dict) or not isinstance(message, dict):
            return self.none(Failure.EMPTY, "the reply has no choice with a message", **used)
        reason, error = _end_of(choice)
        if error or reason in _BROKEN:
            _, said = _complaint({"error": error})
            why = f"the answer broke off (finish reason {reason})" + (f": {said}" if said else "")
            return self.none(Failure.PROVIDER, why, retry=True, **used)
        if reason.startswith(_FILTER) or message.get("refusal"):
            return self.none(Failure.REFUSED, message.get("refusal") or "stopped by a content filter", **used)
        if reason in _CUT_OFF:
            return self.none(Failure.CUT_OFF, "the answer reached the limit of output tokens", **used)
        if not text.strip():
            return self.none(Failure.EMPTY, f"the answer is empty (finish reason {reason})", **used)
        if self._scrub.holds_key(text):
            return self.none(Failure.SECRET, "the answer holds the key that it was asked with", **used)
        named = body.get("model")
        return Answer(text=text, model=self.model, named=self._cleaned(named) if isinstance(named, str) else "", **used)

    def _used(self, usage: object, cost_usd: float | None, *, answered: bool) -> dict[str, Any]:
        """Return what a call used; some providers count the tokens of thinking in the total alone."""
        if not isinstance(usage, dict):
            return {"cost_usd": cost_usd}
        details = usage.get("prompt_tokens_details")
        cached = _count(details.get("cached_tokens")) if isinstance(details, dict) else 0
        given = _count(usage.get("prompt_tokens"))
        output = max(_count(usage.get("completion_tokens")), _count(usage.get("total_tokens")) - given)
        tokens = {
            "input_tokens": given,
            "cached_tokens": cached or _count(usage.get("prompt_cache_hit_tokens")),
            "output_tokens": output,
        }
        if not given or (answered and not output) or max(tokens.values()) > _MOST_TOKENS:
            # No call uses none, or so many: what this one used is not known.
            return {"cost_usd": cost_usd}
        return {**tokens, "cost_usd": cost_usd if self.price is None else self.price.cost(**tokens)}

    def no_json(self, text: str) -> NoAnswer:
        """Read the body of a good status that is no JSON.

        Raises:
            BadEndpoint: it is a stream of events; every call would be answered so, and perhaps paid.
        """
        if _STREAM.match(text):
            raise BadEndpoint(
                f"the address of the model {self.model} streams its answers although it is not asked to",
                hint="Switch that off at the server or the gateway.",
            )
        return self.none(Failure.PROVIDER, f"the reply is no JSON: {text}", retry=True, cost_usd=None)

    def refusal(self, status: int, headers: Mapping[str, str], body: object, *, now: float | None = None) -> NoAnswer:
        """Read a reply whose status is no success.

        Args:
            status: the HTTP status.
            headers: the reply's headers, looked up without regard to case.
            body: the decoded JSON, or the text, of the reply.
            now: seconds since the epoch, for a Retry-After that is a date and a reply without one.

        Raises:
            KeyRefused, ModelRefused, NoCredit, BadEndpoint: no other call would do better.
        """
        code, said = _complaint(body)
        why = f"HTTP {status}: {said}" if said else f"HTTP {status}"
        text = f"{code} {said}".lower()
        if status == 403 and (_is_flagged(body) or any(mark in text for mark in _FILTERED)):
            return self.none(Failure.REFUSED, why)
        self._final(status, code, why, text)
        after = retry_after(headers, now=now)
        if status == 413 or (status < 429 and any(mark in text for mark in _TOO_LONG)):
            return self.none(Failure.TOO_LONG, why)
        if status == 429 and _TOO_LARGE in text:
            return self.none(Failure.TOO_LONG, why)
        if status < 429 and any(mark in text for mark in _FILTERED):
            return self.none(Failure.REFUSED, why)
        if status == 429:
            return self.none(Failure.RATE, why, retry=True, retry_after_s=after)
        if status in (408, 504, 524):
            return self.none(Failure.TIMEOUT, why, retry=True, retry_after_s=after, cost_usd=None)
        return self.none(Failure.PROVIDER, why, retry=status >= 500 or status in (409, 425), retry_after_s=after)

    def _final(self, status: int, code: str, why: str, text: str) -> None:
        if status == 402 or any(mark in text for mark in _NO_CREDIT):
            raise NoCredit(
                self.clean(f"the account behind the model {self.model} has no credit: {why}"),
                hint="Top it up, then `qodebase resume last`.",
            )
        if code in ("model_not_found", "DeploymentNotFound") or status == 404:
            raise ModelRefused(
                self.clean(f"the provider does not know the model {self.model}: {why}"),
                hint="Check the model's id, and `api_base` in its [models.NAME] table.",
            )
        if status in (401, 403) or (status < 429 and any(mark in text for mark in _BAD_KEY)):
            raise KeyRefused(
                self.clean(f"the provider refuses the key of the model {self.model}: {why}"),
                hint="Check the environment variable that holds the key, and what the key may do.",
            )
        if status == 407:
            raise BadEndpoint(
                self.clean(f"the proxy on the way to the model {self.model} does not let calls pass: {why}"),
                hint="Check user and password in `https_proxy` or `http_proxy`, or name the host in `no_proxy`.",
            )
        if 300 <= status < 400 or status == 405:
            raise BadEndpoint(
                self.clean(f"the address of the model {self.model} is not that of a chat endpoint: {why}"),
                hint="`api_base` is the address that `/chat/completions` is appended to, https and `/v1` included.",
            )


def call_id(prompt: Prompt) -> str:
    """Return an id for one call: a digest of its prompt, and a number that starts by chance in each process."""
    return f"qodebase-{prompt.digest[:16]}-{next(_NUMBERS) & 0xFFFFFFFF:08x}"


def is_anothers(call: str, said: object) -> bool:
    """Return whether an id that came with a reply is that of a call with another prompt.

    Servers that take the id of a call from its ``X-Request-Id`` give it back in the reply's ``id`` (vLLM does, as
    ``chatcmpl-ID``) or in the header of the same name (many gateways do). Others make an id of their own, which says
    nothing: with them, an answer to another prompt cannot be told from a right one here.
    """
    found = _CALL.search(said) if isinstance(said, str) else None
    sent = _CALL.fullmatch(call)
    return found is not None and sent is not None and found[1] != sent[1]


def retry_after(headers: Mapping[str, str], *, now: float | None = None) -> float | None:
    """Return how many seconds a provider asks to wait, or None; at most a day.

    A date is taken against the reply's own ``Date``, so that two clocks that differ do no harm.
    """
    held = {name.lower(): value for name, value in headers.items()}
    for name in ("retry-after-ms", "x-ms-retry-after-ms"):
        if (millis := _number(held.get(name))) is not None:
            return min(millis / 1000, LONGEST_PAUSE_S)
    text = held.get("retry-after")
    if text is None:
        return None
    if (seconds := _number(text)) is not None:
        return min(seconds, LONGEST_PAUSE_S)
    until = _date(text)
    since = _date(held.get("date", "")) or now
    if until is None or since is None:
        return None
    return min(max(0.0, until - since), LONGEST_PAUSE_S)


def _number(text: str | None) -> float | None:
    try:
        value = float(text or "")
    except ValueError:
        return None
    return value if 0 <= value < math.inf else None


def _date(text: str) -> float | None:
    try:
        return parsedate_to_datetime(text).timestamp()
    except (ValueError, TypeError, IndexError, OverflowError):
        return None


def _count(value: object) -> int:
    if isinstance(value, float) and value.is_integer():
        return max(0, int(value))
    return value if isinstance(value, int) and value > 0 else 0


def _text(content: object) -> str:
    """Return a message's text; lone surrogates, which no file and no journal can hold, become question marks."""
    if isinstance(content, list):
        content = "".join(part["text"] for part in content if isinstance(part, dict) and _is_text(part.get("text")))
    if not isinstance(content, str):
        return ""
    return content.encode("utf-8", "replace").decode()


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _end_of(choice: dict[str, Any]) -> tuple[str, object]:
    """Return a choice's finish reason and its error; litellm calls an end that it does not know a good one."""
    reason, error = choice.get("finish_reason"), choice.get("error")
    native = choice.get("provider_specific_fields")
    if isinstance(native, dict):
        error = error or native.get("error")
        reason = native.get("native_finish_reason") or reason if reason == "stop" else reason
    return str(reason).lower(), error


def _unlisted(body: object) -> object:
    """Return an error that a provider put into a list, as Gemini does."""
    if isinstance(body, list) and len(body) == 1 and isinstance(body[0], dict) and "error" in body[0]:
        return body[0]
    return body


def _is_flagged(body: object) -> bool:
    """Return whether an error is a moderator's, as OpenRouter tells it: about this prompt, not about the key."""
    error = body.get("error") if isinstance(body, dict) else None
    more = error.get("metadata") if isinstance(error, dict) else None
    return isinstance(more, dict) and bool(more.get("reasons") or more.get("flagged_input"))


def _complaint(body: object) -> tuple[str, str]:
    """Return the code and the message of a provider's error, as far as the body has any."""
    body = _unlisted(body)
    error = body.get("error", body) if isinstance(body, dict) else body
    if isinstance(error, dict):
        code, said = error.get("code") or error.get("type") or "", error.get("message") or error.get("detail") or ""
        return str(code), str(said)
    return "", error if isinstance(error, str) else ""
