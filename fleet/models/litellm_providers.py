"""Who serves a model that litellm is asked for, and what they want; litellm itself takes seconds to import."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from fleet.models.registry import BadModel, ModelSpec

_LISTED = "types/utils.py"
_CLASS = re.compile(r"^class LlmProviders\(.*?(?=^\S)", re.MULTILINE | re.DOTALL)
_MEMBER = re.compile(r'^    [A-Z0-9_]+ = "([^"]+)"', re.MULTILINE)

_ONE_KEY = (
    "anthropic",
    "cerebras",
    "cohere",
    "deepinfra",
    "deepseek",
    "fireworks_ai",
    "groq",
    "huggingface",
    "mistral",
    "moonshot",
    "nvidia_nim",
    "openai",
    "openrouter",
    "replicate",
    "xai",
)
KEYS = {
    **{provider: (f"{provider.upper()}_API_KEY",) for provider in _ONE_KEY},
    "gemini": ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
    "perplexity": ("PERPLEXITYAI_API_KEY",),
    "together_ai": ("TOGETHERAI_API_KEY",),
}
"""Providers that want one key, with the variables that litellm takes it from; the others read their own settings."""


def litellm_folder() -> Path | None:
    """Return where litellm is installed, which is found without importing it; None: nowhere."""
    found = find_spec("litellm")
    places = found.submodule_search_locations if found else None
    return Path(places[0]) if places else None


def provider_of(spec: ModelSpec, load: Callable[[], Any]) -> str:
    """Return the provider of a model.

    What stands before the slash says it where that is in litellm's own list, which is read as text; else litellm is
    loaded and asked, for it knows many models by their names alone and many providers by their addresses.

    Args:
        load: returns the module litellm.

    Raises:
        BadModel: litellm knows none for it.
    """
    model, table = spec.table.model or spec.argument, spec.table
    named, slash, _ = model.partition("/")
    given = table.params.get("custom_llm_provider")
    if given is None and slash and named in KEYS.keys() | _listed():
        return named
    litellm = load()
    try:
        found = litellm.get_llm_provider(model, custom_llm_provider=given, api_base=table.api_base or None)
    except litellm.exceptions.BadRequestError:
        raise BadModel(
            f"litellm does not know the provider of the model {spec.name}",
            hint="Write `litellm:PROVIDER/MODEL-ID`, as in litellm's list of providers; an OpenAI-compatible endpoint "
            'is reached by a table with `adapter = "openai"` and `api_base`.',
        ) from None
    return str(found[1])


@lru_cache(maxsize=1)
def _listed() -> frozenset[str]:
    """Return the providers that litellm lists; none where its list is to be found no more."""
    folder = litellm_folder()
    try:
        text = (folder / _LISTED).read_text(encoding="utf-8") if folder else ""
    except (OSError, UnicodeDecodeError):
        return frozenset()
    found = _CLASS.search(text)
    return frozenset(_MEMBER.findall(found[0])) if found else frozenset()
