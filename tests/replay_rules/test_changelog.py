from __future__ import annotations

import random

import pytest

from replay_rules.changelog import rule
from replay_rules.clean_merge import merge_file
from replay_rules.releases import clean_doubt
from tests.support.replay_sides import collide, content_of, edited, reason_of, takes_odd_bytes

LOG = b"# Log\n\n## [Unreleased]\n\n### Added\n- one\n- two\n\n### Fixed\n- bug\n\n## 1.0\n\n- began\n"


def test_bullets_at_one_place_stand_below_each_other_with_mains_first() -> None:
    main = edited(LOG, (b"- two\n", b"- two\n- main\n"))
    change = edited(LOG, (b"- two\n", b"- two\n- change\n  goes on\n"))
    wanted = edited(LOG, (b"- two\n", b"- two\n- main\n- change\n  goes on\n"))
    assert content_of(rule(collide("CHANGELOG.md", LOG, main, change))) == wanted


def test_a_new_heading_goes_behind_the_bullets_of_the_section_before_it() -> None:
    titled = edited(LOG, (b"- bug\n", b"- bug\n\n### Removed\n- old\n"))
    plain = edited(LOG, (b"- bug\n", b"- bug\n- leak\n"))
    wanted = edited(LOG, (b"- bug\n", b"- bug\n- leak\n\n### Removed\n- old\n"))
    assert content_of(rule(collide("CHANGELOG.md", LOG, titled, plain))) == wanted
    assert content_of(rule(collide("CHANGELOG.md", LOG, plain, titled))) == wanted


def test_the_first_bullets_of_an_empty_section_are_one_list() -> None:
    base = b"# Log\n\n## Next\n\n## 1.0\n\n- z\n"
    main, change = edited(base, (b"Next\n", b"Next\n\n- m\n")), edited(base, (b"Next\n", b"Next\n\n- c\n"))
    assert content_of(rule(collide("NEWS.md", base, main, change))) == edited(base, (b"Next\n", b"Next\n\n- m\n- c\n"))


def test_blank_lines_stand_between_bullets_where_that_is_the_custom() -> None:
    base = b"Log\n===\n\n2.1\n---\n\n* a\n\n* b\n\n2.0\n---\n\n* z\n"
    main, change = edited(base, (b"* b\n", b"* b\n\n* m\n")), edited(base, (b"* b\n", b"* b\n\n* c\n"))
    merged = content_of(rule(collide("CHANGES.rst", base, main, change)))
    assert merged == edited(base, (b"* b\n", b"* b\n\n* m\n\n* c\n"))


@pytest.mark.parametrize(
    ("main", "change", "said"),
    [
        ((b"## [Unreleased]\n", b"## [Unreleased]\n\n## 1.1\n"), (b"- two\n", b"- two\n- c\n"), "released? ?was made"),
        ((b"- two\n", b"- two\n- m\n"), (b"- began\n", b"- began\n- c\n"), "outside of the newest"),
        ((b"- two\n", b"- two!\n"), (b"- two\n", b"- two\n- c\n"), "edits or removes"),
        ((b"- two\n", b"- two\n- m\n"), (b"- two\n", b"- two\nPlain words.\n"), "no bullet"),
        ((b"- two\n", b"- two\n- m\n"), (b"- two\n", b"- two\n- m\n- c\n"), "the same line"),
        ((b"- two\n", b"- two\n- m\n"), (b"- two\n", b"- two\n1. c\n"), "numbered"),
        ((b"- two\n", b"- two\n- m\n"), (b"- two\n", b"- two\n  - c\n"), "below another"),
        ((b"- bug\n", b"- bug\n\n### A\n- m\n"), (b"- bug\n", b"- bug\n\n### B\n- c\n"), "heading at one place"),
    ],
)
def test_what_is_not_proved_is_declined(main: tuple[bytes, bytes], change: tuple[bytes, bytes], said: str) -> None:
    why = reason_of(rule(collide("CHANGELOG.md", LOG, edited(LOG, main), edited(LOG, change))))
    assert said.replace("d? ?", " ") in why or said in why


def doubt(main: bytes, change: bytes, base: bytes) -> str:
    """Return what is said of git's clean merge, whichever side is main."""
    merged = [merge_file(base, *sides) for sides in ((main, change), (change, main))]
    assert merged[0] is not None
    assert merged[0] == merged[1]
    said = {clean_doubt(collide("CHANGELOG.md", base, *sides), merged[0]) for sides in ((main, change), (change, main))}
    assert len(said) == 1
    return said.pop()


def test_a_clean_merge_that_puts_new_bullets_below_a_release_is_doubted() -> None:
    released = edited(LOG, (b"## [Unreleased]\n", b"## [Unreleased]\n\n## 1.1\n"))
    bullet = edited(LOG, (b"- two\n", b"- two\n- c\n"))
    assert "release" in doubt(released, bullet, LOG)
    assert doubt(edited(LOG, (b"# Log\n", b"# The log\n")), bullet, LOG) == ""


