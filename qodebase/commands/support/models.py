"""The model of a run, made from its name and the job file's tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from qodebase.commands.support.surroundings import Surroundings
from qodebase.runs import Settings

if TYPE_CHECKING:
    from fleet.models.registry import ModelContext
    from fleet.throttle import Throttle
    from qodebase.ports import Clock, Model


def check_model(name: str, models: Mapping[str, Any], surroundings: Surroundings, clock: Clock, source: str) -> None:
    """Make a model and throw it away, so that a missing key is found before anything is written.

    Raises:
        QodebaseError: no such model, a bad table (``source`` names where it stands), or a missing key.
    """
    from fleet.models.registry import create_model, parse_spec

    context = _context(models, surroundings, clock, source)
    create_model(parse_spec(name, context.tables), context)


def model_of(settings: Settings, surroundings: Surroundings, clock: Clock) -> tuple[Model, Throttle | None]:
    """Return a run's model behind its cache, and the gate in front of it."""
    from fleet.models.cached import CacheMode, with_cache
    from fleet.models.registry import create_model, parse_spec
    from fleet.throttle import Throttle

    context = _context(settings.models, surroundings, clock, "settings.json")
    spec = parse_spec(settings.model, context.tables)
    model = create_model(spec, context)
    if not model.deterministic:
        model = with_cache(model, spec, context, CacheMode(settings.cache))
    table = spec.table
    throttle = None
    if table.requests_per_minute or table.tokens_per_minute:
        throttle = Throttle(
            clock, requests_per_minute=table.requests_per_minute, tokens_per_minute=table.tokens_per_minute
        )
    return model, throttle


def _context(models: Mapping[str, Any], surroundings: Surroundings, clock: Clock, source: str) -> ModelContext:
    from fleet.models.registry import ModelContext, model_tables

    return ModelContext(
        environ=surroundings.environ,
        cache_folder=surroundings.cache_folder,
        clock=clock,
        tables=model_tables(models, source=source),
    )
