"""A local OpenAI-compatible endpoint that answers, and fails, by a plan; it runs in a process of its own.

It speaks just enough HTTP/1.1 on bare asyncio protocols, so that on a small machine the caller is what is measured.
Like vLLM it takes a call's id from ``X-Request-Id`` and gives it back; like some providers it shows the caller's key
in its errors. Run as a module it reads a plan as a line of JSON, prints its port, and ends with its standard input.
"""

from __future__ import annotations

import asyncio
import json
import math
import resource
import sys
import time
from typing import Any, NamedTuple

import msgspec

from qodebase.commands.bench.support.endpoint_plan import PAID, Counts, Kind, Plan, answer_to, key_of, used_by

_STATUS = {200: "OK", 404: "Not Found", 429: "Too Many Requests", 500: "Error", 503: "Busy"}
_JSON = "application/json"


class Call(NamedTuple):
    """One call: the prompt's text, the id and the key that it came with."""

    prompt: str
    id: str
    authorization: str


class Decided(NamedTuple):
    """How a call is replied to, after how many seconds, and whose answer a mixed-up reply holds."""

    kind: Kind
    latency_s: float = 0.0
    other: Call | None = None


class Endpoint:
    """Decides and counts; its connections share it."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.counts = Counts()
        self._asked: dict[str, int] = {}
        self._calls = 0
        self._open = 0
        self._bursts = 0
        self._burst_until = 0.0
        self._newest: Call | None = None
        self._other: Call | None = None

    def begin(self, call: Call) -> Decided:
        """Decide what becomes of a call."""
        self._open += 1
        self.counts.most_open = max(self.counts.most_open, self._open)
        if self._newest is None or self._newest.prompt != call.prompt:
            self._other, self._newest = self._newest, call
        if (limited := self._limited()) is not None:
            return Decided(limited)
        self._calls += 1
        key = key_of(call.prompt)
        times = self._asked[key] = self._asked.get(key, 0) + 1
        kind, latency_s = self.plan.fate(key, times)
        if kind is Kind.ANOTHERS and self._other is None:
            kind = Kind.GOOD
        return Decided(kind, latency_s, self._other)

    def _limited(self) -> Kind | None:
        now = time.monotonic()
        due = self._bursts < self.plan.bursts and self._calls >= self.plan.burst_every * (self._bursts + 1)
        if due and now >= self._burst_until:
            self._bursts += 1
            self._burst_until = now + self.plan.burst_s
        if now >= self._burst_until:
            return None
        return Kind.LIMITED if self._bursts % 2 else Kind.LIMITED_SILENTLY

    def end(self, call: Call, kind: Kind, other: Call | None = None) -> bytes | None:
        """Count a call that has been replied to or given up, and return the reply; None: hang up."""
        self._open -= 1
        self.counts.replies.setdefault(key_of(call.prompt), []).append(kind)
        if kind in PAID:
            used = used_by(call.prompt, kind)
            self.counts.paid += 1
            self.counts.input_tokens += used.input_tokens
            self.counts.output_tokens += used.output_tokens
        return self._reply(other if other is not None and kind is Kind.ANOTHERS else call, kind)

    def _reply(self, call: Call, kind: Kind) -> bytes | None:
        match kind:
            case Kind.SLOW | Kind.ABANDONED:
                return None
            case Kind.LIMITED:
                left = max(0.0, self._burst_until - time.monotonic())
                return _http(429, _error(f"slow down, {call.authorization}"), **{"Retry-After": str(math.ceil(left))})
            case Kind.LIMITED_SILENTLY:
                return _http(429, _error(f"slow down, {call.authorization}"))
            case Kind.ERROR | Kind.BUSY:
                return _http(int(kind), _error(f"something broke for {call.authorization}"))
            case Kind.PAGE:
                return _http(200, b"<html><body>Please log in</body></html>", "text/html")
            case Kind.DROPPED:
                whole = _completion(call, Kind.GOOD)
                return whole[: -len(whole) // 4]
            case Kind.TRUNCATED:
                body = _completion(call, Kind.GOOD).partition(b"\r\n\r\n")[2]
                return _http(200, body[: len(body) // 2])
        return _completion(call, kind)


class Connection(asyncio.Protocol):
    """One keep-alive connection: requests in, replies out, one after the other."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._loop = asyncio.get_running_loop()
        self._transport: Any = None
        self._buffer = b""
        self._waiting: tuple[Call, Decided, asyncio.TimerHandle] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the transport."""
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        """Take what came, and a request once it is whole."""
        self._buffer += data
        head, found, body = self._buffer.partition(b"\r\n\r\n")
        if not found or self._waiting is not None:
            return
        first, *lines = head.decode("latin-1").split("\r\n")
        headers = {name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        length = int(headers.get("content-length", "0"))
        if len(body) < length:
            return
        self._buffer = body[length:]
        self._take(first, headers, body[:length])

    def _take(self, first: str, headers: dict[str, str], body: bytes) -> None:
        method, path, _ = first.split(" ", 2)
        if method == "GET" and path == "/counts":
            self._transport.write(_http(200, msgspec.json.encode(self._endpoint.counts)))
        elif method == "POST" and path.endswith("/chat/completions"):
            prompt = "\n".join(str(message["content"]) for message in json.loads(body)["messages"])
            call = Call(prompt, headers.get("x-request-id", ""), headers.get("authorization", ""))
            decided = self._endpoint.begin(call)
            self._waiting = (call, decided, self._loop.call_later(decided.latency_s, self._answer))
        else:
            self._transport.write(_http(404, _error("there is nothing here")))

    def _answer(self) -> None:
        assert self._waiting is not None
        call, (kind, _, other), _ = self._waiting
        self._waiting = None
        reply = self._endpoint.end(call, kind, other)
        if reply is not None:
            self._transport.write(reply)
        if reply is None or kind is Kind.DROPPED:
            self._transport.close()
        elif self._buffer:
            self.data_received(b"")

    def connection_lost(self, exc: Exception | None) -> None:
        """Count a call whose caller went away before its reply."""
        if self._waiting is not None:
            call, decided, timer = self._waiting
            self._waiting = None
            timer.cancel()
            self._endpoint.end(call, Kind.SLOW if decided.kind is Kind.SLOW else Kind.ABANDONED)


def _completion(call: Call, kind: Kind) -> bytes:
    message: dict[str, Any] = {"role": "assistant", "content": answer_to(call.prompt)}
    if kind is Kind.EMPTY:
        message["content"] = ""
    elif kind is Kind.REFUSAL:
        message |= {"content": None, "refusal": "I can't help with that."}
    used = used_by(call.prompt, kind)
    body = {
        "id": f"chatcmpl-{call.id}",
        "object": "chat.completion",
        "created": 1_700_000_000,
        "model": "bench",
        "choices": [{"index": 0, "finish_reason": "stop", "message": message}],
        "usage": {
            "prompt_tokens": used.input_tokens,
            "completion_tokens": used.output_tokens,
            "total_tokens": sum(used),
        },
    }
    return _http(200, json.dumps(body).encode(), **{"X-Request-Id": call.id})


def _error(text: str) -> bytes:
    return json.dumps({"error": {"message": text, "type": "bench", "code": None}}).encode()


def _http(status: int, body: bytes, content_type: str = _JSON, **headers: str) -> bytes:
    lines = [f"HTTP/1.1 {status} {_STATUS[status]}", f"Content-Type: {content_type}", f"Content-Length: {len(body)}"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    return "\r\n".join([*lines, "", ""]).encode() + body


async def serve(plan: Plan) -> None:
    """Serve on 127.0.0.1, print the port, and end when standard input does."""
    endpoint = Endpoint(plan)
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: Connection(endpoint), "127.0.0.1", 0, backlog=4096)
    print(server.sockets[0].getsockname()[1], flush=True)
    ended = asyncio.Event()
    loop.add_reader(sys.stdin.fileno(), ended.set)
    await ended.wait()
    server.close()


if __name__ == "__main__":
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    asyncio.run(serve(msgspec.json.decode(sys.stdin.readline(), type=Plan)))
