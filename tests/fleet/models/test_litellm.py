"""litellm behind the same port; what needs the real library, which takes seconds to import, runs with ``full``."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from fleet.models.litellm import LitellmModel, create
from fleet.models.litellm_providers import KEYS, provider_of
from fleet.models.registry import BadModel, MissingKey, ModelTable, Price, parse_spec
from fleet.models.replies import KeyRefused, ModelRefused
from qodebase.ports import Answer, Failure, NoAnswer

KEY = "sk-very-secret-4711"


def test_the_key_of_a_known_provider_is_missed_before_any_work_and_without_litellm(context: Any) -> None:
    for text, variable in [
        ("litellm:anthropic/some-model", "ANTHROPIC_API_KEY"),
        ("litellm:gemini/some-model", "GEMINI_API_KEY"),
        ("litellm:together_ai/some-model", "TOGETHERAI_API_KEY"),
    ]:
        with pytest.raises(MissingKey, match=variable):
            create(parse_spec(text, {}), context())
    assert "litellm" not in sys.modules or "full" in sys.argv


@pytest.mark.parametrize(
    ("text", "environ"),
    [
        ("litellm:anthropic/some-model", {"ANTHROPIC_API_KEY": KEY}),
        ("litellm:gemini/some-model", {"GOOGLE_API_KEY": KEY}),
        ("litellm:bedrock/some-model", {}),
    ],
)
def test_a_model_is_made_with_the_key_that_its_provider_takes(text: str, environ: Any, context: Any) -> None:
    model = create(parse_spec(text, {}), context(**environ))
    assert isinstance(model, LitellmModel)
    assert (model.local, model.deterministic, model.simulated) == (False, False, False)
    assert KEY not in repr(model)


@pytest.mark.parametrize(
    ("table", "error", "said"),
    [
        ({"model": ""}, BadModel, "PROVIDER/MODEL-ID"),
        ({"model": "openai/m", "params": {"num_retries": 3}}, BadModel, "num_retries"),
        ({"model": "openai/m", "api_base": "x"}, BadModel, "https://"),
        ({"model": "openai/m", "api_key_env": "ABSENT"}, MissingKey, "ABSENT"),
    ],
)
def test_what_a_table_lacks_is_an_error(table: Any, error: Any, said: str, context: Any) -> None:
    with pytest.raises(error) as caught:
        create(parse_spec("x", {"x": ModelTable(adapter="litellm", **table)}), context())
    assert said in str(caught.value)


def test_litellm_itself_is_asked_only_for_a_provider_that_is_not_in_its_list() -> None:
    class Asked(Exception):
        pass

    def load() -> Any:
        raise Asked

    for model in ("bedrock/x", "azure/x", "ollama/x", "vertex_ai/a/b"):
        assert provider_of(parse_spec(f"litellm:{model}", {}), load) == model.partition("/")[0]
    for model in ("nobody/x", "some-model", "openai"):
        with pytest.raises(Asked):
            provider_of(parse_spec(f"litellm:{model}", {}), load)


def error(text: str, code: str | None = None) -> dict[str, Any]:
    return {"error": {"message": text, "type": "t", "code": code}}


async def reply(request: web.Request, sent: dict[str, Any], completion: Any) -> web.StreamResponse:
    """Do what the prompt says."""
    asked = sent["messages"][0]["content"]
    if asked.isdigit():
        return web.json_response(error(f"sorry, {KEY}"), status=int(asked), headers={"Retry-After": "7"})
    bodies = {
        "good": completion(),
        "null": completion(None),
        "cut": completion("Hel", "length"),
        "filtered": completion("", "content_filter"),
        "no choices": completion(choices=[]),
    }
    if asked in bodies:
        return web.json_response(bodies[asked])
    if asked == "too long":
        return web.json_response(
            error("This model's maximum context length is 8 tokens.", "context_length_exceeded"), status=400
        )
    if asked == "html":
        return web.Response(text="<html>", content_type="text/html")
    if asked == "drop":
        assert request.transport is not None
        request.transport.close()
    await asyncio.sleep(60)
    return web.Response()


EXPECTED = {
    "null": (Failure.EMPTY, False, None),
    "cut": (Failure.CUT_OFF, False, None),
    "filtered": (Failure.REFUSED, False, None),
    "no choices": (Failure.EMPTY, False, None),
    "too long": (Failure.TOO_LONG, False, None),
    "413": (Failure.TOO_LONG, False, None),
    "400": (Failure.PROVIDER, False, 7.0),
    "429": (Failure.RATE, True, 7.0),
    "500": (Failure.PROVIDER, True, 7.0),
    "503": (Failure.PROVIDER, True, 7.0),
    "408": (Failure.TIMEOUT, True, 7.0),
    "html": (Failure.PROVIDER, True, None),
    "drop": (Failure.PROVIDER, True, None),
    "hang": (Failure.TIMEOUT, True, None),
}


@pytest.mark.full
def test_litellm_is_silent_offline_and_turns_every_failure_into_a_value(
    provider: Any, spec: Any, context: Any, prompt: Any, completion: Any, capfd: Any, tmp_path: Path, monkeypatch: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".env").write_text("LITELLM_READ_THIS_FILE=1\n")

    async def handler(request: web.Request, sent: dict[str, Any]) -> web.StreamResponse:
        return await reply(request, sent, completion)

    async def main() -> None:
        async with provider(handler) as server:
            table = {
                "adapter": "litellm",
                "model": "openai/some-model",
                "api_base": server.base,
                "api_key_env": "THE_KEY",
                "headers_env": {"X-Team": "TEAM"},
                "price": Price(input=1, output=2, cached=0),
                "timeout_s": 1.0,
            }
            environ = {"THE_KEY": KEY, "TEAM": "blue"}
            warm = create(spec(**{**table, "timeout_s": 60.0}), context(**environ))
            got = await warm.answer(prompt("good", limit=77))
            assert isinstance(got, Answer)
            assert (got.text, got.model, got.input_tokens, got.cached_tokens) == ("Hello.", "mine", 100, 40)
            assert got.cost_usd == pytest.approx((60 * 1 + 20 * 2) / 1e6)
            headers, body = server.requests[0]
            assert (headers["Authorization"], headers["X-Team"]) == (f"Bearer {KEY}", "blue")
            assert (body["model"], body["max_tokens"]) == ("some-model", 77)

            model = create(spec(**table), context(**environ))
            for asked, expected in EXPECTED.items():
                none = await model.answer(prompt(asked))
                assert isinstance(none, NoAnswer), asked
                assert (none.failure, none.retry, none.retry_after_s) == expected, asked
                assert KEY not in none.why
            for status, kind in (("401", KeyRefused), ("403", KeyRefused), ("404", ModelRefused)):
                with pytest.raises(kind) as caught:
                    await model.answer(prompt(status))
                assert KEY not in str(caught.value)
            assert len(server.requests) == 1 + len(EXPECTED) + 3

            nobody = ModelTable(adapter="litellm", model="nobody/x", api_base=server.base)
            with pytest.raises(BadModel, match="provider"):
                create(parse_spec("x", {"x": nobody}), context())
            with pytest.raises(MissingKey, match="OPENAI_API_KEY"):
                create(parse_spec("litellm:gpt-4o", {}), context())
            no_key = ModelTable(adapter="litellm", model="openai/some-model", api_base=server.base)
            got = await create(parse_spec("x", {"x": no_key}), context(OPENAI_API_KEY=KEY)).answer(prompt("good"))
            assert isinstance(got, Answer)
            assert got.cost_usd is None
            assert KEY not in str(server.requests[-1])
            await model.close()

    asyncio.run(main())
    assert capfd.readouterr() == ("", "")
    import os

    assert "LITELLM_READ_THIS_FILE" not in os.environ


@pytest.mark.full
@pytest.mark.filterwarnings("ignore")  # litellm takes a warning of its own imports for an unknown provider
def test_the_variables_of_keys_are_those_that_litellm_names(monkeypatch: pytest.MonkeyPatch) -> None:
    import litellm

    for provider, variables in KEYS.items():
        for variable in variables:
            monkeypatch.delenv(variable, raising=False)
        missing = litellm.validate_environment(f"{provider}/some-model")["missing_keys"]
        assert set(variables) == set(missing), provider
