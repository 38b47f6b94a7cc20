"""Landings are chosen by what their frames say."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from results.frames import Frames
from results.selection import BadCondition, Selection, landed, select

if TYPE_CHECKING:
    from tests.results.conftest import ToyRun


@pytest.fixture
def frames(honest: ToyRun) -> Frames:
    """The frames of an honest run."""
    return Frames(honest.folder, kept=False)


def test_all_landings_are_meant_where_nothing_is_said(frames: Frames) -> None:
    assert select(frames, Selection()) == frames.landings["commit"].to_list()
    assert landed(frames)["commit"].to_list() == frames.landings["commit"].to_list()


def test_everything_that_is_said_must_hold(frames: Frames) -> None:
    rows = landed(frames).to_dicts()
    first, last = rows[0], rows[-1]
    assert select(frames, Selection(intents=[first["intent"], "no such"])) == [first["commit"]]
    assert select(frames, Selection(intents=[])) == []
    lanes = select(frames, Selection(lanes=[first["lane"]]))
    assert lanes == [row["commit"] for row in rows if row["lane"] == first["lane"]]
    assert select(frames, Selection(models=[first["model"]]))[0] == first["commit"]
    assert select(frames, Selection(models=["nobody"])) == []
    assert select(frames, Selection(since=last["at"])) == [row["commit"] for row in rows if row["at"] >= last["at"]]
    assert select(frames, Selection(until=first["at"])) == [row["commit"] for row in rows if row["at"] <= first["at"]]
    assert select(frames, Selection(intents=[first["intent"]], lanes=["no such lane"])) == []


def test_a_condition_may_name_columns_of_both_frames_and_ask_others(frames: Frames) -> None:
    rows = landed(frames).to_dicts()
    wanted = [row["commit"] for row in rows if row["collided"] > 0 and row["priority"] == 100]
    assert select(frames, Selection(where="collided > 0 AND priority = 100")) == wanted
    inside = "intent IN (SELECT intent FROM collisions)"
    collided = set(frames.collisions["intent"])
    assert select(frames, Selection(where=inside)) == [row["commit"] for row in rows if row["intent"] in collided]


@pytest.mark.parametrize("where", ["no_such_column > 1", "collided >", "1 = 1; DROP TABLE landed"])
def test_what_is_no_condition_is_refused_with_the_columns_that_there_are(frames: Frames, where: str) -> None:
    with pytest.raises(BadCondition) as caught:
        select(frames, Selection(where=where))
    assert "Columns: intent, " in caught.value.hint
