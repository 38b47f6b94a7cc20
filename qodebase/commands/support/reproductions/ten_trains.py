"""``ten-trains``: ten lanes land trains at the same time, and C git alone merges the same branches beside them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from qodebase.commands.support.reproductions._asked import Ask, Taken

if TYPE_CHECKING:
    from qodebase.commands.support.reproductions._running import Ran

_CARS = 8


def take(ask: Ask) -> Taken:
    """Do the work once."""
    from qodebase.commands.support.reproductions._branching import make_branches
    from qodebase.commands.support.reproductions._running import run
    from qodebase.commands.support.reproductions._sources import code_of, python_codebases
    from qodebase.commands.support.starting import Order

    trains, cars = ask.published.agents, ask.sized(_CARS, least=2)
    (code,) = python_codebases(replace(ask, scale=1.0), count=1)
    with code_of(code.repository) as tree:
        files = {path.decode(): tree.read(path) for path, _ in tree.walk()}
    folders = make_branches(code.repository, files, folders=trains, each=cars, seed=ask.seed)
    done = run(
        Order(
            job="branches",
            settings={"branches": ["trains/*"]},
            repository=code.repository,
            out=ask.space / "run",
            workers=trains * cars,
            train_max=cars,
            lanes={folder: [f"/{folder}/**"] for folder in folders},
            source="reproduce",
        )
    )
    equal = _equal(done, ask.space / "oracle.git")
    return Taken(
        figures={"integrated": len(_whole(done)), "equal_to_oracle": len(_whole(done) & equal)},
        differs=(
            f"work: {trains * cars} branches on {code.what}, {cars} for each of ten lanes, made up by program",
            "oracle: C git's merge-tree, branch by branch in main's order; trees are compared after every landing",
            "no cars are reviewed: no model or person looks at a change",
        ),
        verified=done.audit.ok,
    )


def _whole(done: Ran) -> set[str]:
    """Return the trains that landed with all that were coupled into them."""
    from qodebase.events import TrainBuilt

    coupled = {event.train: set(event.members) for event in done.events if isinstance(event, TrainBuilt)}
    landed: dict[str | None, set[str | None]] = {}
    for event in done.landed:
        landed.setdefault(event.train, set()).add(event.intent)
    return {train for train, members in coupled.items() if train and landed.get(train) == members}


def _equal(done: Ran, scratch: Path) -> set[str]:
    """Return the trains of which every landing has the tree that the oracle merges."""
    from qodebase.commands.support.reproductions._plain_git import equal_landings

    tips = {intent.id: intent.given.tip for intent in done.folder.intents() if intent.given is not None}
    landed = done.landed
    pairs = [(event.commit, tips[event.intent or ""]) for event in landed]
    base = done.folder.settings().base
    unlike = {
        event.train
        for event, equal in zip(landed, equal_landings(done.folder.repository, base, pairs, scratch), strict=True)
        if not equal
    }
    return {event.train for event in landed if event.train and event.train not in unlike}
