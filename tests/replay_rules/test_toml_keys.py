from __future__ import annotations

import random
import tomllib

import pytest

from qodebase.collision import Resolved
from replay_rules.keyed import render
from replay_rules.toml_keys import read, rule
from tests.support.replay_sides import collide, content_of, edited, reason_of, takes_odd_bytes

PROJECT = b"""# Shop.
[project]
name = "shop" # kept
version = "1.2.3"
deps = [
    "b",
    "d>=1",
]

[tool.x]
a = 1
"""


def test_entries_tables_and_array_items_of_both_sides_are_there() -> None:
    main = edited(
        PROJECT, (b'    "d>=1",\n', b'    "c",\n    "d>=1",\n'), (b"a = 1\n", b"a = 1\nm = 2\n\n[tool.y]\nb = 1\n")
    )
    change = edited(PROJECT, (b'    "d>=1",\n', b'    "d>=1",\n    "e",\n'), (b"a = 1\n", b"a = 1\n# why\nc = 3\n"))
    wanted = edited(
        PROJECT,
        (b'    "d>=1",\n', b'    "c",\n    "d>=1",\n    "e",\n'),
        (b"a = 1\n", b"a = 1\nm = 2\n# why\nc = 3\n\n[tool.y]\nb = 1\n"),
    )
    assert content_of(rule(collide("p.toml", PROJECT, main, change))) == wanted


def test_of_two_raised_versions_the_greater_stays_and_other_keys_merge() -> None:
    main = edited(PROJECT, (b"1.2.3", b"1.2.4"))
    change = edited(PROJECT, (b"1.2.3", b"1.10.0"), (b"a = 1", b"a = 2"))
    assert content_of(rule(collide("p.toml", PROJECT, main, change))) == change


def test_a_last_line_without_an_end_does_not_join_the_next_one() -> None:
    base = b"a = 1"
    assert content_of(rule(collide("p.toml", base, b"a = 1\nb = 2", b"a = 1\nc = 3"))) == b"a = 1\nb = 2\nc = 3"


@pytest.mark.parametrize(
    ("base", "main", "change", "said"),
    [
        (b"a = 1\n", b"a = 2\n", b"a = 3\n", "both sides changed a"),
        (b"a = 1\n", b"a = 2\n", b"a = 2\n", "meant twice"),
        (b"a = 1\n", b"a = 1\nb = 2\n", b"b = 3\na = 1\n", "both sides added b"),
        (b"[[t]]\na = 1\n", b"[[t]]\na = 1\n[[t]]\na = 2\n", b"[[t]]\na = 1\n[[t]]\na = 3\n", "both sides added t"),
        (b"a = 1\n", b"a = 1\nt.x = 1\n", b"a = 1\n[t]\ny = 2\n", "not plain TOML"),
        (b"a = [1, 0]\n", b"a = [1, 0, 5]\n", b"a = [1, 0, 3]\n", "numbers"),
        (
            b"a = [\n  1, # one\n]\n",
            b"a = [\n  1, # one\n  2,\n]\n",
            b"a = [\n  1, # one\n  3,\n]\n",
            "both sides changed a",
        ),
        (b"a = { x = 1 }\n", b"a = { x = 1, y = 2 }\n", b"a = { x = 1, z = 2 }\n", "both sides changed a"),
        (b"a = 1\nb = 2\n", b"b = 2\na = 1\n", b"a = 1\nb = 3\n", "another order"),
        (b"a = \n", b"a = 1\n", b"a = 2\n", "not plain TOML"),
    ],
)
def test_what_is_not_proved_is_declined(base: bytes, main: bytes, change: bytes, said: str) -> None:
    assert said in reason_of(rule(collide("p.toml", base, main, change)))


def test_line_ends_of_windows_stay() -> None:
    base = b'[a]\r\nx = """\r\n[b]\r\n"""\r\n'
    main, change = base + b"y = 1\r\n", base + b"z = 2\r\n"
    assert content_of(rule(collide("p.toml", base, main, change))) == base + b"y = 1\r\nz = 2\r\n"


def test_text_of_every_form_is_put_together_again_byte_for_byte() -> None:
    forms = [
        b"",
        b"\n# only words\n",
        b"a = 1 # x\n'b c'.\"d\" = '''\n]\n'''\n",
        b"a = [ 1,\n 2, ]\nb=[]\nc = [[1], ['#']]\n",
        b"d = 1979-05-27T07:32:00Z\ne = inf\nf = { g = '}', h = [1] }\n",
        b'[ a . \'b\' ] # t\n  x = "\\"]"\n\n[[c]]\n[[c]]\n[c.d]\n',
        b'a = """x"""""\n',
        b"a = 'x'",
    ]
    for form in forms:
        tomllib.loads(form.decode())
        assert render(read(form)) == form


def test_odd_bytes_never_raise() -> None:
    takes_odd_bytes(rule, "p.toml", b"a = 1\n")


def test_random_tables_get_both_sides_entries() -> None:
    source = random.Random(2)
    resolved = 0
    for _ in range(150):
        names = [f"k{number}" for number in range(12)]
        source.shuffle(names)
        tables = {name: names[at : at + 3] for at, name in enumerate(("a", "b.c", "d"))}
        sides = []
        for mark in ("", "m", "c"):
            text = ""
            for table, keys in tables.items():
                own = [*keys, *([f"{mark}{table[0]}{source.randrange(9)}"] if mark and source.random() < 0.7 else [])]
                text += f"[{table}]\n" + "".join(f"{key} = '{key}' # n\n" for key in own) + "\n"
            sides.append(text.encode())
        outcome = rule(collide("p.toml", *sides))
        assert isinstance(outcome, Resolved)
        resolved += outcome.content not in sides
        values = [tomllib.loads(side.decode()) for side in (*sides, outcome.content)]
        for get in (lambda value: value["a"], lambda value: value["b"]["c"], lambda value: value["d"]):
            assert get(values[3]) == get(values[1]) | get(values[2])
    assert resolved > 100


def test_a_line_that_had_no_end_gets_the_one_of_the_file() -> None:
    base = b"[a]\r\nx = 1\r\n[b]\r\ny = 2\r\n"
    main, change = base + b"z = 3", edited(base, (b"x = 1", b"x = 2"), (b"y = 2\r\n", b"y = 2"))
    for sides in ((main, change), (change, main)):
        assert content_of(rule(collide("a.toml", base, *sides))) == change + b"\r\nz = 3"


def test_a_comment_that_both_sides_put_a_key_below_stands_once() -> None:
    base = b"[a]\n# Why.\nx = 1\n"
    main, change = edited(base, (b"x", b"m = 1\nx")), edited(base, (b"x", b"c = 2\nx"))
    assert content_of(rule(collide("a.toml", base, main, change))) == edited(base, (b"x", b"m = 1\nc = 2\nx"))
