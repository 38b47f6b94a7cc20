"""Find and make models: one file each in this folder, or an entry point of the group ``qodebase.models``.

A model's file holds a line ``ADAPTER = "name"`` and a function ``create(spec: ModelSpec, context: ModelContext) ->
Model``. It may hold ``SIMULATED = True`` or ``DETERMINISTIC = True``; a function ``price(spec: ModelSpec) -> Price |
None`` for what its tokens cost where the job file does not say; and a function ``lacks(context: ModelContext) -> str``
for what this machine lacks to use it. Names are read from the text, so a file is imported only when its model is used.
"""

from __future__ import annotations

import difflib
import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from importlib import resources
from pathlib import Path
from pkgutil import resolve_name
from typing import Any, Protocol, cast

from qodebase.codec import BadData, convert
from qodebase.errors import QodebaseError
from qodebase.installed import added, importing
from qodebase.ports import Clock, Model

GROUP = "qodebase.models"
_SECRET_FIELD = re.compile(
    r"(?i)api[-_]?key$|authorization|headers$|secret|password|credentials|(?:access|auth|ad|session|api)[-_]?token$"
)
_PARTS = ("name", "deterministic", "simulated", "local", "answer", "close")
_ADAPTER = re.compile(r'^ADAPTER = "([a-z0-9_-]+)"', re.MULTILINE)


class UnknownModel(QodebaseError):
    """A model's name that stands for nothing."""


class MissingKey(QodebaseError):
    """A key that a model needs and that is not in the environment."""


class BadModel(QodebaseError):
    """A model whose settings cannot work."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """What a million tokens cost, in USD; ``cached`` input costs as much as other input where it is not given."""

    input: float
    output: float
    cached: float | None = None

    def __post_init__(self) -> None:
        for name in ("input", "output", "cached"):
            value = getattr(self, name)
            if value is not None and not 0 <= value < float("inf"):
                raise ValueError(f"`{name}` must be 0 or more USD per million tokens")

    def cost(self, *, input_tokens: int, cached_tokens: int, output_tokens: int) -> float:
        """Return USD; ``cached_tokens`` are part of ``input_tokens``."""
        cached = self.input if self.cached is None else self.cached
        fresh = max(0, input_tokens - cached_tokens)
        return (fresh * self.input + cached_tokens * cached + output_tokens * self.output) / 1e6

    def most(self, input_tokens: int, output_tokens: int) -> float:
        """Return the most USD that so many tokens cost, whatever of the input is cached."""
        return (input_tokens * max(self.input, self.cached or 0.0) + output_tokens * self.output) / 1e6


NOTHING = Price(input=0.0, output=0.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelTable:
    """A ``[models.NAME]`` table of the job file.

    Attributes:
        adapter: which kind of model (``openai``, ``litellm``, ``scripted``, ...).
        model: the provider's id of the model.
        api_base: the address that ``/chat/completions`` is appended to; empty: the adapter's own.
        api_key_env: the environment variable that holds the key; empty: the adapter's own for its own address, and no
            key for another address.
        headers_env: extra headers, each with the environment variable that holds its value.
        ca_file: certificates (PEM) to trust instead of the system's.
        params: more fields of each request (temperature, say).
        price: USD per million tokens; None: the cost is not known.
        requests_per_minute, tokens_per_minute: the provider's limits; None: none.
        in_flight: the most calls under way; None: as many as the kind of model bears.
        local: whether no prompt leaves the machine; None: as the address says, which a proxy on this machine may not.
        timeout_s: seconds of wall time that one call may take.
        folder: where a program is started; empty: in the current folder.
    """

    adapter: str
    model: str = ""
    api_base: str = ""
    api_key_env: str = ""
    headers_env: dict[str, str] = field(default_factory=dict)
    ca_file: str = ""
    params: dict[str, Any] = field(default_factory=dict)
    price: Price | None = None
    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None
    in_flight: int | None = None
    local: bool | None = None
    timeout_s: float = 120.0
    folder: str = ""

    def __post_init__(self) -> None:
        for name in ("requests_per_minute", "tokens_per_minute", "in_flight", "timeout_s"):
            value = getattr(self, name)
            if value is not None and not 0 < value < float("inf"):
                raise ValueError(f"`{name}` must be more than 0")

    @property
    def output_limit(self) -> int | None:
        """Return the output tokens that ``params`` allow each request, or None where they do not say."""
        limits = [self.params.get(key) for key in ("max_tokens", "max_completion_tokens")]
        return max((limit for limit in limits if isinstance(limit, int)), default=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSpec:
    """Which model: its name in flags and records, its adapter, what stands behind the colon, and its settings."""

    name: str
    adapter: str
    argument: str
    table: ModelTable

    @property
    def scope(self) -> str:
        """Return a digest of all that an answer depends on beside the prompt: where the model is, which, how set."""
        table = self.table
        parts = [self.adapter, table.model or self.argument, table.api_base, table.params]
        parts += [table.folder] if table.folder else []
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelContext:
    """What a model may use: the environment, folders of the cache and of weights, the clock, the job file's models."""

    environ: Mapping[str, str] = field(repr=False)
    cache_folder: Path
    clock: Clock
    tables: Mapping[str, ModelTable] = field(default_factory=dict)
    weights_folder: Path | None = None

    def secret(self, variable: str, *, of: str) -> str:
        """Return a key or a header's value from the environment.

        Raises:
            MissingKey: the variable is not set, empty, or no header can hold it; the value is never shown.
        """
        value = self.environ.get(variable, "").strip()
        if not value:
            raise MissingKey(
                f"{of} needs the environment variable {variable}, which is not set",
                hint=f"export {variable}=..., or name another one with `api_key_env` in a [models.NAME] table.",
            )
        if not (value.isprintable() and value.isascii()):
            raise MissingKey(
                f"the environment variable {variable} holds a character that no header can hold",
                hint="It must be on one line, in ASCII; look for a quote or a dash that an editor has made pretty.",
            )
        return value


