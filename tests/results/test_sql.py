from __future__ import annotations

import csv
import io
import json
from typing import TYPE_CHECKING

import pytest

from results.export import Format, table, written
from results.frames import Frames, load
from results.schema import SCHEMAS
from results.sql import BadQuery, query

if TYPE_CHECKING:
    from tests.results.conftest import ToyRun


@pytest.fixture
def frames(honest: ToyRun) -> Frames:
    return load(honest.folder)


def test_a_query_joins_frames_and_makes_only_those_that_it_names(frames: Frames) -> None:
    text = """
        select l.intent, count(*) as met from Landings l join collisions c on l.intent = c.intent
        group by l.intent having count(*) > 0 order by l.intent limit 2
    """
    assert query(frames, text).rows() == [("doc:src/m0/f0003.py", 1), ("doc:src/m0/f0006.py", 1)]
    assert {name for name in SCHEMAS if name in frames.__dict__} == {"landings", "collisions"}


def test_metrics_are_a_table_too(frames: Frames) -> None:
    assert query(frames, "select value from metrics where metric = 'landed'").item() == 13


@pytest.mark.parametrize(
    ("text", "said", "hint"),
    [
        ("selec", "sql parser error", "Tables are intents"),
        ("select * from landing", "landing", "Tables are intents"),
        ("select nothing from landings", "nothing", "landings has intent, attempt, lane"),
        ("", "", "Tables are intents"),
    ],
)
def test_a_query_that_cannot_be_answered_says_why_and_what_there_is(
    frames: Frames, text: str, said: str, hint: str
) -> None:
    with pytest.raises(BadQuery) as raised:
        query(frames, text)
    assert said in raised.value.message
    assert raised.value.hint.startswith(hint)


@pytest.mark.parametrize("name", SCHEMAS)
def test_every_frame_comes_out_whole_in_every_format(frames: Frames, name: str) -> None:
    import polars as pl

    frame = frames.frame(name)
    lines = list(csv.reader(io.StringIO(written(frame, Format.CSV).decode())))
    assert (lines[0], len(lines) - 1) == (frame.columns, frame.height)
    assert json.loads(written(frame, Format.JSON)) == json.loads(json.dumps(frame.to_dicts()))
    assert pl.read_parquet(io.BytesIO(written(frame, Format.PARQUET))).equals(frame)
    assert all(column in table(frame) for column in frame.columns)


def test_lists_stand_in_csv_as_json(frames: Frames) -> None:
    text = written(frames.collisions, Format.CSV).decode()
    row = next(row for row in csv.DictReader(io.StringIO(text)) if row["intent"] == "hot:second")
    assert json.loads(row["declined"]) == ["merge: both sides changed the same lines"]


@pytest.mark.parametrize(
    ("value", "in_json", "in_csv"),
    [
        ("1.5", 1.5, "1.5"),
        ("sqrt(-1.0)", None, "NaN"),
        ("date '2026-01-31'", "2026-01-31", "2026-01-31"),
        ("time '10:00'", "10:00:00", "10:00:00.000000000"),
        ("cast(1500000 as bigint)::timestamp", "1970-01-01T00:00:01.500000", "1970-01-01T00:00:01.500000"),
        ("interval '1 day'", 86400.0, "86400.0"),
        ("x'ff00'", "ff00", "ff00"),
        ("[0.5, 2.0]", [0.5, 2.0], '"[0.5, 2.0]"'),
    ],
)
def test_whatever_a_query_makes_can_be_written(frames: Frames, value: str, in_json: object, in_csv: str) -> None:
    frame = query(frames, f"select {value} as a from intents limit 1")
    assert json.loads(written(frame, Format.JSON), parse_constant=pytest.fail) == [{"a": in_json}]
    assert written(frame, Format.CSV).decode().splitlines() == ["a", in_csv]


def test_a_table_tells_moments_in_full() -> None:
    import polars as pl

    text = table(pl.DataFrame({"at": [1796095133.7238, None], "share": [0.25, 0.5]}))
    assert "1796095133.724" in text
    assert "0.5" in text
