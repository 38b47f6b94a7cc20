from __future__ import annotations

import random
import time

import pytest

from replay_rules.version import greater, is_locked, rule
from tests.support.replay_sides import collide, content_of, edited, reason_of, takes_odd_bytes

SETUP = b'setup(\n    name="shop",\n    version="2.3.4",\n    packages=["shop"],\n)\n'


def test_the_greater_version_stays_whoever_raised_it() -> None:
    small, great = edited(SETUP, (b"2.3.4", b"2.3.5")), edited(SETUP, (b"2.3.4", b"2.10.0"))
    assert content_of(rule(collide("setup.py", SETUP, small, great))) == great
    assert content_of(rule(collide("setup.py", SETUP, great, small))) == great


def test_other_edits_of_the_file_merge_beside_the_version() -> None:
    main = edited(SETUP, (b"2.3.4", b"2.4.0"), (b"setup(", b"# Set up.\nsetup("))
    change = edited(SETUP, (b"2.3.4", b"2.3.5"), (b'["shop"]', b'["shop", "web"]'))
    wanted = edited(SETUP, (b"2.3.4", b"2.4.0"), (b"setup(", b"# Set up.\nsetup("), (b'["shop"]', b'["shop", "web"]'))
    assert content_of(rule(collide("setup.py", SETUP, main, change))) == wanted


@pytest.mark.parametrize(
    ("base", "main", "change", "said"),
    [
        (b"N = 5\n", b"N = 6\n", b"N = 6\n", "no version"),
        (b"N = 5\n", b"N = 6\n", b"N = 7\n", "no version"),
        (b"ratio = 1.5\n", b"ratio = 1.6\n", b"ratio = 1.8\n", "beside that word"),
        (b"version 1.2.3\n", b"version 2.0.0\n", b"version 1.3.0\n", "other majors"),
        (b"version 1.2.3\n", b"version 1.2.2\n", b"version 1.3.0\n", "went down"),
        (b"version 1.2.3\n", b"version 1.2.4\n", b"version 1.2.4\n", "meant twice"),
        (b"version 1.2.3\n", b"version 1.2.4rc1\n", b"version 1.2.4\n", "no version number that both"),
        (b"version 1.2.3\n", b"version 1.3\n", b"version 1.2.4\n", "other majors"),
        (b"version 1.2.3\nx = 1\n", b"version 1.2.4\nx = 2\n", b"version 1.2.5\nx = 3\n", "beside the version"),
        (b"version 1.2.3\n1.2.3 x\n", b"version 1.2.4\n1.2.4 x\n", b"version 1.2.5\n1.2.3 x\n", "one version became"),
    ],
)
def test_what_is_not_proved_is_declined(base: bytes, main: bytes, change: bytes, said: str) -> None:
    assert said in reason_of(rule(collide("a.txt", base, main, change)))


def test_the_same_version_is_kept_where_the_job_says_that_it_is_meant_once() -> None:
    same = edited(SETUP, (b"2.3.4", b"2.3.5"))
    more = edited(same, (b'["shop"]', b"[]"))
    assert content_of(rule(collide("setup.py", SETUP, same, more, idempotent=True))) == more


def test_line_ends_of_windows_and_a_missing_last_one_stay() -> None:
    assert content_of(rule(collide("v", b"a\r\nv1.2.3", b"b\r\nv1.2.4", b"a\r\nv1.3.0"))) == b"b\r\nv1.3.0"


def test_whole_texts_are_compared_in_the_same_quotes_and_range_only() -> None:
    assert greater(b'"^1.2.3"', b'"^1.2.4"', b'"^1.3.0"') == b'"^1.3.0"'
    assert greater(b'"^1.2.3"', b'"~1.2.4"', b'"^1.3.0"') is None
    assert greater(b"1.2.3", b"1.2.4", b"1.2.4") is None
    assert greater(b"1.2", b"1.3", b"1.4") is None


def test_lock_files_are_known_by_name() -> None:
    assert all(map(is_locked, (b"Cargo.lock", b"a/package-lock.json", b"pnpm-lock.yaml", b"go.sum")))
    assert not any(map(is_locked, (b"lock.py", b"package.json", b"locked/a.toml")))
    assert "lock file" in reason_of(rule(collide("yarn.lock", b"v1.2.3\n", b"v1.2.4\n", b"v1.2.5\n")))


def test_odd_bytes_never_raise() -> None:
    takes_odd_bytes(rule, "a.txt", b"version 1.2.3\n")


def test_numbers_are_compared_as_numbers() -> None:
    source = random.Random(4)
    for _ in range(300):
        raised = [(3, source.randint(1, 120), source.randint(0, 120)) for _ in range(2)]
        if raised[0] == raised[1]:
            continue
        texts = [b"version = %d.%d.%d\n" % numbers for numbers in ((3, 0, 7), *raised)]
        merged = content_of(rule(collide("a.cfg", *texts)))
        assert merged == b"version = %d.%d.%d\n" % max(raised)


def test_the_greater_of_two_addresses_is_not_chosen() -> None:
    sides = [b"host = 10.0.0.%d\n" % number for number in (5, 7, 9)]
    assert "address" in reason_of(rule(collide("net.ini", *sides)))
    assert greater(b'"10.0.0.5"', b'"10.0.0.7"', b'"10.0.0.9"') is None
    assert greater(b'"1.2.0.5"', b'"1.2.0.7"', b'"1.2.0.9"', b"version") == b'"1.2.0.9"'
    sides = [b"version = 1.2.0.%d\n" % number for number in (5, 7, 9)]
    assert content_of(rule(collide("a.ini", *sides))) == sides[2]


def test_a_file_of_blank_lines_takes_no_time() -> None:
    sides = [b"version = 1.2.%d\n" % number + b"\n" * 4000 for number in (5, 7, 9)]
    began = time.process_time()
    assert content_of(rule(collide("a.ini", *sides))) == sides[2]
    assert time.process_time() - began < 4
