from __future__ import annotations

import json
from collections.abc import Callable

from typer.testing import Result

Call = Callable[..., Result]


def test_a_query_is_answered_from_the_frames(call: Call) -> None:
    query = "select ending, count(*) as n from intents group by ending order by n desc, ending limit 2"
    assert json.loads(call("sql", "one", query, "--json").stdout) == [
        {"ending": "landed", "n": 4},
        {"ending": "no answer", "n": 1},
    ]
    assert call("sql", "one", query, "--format", "csv").stdout == "ending,n\nlanded,4\nno answer,1\n"


def test_a_bad_query_exits_with_two_and_says_what_there_is(call: Call) -> None:
    result = call("sql", "one", "select x from intents")
    assert result.exit_code == 2
    assert "x" in result.stderr
    assert "intents has intent, asked" in result.stderr
