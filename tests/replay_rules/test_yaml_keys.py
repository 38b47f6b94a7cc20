from __future__ import annotations

import time

import pytest

from qodebase.collision import Resolved
from replay_rules.data_keys import reader_of
from replay_rules.keyed import CannotMerge, render
from replay_rules.yaml_keys import load, read, rule
from tests.support.replay_sides import collide, content_of, edited, reason_of, takes_odd_bytes

FLOW = b"""# ci
name: CI
on:
  push:
    branches: [main]
env:
  A: "1"   # one
  B: two
tags:
- alpha
- beta

jobs:
  test:
    runs-on: ubuntu
    script: |
      # text

      run: it
  # lint
  lint:
    runs-on: ubuntu
"""


def test_keys_and_items_of_both_sides_are_there_with_their_comments() -> None:
    main = edited(FLOW, (b"  B: two\n", b"  B: two\n  C: three\n"), (b"- beta\n", b"- beta\n- gamma\n"))
    change = edited(FLOW, (b"  B: two\n", b"  B: two\n\n  # why\n  D: four\n"), (b"- alpha\n", b"- alpha\n- aa\n"))
    wanted = edited(
        FLOW,
        (b"  B: two\n", b"  B: two\n  C: three\n\n  # why\n  D: four\n"),
        (b"- alpha\n- beta\n", b"- alpha\n- aa\n- beta\n- gamma\n"),
    )
    assert content_of(rule(collide("c.yml", FLOW, main, change))) == wanted


def test_mappings_appended_at_the_end_stay_whole_without_a_last_line_end() -> None:
    main, change = FLOW + b"  docs:\n    runs-on: mac", FLOW + b"  pack:\n    runs-on: windows"
    merged = content_of(rule(collide("c.yml", FLOW, main, change)))
    assert merged == FLOW + b"  docs:\n    runs-on: mac\n  pack:\n    runs-on: windows"


@pytest.mark.parametrize(
    ("base", "main", "change", "said"),
    [
        (b"a: 1\n", b"a: 2\n", b"a: 3\n", "both sides changed a"),
        (b"a: 1\n", b"a: 2\n", b"a: 2\n", "meant twice"),
        (b"a: 1\n", b"a: 1\nb: 2\n", b"b: 3\na: 1\n", "both sides added b"),
        (b"a: &x 1\n", b"a: &x 1\nb: *x\n", b"a: &x 1\nc: 2\n", "anchors"),
        (b"a: !t 1\n", b"a: !t 1\nb: 1\n", b"a: !t 1\nc: 2\n", "tag"),
        (b"a: 1\n---\nb: 1\n", b"a: 2\n---\nb: 1\n", b"a: 1\n---\nb: 2\n", "document"),
        (b"- x: 1\n", b"- x: 1\n- x: 2\n", b"- x: 1\n- x: 3\n", "both sides changed"),
        (b"script:\n- a\n", b"script:\n- a\n- b\n", b"script:\n- a\n- c\n", "order"),
        (b"a: 1\na: 2\n", b"a: 1\na: 2\nb: 3\n", b"a: 1\na: 2\nc: 4\n", "a key twice"),
        (b"x:\n  a: 1\n", b"x:\n  a: 1\n  b: 1\n", b"x:\n    a: 1\n    c: 1\n", "not plain YAML"),
    ],
)
def test_what_is_not_proved_is_declined(base: bytes, main: bytes, change: bytes, said: str) -> None:
    why = reason_of(rule(collide("c.yml", base, main, change)))
    assert said in why


def test_line_ends_of_windows_stay() -> None:
    base = b"a: 1\r\nb:\r\n  c: 2\r\n"
    merged = content_of(rule(collide("c.yml", base, base + b"  d: 3\r\n", base + b"  e: 4\r\n")))
    assert merged == base + b"  d: 3\r\n  e: 4\r\n"


def test_text_of_every_form_is_put_together_again_byte_for_byte() -> None:
    for form in (
        FLOW,
        b"---\na: 1\n",
        b"- a\n-   b # c\n-\n  - d\n",
        b"a: >-\n  x\n\n  y\nb:\n# c\n  d: 'it''s: #1'\n\n\n",
        b'"a b": {x: 1,\n  y: 2}\nc: "d\n  e"\n',
        b"plain words\n",
        b"",
    ):
        load(form)
        assert render(read(form)) == form


def test_what_cannot_be_read_is_said() -> None:
    with pytest.raises(CannotMerge, match="not plain YAML"):
        load(b"a: [")
    with pytest.raises(CannotMerge, match="not plain YAML"):
        load(b"\xff")


