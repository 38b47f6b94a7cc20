"""Answers from the cache: the model ``cached:NAME``, which asks nobody, and the cache in front of another model."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from fleet.cache import AnswerCache, CacheFailed, answer_key
from fleet.models.registry import NOTHING, BadModel, ModelContext, ModelSpec, Price, load_adapter, parse_spec
from qodebase.ports import Answer, Failure, Model, NoAnswer, Prompt

ADAPTER = "cached"


class CacheMode(StrEnum):
    """What a run does with the answer cache."""

    USE = "use"
    READONLY = "readonly"
    OFF = "off"
    REFRESH = "refresh"


@dataclass(slots=True, kw_only=True)
class Cached:
    """The cached answers of one model: a cache, and the scope of the model in it.

    ``unkept`` counts answers that the cache did not take, and ``trouble`` says why: an answer is worth more than its
    copy, so a full disk stops no run.
    """

    cache: AnswerCache
    scope: str
    unkept: int = 0
    trouble: str = ""

    async def get(self, prompt: Prompt) -> Answer | None:
        """Return the answer to a prompt, or None; it costs nothing and uses no tokens this time.

        Raises:
            CacheFailed: the cache does not work.
        """
        found = await self.cache.get(answer_key(self.scope, prompt.digest))
        if found is None:
            return None
        return Answer(text=found.text, model=found.model, cost_usd=0.0, source="cache")

    async def put(self, prompt: Prompt, answer: Answer) -> None:
        """Keep an answer."""
        try:
            await self.cache.put(answer_key(self.scope, prompt.digest), answer)
        except CacheFailed as error:
            self.unkept += 1
            self.trouble = error.message


class WithCache:
    """A model with the cache in front; failures are not kept.

    A caller that throttles or writes down its calls asks `lookup` first, then `inner`, then tells `keep`; `answer`
    does the three in a row.
    """

    def __init__(self, inner: Model, cached: Cached, mode: CacheMode) -> None:
        self.inner = inner
        self.cached = cached
        self.mode = mode
        self.name = inner.name
        self.deterministic = inner.deterministic
        self.simulated = inner.simulated
        self.local = inner.local
        self.reads_words = getattr(inner, "reads_words", False)

    async def lookup(self, prompt: Prompt) -> Answer | None:
        """Return the kept answer, or None."""
        if self.mode in (CacheMode.OFF, CacheMode.REFRESH):
            return None
        return await self.cached.get(prompt)

    async def keep(self, prompt: Prompt, outcome: Answer | NoAnswer) -> None:
        """Keep an answer that the inner model gave."""
        if self.mode in (CacheMode.USE, CacheMode.REFRESH) and isinstance(outcome, Answer):
            await self.cached.put(prompt, outcome)

    async def answer(self, prompt: Prompt) -> Answer | NoAnswer:
        """Return the kept answer, or ask the model and keep what it says."""
        found = await self.lookup(prompt)
        if found is not None:
            return found
        outcome = await self.inner.answer(prompt)
        await self.keep(prompt, outcome)
        return outcome

    async def close(self) -> None:
        """Close the model, then the cache."""
        try:
            await self.inner.close()
        finally:
            await self.cached.cache.close()


class CachedModel:
    """Answers only what the cache holds of another model; asking again costs nothing."""

    local = True
    free = True
    reads_words = True

    def __init__(self, name: str, cached: Cached, *, deterministic: bool, simulated: bool) -> None:
        self.name = name
        self.cached = cached
        self.deterministic = deterministic
        self.simulated = simulated

    async def answer(self, prompt: Prompt) -> Answer | NoAnswer:
        """Return the kept answer; there is no other."""
        found = await self.cached.get(prompt)
        if found is not None:
            return found
        return NoAnswer(failure=Failure.NOT_CACHED, why="the cache holds no answer to this prompt", model=self.name)

    async def close(self) -> None:
        """Close the cache."""
        await self.cached.cache.close()


def with_cache(model: Model, spec: ModelSpec, context: ModelContext, mode: CacheMode) -> Model:
    """Return the model with the cache in front, or as it is where a cache would only repeat it."""
    if mode is CacheMode.OFF or model.deterministic or spec.adapter == ADAPTER:
        return model
    cached = Cached(cache=AnswerCache(context.cache_folder, context.clock), scope=spec.scope)
    return WithCache(model, cached, mode)


def create(spec: ModelSpec, context: ModelContext) -> CachedModel:
    """Make the model of the answers that ``NAME`` of ``cached:NAME`` gave."""
    name = spec.table.model or spec.argument
    if not name:
        raise BadModel("`cached` names no model", hint="Write `cached:NAME`, the model whose answers are meant.")
    inner = parse_spec(name, context.tables)
    if inner.adapter == ADAPTER:
        raise BadModel(f"`{spec.name}` means the cached answers of cached answers", hint=f"Write `{inner.name}`.")
    adapter = load_adapter(inner.adapter)
    return CachedModel(
        spec.name,
        Cached(cache=AnswerCache(context.cache_folder, context.clock), scope=inner.scope),
        deterministic=getattr(adapter, "DETERMINISTIC", False),
        simulated=getattr(adapter, "SIMULATED", False),
    )


def price(spec: ModelSpec) -> Price:
    """Return no price: kept answers were paid for already."""
    return NOTHING
