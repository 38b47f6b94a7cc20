"""``vscode-docs``: agents document an editor's code, and each adds its lines to one index."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from qodebase.commands.support.reproductions._asked import Ask, Taken

if TYPE_CHECKING:
    from qodebase.commands.support.reproductions._running import Ran

MODEL = "outline"
REPOSITORIES = True
_INDEX = b"docs/API_INDEX.md"


def take(ask: Ask) -> Taken:
    """Do the work once."""
    from qodebase.commands.support.reproductions._documenting import code_touched, cost_of, document, model_differs
    from qodebase.commands.support.reproductions._sources import Codebase, editor_code, part_of

    given = ask.repositories[0] if ask.repositories else None
    code = editor_code(ask) if given is None else Codebase(given.name, part_of(given, ask), given.name)
    settings = {"index": _INDEX.decode(), "index_layout": "single"}
    done = document(ask, code.repository, ask.space / "run", workers=ask.sized(ask.published.agents), settings=settings)
    collided, by_model = _on_index(done)
    lines = _index_lines(done)
    expected = set(_asked_lines(done))
    summary = done.summary
    return Taken(
        figures={
            "landed": summary.landed,
            "collided_on_index": collided,
            "index_redone_by_model": by_model,
            "index_lines": len(lines),
            "index_lines_missing": len(expected - set(lines)),
            "index_lines_twice": len(lines) - len(set(lines)),
            "no_answer": _no_answer(done),
            "code_touched": code_touched(done.audit),
            **cost_of(summary),
        },
        unknown={"cost": "the price of some calls is not known: give --model one with a price"},
        differs=(
            f"code: {code.what}, {summary.intents} files; the published run had {ask.published.intents}",
            model_differs(ask.model),
            "an agent adds at most 3 lines to the index here",
        ),
        verified=done.audit.ok,
    )


def _no_answer(done: Ran) -> int:
    from qodebase.intent import Ending

    return done.summary.endings[Ending.NO_ANSWER] + done.summary.endings[Ending.REFUSED]


def _on_index(done: Ran) -> tuple[int, int]:
    """Return how many landed intents met the index moved, and how many of them a model redid there."""
    from qodebase.events import CollisionMet
    from qodebase.journal import read_events

    landed = {event.intent for event in done.landed}
    met: dict[str, str] = {}
    for event in read_events(done.folder.journal):
        if isinstance(event, CollisionMet) and event.collided.path == _INDEX and event.intent in landed:
            met[str(event.intent)] = event.collided.steps[-1].by if event.collided.steps else ""
    return len(met), sum(by.startswith("model") for by in met.values())


def _index_lines(done: Ran) -> list[bytes]:
    from qodebase.code import CommitTree
    from qodebase.paths import RepoPath
    from qodebase.trunk.reader import Reader

    with Reader(done.folder.repository) as reader:
        tip = reader.tip(done.folder.settings().branch)
        assert tip is not None, "a run has its branch"
        try:
            content = CommitTree(reader, tip).read(RepoPath(_INDEX))
        except KeyError:
            return []
    return [line for line in content.splitlines(keepends=True) if line.startswith(b"- ")]


def _asked_lines(done: Ran) -> Iterator[bytes]:
    """Yield the lines that landed changes added, as the journal has them."""
    from fleet.jobs.document.index import lines_of
    from qodebase.change import Change
    from qodebase.codec import pack_decoder
    from qodebase.events import ChangeMade
    from qodebase.journal import read_events
    from qodebase.paths import RepoPath
    from qodebase.segments import SegmentReader

    landed = {(event.intent, event.attempt) for event in done.landed}
    decoder = pack_decoder(Change)
    kept = SegmentReader(done.folder.attempts)
    try:
        for event in read_events(done.folder.journal):
            if isinstance(event, ChangeMade) and (event.intent, event.attempt) in landed:
                yield from lines_of(decoder.decode(kept.get(event.ref)).operations, RepoPath(_INDEX))
    finally:
        kept.close()