class Adapter(Protocol):
    """A model's file."""

    ADAPTER: str

    def create(self, spec: ModelSpec, context: ModelContext) -> Model:
        """Make the model; what it lacks is an error here, before any work starts."""


def model_tables(raw: Mapping[str, Any], *, source: str) -> dict[str, ModelTable]:
    """Turn the ``models`` table of a job file into tables.

    Raises:
        BadData: a wrong key, type or value; it names file, field and what is allowed.
    """
    tables = {}
    for name, values in raw.items():
        where = f"{source}: [models.{name}]"
        if not isinstance(values, Mapping):
            raise BadData(f"{where} must be a table")
        _known_keys(values, ModelTable, where=where)
        if isinstance(values.get("price"), Mapping):
            _known_keys(values["price"], Price, where=f"{where} price")
        _no_secrets(values.get("params"), where=f"{where} params")
        tables[name] = convert(dict(values), ModelTable, source=where)
    return tables


def _no_secrets(params: Any, *, where: str) -> None:
    """Refuse fields that hold keys: a run's settings are kept, and shown."""
    for key, value in params.items() if isinstance(params, Mapping) else ():
        if _SECRET_FIELD.search(key):
            raise BadData(
                f"{where}: `{key}` would be kept with the run",
                hint="Put the value into the environment and name it with `api_key_env` or `headers_env`.",
            )
        _no_secrets(value, where=f"{where}.{key}")


def _known_keys(values: Mapping[str, Any], kind: type[Any], *, where: str) -> None:
    allowed = [entry.name for entry in fields(kind)]
    for key in values:
        if key not in allowed:
            near = difflib.get_close_matches(key, allowed, n=1)
            raise BadData(
                f"{where}: unknown key `{key}`" + (f"; did you mean `{near[0]}`?" if near else ""),
                hint=f"Allowed: {', '.join(allowed)}.",
            )


def adapters() -> tuple[str, ...]:
    """Return the names of all adapters, sorted; no adapter is imported."""
    return tuple(sorted({*_folder(), *_entry_points()}))


def parse_spec(text: str, tables: Mapping[str, ModelTable]) -> ModelSpec:
    """Return what a model flag means: a table's name, or ``ADAPTER`` or ``ADAPTER:ARGUMENT``.

    Raises:
        UnknownModel: it is neither; the message lists what there is.
    """
    if text in tables:
        table = tables[text]
        if not _source_of(table.adapter):
            raise _unknown(table.adapter, tables)
        return ModelSpec(name=text, adapter=table.adapter, argument=table.model, table=table)
    adapter, _, argument = text.partition(":")
    if not _source_of(adapter):
        raise _unknown(text, tables)
    return ModelSpec(name=text, adapter=adapter, argument=argument, table=ModelTable(adapter=adapter))


def load_adapter(name: str) -> Adapter:
    """Import the file of an adapter.

    Raises:
        UnknownModel: there is none.
        CannotImport: what another package adds fails.
        BadModel: the file is no adapter.
    """
    source = _source_of(name)
    if not source:
        raise _unknown(name, {})
    with importing(f"{source}, the model {name},"):
        module = resolve_name(source)
    if not callable(getattr(module, "create", None)):
        raise BadModel(f"{source} has no function `create(spec, context)`")
    return cast(Adapter, module)


def create_model(spec: ModelSpec, context: ModelContext) -> Model:
    """Make the model of a spec; what it lacks (a key, a good address, a part of a model) is an error here."""
    model = load_adapter(spec.adapter).create(spec, context)
    if missing := [part for part in _PARTS if not hasattr(model, part)]:
        raise BadModel(f"the model {spec.name} has no `{missing[0]}`", hint="See `qodebase.ports.Model`.")
    return model


def price_of(spec: ModelSpec) -> Price | None:
    """Return what a model's tokens cost: as its table says, else as its adapter knows; None: that is not known."""
    if spec.table.price is not None:
        return spec.table.price
    known = getattr(load_adapter(spec.adapter), "price", None)
    found: Price | None = known(spec) if known else None
    return found


def _unknown(text: str, tables: Mapping[str, ModelTable]) -> UnknownModel:
    known = list(adapters())
    near = difflib.get_close_matches(text.partition(":")[0], [*known, *tables], n=1)
    meant = f"; did you mean `{near[0]}`?" if near else ""
    return UnknownModel(
        f"unknown model `{text}`{meant}",
        hint=f"Kinds of models: {', '.join(known)} (ADAPTER or ADAPTER:ARGUMENT, `openai:MODEL-ID` say). "
        f"Models of the job file: {', '.join(sorted(tables)) or 'none'}.",
    )


def _source_of(name: str) -> str:
    return _folder().get(name, "") or _entry_points().get(name, "")


def _folder() -> dict[str, str]:
    found = {}
    for entry in resources.files(__package__).iterdir():
        if entry.name.endswith(".py") and (match := _ADAPTER.search(entry.read_text(encoding="utf-8"))):
            found[match[1]] = f"{__package__}.{entry.name.removesuffix('.py')}"
    return found


def _entry_points() -> dict[str, str]:
    return {point.name: point.value for point in added(GROUP)}
