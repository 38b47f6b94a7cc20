from __future__ import annotations

import json
from collections.abc import Callable

from typer.testing import Result

Call = Callable[..., Result]


def test_the_bench_of_frames_counts_every_frame_and_names_what_is_missed(call: Call) -> None:
    result = call("bench", "frames", "--events", "2000", "--json")
    found = json.loads(result.stdout)
    assert result.exit_code == 0
    assert found["rows"]["landings"] > 200
    assert found["rows"]["intents"] > found["rows"]["landings"]
    assert set(found["targets"]) == {"seconds", "peak_rss_mib"}
    assert found["processor_s"] > 0
    assert "made up" in found["synthetic"]
