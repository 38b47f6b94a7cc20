"""The direct path to any OpenAI-compatible ``/chat/completions``: one aiohttp session for the whole fleet."""

from __future__ import annotations

import json
import resource
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from fleet.models.endpoint import checked_base, is_loopback, proxy_for, secret_headers, trust
from fleet.models.registry import BadModel, ModelContext, ModelSpec, ModelTable
from fleet.models.replies import CALL_HEADER, BadEndpoint, Reader, call_id
from qodebase.codec import JSON, NotDecoded, json_decoder
from qodebase.ports import Answer, Clock, Failure, NoAnswer, Prompt

if TYPE_CHECKING:
    import ssl

    import aiohttp

ADAPTER = "openai"

_PATH = "/chat/completions"
PUBLIC_BASE = "https://api.openai.com/v1"
KEY_VARIABLE = "OPENAI_API_KEY"
LARGEST_REPLY = 8 << 20
"""Bytes of a reply's body; a larger one is no answer."""

MOST_IN_FLIGHT = 10_000
_SPARE_FILES = 512
_VALUES = json_decoder(Any)
OURS = ("model", "messages", "stream", "n")
"""What `params` must not set."""


class OpenAIModel:
    """Asks one endpoint for one model; failures are values, and what no other call would survive is an error.

    Args:
        name: as in flags and records.
        model: the endpoint's id of the model.
        table: address, price, timeout and more fields of the request.
        headers: what authorises a call; never shown.
        tls: how to trust the endpoint; None: as the system does.
        proxy: the proxy on the way to it; empty: none.
    """

    deterministic = False
    reads_words = True
    simulated = False

    def __init__(
        self,
        *,
        name: str,
        model: str,
        table: ModelTable,
        headers: dict[str, str],
        clock: Clock,
        tls: ssl.SSLContext | None = None,
        proxy: str = "",
    ) -> None:
        base = (table.api_base or PUBLIC_BASE).rstrip("/")
        self.name = name
        self.local = is_loopback(base) if table.local is None else table.local
        self._url = f"{base}{_PATH}"
        self._fixed = {"model": model, **table.params}
        self._limit = "max_completion_tokens" if base == PUBLIC_BASE else "max_tokens"
        self._limited = any(key in table.params for key in ("max_tokens", "max_completion_tokens"))
        self._timeout_s = table.timeout_s
        self._headers = {**headers, "Content-Type": "application/json", "Accept": "application/json"}
        self._tls = tls
        self._proxy = proxy
        self._clock = clock
        self._session: aiohttp.ClientSession | None = None
        self.most_in_flight = _most_in_flight()
        secrets = {value.removeprefix("Bearer ") for value in headers.values()} | {proxy}
        self._reader = Reader(name, price=table.price, secrets=tuple(sorted(secrets, key=len, reverse=True)))

    async def answer(self, prompt: Prompt) -> Answer | NoAnswer:
        """Make one call, without retry.

        Raises:
            QodebaseError: the key, the model or the address is wrong, or the account is empty.
        """
        import aiohttp

        none = self._reader.none
        with self._clock.working():
            try:
                return await self._call(self._body(prompt), call_id(prompt))
            except TimeoutError:
                why = f"no whole reply within {self._timeout_s:g} s"
                return none(Failure.TIMEOUT, why, retry=True, cost_usd=None)
            except aiohttp.ClientHttpProxyError as error:
                return self._reader.refusal(407 if error.status == 407 else 502, {}, error.message)
            except (aiohttp.ClientConnectorCertificateError, aiohttp.ClientConnectorSSLError) as error:
                raise BadEndpoint(
                    self._reader.clean(f"no trusted connection to the model {self.name}: {error}"),
                    hint="Name the certificates to trust with `ca_file` in its [models.NAME] table.",
                ) from None
            except aiohttp.ClientConnectorError as error:
                return none(Failure.PROVIDER, f"no connection: {error}", retry=True)
            except (aiohttp.ClientError, OSError) as error:
                why = f"the connection broke: {error or type(error).__name__}"
                return none(Failure.PROVIDER, why, retry=True, cost_usd=None)

    async def _call(self, body: bytes, call: str) -> Answer | NoAnswer:
        headers = {CALL_HEADER: call}
        async with self._open().post(self._url, data=body, headers=headers, allow_redirects=False) as response:
            raw = bytearray()
            async for piece in response.content.iter_any():
                raw += piece
                if len(raw) > LARGEST_REPLY:
                    response.close()
                    why = f"the reply is larger than {LARGEST_REPLY >> 20} MiB"
                    return self._reader.none(Failure.PROVIDER, why, cost_usd=None)
            reply = _decoded(bytes(raw))
            if response.status != 200:
                now = None if self._clock.simulated else self._clock.now()
                return self._reader.refusal(response.status, response.headers, reply, now=now)
            if isinstance(reply, str):
                return self._reader.no_json(reply)
            return self._reader.completion(reply, call=call, echoed=response.headers.get(CALL_HEADER, ""))

    def _body(self, prompt: Prompt) -> bytes:
        messages = [{"role": message.role, "content": message.text} for message in prompt.messages]
        body: dict[str, Any] = {**self._fixed, "messages": messages}
        if not self._limited:
            body[self._limit] = prompt.max_output_tokens
        return JSON.encode(body)

    def _open(self) -> aiohttp.ClientSession:
        if self._session is None:
            import aiohttp

            _make_room(self.most_in_flight + _SPARE_FILES)
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=self.most_in_flight, ssl=self._tls or True, ttl_dns_cache=300),
                timeout=aiohttp.ClientTimeout(total=self._timeout_s),
                cookie_jar=aiohttp.DummyCookieJar(),
                headers=self._headers,
                proxy=self._proxy or None,
            )
        return self._session

    async def close(self) -> None:
        """Close the connections."""
        if self._session is not None:
            await self._session.close()
            self._session = None


