"""Reproduce a published run: find how, do the work so many times, and set the figures side by side."""

from __future__ import annotations

import asyncio
import importlib
import json
import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from qodebase.commands.support.opening import HOME
from qodebase.errors import QodebaseError

if TYPE_CHECKING:
    import polars as pl

    from qodebase.commands.support.reproductions._asked import Ask, Taken
    from results.published_runs import Published
    from results.reproduction import Row

_PACKAGE = "qodebase.commands.support.reproductions"
_RESULT = "result.json"


class NotReproducible(QodebaseError):
    """A published run that cannot be reproduced yet."""


class BadReproduction(QodebaseError):
    """Options that a reproduction cannot be made with."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reproduction:
    """A published run beside what the same shape of work came to here.

    Attributes:
        differs: what was otherwise here than in the published run.
        verified: whether the audits of all runs found nothing; None: none was made.
        simulated: seconds are virtual.
        seconds: real seconds of all runs, their preparation and their audits.
        folder: where this is kept.
    """

    published: Published
    rows: tuple[Row, ...]
    differs: tuple[str, ...]
    scale: float
    repeats: int
    model: str
    verified: bool | None
    simulated: bool
    seconds: float
    environment: Mapping[str, Any]
    folder: Path

    def as_dict(self) -> dict[str, Any]:
        """Return all of it as plain data."""
        return {
            "name": self.published.name,
            "source": self.published.source,
            "work": self.published.work,
            "scale": self.scale,
            "repeats": self.repeats,
            "model": self.model,
            "rows": [row.as_dict() for row in self.rows],
            "differs": list(self.differs),
            "verified": self.verified,
            "simulated": self.simulated,
            "seconds": round(self.seconds, 2),
            "command": command_of(self),
            "environment": dict(self.environment),
        }

    def frame(self) -> pl.DataFrame:
        """Return a row a figure."""
        from results.reproduction import frame_of

        return frame_of(self.rows)

    def __repr__(self) -> str:
        from qodebase.commands.reproduce import lines_of

        return "\n".join(lines_of(self))


def command_of(found: Reproduction) -> str:
    """Return the command that makes the same again."""
    words = [f"qodebase reproduce {found.published.name}"]
    words += [f"--scale {found.scale:g}"] if found.scale != 1 else []
    words += [f"--repeats {found.repeats}"] if found.repeats != 1 else []
    words += [f"--model {found.model}"] if found.model not in ("", "outline") else []
    return " ".join(words)


def reproducible_names() -> list[str]:
    """Return the names of the runs that can be reproduced: a file each."""
    files = Path(importlib.import_module(_PACKAGE).__path__[0]).glob("[!_]*.py")
    return sorted(file.stem.replace("_", "-") for file in files)


def reproduce(
    name: str,
    *,
    scale: float = 1.0,
    repeats: int = 1,
    model: str = "",
    repositories: Sequence[str | Path] = (),
    offline: bool = False,
    out: str | Path | None = None,
    keep: bool = False,
    say: Callable[[str], None] = lambda text: None,
) -> Reproduction:
    """Do the work of a published run here, and set the figures side by side; see `qodebase reproduce`.

    Args:
        scale: the size of the work, as a part of the published one.
        repeats: how many runs, each with another seed.
        model: instead of the one that the reproduction asks by itself.
        repositories: instead of the codebases that it finds by itself.
        offline: fetch no codebase.
        out: the folder of the results, which must not exist unless a stopped one that was kept there can go on; None:
            the first free one in ``runs``.
        keep: keep the folders of the runs there too.

    Raises:
        NotPublished, NotReproducible, BadReproduction: nothing was done.
    """
    from qodebase.commands.support.environment import environment
    from qodebase.commands.support.reproductions._asked import Ask
    from results.published_runs import published_run
    from results.reproduction import rows_of

    published = published_run(name)
    how = _way(published)
    _check(published, how, scale=scale, repeats=repeats, model=model, repositories=repositories)
    folder = _folder(published, how, out)
    ask = Ask(
        published=published,
        space=folder,
        sources=HOME.resolve() / "sources",
        scale=scale,
        seed=1,
        model=model or getattr(how, "MODEL", ""),
        repositories=tuple(Path(repository) for repository in repositories),
        offline=offline,
        say=say,
    )
    surroundings = environment()
    began = time.monotonic()
    try:
        taken = [_taken(how, replace(ask, seed=seed, space=folder / str(seed)), keep) for seed in range(1, repeats + 1)]
    except BaseException:
        if not keep:
            shutil.rmtree(folder, ignore_errors=True)
            with suppress(OSError):
                HOME.rmdir()
        raise
    unknown = {figure: why for one in taken for figure, why in one.unknown.items()}
    found = Reproduction(
        published=published,
        rows=tuple(rows_of(published, [one.figures for one in taken], scale=scale, unknown=unknown)),
        differs=tuple(
            dict.fromkeys([*_circumstances(surroundings, scale), *(word for one in taken for word in one.differs)])
        ),
        scale=scale,
        repeats=repeats,
        model=ask.model,
        verified=None if any(one.verified is None for one in taken) else all(one.verified for one in taken),
        simulated=any(one.simulated for one in taken),
        seconds=time.monotonic() - began,
        environment=surroundings,
        folder=folder,
    )
    (folder / _RESULT).write_text(json.dumps(found.as_dict(), indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    return found


def reproduce_anywhere(name: str, **options: Any) -> Reproduction:
    """Reproduce a run, also inside a running event loop; see `reproduce`."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return reproduce(name, **options)
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(max_workers=1, thread_name_prefix="reproduce") as thread:
        return thread.submit(lambda: reproduce(name, **options)).result()


