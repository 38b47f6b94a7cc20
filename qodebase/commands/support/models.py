"""The models of a run, made from their names and the job file's tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from qodebase.caps import Caps
from qodebase.commands.support.surroundings import Surroundings
from qodebase.errors import QodebaseError
from qodebase.runs import Settings

if TYPE_CHECKING:
    from fleet.channels import Channel, Channels
    from fleet.models.registry import ModelContext, Price
    from qodebase.ports import Clock, Model


class Tariff(NamedTuple):
    """What a model's tokens cost (None: not known), and its own limit of output tokens (None: the prompt's)."""

    price: Price | None
    output_limit: int | None


class BadPrice(QodebaseError):
    """A price that cannot be read, or that is of no model of the run."""


def check_models(
    names: Iterable[str], models: Mapping[str, Any], surroundings: Surroundings, clock: Clock, source: str, caps: Caps
) -> dict[str, bool]:
    """Make models and throw them away, so that a missing key or price is found before anything is written.

    Return for each whether it is local: no prompt leaves the machine.

    Raises:
        QodebaseError: no such model, a bad table (``source`` names where it stands), a missing key, or a cost cap and
            a price that is not known.
    """
    from fleet.budget import check_price
    from fleet.models.registry import create_model, parse_spec, price_of

    context = _context(models, surroundings, clock, source)
    local = {}
    for name in names:
        spec = parse_spec(name, context.tables)
        local[name] = create_model(spec, context).local
        if caps.cost_usd is not None:
            check_price(name, price_of(spec))
    return local


def channels_of(
    settings: Settings, surroundings: Surroundings, clock: Clock, *, model: Model | None = None
) -> Channels:
    """Return a run's models behind their caches, each once, with the gates in front of them and their prices.

    Args:
        model: takes the place of the one for fresh work.
    """
    from fleet.channels import Channel, Channels

    context = _context(settings.models, surroundings, clock, "settings.json")
    made: dict[str, Channel] = {}

    def channel(name: str) -> Channel | None:
        if name and name not in made:
            made[name] = _channel(name, settings, context)
        return made.get(name)

    fresh = Channel(model=model) if model is not None else channel(settings.model)
    assert fresh is not None, "settings name a model"
    return Channels(fresh=fresh, replay=channel(settings.replay_model), escalate=channel(settings.escalate_model))


def tariffs_of(names: Iterable[str], models: Mapping[str, Any], source: str) -> dict[str, Tariff]:
    """Return what each model's tokens cost, and how many of them its requests allow out."""
    from fleet.models.registry import model_tables, parse_spec, price_of

    tables = model_tables(models, source=source)
    specs = {name: parse_spec(name, tables) for name in names}
    return {name: Tariff(price_of(spec), spec.table.output_limit) for name, spec in specs.items()}


def with_prices(models: Mapping[str, Any], prices: Sequence[str], names: Sequence[str]) -> dict[str, Any]:
    """Return the tables of models with the prices of ``--price [MODEL=]IN:OUT[:CACHED]`` in them.

    Args:
        names: the run's models; the first is the one that is meant where none is named.

    Raises:
        BadPrice: one cannot be read, or names no model of the run.
    """
    tables = {name: dict(table) for name, table in models.items()}
    for text in prices:
        named, _, amounts = text.rpartition("=")
        name = named or names[0]
        if name not in names:
            raise BadPrice(f"--price {text}: the run asks no model {name}", hint=f"It asks {', '.join(names)}.")
        table = _table_of(name, tables)
        table["price"] = dict(zip(("input", "output", "cached"), _amounts(text, amounts), strict=False))
    return tables


def with_folders(models: Mapping[str, Any], names: Iterable[str], folder: Path) -> dict[str, Any]:
    """Return the tables of models with a whole path for where each program is started.

    Args:
        names: models of the run.
        folder: what a relative path is relative to, and where a program is started of which nothing is said.
    """
    from fleet.models.program import ADAPTER

    tables = {name: dict(table) for name, table in models.items()}
    for name in names:
        if name.partition(":")[0] == ADAPTER:
            _table_of(name, tables)
    for table in tables.values():
        if table.get("adapter") == ADAPTER:
            table["folder"] = str(folder.absolute() / Path(table.get("folder", "")).expanduser())
    return tables


def _table_of(name: str, tables: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """Return the table of a model; one that is named by adapter and argument gets one."""
    adapter, _, argument = name.partition(":")
    return tables.setdefault(name, {"adapter": adapter, "model": argument})


def _amounts(text: str, amounts: str) -> list[float]:
    try:
        found = [float(part) for part in amounts.split(":")]
    except ValueError:
        found = []
    if len(found) not in (2, 3) or not all(0 <= amount < float("inf") for amount in found):
        raise BadPrice(
            f"--price {text}: no price",
            hint="Write IN:OUT or IN:OUT:CACHED in USD per million tokens (0.05:0.20), MODEL= before it where the run "
            "asks several models.",
        )
    return found


def _channel(name: str, settings: Settings, context: ModelContext) -> Channel:
    from fleet.channels import Channel
    from fleet.models.cached import CacheMode, with_cache
    from fleet.models.registry import create_model, parse_spec, price_of
    from fleet.models.timed import in_time
    from fleet.throttle import gate_for

    spec = parse_spec(name, context.tables)
    model = in_time(create_model(spec, context), context.clock)
    throttle = gate_for(model, spec.table, context.clock, workers=settings.workers)
    return Channel(
        model=with_cache(model, spec, context, CacheMode(settings.cache)),
        throttle=throttle,
        price=price_of(spec),
        output_limit=spec.table.output_limit,
    )


def _context(models: Mapping[str, Any], surroundings: Surroundings, clock: Clock, source: str) -> ModelContext:
    from fleet.models.registry import ModelContext, model_tables

    return ModelContext(
        environ=surroundings.environ,
        cache_folder=surroundings.cache_folder,
        weights_folder=surroundings.weights_folder,
        clock=clock,
        tables=model_tables(models, source=source),
    )
