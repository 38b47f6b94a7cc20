from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from qodebase import events
from qodebase.codec import BadData
from qodebase.collision import Collided, Kind, Step
from qodebase.intent import Intent
from qodebase.journal import Journal
from qodebase.paths import CommitId, RepoPath
from qodebase.runs import RunFolder, Settings
from qodebase.skim import Skimmer, skim_intents

BASE = CommitId("0" * 40)
WANTED = {
    events.Event: ("at",),
    events.Admitted: ("at", "intent", "actor"),
    events.ChangeMade: ("at", "paths"),
    events.CollisionMet: ("at", "collided"),
}


class _Clock:
    simulated = False

    def now(self) -> float:
        return 5.0


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A journal with two admissions, a change, a collision and a stop."""
    path = tmp_path / "journal.jsonl"
    journal = Journal(path, run="r", clock=_Clock())  # type: ignore[arg-type]
    journal.write(events.Admitted, intent="a", actor="agent-1", base=BASE)
    journal.write(events.ChangeMade, intent="a", base=BASE, change="c", ref="1:0", paths=(RepoPath(b"a\xff"),))
    step = Step(by="merge", declined="no")
    met = Collided(path=RepoPath(b"p"), kind=Kind.CONTENT, steps=(step,), moved_to=RepoPath(b"q"))
    journal.write(events.CollisionMet, intent="a", collided=met)
    journal.write(events.Admitted, intent="b", actor="agent-2", base=BASE)
    journal.write(events.RunStopped, why="ended", tip=BASE)
    journal.close()
    return path


def _skimmed(path: Path) -> dict[str, list[Any]]:
    (block,) = Skimmer(WANTED).blocks(path)
    return {kind.__name__: [list(column) for column in columns] for kind, columns in block.items()}


def test_skimmed_events_have_their_places_and_the_wanted_fields_as_plain_values(path: Path) -> None:
    found = _skimmed(path)
    assert found["Admitted"] == [[0, 3], [5.0, 5.0], ["a", "b"], ["agent-1", "agent-2"]]
    assert found["ChangeMade"] == [[1], [5.0], [('"a\\377"',)]]
    assert found["Event"] == [[4], [5.0]]
    (collided,) = found["CollisionMet"][2]
    assert (collided.path, collided.kind, collided.moved_to) == ("p", "content", "q")
    assert [(step.by, step.declined) for step in collided.steps] == [("merge", "no")]


def test_a_torn_last_line_is_left_out_and_a_kind_of_a_later_version_stands_among_the_others(path: Path) -> None:
    with path.open("ab") as out:
        out.write(b'{"kind": "from the future", "v": 9, "seq": 6, "at": 7.0, "run": "r"}\n{"kind": "adm')
    assert _skimmed(path)["Event"] == [[4, 5], [5.0, 7.0]]


@pytest.mark.parametrize(
    ("line", "said"),
    [(b"}no json\n", "line 3 is not JSON"), (b'{"kind": "admitted", "at": "x"}\n', "line 3: Expected `float`")],
)
def test_a_broken_line_is_an_error_that_names_it(path: Path, line: bytes, said: str) -> None:
    lines = path.read_bytes().splitlines(keepends=True)
    lines[2] = line
    path.write_bytes(b"".join(lines))
    with pytest.raises(BadData, match=said):
        _skimmed(path)


def test_long_journals_come_in_several_blocks_that_count_on(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("qodebase.skim._BLOCK", 100)
    blocks = list(Skimmer(WANTED).blocks(path))
    assert len(blocks) > 2
    assert [place for block in blocks for place in block.get(events.Admitted, [[]])[0]] == [0, 3]


@pytest.fixture
def run(tmp_path: Path) -> RunFolder:
    """A run folder with two frozen intents."""
    folder = RunFolder.create(tmp_path / "run")
    scope = (RepoPath(b"src/a.py"), RepoPath(b"\xff"))
    intents = [Intent(id=name, asked=f"Do {name}.", scope=scope) for name in "ab"]
    settings = Settings(
        run="r",
        job="j",
        job_digest="0",
        job_settings={},
        repository="r",
        branch="main",
        base=BASE,
        model="m",
        workers=1,
        created=0.0,
        product="test",
    )
    folder.freeze(settings, intents)
    return folder


def test_skimmed_intents_hold_the_wanted_fields(run: RunFolder) -> None:
    found = skim_intents(run, ("id", "scope", "priority", "ending"))
    assert found == {
        "id": ["a", "b"],
        "scope": [("src/a.py", '"\\377"')] * 2,
        "priority": [100, 100],
        "ending": ["pending", "pending"],
    }


def test_a_broken_intent_is_an_error_that_names_its_line(run: RunFolder) -> None:
    lines = [json.loads(line) for line in run.frozen.read_bytes().splitlines()]
    lines[1]["priority"] = "high"
    run.frozen.write_bytes(b"".join(json.dumps(line).encode() + b"\n" for line in lines))
    with pytest.raises(BadData, match="line 2"):
        skim_intents(run, ("id", "priority"))


def test_a_field_that_begins_as_an_empty_dictionary_may_be_absent(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal.jsonl", run="r", clock=_Clock())  # type: ignore[arg-type]
    journal.write(events.RunStarted, sitting=1, base=BASE, tip=BASE, workers=1, real_pid=1)
    journal.close()
    (block,) = Skimmer({events.Event: (), events.RunStarted: ("models",)}).blocks(tmp_path / "journal.jsonl")
    assert [list(column) for column in block[events.RunStarted]] == [[0], [{}]]
