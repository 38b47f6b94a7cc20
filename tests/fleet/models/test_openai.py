"""The direct path, against a real server on 127.0.0.1 that fails as providers do."""

from __future__ import annotations

import asyncio
import gc
import hashlib
import resource
import shutil
import ssl
import subprocess
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from fleet.models.endpoint import is_loopback, proxy_for
from fleet.models.openai import LARGEST_REPLY, create
from fleet.models.registry import BadModel, MissingKey, Price
from fleet.models.replies import BadEndpoint, KeyRefused, ModelRefused, NoCredit
from qodebase.clock import VirtualClock
from qodebase.errors import QodebaseError
from qodebase.ports import Answer, Failure, NoAnswer, Prompt

KEY = "sk-very-secret-4711"


def answers(body: Any, status: int = 200, **headers: str) -> Any:
    """Return a handler that always says this; keywords are headers, their underscores dashes."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}

    async def handler(request: web.Request, sent: dict[str, Any]) -> web.Response:
        if isinstance(body, str):
            return web.Response(text=body, status=status, headers=named)
        return web.json_response(body, status=status, headers=named)

    return handler


async def asked(base: str, spec: Any, context: Any, prompt: Prompt, **table: Any) -> Answer | NoAnswer:
    """Ask once, with a key, and close."""
    model = create(spec(api_base=base, api_key_env="THE_KEY", **table), context(THE_KEY=KEY))
    try:
        return await model.answer(prompt)
    finally:
        await model.close()


def ask_against(handler: Any, provider: Any, spec: Any, context: Any, prompt: Prompt, **table: Any) -> Any:
    """Serve the handler, ask once, and return what came."""

    async def main() -> Answer | NoAnswer:
        async with provider(handler) as server:
            return await asked(server.base, spec, context, prompt, **table)

    return asyncio.run(main())


def test_an_answer_carries_its_tokens_and_its_cost(
    provider: Any, spec: Any, context: Any, prompt: Any, completion: Any
) -> None:
    price = Price(input=1.0, cached=0.1, output=2.0)
    got = ask_against(answers(completion()), provider, spec, context, prompt(), price=price)
    assert (got.text, got.model, got.source) == ("Hello.", "mine", "provider")
    assert (got.input_tokens, got.cached_tokens, got.output_tokens) == (100, 40, 20)
    assert got.cost_usd == pytest.approx((60 * 1.0 + 40 * 0.1 + 20 * 2.0) / 1e6)


def test_without_a_price_the_cost_is_unknown_and_not_zero(
    provider: Any, spec: Any, context: Any, prompt: Any, completion: Any
) -> None:
    assert ask_against(answers(completion()), provider, spec, context, prompt()).cost_usd is None


def test_without_usage_the_cost_is_unknown_even_with_a_price(
    provider: Any, spec: Any, context: Any, prompt: Any, completion: Any
) -> None:
    price = Price(input=1.0, output=2.0)
    got = ask_against(answers(completion(usage=None)), provider, spec, context, prompt(), price=price)
    assert (got.text, got.input_tokens, got.cost_usd) == ("Hello.", 0, None)


def test_the_request_holds_model_messages_limit_params_and_headers(
    provider: Any, spec: Any, context: Any, prompt: Any, completion: Any
) -> None:
    async def main() -> None:
        async with provider(answers(completion())) as server:
            table = spec(
                api_base=server.base + "/",
                api_key_env="THE_KEY",
                headers_env={"X-Team": "TEAM"},
                params={"temperature": 0.5},
            )
            model = create(table, context(THE_KEY=KEY, TEAM="blue"))
            await model.answer(prompt("Was heißt das? \U0001f600", limit=77))
            await model.close()
            headers, body = server.requests[0]
            assert headers["Authorization"] == f"Bearer {KEY}"
            assert headers["X-Team"] == "blue"
            assert body == {
                "model": "some-model",
                "messages": [{"role": "user", "content": "Was heißt das? \U0001f600"}],
                "temperature": 0.5,
                "max_tokens": 77,
            }

    asyncio.run(main())


def test_a_limit_of_output_tokens_in_params_goes_before_the_prompts(
    provider: Any, spec: Any, context: Any, prompt: Any, completion: Any
) -> None:
    async def main() -> None:
        async with provider(answers(completion())) as server:
            model = create(spec(api_base=server.base, params={"max_completion_tokens": 9}), context())
            await model.answer(prompt(limit=77))
            await model.close()
            assert server.requests[0][1]["max_completion_tokens"] == 9
            assert "max_tokens" not in server.requests[0][1]
            assert "Authorization" not in server.requests[0][0]

    asyncio.run(main())


def message(**fields: Any) -> dict[str, Any]:
    return {"choices": [{"finish_reason": fields.pop("finish", "stop"), "message": fields}]}


ENDINGS = {
    "cut": (message(content="Hel", finish="length"), Failure.CUT_OFF, False),
    "filtered": (message(content="", finish="content_filter"), Failure.REFUSED, False),
    "refusal": (message(content=None, refusal="I would rather not."), Failure.REFUSED, False),
    "empty": (message(content=""), Failure.EMPTY, False),
    "blank": (message(content=" \n"), Failure.EMPTY, False),
    "null": (message(content=None), Failure.EMPTY, False),
    "tool call": (message(content=None, finish="tool_calls", tool_calls=[{}]), Failure.EMPTY, False),
    "no choices": ({"choices": []}, Failure.EMPTY, False),
    "null choices": ({"choices": None}, Failure.EMPTY, False),
    "choice of a wrong type": ({"choices": ["Hello."]}, Failure.EMPTY, False),
    "a list": ([1, 2], Failure.PROVIDER, True),
    "error within a good status": ({"error": {"message": "overloaded", "code": 503}}, Failure.PROVIDER, True),
    "rate within a good status": ({"error": {"message": "slow down", "code": 429}}, Failure.RATE, True),
    "html": ("<html>busy</html>", Failure.PROVIDER, True),
    "cut json": ('{"choices": [{"mess', Failure.PROVIDER, True),
    "nested json": ("[" * 100_000, Failure.PROVIDER, True),
    "nothing": ("", Failure.PROVIDER, True),
}


@pytest.mark.parametrize("name", ENDINGS)
def test_a_good_status_with_something_else_than_an_answer_is_a_value(
    name: str, provider: Any, spec: Any, context: Any, prompt: Any
) -> None:
    body, failure, retry = ENDINGS[name]
    got = ask_against(answers(body), provider, spec, context, prompt())
    assert isinstance(got, NoAnswer)
    assert (got.failure, got.retry) == (failure, retry)


REFUSALS: dict[str, tuple[int, Any, Failure, bool]] = {
    "429": (429, {"error": {"message": "slow down"}}, Failure.RATE, True),
    "500": (500, "oops", Failure.PROVIDER, True),
    "502": (502, "<html>", Failure.PROVIDER, True),
    "503": (503, "", Failure.PROVIDER, True),
    "504": (504, "", Failure.TIMEOUT, True),
    "529": (529, {"error": {"message": "overloaded"}}, Failure.PROVIDER, True),
    "524": (524, "", Failure.TIMEOUT, True),
    "408": (408, "", Failure.TIMEOUT, True),
    "413": (413, "", Failure.TOO_LONG, False),
    "400": (400, {"error": {"message": "no such parameter"}}, Failure.PROVIDER, False),
    "422": (422, {"detail": "no such parameter"}, Failure.PROVIDER, False),
    "too long by code": (400, {"error": {"code": "context_length_exceeded", "message": ""}}, Failure.TOO_LONG, False),
    "too long by words": (400, {"error": {"message": "The Maximum Context Length is 8"}}, Failure.TOO_LONG, False),
    "filtered": (400, {"error": {"code": "content_filter", "message": "no"}}, Failure.REFUSED, False),
}


@pytest.mark.parametrize("name", REFUSALS)
def test_a_bad_status_is_a_value_that_says_whether_to_try_again(
    name: str, provider: Any, spec: Any, context: Any, prompt: Any
) -> None:
    status, body, failure, retry = REFUSALS[name]
    got = ask_against(answers(body, status), provider, spec, context, prompt())
    assert isinstance(got, NoAnswer)
    assert (got.failure, got.retry, got.retry_after_s) == (failure, retry, None)
    assert str(status) in got.why


def test_retry_after_is_read_from_the_reply(provider: Any, spec: Any, context: Any, prompt: Any) -> None:
    got = ask_against(answers("", 429, Retry_After="7"), provider, spec, context, prompt())
    assert got.retry_after_s == 7
    dated = answers("", 503, Retry_After="Wed, 21 Oct 2026 07:28:30 GMT", Date="Wed, 21 Oct 2026 07:28:00 GMT")
    assert ask_against(dated, provider, spec, context, prompt()).retry_after_s == 30


FINAL: dict[str, tuple[int, Any, type[QodebaseError]]] = {
    "401": (401, {"error": {"message": f"Incorrect API key provided: {KEY}"}}, KeyRefused),
    "403": (403, f"forbidden for {KEY}", KeyRefused),
    "404": (404, {"error": {"message": "no such model"}}, ModelRefused),
    "unknown model as 400": (400, {"error": {"code": "model_not_found", "message": "no"}}, ModelRefused),
    "402": (402, {"error": {"message": "pay first"}}, NoCredit),
    "no quota": (429, {"error": {"code": "insufficient_quota", "message": "no quota"}}, NoCredit),
    "405": (405, "", BadEndpoint),
    "a stream": (200, f'data: {{"choices": [{{"delta": {{"content": "{KEY}"}}}}]}}\n\ndata: [DONE]\n\n', BadEndpoint),
    "a stream that begins with a comment": (200, ": OPENROUTER PROCESSING\n\ndata: {}\n\n", BadEndpoint),
}


@pytest.mark.parametrize("name", FINAL)
def test_what_no_other_call_would_survive_is_an_error_that_shows_no_key(
    name: str, provider: Any, spec: Any, context: Any, prompt: Any
) -> None:
    status, body, kind = FINAL[name]
    with pytest.raises(kind) as caught:
        ask_against(answers(body, status), provider, spec, context, prompt())
    assert "mine" in caught.value.message
    assert caught.value.hint
    assert KEY not in str(caught.value)


def test_a_redirect_is_not_followed_with_the_key(
    provider: Any, spec: Any, context: Any, prompt: Any, completion: Any
) -> None:
    async def main() -> None:
        async with provider(answers(completion())) as other:
            elsewhere = answers("", 307, Location=f"{other.base}/chat/completions")
            async with provider(elsewhere) as server:
                with pytest.raises(BadEndpoint):
                    await asked(server.base, spec, context, prompt())
            assert not other.requests

    asyncio.run(main())


def test_a_key_that_the_provider_sends_back_is_not_kept(provider: Any, spec: Any, context: Any, prompt: Any) -> None:
    got = ask_against(answers({"error": {"message": f"bad\nkey {KEY}!"}}, 500), provider, spec, context, prompt())
    assert got.why == "HTTP 500: bad key [secret]!"


def test_a_hanging_provider_is_a_timeout_of_unknown_cost(provider: Any, spec: Any, context: Any, prompt: Any) -> None:
    async def hang(request: web.Request, sent: dict[str, Any]) -> web.Response:
        await asyncio.Event().wait()
        raise AssertionError

    got = ask_against(hang, provider, spec, context, prompt(), timeout_s=0.1)
    assert (got.failure, got.retry, got.cost_usd) == (Failure.TIMEOUT, True, None)


def test_a_provider_that_drips_is_a_timeout(provider: Any, spec: Any, context: Any, prompt: Any) -> None:
    async def drip(request: web.Request, sent: dict[str, Any]) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        for _ in range(10):
            await response.write(b" ")
        await asyncio.Event().wait()
        return response

    assert ask_against(drip, provider, spec, context, prompt(), timeout_s=0.1).failure is Failure.TIMEOUT


def test_a_connection_dropped_mid_answer_is_worth_another_try(
    provider: Any, spec: Any, context: Any, prompt: Any
) -> None:
    async def drop(request: web.Request, sent: dict[str, Any]) -> web.StreamResponse:
        response = web.StreamResponse()
        response.content_length = 1000
        await response.prepare(request)
        await response.write(b'{"choices"')
        assert request.transport is not None
        request.transport.close()
        return response

    got = ask_against(drop, provider, spec, context, prompt())
    assert (got.failure, got.retry, got.cost_usd) == (Failure.PROVIDER, True, None)


@pytest.mark.parametrize("raw", [b"", b"SSH-2.0-OpenSSH_9.2\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n"])
def test_a_peer_that_speaks_no_http_is_a_value(
    raw: bytes, raw_provider: Any, spec: Any, context: Any, prompt: Any
) -> None:
    async def main() -> Answer | NoAnswer:
        async with raw_provider(raw) as base:
            return await asked(base, spec, context, prompt())

    got = asyncio.run(main())
    assert isinstance(got, NoAnswer)
    assert (got.failure, got.retry) == (Failure.PROVIDER, True)


def test_nobody_listening_is_a_value_that_cost_nothing(spec: Any, context: Any, prompt: Any) -> None:
    got = asyncio.run(asked("http://127.0.0.1:9/v1", spec, context, prompt()))
    assert isinstance(got, NoAnswer)
    assert (got.failure, got.retry, got.cost_usd) == (Failure.PROVIDER, True, 0.0)


def test_an_oversized_reply_is_cut_off_and_not_asked_for_again(
    provider: Any, spec: Any, context: Any, prompt: Any
) -> None:
    async def flood(request: web.Request, sent: dict[str, Any]) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        piece = b" " * (1 << 20)
        try:
            for _ in range(1 + LARGEST_REPLY // len(piece)):
                await response.write(piece)
        except ConnectionError:
            pass
        return response

    got = ask_against(flood, provider, spec, context, prompt())
    assert (got.failure, got.retry, got.cost_usd) == (Failure.PROVIDER, False, None)
    assert "larger than 8 MiB" in got.why


def test_lone_surrogates_in_an_answer_become_question_marks(
    provider: Any, spec: Any, context: Any, prompt: Any
) -> None:
    raw = '{"choices": [{"finish_reason": "stop", "message": {"content": "a\\ud800b"}}]}'
    assert ask_against(answers(raw), provider, spec, context, prompt()).text == "a?b"


def test_what_only_python_takes_for_json_is_read_too(provider: Any, spec: Any, context: Any, prompt: Any) -> None:
    raw = '{"choices": [{"logprobs": NaN, "finish_reason": "stop", "message": {"content": "Hello."}}]}'
    assert ask_against(answers(raw), provider, spec, context, prompt()).text == "Hello."


def test_content_in_parts_is_joined(provider: Any, spec: Any, context: Any, prompt: Any) -> None:
    parts = [{"type": "text", "text": "Hel"}, {"type": "image"}, {"type": "text", "text": "lo."}]
    assert ask_against(answers(message(content=parts)), provider, spec, context, prompt()).text == "Hello."


def test_many_calls_share_few_connections(provider: Any, spec: Any, context: Any, prompt: Any, completion: Any) -> None:
    async def main() -> None:
        async with provider(answers(completion())) as server:
            model = create(spec(api_base=server.base), context())
            for _ in range(5):
                async with asyncio.TaskGroup() as group:
                    calls = [group.create_task(model.answer(prompt(f"call {number}"))) for number in range(20)]
                assert all(isinstance(call.result(), Answer) for call in calls)
            await model.close()
            assert len(server.requests) == 100
            assert len(server.peers) <= 20

    asyncio.run(main())


def test_cancelling_a_call_is_not_swallowed_and_leaves_the_model_usable(
    provider: Any, spec: Any, context: Any, prompt: Any, completion: Any
) -> None:
    async def main() -> None:
        arrived = asyncio.Event()

        async def slow_first(request: web.Request, sent: dict[str, Any]) -> web.Response:
            if not arrived.is_set():
                arrived.set()
                await asyncio.Event().wait()
            return web.json_response(completion())

        async with provider(slow_first) as server:
            model = create(spec(api_base=server.base), context())
            call = asyncio.ensure_future(model.answer(prompt()))
            await arrived.wait()
            call.cancel()
            with pytest.raises(asyncio.CancelledError):
                await call
            assert isinstance(await model.answer(prompt()), Answer)
            await model.close()

    asyncio.run(main())


def test_virtual_time_stands_still_while_a_call_is_under_way(
    provider: Any, spec: Any, context: Any, prompt: Any, completion: Any
) -> None:
    clock = VirtualClock()

    async def main() -> None:
        woken = asyncio.Event()

        async def sleeper() -> None:
            await clock.sleep(1000)
            woken.set()

        async def think(request: web.Request, sent: dict[str, Any]) -> web.Response:
            await asyncio.to_thread(hashlib.pbkdf2_hmac, "sha256", b"", b"", 20_000)
            return web.json_response(completion())

        async with provider(think) as server:
            model = create(spec(api_base=server.base), context(clock=clock))
            async with asyncio.TaskGroup() as group:
                group.create_task(sleeper())
                got = await model.answer(prompt())
                assert isinstance(got, Answer)
                assert clock.now() == 0
            assert clock.now() == 1000
            await model.close()

    with asyncio.Runner(loop_factory=clock.new_event_loop) as runner:
        runner.run(main())


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a certificate that no system trusts; its key is in the same file."""
    file = tmp_path_factory.mktemp("tls") / "both.pem"
    key = file.with_name("key.pem")
    kind = ["-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2"]
    whose = ["-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"]
    if shutil.which("openssl") is None:
        pytest.skip("no openssl on this machine")
    subprocess.run(
        ["openssl", "req", *kind, *whose, "-keyout", str(key), "-out", str(file)], check=True, capture_output=True
    )
    file.write_bytes(file.read_bytes() + key.read_bytes())
    return file


