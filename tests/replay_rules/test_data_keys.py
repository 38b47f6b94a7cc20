"""Doubled keys of data files."""

from __future__ import annotations

import pytest

from replay_rules.data_keys import reader_of


def doubled(path: str, content: bytes) -> dict[bytes, int]:
    reader = reader_of(path.encode())
    assert reader is not None
    return dict(reader(content).doubled)


def test_keys_that_one_mapping_holds_twice_are_counted() -> None:
    assert doubled("a.json", b'{"a": 1, "b": {"a": 1, "b": 2, "b": 3}}') == {b"b": 2}
    assert doubled("a.yaml", b"a: 1\nb:\n  a: 1\n  c: 2\n  c: 3\n") == {b"c": 2}
    assert doubled("a.yml", b'"x": 1\r\nurl: http://a\r\n"x": 2\r\n') == {b'"x"': 2}


def test_equal_keys_of_several_mappings_are_none() -> None:
    assert doubled("a.json", b'[{"a": 1}, {"a": 2}]') == {}
    text = b"""jobs:
  - name: one
    run: a
  - name: two
    run: b
  -
    name: three
    run: c
other:
- name: four
- name: five
  with:
    name: x
---
jobs: 1
"""
    assert doubled("a.yaml", text) == {}


@pytest.mark.parametrize(("path", "content"), [("a.json", b"{"), ("a.toml", b"a = 1\na = 2\n"), ("a.toml", b"\xff")])
def test_what_does_not_parse_is_a_fault(path: str, content: bytes) -> None:
    reader = reader_of(path.encode())
    assert reader is not None
    assert reader(content).faults == 1


def test_no_bytes_make_it_raise_and_other_files_have_no_reader() -> None:
    for path in (b"a.json", b"a.toml", b"a.yaml"):
        reader = reader_of(path)
        assert reader is not None
        for content in (b"", b"\xff\xfe\x00", b"[" * 20_000, b": :\n- - a: b\n\t- c:", b'{"\\ud800": 1, "\\ud800": 2}'):
            reader(content)
    assert reader_of(b"a.txt") is None