DATED = (
    b"Log\n===\n\nVersion 1.2\n-----------\n\nUnreleased\n\n- one\n- two\n\n"
    b"Version 1.1\n-----------\n\nReleased\n\n- began\n"
)
BULLET = edited(DATED, (b"- two\n", b"- two\n- three\n"))


def test_a_newer_section_above_one_that_is_still_unreleased_is_no_release() -> None:
    opened = edited(DATED, (b"Version 1.2\n", b"Version 1.3\n-----------\n\nUnreleased\n\n- far\n\nVersion 1.2\n"))
    assert doubt(opened, BULLET, DATED) == ""
    assert doubt(opened, edited(BULLET, (b"Unreleased", b"Released in May")), DATED) == ""


@pytest.mark.parametrize(
    "edit",
    [
        (b"Unreleased", b"Released in May"),
        (b"Version 1.2\n-----------\n\nUnreleased", b"Version 1.2 (May)\n-----------------"),
        (b"Unreleased\n\n- one\n", b"Unreleased\n\nVersion 1.1.9\n-------------\n\n- one\n"),
    ],
)
def test_a_section_that_the_other_side_released_takes_no_more_bullets(edit: tuple[bytes, bytes]) -> None:
    assert "release" in doubt(edited(DATED, edit), BULLET, DATED)


def test_edited_bullets_and_whole_new_sections_are_not_added_to_a_release() -> None:
    released = edited(DATED, (b"Unreleased", b"Released in May"))
    reworded = edited(DATED, (b"- two\n", b"- deux\n"))
    below = edited(DATED, (b"- two\n\n", b"- two\n\nVersion 1.1.1\n-------------\n\n- fix\n\n"))
    for other in (reworded, below):
        assert doubt(released, other, DATED) == ""


def test_line_ends_of_windows_stay() -> None:
    base = LOG.replace(b"\n", b"\r\n")
    main, change = (edited(base, (b"- two\r\n", b"- two\r\n- %s\r\n" % word)) for word in (b"m", b"c"))
    merged = content_of(rule(collide("CHANGELOG.md", base, main, change)))
    assert merged == edited(base, (b"- two\r\n", b"- two\r\n- m\r\n- c\r\n"))


def test_a_last_line_without_an_end_is_declined() -> None:
    base = b"# Log\n\n## Next\n\n- a"
    assert reason_of(rule(collide("NEWS", base, base + b"\n- m", base + b"\n- c")))


def test_odd_bytes_never_raise() -> None:
    takes_odd_bytes(rule, "CHANGELOG.md", LOG)


def test_bullets_at_random_places_are_all_there_and_the_rest_stands() -> None:
    source = random.Random(9)
    lines = LOG.splitlines(keepends=True)
    places = [5, 6, 7, 10]
    for _ in range(200):
        sides = []
        for mark in (b"m", b"c"):
            side = lines.copy()
            for number, at in enumerate(sorted(source.sample(places, source.randint(1, 3)), reverse=True)):
                side.insert(at, b"- %s%d\n" % (mark, number))
            sides.append(b"".join(side))
        merged = content_of(rule(collide("CHANGELOG.md", LOG, *sides)))
        for kept, gone in zip(sides, (b"- c", b"- m"), strict=True):
            rest = [line for line in merged.splitlines(keepends=True) if not line.startswith(gone)]
            assert b"".join(rest) == kept


def test_blank_lines_between_bullets_of_several_lines_are_the_custom_too() -> None:
    base = b"1.2\n---\n\n- one\n  goes on\n\n- two\n  goes on\n\n1.1\n---\n\n- began\n"
    sides = [
        edited(base, (b"- two\n  goes on\n", b"- two\n  goes on\n\n- %s\n  more\n" % word)) for word in (b"m", b"c")
    ]
    wanted = edited(base, (b"- two\n  goes on\n", b"- two\n  goes on\n\n- m\n  more\n\n- c\n  more\n"))
    assert content_of(rule(collide("NEWS", base, *sides))) == wanted


def test_where_a_list_grows_at_its_top_the_newest_stands_on_top() -> None:
    base = b"1.2\n---\n\n- one\n- two\n\n1.1\n---\n\n- began\n"
    sides = [edited(base, (b"- one\n", b"- %s\n- one\n" % word)) for word in (b"m", b"c")]
    assert content_of(rule(collide("NEWS", base, *sides))) == edited(base, (b"- one\n", b"- c\n- m\n- one\n"))


def test_a_bullet_does_not_come_below_a_heading_that_the_other_side_put_above_it() -> None:
    base = b"# Log\n\n## Unreleased\n\n## 1.0\n\n- z\n"
    titled = edited(base, (b"Unreleased\n", b"Unreleased\n- m\n\n### New\n- n\n"))
    plain = edited(base, (b"Unreleased\n\n", b"Unreleased\n\n- c\n\n"))
    for sides in ((titled, plain), (plain, titled)):
        merged = merge_file(base, *sides)
        assert merged is not None
        assert "below a heading" in clean_doubt(collide("CHANGELOG.md", base, *sides), merged)
        assert "below a heading" in reason_of(rule(collide("CHANGELOG.md", base, *sides)))
