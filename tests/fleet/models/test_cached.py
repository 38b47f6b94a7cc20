"""The cache in front of a model, and the model that is only the cache."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from fleet.models.cached import CachedModel, CacheMode, WithCache, create, with_cache
from fleet.models.registry import BadModel, UnknownModel, parse_spec
from qodebase.ports import Answer, Failure, NoAnswer, Prompt


class Provider:
    """Counts what it is asked; texts that begin with ``bad`` get no answer."""

    deterministic = False
    simulated = False
    local = False

    def __init__(self) -> None:
        self.name = "openai:m"
        self.asked: list[str] = []

    async def answer(self, prompt: Prompt) -> Answer | NoAnswer:
        text = prompt.messages[0].text
        self.asked.append(text)
        if text.startswith("bad"):
            return NoAnswer(failure=Failure.EMPTY, why="nothing", model=self.name)
        text = f"answer {len(self.asked)}"
        return Answer(text=text, model=self.name, input_tokens=5, output_tokens=6, cost_usd=0.5)

    async def close(self) -> None:
        self.asked.append("closed")


SPEC = parse_spec("openai:m", {})


def ask(context: Any, mode: CacheMode, prompts: list[Prompt]) -> tuple[list[Any], list[str]]:
    """Ask through the cache in a run of its own; return texts or failures, and what reached the provider."""

    async def main() -> tuple[list[Any], list[str]]:
        provider = Provider()
        model = with_cache(provider, SPEC, context(), mode)
        got = [await model.answer(prompt) for prompt in prompts]
        await model.close()
        assert provider.asked.pop() == "closed"
        return [one.text if isinstance(one, Answer) else one.failure for one in got], provider.asked

    return asyncio.run(main())


def test_a_second_run_is_answered_from_the_cache(context: Any, prompt: Any) -> None:
    assert ask(context, CacheMode.USE, [prompt("a"), prompt("b")]) == (["answer 1", "answer 2"], ["a", "b"])
    assert ask(context, CacheMode.USE, [prompt("b"), prompt("c")]) == (["answer 2", "answer 1"], ["c"])


def test_failures_are_asked_again_and_leave_no_row(context: Any, prompt: Any, tmp_path: Path) -> None:
    for _ in range(2):
        assert ask(context, CacheMode.USE, [prompt("bad")]) == ([Failure.EMPTY], ["bad"])
    with closing(sqlite3.connect(tmp_path / "cache" / "cache.db")) as database:
        assert database.execute("SELECT count(*) FROM Cache").fetchone() == (0,)


def test_the_modes_read_and_write_what_they_say(context: Any, prompt: Any) -> None:
    old, new = prompt("old"), prompt("new")
    ask(context, CacheMode.USE, [old])
    assert ask(context, CacheMode.READONLY, [old, new]) == (["answer 1", "answer 1"], ["new"])
    assert ask(context, CacheMode.READONLY, [new])[1] == ["new"]
    assert ask(context, CacheMode.OFF, [old])[1] == ["old"]
    assert ask(context, CacheMode.REFRESH, [new, old]) == (["answer 1", "answer 2"], ["new", "old"])
    assert ask(context, CacheMode.READONLY, [old, new]) == (["answer 2", "answer 1"], [])


def test_another_limit_or_model_is_another_answer(context: Any, prompt: Any) -> None:
    ask(context, CacheMode.USE, [prompt("a", limit=10)])
    assert ask(context, CacheMode.USE, [prompt("a", limit=11)])[1] == ["a"]

    async def main() -> None:
        model = create(parse_spec("cached:openai:n", {}), context())
        got = await model.answer(prompt("a", limit=10))
        assert isinstance(got, NoAnswer)
        await model.close()

    asyncio.run(main())


def test_the_cached_model_answers_only_what_is_kept_and_for_nothing(context: Any, prompt: Any) -> None:
    ask(context, CacheMode.USE, [prompt("a")])

    async def main() -> None:
        model = create(parse_spec("cached:openai:m", {}), context())
        kept = await model.answer(prompt("a"))
        assert kept == Answer(text="answer 1", model="openai:m", cost_usd=0.0, source="cache")
        missing = await model.answer(prompt("b"))
        assert isinstance(missing, NoAnswer)
        assert (missing.failure, missing.retry, missing.model) == (Failure.NOT_CACHED, False, "cached:openai:m")
        await model.close()

    asyncio.run(main())


def test_cached_answers_of_a_scripted_model_are_labelled_as_simulated(context: Any) -> None:
    model = create(parse_spec("cached:scripted:seed=1", {}), context())
    assert isinstance(model, CachedModel)
    assert (model.simulated, model.deterministic, model.local) == (True, True, True)
    model = create(parse_spec("cached:openai:m", {}), context())
    assert (model.simulated, model.deterministic) == (False, False)


def test_a_cache_of_nothing_is_refused(context: Any) -> None:
    with pytest.raises(BadModel, match="names no model"):
        create(parse_spec("cached", {}), context())
    with pytest.raises(BadModel, match="cached answers of cached answers"):
        create(parse_spec("cached:cached:openai:m", {}), context())
    with pytest.raises(UnknownModel):
        create(parse_spec("cached:nobody", {}), context())


def test_a_program_needs_no_cache(context: Any, tmp_path: Path) -> None:
    provider = Provider()
    provider.deterministic = True
    assert with_cache(provider, SPEC, context(), CacheMode.USE) is provider
    provider.deterministic = False
    assert isinstance(with_cache(provider, SPEC, context(), CacheMode.USE), WithCache)
    assert not (tmp_path / "cache").exists()


def test_an_answer_that_the_cache_cannot_keep_is_not_lost(context: Any, prompt: Any, tmp_path: Path) -> None:
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache" / "cache.db").write_bytes(b"this is no database" * 100)

    async def main() -> None:
        model = with_cache(Provider(), SPEC, context(), CacheMode.REFRESH)
        assert isinstance(model, WithCache)
        got = await model.answer(prompt("a"))
        assert isinstance(got, Answer)
        assert model.cached.unkept == 1
        assert "not a database" in model.cached.trouble
        await model.close()

    asyncio.run(main())
