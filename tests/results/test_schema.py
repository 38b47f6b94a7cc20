from __future__ import annotations

import subprocess
import sys

import pytest

from results.frames import MAKERS
from results.schema import SCHEMAS, FrameSchema


def test_every_frame_has_rows_and_every_row_function_has_a_frame() -> None:
    assert list(MAKERS) == list(SCHEMAS)


@pytest.mark.parametrize("schema", SCHEMAS.values(), ids=SCHEMAS)
def test_every_column_is_declared_once_and_says_what_it_holds(schema: FrameSchema) -> None:
    assert len(set(schema.names)) == len(schema.names)
    assert all(column.doc.endswith(".") for column in schema.columns)


@pytest.mark.parametrize("schema", SCHEMAS.values(), ids=SCHEMAS)
def test_every_column_of_seconds_tokens_or_money_names_its_unit(schema: FrameSchema) -> None:
    for column in schema.columns:
        measured = column.name.endswith(("_at", "_s", "_usd", "_tokens")) or column.name in {"at", "second", "seconds"}
        assert not measured or column.unit, column.name


@pytest.mark.parametrize("schema", SCHEMAS.values(), ids=SCHEMAS)
def test_every_frame_says_what_is_simulated(schema: FrameSchema) -> None:
    assert {"simulated", "simulated_model"} & set(schema.names)


def test_the_frames_are_imported_without_polars() -> None:
    code = "import sys, results.frames, results.audit, results.summary; assert 'polars' not in sys.modules, 'polars'"
    subprocess.run([sys.executable, "-c", code], check=True)
