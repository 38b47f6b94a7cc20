"""What a run would do: the dry run, and one prompt to look at."""

from __future__ import annotations

import difflib
import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from qodebase.commands.support.layout import columns, money, some
from qodebase.commands.support.models import Tariff, tariffs_of
from qodebase.commands.support.starting import Prepared
from qodebase.errors import QodebaseError
from qodebase.intent import Ending, Intent
from qodebase.ports import Prompt

BYTES_A_TOKEN = 4
"""What a token is taken for where no provider has counted it."""

_MOST_WITHHELD = 10
_MOST_SHOWN = 40


class NoSuchIntent(QodebaseError):
    """A path that no intent is about."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What a run would do.

    Attributes:
        endings: intents by ending; pending ones would be worked on.
        reasons: for those that end before any work, how many for each reason.
        lanes: pending intents for each lane.
        calls: model calls if each intent needs one.
        input_tokens, output_tokens: expected; every prompt is made, and counted at four bytes a token.
        max_output_tokens: the sum of the prompts' limits.
        max_tokens: in and out, at one byte a token, which no tokenizer exceeds.
        cost_usd, max_cost_usd: of the expected tokens and of the most; None where the price is not known.
        prices: USD per million tokens of each model that the run may ask, None where they are not known.
        assumptions: what the figures take for granted.
        withheld: intents whose prompt would not be sent as it is, and why.
        first_prompt: that of the first pending intent.
    """

    job: str
    model: str
    repository: str
    branch: str
    base: str
    intents: int
    endings: dict[str, int]
    reasons: dict[str, int]
    lanes: dict[str, int]
    calls: int
    input_tokens: int
    output_tokens: int
    max_output_tokens: int
    max_tokens: int
    cost_usd: float | None
    max_cost_usd: float | None
    prices: dict[str, dict[str, float | None] | None]
    assumptions: tuple[str, ...]
    withheld: dict[str, str]
    first_prompt: str

    def as_dict(self) -> dict[str, Any]:
        """Return the plan as plain data."""
        return asdict(self)

    def lines(self) -> list[str]:
        """Return the plan as lines for people."""
        rows = [("intents", str(self.intents), "")]
        rows += [(f"  {ending}", str(count), "") for ending, count in self.endings.items()]
        rows += [(f"    {reason}", str(count), "") for reason, count in self.reasons.items()]
        lanes = [f"{lane}: {count}" for lane, count in self.lanes.items()]
        return [
            f"{self.job} with {self.model} on {self.repository}, branch {self.branch} at {self.base[:12]}",
            *columns(rows, right=(1,)),
            f"lanes: {some(lanes, most=12)}",
            f"calls: {self.calls:,}; tokens: about {self.input_tokens:,} in and {self.output_tokens:,} out, at most "
            f"{self.max_tokens:,} in all, {self.max_output_tokens:,} of them out",
            f"cost: {self._cost()}",
            *(f"  {assumption}" for assumption in self.assumptions),
            *self._withheld(),
            *self._first_prompt(),
            "dry run: no model was called and nothing was written",
        ]

    def _withheld(self) -> list[str]:
        if not self.withheld:
            return []
        named = [f"  {intent}: {why}" for intent, why in list(self.withheld.items())[:_MOST_WITHHELD]]
        more = len(self.withheld) - len(named)
        return [
            f"prompts that would not be sent as they are: {len(self.withheld)} (--secrets, --never-send)",
            *named,
            *([f"  and {more} more"] if more else []),
        ]

    def _first_prompt(self) -> list[str]:
        lines = self.first_prompt.splitlines()
        more = [f"[{len(lines) - _MOST_SHOWN} more lines: --show-prompt PATH]"] if len(lines) > _MOST_SHOWN else []
        return ["the first prompt:", *lines[:_MOST_SHOWN], *more] if lines else []

    def _cost(self) -> str:
        if self.cost_usd is None or self.max_cost_usd is None:
            return f"unknown: the price of {self.model} is not known (--price IN:OUT, USD per million tokens)"
        return f"about {money(self.cost_usd)}, at most {money(self.max_cost_usd)}"