def test_an_untrusted_certificate_ends_the_run_and_a_ca_file_makes_it_trusted(
    certificate: Path, provider: Any, spec: Any, context: Any, prompt: Any, completion: Any
) -> None:
    async def main() -> None:
        tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        tls.load_cert_chain(certificate)
        async with provider(answers(completion()), tls) as server:
            with pytest.raises(BadEndpoint, match="ca_file"):
                await asked(server.base, spec, context, prompt())
            got = await asked(server.base, spec, context, prompt(), ca_file=str(certificate))
            assert isinstance(got, Answer)

    asyncio.run(main())
    gc.collect()


def test_the_public_endpoint_needs_its_key_before_any_work(spec: Any, context: Any) -> None:
    with pytest.raises(MissingKey, match="OPENAI_API_KEY"):
        create(spec(), context())
    with pytest.raises(MissingKey, match="OPENAI_API_KEY"):
        create(spec(api_base="https://api.openai.com/v1/"), context())
    model = create(spec(), context(OPENAI_API_KEY=KEY))
    assert KEY not in repr(model)
    assert model.local is False


def test_another_address_is_sent_no_key_that_was_not_named_for_it(
    provider: Any, spec: Any, context: Any, prompt: Any, completion: Any
) -> None:
    async def main() -> None:
        async with provider(answers(completion())) as server:
            model = create(spec(api_base=server.base), context(OPENAI_API_KEY=KEY))
            await model.answer(prompt())
            await model.close()
            assert model.local
            assert KEY not in str(server.requests)

    asyncio.run(main())


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ({"api_key_env": "ABSENT"}, "ABSENT"),
        ({"api_base": "http://x/v1", "headers_env": {"X-Team": "NO_TEAM"}}, "NO_TEAM"),
        ({"api_base": "http://x/v1", "api_key_env": "BROKEN"}, "BROKEN"),
        ({"api_base": "http://x/v1", "headers_env": {"X\n-Team": "TEAM"}}, "no header"),
        ({"api_base": "http://x/v1/chat/completions"}, "before /chat/completions"),
        ({"api_base": "http://ex..ample/v1"}, "no address"),
        ({"api_base": "ftp://x/v1"}, "https://"),
        ({"api_base": "http://x:99999/v1"}, "no address"),
        ({"api_base": "https://me:secret@x/v1"}, "no user, password"),
        ({"api_base": "http://x/v1", "params": {"stream": True}}, "stream"),
        ({"api_base": "http://x/v1", "model": ""}, "no model id"),
        ({"api_base": "http://x/v1", "ca_file": "/no/such/file.pem"}, "ca_file"),
    ],
)
def test_what_a_table_lacks_is_an_error_before_any_work(
    table: dict[str, Any], said: str, spec: Any, context: Any
) -> None:
    with pytest.raises((MissingKey, BadModel)) as caught:
        create(spec(**table), context(BROKEN="sk-one\nsk-two"))
    assert said in str(caught.value)
    assert "sk-one" not in str(caught.value)
    assert "secret" not in caught.value.message