def _way(published: Published) -> ModuleType:
    if published.missing:
        raise NotReproducible(
            f"{published.name} cannot be reproduced yet: it {published.missing}",
            hint=f"These can: {', '.join(reproducible_names())}.",
        )
    return importlib.import_module(f"{_PACKAGE}.{published.name.replace('-', '_')}")


def _check(
    published: Published,
    how: ModuleType,
    *,
    scale: float,
    repeats: int,
    model: str,
    repositories: Sequence[str | Path],
) -> None:
    if not 0 < scale < float("inf"):
        raise BadReproduction(f"the scale {scale:g} is no size", hint="1 is the published size, 0.1 a tenth of it.")
    if repeats < 1:
        raise BadReproduction(f"{repeats} repeats are none", hint="Give 1 or more.")
    if model and not hasattr(how, "MODEL"):
        raise BadReproduction(
            f"{published.name} asks no model of the caller's", hint="Its answers are scripted or cached: leave --model."
        )
    if repositories and not getattr(how, "REPOSITORIES", False):
        raise BadReproduction(f"{published.name} makes up its code itself", hint="Leave --repo.")


def _folder(published: Published, how: ModuleType, out: str | Path | None) -> Path:
    import itertools

    if out is None:
        name = f"reproduce-{published.name}"
        out = next(HOME / f"{name}-{at}" for at in itertools.count(1) if not (HOME / f"{name}-{at}").exists())
    folder = Path(out)
    try:
        folder.mkdir(parents=True)
    except FileExistsError:
        if not _goes_on(how) or not (folder / "1").is_dir() or (folder / _RESULT).exists():
            raise BadReproduction(f"{folder} exists already", hint="Give another folder with --out.") from None
    except OSError as error:
        raise BadReproduction(
            f"{folder} cannot be made: {error.strerror}", hint="Give another one with --out."
        ) from None
    return folder.resolve()


def _goes_on(how: ModuleType) -> bool:
    """Return whether a stopped reproduction goes on in its folder."""
    return bool(getattr(how, "GOES_ON", False))


def _taken(how: ModuleType, ask: Ask, keep: bool) -> Taken:
    ask.say(f"{ask.published.name}: run {ask.seed} at {ask.scale:g} of the published size")
    ask.space.mkdir(exist_ok=_goes_on(how))
    taken: Taken = how.take(ask)
    if not keep:
        shutil.rmtree(ask.space, ignore_errors=True)
    return taken


def _circumstances(surroundings: Mapping[str, Any], scale: float) -> list[str]:
    memory = surroundings["memory_bytes"] / (1 << 30)
    processor = surroundings["cpu"] or surroundings["system"]
    words = (
        f"machine: {surroundings['cpus']} processors of {processor}, {memory:.0f} GiB, "
        f"load {surroundings['load'][0]:.1f}; the published one is not named"
    )
    return [words] + ([f"size: {scale:g} of the published work and agents"] if scale != 1 else [])
