from __future__ import annotations

import pytest

from qodebase.commands.support.priorities import BadPriority, with_priorities
from qodebase.intent import BadIntents, Intent, check_order
from qodebase.paths import RepoPath


def intent(name: str, *paths: bytes, priority: int = 100) -> Intent:
    return Intent(id=name, asked="", scope=tuple(map(RepoPath, paths)), priority=priority)


def test_the_most_urgent_pattern_that_takes_a_path_of_the_scope_counts() -> None:
    intents = [
        intent("core", b"src/core/a.py"),
        intent("src", b"src/a.py"),
        intent("both", b"src/a.py", b"src/core/a.py"),
        intent("docs", b"docs/a.md", priority=7),
    ]
    found = with_priorities(intents, {"50": ["src/**"], "0": ["src/core/**"]})
    assert {one.id: one.priority for one in found} == {"core": 0, "src": 50, "both": 0, "docs": 7}
    assert with_priorities(intents, {}) == intents


@pytest.mark.parametrize("number", ["256", "-1", "high", "1.5", "", "٣"])
def test_what_is_no_priority_is_refused(number: str) -> None:
    with pytest.raises(BadPriority, match="is no priority"):
        with_priorities([intent("a", b"a")], {number: ["a"]})


@pytest.mark.parametrize("number", [-1, 256, 1000])
def test_a_job_whose_priority_is_out_of_range_is_refused_before_the_freeze(number: int) -> None:
    check_order([intent("a", b"a", priority=0), intent("b", b"b", priority=255)])
    with pytest.raises(BadIntents, match=f"'a' has priority {number}"):
        check_order([intent("a", b"a", priority=number)])
