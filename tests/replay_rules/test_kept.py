"""Kept results: the same as without, no more memory than was said, from many threads."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from replay_rules.kept import kept


def test_the_newest_results_are_kept_until_their_contents_are_too_many_bytes() -> None:
    asked: list[tuple[str, bytes]] = []

    @kept(6)
    def length(kind: str, content: bytes) -> int:
        asked.append((kind, content))
        return len(content)

    for content in (b"abc", b"abc", b"def", b"abc", b"ghi", b"abc", b"def"):
        assert length("x", content) == 3
    assert [content for _, content in asked] == [b"abc", b"def", b"ghi", b"def"]
    assert length("y", b"def") == 3
    assert asked[-1] == ("y", b"def")


def test_results_of_larger_contents_are_not_kept_and_push_nothing_out() -> None:
    asked = []

    @kept(3)
    def length(content: bytes) -> int:
        asked.append(content)
        return len(content)

    assert [length(content) for content in (b"abc", b"long one", b"long one", b"abc")] == [3, 8, 8, 3]
    assert asked == [b"abc", b"long one", b"long one"]


def test_many_threads_get_what_one_would() -> None:
    @kept(50)
    def doubled(content: bytes) -> bytes:
        return content * 2

    with ThreadPoolExecutor(8) as threads:
        contents = [bytes([65 + number % 26]) * (number % 9) for number in range(4000)]
        assert list(threads.map(doubled, contents)) == [content * 2 for content in contents]
