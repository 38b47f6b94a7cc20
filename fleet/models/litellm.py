"""Every provider that litellm knows: ``litellm:anthropic/MODEL-ID``, say.

litellm costs some forty times the processor time of the direct path and takes seconds to import, so it is loaded, in a
thread, with the first call, and at most 256 calls are under way at once.
"""

from __future__ import annotations

import asyncio
from importlib import import_module
from typing import Any

from fleet.models.endpoint import checked_base, is_loopback, secret_headers
from fleet.models.litellm_providers import KEYS, litellm_folder, provider_of
from fleet.models.registry import BadModel, ModelContext, ModelSpec, ModelTable, Price
from fleet.models.replies import CALL_HEADER, Reader, call_id
from fleet.scrub import keys_in
from qodebase.ports import Answer, Clock, Failure, NoAnswer, Prompt

ADAPTER = "litellm"

MOST_IN_FLIGHT = 256
MOST_PER_MINUTE = 6000.0
"""What one process bears: 80 to 100 calls a second take a whole core."""

_PRICES = "model_prices_and_context_window_backup.json"

_SETTINGS = {
    "LITELLM_OFFLINE_MODE": "true",
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "LITELLM_MODE": "PRODUCTION",
    "LITELLM_LOG": "ERROR",
    "AIOHTTP_CONNECTOR_LIMIT": str(MOST_IN_FLIGHT),
    "AIOHTTP_CONNECTOR_LIMIT_PER_HOST": str(MOST_IN_FLIGHT),
}
"""Keeps litellm off the network, silent, and away from a ``.env`` file that it would load."""

_NO_KEY = "-"
"""Stands for the key of an endpoint that wants none; the client libraries insist on one."""

_OURS = ("model", "messages", "stream", "n", "api_key", "api_base", "timeout", "num_retries", "max_retries")


class LitellmModel:
    """Asks through litellm; what fails is a value, and what no other call would survive is an error.

    Args:
        name: as in flags and records.
        model: litellm's id of the model, the provider before the slash.
        table: address, price, timeout and more fields of the request.
        key: the provider's key; empty: litellm finds what it needs in the environment.
        headers: more headers of each request; never shown.
        secrets: what else litellm may find in the environment; never shown either.
    """

    deterministic = False
    reads_words = True
    simulated = False
    most_in_flight = MOST_IN_FLIGHT
    most_per_minute = MOST_PER_MINUTE

    def __init__(
        self,
        *,
        name: str,
        model: str,
        table: ModelTable,
        key: str,
        headers: dict[str, str],
        clock: Clock,
        secrets: tuple[str, ...] = (),
    ) -> None:
        self.name = name
        self.local = is_loopback(table.api_base) if table.local is None else table.local
        self._clock = clock
        self._timeout_s = table.timeout_s
        self._ca_file = table.ca_file
        self._room = asyncio.Semaphore(MOST_IN_FLIGHT)
        self._loading = asyncio.Lock()
        self._litellm: Any = None
        self._reader = Reader(name, price=table.price, secrets=(key, *headers.values(), *secrets))
        self._fixed: dict[str, Any] = {
            **table.params,
            "model": model,
            "timeout": table.timeout_s,
            "num_retries": 0,
            "max_retries": 0,
            "drop_params": True,
        }
        self._headers = headers
        optional = {"api_key": key, "api_base": table.api_base}
        self._fixed |= {name: value for name, value in optional.items() if value}

    async def answer(self, prompt: Prompt) -> Answer | NoAnswer:
        """Make one call, without retry.

        Raises:
            QodebaseError: the key, the model or the address is wrong, or the account is empty.
        """
        async with self._room:
            with self._clock.working():
                litellm = await self._loaded()
                call = call_id(prompt)
                try:
                    async with asyncio.timeout(self._timeout_s):
                        response = await litellm.acompletion(**self._request(prompt, call))
                except TimeoutError:
                    return self._late()
                except litellm.exceptions.BadRequestError as error:
                    return self._rejected(error)
                except litellm.exceptions.openai.OpenAIError as error:
                    return self._failed(error)
                hidden = getattr(response, "_hidden_params", None) or {}
                cost = hidden.get("response_cost")
                return self._reader.completion(response.model_dump(), call=call, cost_usd=cost)

    def _request(self, prompt: Prompt, call: str) -> dict[str, Any]:
        messages = [{"role": message.role, "content": message.text} for message in prompt.messages]
        headers = {**self._headers, CALL_HEADER: call}
        return {"max_tokens": prompt.max_output_tokens, **self._fixed, "extra_headers": headers, "messages": messages}

    def _late(self) -> NoAnswer:
        why = f"no whole reply within {self._timeout_s:g} s"
        return self._reader.none(Failure.TIMEOUT, why, retry=True, cost_usd=None)

    def _rejected(self, error: Any) -> NoAnswer:
        """Read a request that litellm or the provider found bad; some kinds of litellm's errors say why."""
        kind = type(error).__name__
        if kind == "ContextWindowExceededError":
            return self._reader.none(Failure.TOO_LONG, error.message)
        if kind == "ContentPolicyViolationError":
            return self._reader.none(Failure.REFUSED, error.message)
        return self._failed(error)

    def _failed(self, error: Any) -> NoAnswer:
        status = getattr(error, "status_code", None) or 500
        headers = getattr(error, "litellm_response_headers", None) or {}
        if type(error).__name__ == "Timeout" and not headers:
            return self._late()
        if status == 500 and not headers:
            # So litellm tells a connection that broke and a reply that it cannot read.
            return self._reader.none(Failure.PROVIDER, getattr(error, "message", error), retry=True, cost_usd=None)
        body = getattr(error, "body", None)
        code = body.get("code") if isinstance(body, dict) else None
        said = {"error": {"message": str(getattr(error, "message", error)), "code": code}}
        return self._reader.refusal(status, dict(headers), said)

    async def _loaded(self) -> Any:
        if self._litellm is None:
            async with self._loading:
                if self._litellm is None:
                    self._litellm = await asyncio.to_thread(_load, self._ca_file)
        return self._litellm

    async def close(self) -> None:
        """Close litellm's connections."""
        if self._litellm is not None:
            await self._litellm.close_litellm_async_clients()


