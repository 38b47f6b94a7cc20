"""What a program that describes files must be told of them, looked at before a run is frozen with it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from qodebase.errors import QodebaseError
from qodebase.intent import Ending

if TYPE_CHECKING:
    from qodebase.commands.support.starting import Prepared


class NotTold(QodebaseError):
    """A job that does not tell the run's model what that needs."""


def is_described(names: Iterable[str], models: Mapping[str, Any], source: str) -> bool:
    """Return whether one of the models answers from a prompt's facts, not from its words."""
    from fleet.models.outline import ADAPTER
    from fleet.models.registry import model_tables, parse_spec

    tables = model_tables(models, source=source)
    return any(parse_spec(name, tables).adapter == ADAPTER for name in names)


def check_facts(ready: Prepared) -> None:
    """Make sure that the job tells such a model enough, for a frozen run keeps its model.

    Raises:
        NotTold: it does not.
    """
    first = next((intent for intent in ready.intents if intent.ending is Ending.PENDING), None)
    # A job that is not to be opened twice may have to read the whole tree for one prompt.
    costly = getattr(ready.job, "apart", None) is False
    if not ready.described or first is None or costly or "outline" in ready.prompt(first).facts:
        return
    raise NotTold(
        f"the model outline describes files, and the job {ready.job.name} tells it nothing of them",
        hint="Name another model: --model openai:MODEL-ID; the document job tells enough only with --usage.",
    )
