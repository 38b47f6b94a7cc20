"""A provider on 127.0.0.1, and what a model is made of."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from fleet.models.registry import ModelContext, ModelSpec, ModelTable
from qodebase.clock import SystemClock
from qodebase.ports import Clock, Message, Prompt

Handler = Callable[[web.Request, dict[str, Any]], Awaitable[web.StreamResponse]]


class Provider:
    """Serves ``/v1/chat/completions`` with a handler, and keeps what it was sent."""

    def __init__(self, handler: Handler) -> None:
        self._handler = handler
        self.base = ""
        self.requests: list[tuple[Mapping[str, str], dict[str, Any]]] = []
        self.peers: set[Any] = set()

    async def handle(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        self.requests.append((request.headers, body))
        assert request.transport is not None
        self.peers.add(request.transport.get_extra_info("peername"))
        return await self._handler(request, body)


@asynccontextmanager
async def serving(handler: Handler, ssl_context: Any = None) -> AsyncIterator[Provider]:
    provider = Provider(handler)
    app = web.Application()
    app.router.add_post("/v1/chat/completions", provider.handle)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0, ssl_context=ssl_context).start()
    provider.base = f"http{'s' if ssl_context else ''}://127.0.0.1:{runner.addresses[0][1]}/v1"
    try:
        yield provider
    finally:
        await runner.cleanup()


@asynccontextmanager
async def sending(raw: bytes) -> AsyncIterator[str]:
    """Send these bytes to whoever asks, whatever they ask, and hang up; yields the address."""

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(raw)
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(talk, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"


@pytest.fixture
def provider() -> Any:
    """Return an async context manager that serves a handler."""
    return serving


@pytest.fixture
def raw_provider() -> Any:
    """Return an async context manager that sends bytes."""
    return sending


@pytest.fixture
def context(tmp_path: Path) -> Any:
    """Return a maker of contexts."""

    def make(clock: Clock | None = None, tables: Any = None, **environ: str) -> ModelContext:
        return ModelContext(
            environ=environ, cache_folder=tmp_path / "cache", clock=clock or SystemClock(), tables=tables or {}
        )

    return make


@pytest.fixture
def spec() -> Any:
    """Return a maker of specs with a table."""

    def make(adapter: str = "openai", **table: Any) -> ModelSpec:
        made = ModelTable(adapter=adapter, **{"model": "some-model", **table})
        return ModelSpec(name="mine", adapter=adapter, argument=made.model, table=made)

    return make


@pytest.fixture
def prompt() -> Any:
    """Return a maker of prompts of one message."""

    def make(text: str = "Say hello.", limit: int = 50, **facts: Any) -> Prompt:
        return Prompt(messages=(Message(role="user", text=text),), max_output_tokens=limit, facts=facts)

    return make


@pytest.fixture
def completion() -> Any:
    """Return a maker of the bodies of good replies."""

    def make(content: Any = "Hello.", finish: str = "stop", **more: Any) -> dict[str, Any]:
        return {
            "id": "x",
            "object": "chat.completion",
            "created": 1,
            "model": "some-model",
            "choices": [{"index": 0, "finish_reason": finish, "message": {"role": "assistant", "content": content}}],
            "usage": {
                "prompt_tokens": 100,
                "completion_tokens": 20,
                "total_tokens": 120,
                "prompt_tokens_details": {"cached_tokens": 40},
            },
            **more,
        }

    return make
