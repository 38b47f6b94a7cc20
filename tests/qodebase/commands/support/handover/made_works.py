"""Works for tests: what intents changed, without a repository."""

from __future__ import annotations

from qodebase.collision import Entry
from qodebase.commands.support.handover.landed import Work
from qodebase.paths import CommitId, RepoPath
from qodebase.record import Record, Times, Usage
from qodebase.trunk.batch import ObjectId
from qodebase.trunk.commits import CommitFacts
from results.tree_diff import Differs

ID = CommitId("0" * 40)


def work(place: int, *paths: str, lane: str = "main", shared: str = "") -> Work:
    """Return a landing that changed paths; an entry's id counts for nothing."""
    record = Record(
        run="r",
        intent=f"i{place}",
        asked="",
        agent="a",
        model="m",
        attempt=1,
        replay=0,
        lane=lane,
        train="t",
        base=ID,
        parent=ID,
        tree="",
        verdict="green",
        checks=(),
        collisions=(),
        symbols=(),
        plan={},
        usage=Usage(),
        times=Times(admitted=0, answered=0, queued=0, landed=0),
    )
    commit = CommitFacts(id=ID, tree=ObjectId(ID), parents=(ID,), author=b"", committer=b"", message="")
    changed = Differs(Entry(0o100644, ID), Entry(0o100644, "1" * 40))
    return Work(
        place=place,
        intent=f"i{place}",
        asked="",
        after=(),
        commit=commit,
        record=record,
        own={RepoPath(path.encode()): changed for path in paths},
        shared={RepoPath(shared.encode()): changed} if shared else {},
    )