def _most_in_flight() -> int:
    """Return how many connections this process may open at once."""
    files = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    return MOST_IN_FLIGHT if files < 0 else max(16, min(MOST_IN_FLIGHT, files - _SPARE_FILES))


def _make_room(files: int) -> None:
    """Let this process open so many files, where its soft limit is lower and the hard one is not."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if 0 <= soft < files and (hard < 0 or soft < hard):
        resource.setrlimit(resource.RLIMIT_NOFILE, (files if hard < 0 else min(files, hard), hard))


def _decoded(raw: bytes) -> object:
    """Return the JSON of a body, or its text where it is none; what only Python's own decoder takes is JSON too."""
    with suppress(NotDecoded, RecursionError):
        return _VALUES.decode(raw)
    try:
        return json.loads(raw)
    except (ValueError, RecursionError):
        return raw[:1000].decode(errors="replace")


def create(spec: ModelSpec, context: ModelContext) -> OpenAIModel:
    """Make the model; a missing key or a bad address is an error here."""
    table = spec.table
    model = table.model or spec.argument
    if not model:
        raise BadModel(f"the model {spec.name} names no model id", hint="Write `openai:MODEL-ID`, or set `model`.")
    if clash := sorted(set(OURS) & set(table.params)):
        raise BadModel(f"`params` of the model {spec.name} must not set {', '.join(clash)}")
    base = checked_base(table, spec.name).rstrip("/")
    if base.endswith(_PATH):
        raise BadModel(
            f"`api_base` of the model {spec.name} must end before {_PATH}, which is appended to it",
            hint=f"Write {base.removesuffix(_PATH)}",
        )
    key_variable = table.api_key_env or (KEY_VARIABLE if base in ("", PUBLIC_BASE) else "")
    return OpenAIModel(
        name=spec.name,
        model=model,
        table=table,
        headers=secret_headers(spec, context, key_variable=key_variable),
        clock=context.clock,
        tls=trust(table.ca_file, spec.name),
        proxy=proxy_for(base or PUBLIC_BASE, context.environ),
    )


def lacks(context: ModelContext) -> str:
    """Return what the environment lacks for the public address, or the empty text."""
    return "" if context.environ.get(KEY_VARIABLE, "").strip() else f"{KEY_VARIABLE}, or a table with `api_base`"