def run_plan(ready: Prepared) -> Plan:
    """Return what a prepared run would do; every prompt is made, no model is called."""
    from fleet.channels import most_of
    from lanes.router import Router

    pending = [intent for intent in ready.intents if intent.ending is Ending.PENDING]
    if pending:
        ready.job.ready()
    prompts = [ready.prompt(intent) for intent in pending]
    order = ready.order
    tariffs = tariffs_of(order.all_models, order.models, order.source)
    tariff = tariffs[order.model]
    most = [most_of(prompt, tariff.price, tariff.output_limit) for prompt in prompts]
    tokens_in = sum(_bytes(prompt) for prompt in prompts) // BYTES_A_TOKEN
    most_out = sum(tariff.output_limit or prompt.max_output_tokens for prompt in prompts)
    tokens_out = most_out // 2
    router = Router(ready.lanes)
    lanes = Counter("+".join(router.lanes(intent.scope)) for intent in pending)
    reasons = Counter(intent.reason for intent in ready.intents if intent.ending is not Ending.PENDING)
    return Plan(
        job=ready.job.name,
        model=ready.order.model,
        repository=str(ready.source.path),
        branch=ready.source.branch,
        base=ready.source.commit,
        intents=len(ready.intents),
        endings={str(ending): count for ending, count in Counter(i.ending for i in ready.intents).most_common()},
        reasons=dict(reasons.most_common()),
        lanes=dict(lanes.most_common()),
        calls=len(pending),
        input_tokens=tokens_in,
        output_tokens=tokens_out,
        max_output_tokens=most_out,
        max_tokens=sum(each.tokens for each in most),
        cost_usd=_cost(tariff, tokens_in, tokens_out),
        max_cost_usd=None if tariff.price is None else sum(each.usd or 0.0 for each in most),
        prices={name: None if known.price is None else asdict(known.price) for name, known in tariffs.items()},
        assumptions=tuple(_assumptions(ready, tariffs)),
        withheld=dict(_withheld(ready, pending, prompts)),
        first_prompt="\n".join(_prompt_lines(prompts[0])) if prompts else "",
    )


def _withheld(ready: Prepared, pending: list[Intent], prompts: list[Prompt]) -> Iterator[tuple[str, str]]:
    from fleet.guard import Withheld

    if ready.guard is None:
        return
    for intent, prompt in zip(pending, prompts, strict=True):
        cleared = ready.guard.clear(prompt, ready.tree, intent.scope)
        if isinstance(cleared, Withheld):
            yield intent.id, f"{cleared.failure}: {cleared.why}"
        elif cleared.replaced:
            yield intent.id, f"redacted: {', '.join(cleared.replaced)}"


def _cost(tariff: Tariff, tokens_in: int, tokens_out: int) -> float | None:
    if tariff.price is None:
        return None
    return tariff.price.cost(input_tokens=tokens_in, cached_tokens=0, output_tokens=tokens_out)


def _assumptions(ready: Prepared, tariffs: dict[str, Tariff]) -> Iterator[str]:
    order = ready.order
    yield f"about: {BYTES_A_TOKEN} bytes of the real prompts are a token, an answer is half as long as it may be"
    yield "at most: each byte of the prompts is a token, each answer as long as it may be"
    yield "one call an intent, nothing from the cache; retries, later attempts and model replays come on top"
    for purpose, name in (("model replays", order.replay_model), ("later attempts", order.escalate_model)):
        if name:
            price = tariffs[name].price
            said = "not known" if price is None else f"{price.input:g} in, {price.output:g} out, USD per million tokens"
            yield f"{purpose} ask {name}, whose price is {said}"
    if order.sample is not None:
        yield f"all pending intents, not only the {order.sample} that --sample admits at first"
    if order.caps.cost_usd is None:
        yield "no cap is set: --cost-cap USD holds whatever happens"


def prompt_lines(ready: Prepared, path: str) -> list[str]:
    """Return the prompt about a path as lines.

    Raises:
        NoSuchIntent: no intent is about it, or it would ask nothing.
    """
    intent = _about(ready.intents, path)
    if intent.ending is not Ending.PENDING:
        raise NoSuchIntent(f"{path} would not be asked about: {intent.reason}", hint="See the reasons: --dry-run.")
    ready.job.ready()
    prompt = ready.prompt(intent)
    return [*_prompt_lines(prompt), f"--- at most {prompt.max_output_tokens} tokens out, digest {prompt.digest}"]


def _prompt_lines(prompt: Prompt) -> list[str]:
    return [line for message in prompt.messages for line in (f"--- {message.role}", message.text)]


def _about(intents: list[Intent], path: str) -> Intent:
    raw = os.fsencode(path)
    for intent in intents:
        if path == intent.id or any(raw == scope or path == scope.text for scope in intent.scope):
            return intent
    near = difflib.get_close_matches(path, [scope.text for intent in intents for scope in intent.scope], n=3)
    meant = f" Near to it: {', '.join(near)}." if near else ""
    raise NoSuchIntent(f"no intent is about {path}", hint=f"Paths are relative to the repository's root.{meant}")


def _bytes(prompt: Prompt) -> int:
    return sum(len(message.text.encode()) for message in prompt.messages)