def _load(ca_file: str) -> Any:
    """Import litellm, which reads its settings from the process's environment and nowhere else."""
    import os

    os.environ.update(_SETTINGS)
    try:
        litellm = import_module("litellm")
    except ImportError as error:
        raise BadModel(f"litellm cannot be imported: {error}", hint="pip install litellm") from None
    litellm.suppress_debug_info = True  # type: ignore[attr-defined]
    litellm.telemetry = False  # type: ignore[attr-defined]
    if ca_file:
        litellm.ssl_verify = ca_file  # type: ignore[attr-defined]
    return litellm


def _key(spec: ModelSpec, context: ModelContext, provider: str) -> str:
    of = f"the model {spec.name}"
    if spec.table.api_key_env:
        return context.secret(spec.table.api_key_env, of=of)
    variables = KEYS.get(provider, ())
    if spec.table.api_base:
        return _NO_KEY if variables else ""
    found = [variable for variable in variables if context.environ.get(variable, "").strip()]
    return context.secret((found or variables)[0], of=of) if variables else ""


def create(spec: ModelSpec, context: ModelContext) -> LitellmModel:
    """Make the model; an unknown provider, a key that is known to be missing, or a bad address is an error here."""
    model = spec.table.model or spec.argument
    if not model:
        raise BadModel(f"the model {spec.name} names no model id", hint="Write `litellm:PROVIDER/MODEL-ID`.")
    if clash := sorted(set(_OURS) & set(spec.table.params)):
        raise BadModel(f"`params` of the model {spec.name} must not set {', '.join(clash)}")
    checked_base(spec.table, spec.name)
    provider = provider_of(spec, lambda: _load(spec.table.ca_file))
    return LitellmModel(
        name=spec.name,
        model=model,
        table=spec.table,
        key=_key(spec, context, provider),
        headers=secret_headers(spec, context, key_variable=""),
        clock=context.clock,
        secrets=keys_in(context.environ),
    )


def price(spec: ModelSpec) -> Price | None:
    """Return the price in the table that comes with litellm, which is read without importing it."""
    import json

    folder = litellm_folder()
    if folder is None:
        return None
    try:
        table = json.loads((folder / _PRICES).read_bytes())
    except (OSError, ValueError):
        return None
    model = spec.table.model or spec.argument
    provider, _, bare = model.partition("/")
    entry = table.get(model)
    if entry is None and table.get(bare, {}).get("litellm_provider") == provider:
        entry = table[bare]
    if not entry or not {"input_cost_per_token", "output_cost_per_token"} <= entry.keys():
        return None
    cached = entry.get("cache_read_input_token_cost")
    return Price(
        input=1e6 * entry["input_cost_per_token"],
        output=1e6 * entry["output_cost_per_token"],
        cached=None if cached is None else 1e6 * cached,
    )


def lacks(context: ModelContext) -> str:
    """Return what the environment lacks for every provider that is known to want one key, or the empty text."""
    variables = {variable for known in KEYS.values() for variable in known}
    found = any(context.environ.get(variable, "").strip() for variable in variables)
    return "" if found else "a provider's key, or a table with `api_base`"