def test_the_proxy_of_the_environment_is_used_but_not_for_what_it_excludes() -> None:
    environ = {"HTTPS_PROXY": "http://proxy:8080", "no_proxy": "internal.example, .corp"}
    assert proxy_for("https://api.openai.com/v1", environ) == "http://proxy:8080"
    assert proxy_for("https://a.internal.example/v1", environ) == ""
    assert proxy_for("https://llm.corp/v1", environ) == ""
    assert proxy_for("http://127.0.0.1:80/v1", {"http_proxy": "http://proxy:8080"}) == ""
    assert proxy_for("https://api.openai.com/v1", {}) == ""


@pytest.mark.parametrize("value", ["socks5://me:secret@proxy:1080", "http://", "http://[::1"])
def test_what_is_no_http_proxy_is_refused_before_any_work(value: str, spec: Any, context: Any) -> None:
    with pytest.raises(BadModel, match="https_proxy") as caught:
        create(spec(api_base="https://llm.example/v1"), context(https_proxy=value))
    assert "secret" not in str(caught.value)
    assert proxy_for("https://llm.example/v1", {"https_proxy": "proxy:3128"}) == "http://proxy:3128"


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_a_proxy_that_lets_nothing_pass_ends_the_run(
    scheme: str, raw_provider: Any, spec: Any, context: Any, prompt: Any
) -> None:
    async def main() -> None:
        said = b"HTTP/1.1 407 Who Are You\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
        async with raw_provider(said) as base:
            proxy = base.removesuffix("/v1").replace("//", "//me:secret-4711@")
            model = create(spec(api_base=f"{scheme}://llm.example/v1"), context(**{f"{scheme}_proxy": proxy}))
            with pytest.raises(BadEndpoint, match="proxy") as caught:
                await model.answer(prompt())
            assert "secret-4711" not in str(caught.value)
            await model.close()

    asyncio.run(main())


