from __future__ import annotations

import pytest

from qodebase.paths import RepoPath
from qodebase.patterns import BadPattern, matcher


@pytest.mark.parametrize(
    ("patterns", "inside", "outside"),
    [
        (["src/**"], [b"src/a.py", b"src/b/c.py"], [b"a.py", b"lib/src/a.py"]),
        (["*.py"], [b"a.py", b"src/a.py"], [b"a.pyc"]),
        (["/a.py"], [b"a.py"], [b"src/a.py"]),
        (["vendor/"], [b"vendor/a", b"src/vendor/a/b"], [b"vendor"]),
        (["*.py", "!test_*.py"], [b"a.py"], [b"test_a.py", b"src/test_a.py"]),
        (["!a.py", "*.py"], [b"a.py"], [b"b"]),
        (["# words", "", "a"], [b"a"], [b"# words", b"b"]),
        (["[ab].py"], [b"a.py"], [b"c.py"]),
        (["?.py"], [b"\xff.py", "ö.py".encode()], [b"ab.py"]),
        (["größe/**"], ["größe/a".encode()], [b"gr/a"]),
        (["a\\*b"], [b"a*b"], [b"axb"]),
        ([], [], [b"a"]),
    ],
)
def test_patterns_mean_what_they_mean_in_gitignore(
    patterns: list[str], inside: list[bytes], outside: list[bytes]
) -> None:
    matches = matcher(patterns)
    assert [path for path in inside if not matches(RepoPath(path))] == []
    assert [path for path in outside if matches(RepoPath(path))] == []


@pytest.mark.parametrize("pattern", ["!", "/", "a\\"])
def test_a_pattern_without_a_meaning_is_an_error_or_matches_nothing(pattern: str) -> None:
    try:
        matches = matcher([pattern])
    except BadPattern:
        return
    assert not any(matches(RepoPath(path)) for path in (b"a", b"a/b", b"!"))