def test_odd_bytes_never_raise() -> None:
    takes_odd_bytes(rule, "c.yml", b"a: 1\n")


def test_every_split_of_the_new_keys_gives_all_of_them() -> None:
    names = [f"k{number}" for number in range(6)]
    base = b"env:\n" + b"".join(b"  %s: 1\n" % name.encode() for name in names[:3]) + b"end: x\n"
    for at in range(3):
        for other in range(3):
            anchor, second = b"  k%d: 1\n" % at, b"  k%d: 1\n" % other
            main, change = edited(base, (anchor, anchor + b"  m: 2\n")), edited(base, (second, second + b"  c: 3\n"))
            outcome = rule(collide("c.yml", base, main, change))
            assert isinstance(outcome, Resolved)
            assert load(outcome.content) == {"env": {"k0": 1, "k1": 1, "k2": 1, "m": 2, "c": 3}, "end": "x"}


def test_strings_and_brackets_over_line_ends_are_read_as_a_whole() -> None:
    for text in (b'a: "one\n  two: 2"\n', b"a: 'it\n  is: 1'\n", b"a: [1,\n  2]\n", b"# it's\na: 1\n"):
        base = text + b"b: 1\n"
        merged = content_of(rule(collide("c.yml", base, base + b"c: 1\n", base + b"m: 2\n")))
        assert merged == base + b"c: 1\nm: 2\n"


def test_what_no_side_touches_may_be_what_no_parser_takes_and_what_one_touches_not() -> None:
    base = b"a: b: c\nx:\n  k: 1\ny: 1\n"
    wanted = edited(base, (b"k: 1\n", b"k: 1\n  m: 1\n  c: 2\n"))
    main, change = edited(base, (b"k: 1\n", b"k: 1\n  m: 1\n")), edited(base, (b"k: 1\n", b"k: 1\n  c: 2\n"))
    assert content_of(rule(collide("c.yml", base, main, change))) == wanted
    broken = edited(main, (b"a: b: c", b"a: b: d"))
    assert "not plain YAML" in reason_of(rule(collide("c.yml", base, broken, change)))


def test_a_comment_that_both_sides_put_a_key_below_stands_once() -> None:
    base = b"# About.\n\n# How long.\ndays: 30\nlabel: x\n"
    main, change = edited(base, (b"days", b"m: 1\ndays")), edited(base, (b"days", b"c: 2\ndays"))
    wanted = edited(base, (b"days", b"m: 1\nc: 2\ndays"))
    assert content_of(rule(collide("a.yaml", base, main, change))) == wanted
    above = edited(base, (b"# How long.\ndays", b"# More.\n# How long.\nc: 2\ndays"))
    assert "stand twice" in reason_of(rule(collide("a.yaml", base, main, above)))


def test_long_lines_of_blanks_and_long_numbers_are_read_in_time() -> None:
    base = b"a" + b" " * 20_000 + b"b\n"
    began = time.process_time()
    reason_of(rule(collide("a.yaml", base, b"m: 1\n" + base, b"c: 1\n" + base)))
    reader = reader_of(b"a.yaml")
    assert reader is not None
    assert not reader(base).faults
    assert time.process_time() - began < 2
    base = b"a:\n  - 1\n  - " + b"9" * 5000 + b"\nb: 1\n"
    assert content_of(rule(collide("a.yaml", base, base + b"c: 1\n", base.replace(b"b: 1", b"b: 2"))))


def test_a_list_gives_a_name_one_value_and_exceptions_keep_their_order() -> None:
    base = b"env:\n  - PORT=80\n"
    added = b"  - %s\n"
    outcome = [rule(collide("a.yaml", base, base + added % b"A=1", base + added % two)) for two in (b"A=2", b"B=2")]
    assert "both sides set A in env" in reason_of(outcome[0])
    assert content_of(outcome[1]) == base + added % b"A=1" + added % b"B=2"
    pins = rule(collide("a.yaml", base, base + added % b"shop==1", base + added % b"shop>=2"))
    assert "both sides set shop" in reason_of(pins)
    assert "exceptions" in reason_of(rule(collide("a.yaml", base, base + added % b"'!a'", base + added % b"b")))


def test_a_name_that_a_list_gives_two_values_is_found() -> None:
    reader = reader_of(b"a.yaml")
    assert reader is not None
    assert dict(reader(b"e:\n  - A=1\n  - B=1\n  - 'A=2'\nf:\n  - B=1\n").doubled) == {b"A=": 2}
    assert dict(reader(b"e:\n  - A=1\n  - A=2\n  - A=3\n").doubled) == {b"A=": 2}