def test_only_this_machines_own_addresses_are_local() -> None:
    own = ["http://127.0.0.1:80/v1", "http://127.1.2.3/v1", "http://localhost:8080/v1", "http://[::1]:80/v1"]
    others = ["http://10.0.0.1/v1", "http://127.0.0.1.example.com/v1", "http://localhost.example.com/v1", ""]
    assert [is_loopback(url) for url in own] == [True] * 4
    assert [is_loopback(url) for url in others] == [False] * 4


def echoing(completion: Any, *, whose: str, where: str) -> Any:
    """Return a handler that gives back an id in the body or in a header: the call's own, another's, or one of its own.

    Another's is that of the call before.
    """
    before = ["qodebase-0123456789abcdef-00000000"]

    async def handler(request: web.Request, sent: dict[str, Any]) -> web.Response:
        own = request.headers["X-Request-Id"]
        said = {"own": own, "another's": before[-1], "new": "chatcmpl-1", "none": ""}[whose]
        before.append(own)
        headers = {"X-Request-Id": said} if where == "header" else {}
        return web.json_response(completion(id=f"chatcmpl-{said}" if where == "body" else "x"), headers=headers)

    return handler


@pytest.mark.parametrize("where", ["body", "header"])
@pytest.mark.parametrize(("whose", "taken"), [("own", True), ("another's", False), ("new", True), ("none", True)])
def test_a_reply_with_the_id_of_another_call_is_not_taken(
    whose: str, taken: bool, where: str, provider: Any, spec: Any, context: Any, prompt: Any, completion: Any
) -> None:
    price = Price(input=1.0, output=1.0)
    got = ask_against(echoing(completion, whose=whose, where=where), provider, spec, context, prompt(), price=price)
    if taken:
        assert isinstance(got, Answer)
    else:
        assert (got.failure, got.retry, got.cost_usd, got.input_tokens) == (Failure.ANOTHERS, True, None, 0)


def test_each_call_has_an_id_of_its_own_and_an_answer_to_the_same_prompt_is_its_answer(
    provider: Any, spec: Any, context: Any, prompt: Any, completion: Any
) -> None:
    async def main() -> None:
        async with provider(echoing(completion, whose="another's", where="body")) as server:
            model = create(spec(api_base=server.base), context())
            first, again, other = [await model.answer(prompt(text)) for text in ("one", "one", "two")]
            await model.close()
            assert isinstance(first, NoAnswer)
            assert isinstance(again, Answer)
            assert isinstance(other, NoAnswer)
            ids = [headers["X-Request-Id"] for headers, _ in server.requests]
            assert len(set(ids)) == 3
            assert ids[0].rpartition("-")[0] == ids[1].rpartition("-")[0] != ids[2].rpartition("-")[0]

    asyncio.run(main())


def test_no_more_calls_are_allowed_than_this_process_can_open_connections(spec: Any, context: Any) -> None:
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    most = create(spec(api_base="http://127.0.0.1:1/v1"), context()).most_in_flight
    assert 16 <= most <= 10_000
    assert hard < 0 or most == 16 or most + 512 <= hard
