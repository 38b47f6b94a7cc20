from __future__ import annotations

import json
import random
from typing import Any

import pytest

from qodebase.collision import Collision, Resolved, Side
from qodebase.paths import RepoPath
from replay_rules.json_keys import read, rule
from replay_rules.keyed import render
from tests.support.replay_sides import collide, content_of, edited, reason_of, takes_odd_bytes

PACKAGE = b'{\n  "name": "shop",\n  "deps": {\n    "b": "^1.0.0",\n    "d": "^1.0.0"\n  },\n  "on": true\n}\n'


def test_keys_of_both_sides_stand_where_they_stood() -> None:
    main = edited(PACKAGE, (b'"on": true', b'"on": true,\n  "main": 1'))
    change = edited(PACKAGE, (b'"on": true', b'"on": true,\n  "change": [1, 2]'))
    wanted = edited(PACKAGE, (b'"on": true', b'"on": true,\n  "main": 1,\n  "change": [1, 2]'))
    assert content_of(rule(collide("a.json", PACKAGE, main, change))) == wanted


def test_sorted_keys_stay_sorted() -> None:
    main = edited(PACKAGE, (b'"d": "^1.0.0"', b'"d": "^1.0.0",\n    "e": "1"'))
    change = edited(
        PACKAGE, (b'    "b"', b'    "a": "1",\n    "b"'), (b'"d": "^1.0.0"', b'"d": "^1.0.0",\n    "f": "1"')
    )
    merged = content_of(rule(collide("a.json", PACKAGE, main, change)))
    assert list(json.loads(merged)["deps"]) == ["a", "b", "d", "e", "f"]


def test_a_reformatted_file_keeps_its_new_format_with_the_other_sides_value() -> None:
    outcome = rule(collide("a.json", b'{"a":1,"b":2}\n', b'{\n  "a": 1,\n  "b": 2\n}\n', b'{"a":1,"b":3}\n'))
    assert content_of(outcome) == b'{\n  "a": 1,\n  "b": 3\n}\n'


@pytest.mark.parametrize(
    ("base", "main", "change", "said"),
    [
        (b'{"a": 1}', b'{"a": 2}', b'{"a": 3}', "both sides changed a"),
        (b'{"a": 5}', b'{"a": 6}', b'{"a": 6}', "meant twice"),
        (b'{"a": 1}', b'{"a": 1, "b": 2}', b'{"a": 1, "b": 3}', "both sides added b"),
        (b'{"a": 1}', b'{"b": 3}', b'{"a": 2}', "main deleted a"),
        (b'{"a": 1}', b'{"a": 2}', b'{"b": 3}', "deletes a, which main edited"),
        (b'{"a": [{"x": 1}]}', b'{"a": [{"x": 1}, {"x": 2}]}', b'{"a": [{"x": 1}, {"x": 3}]}', "both sides changed a"),
        (b'{"a": [3, 1]}', b'{"a": [3, 1, 2]}', b'{"a": [3, 1, 5]}', "numbers"),
        (b'{"args": ["x"]}', b'{"args": ["x", "y"]}', b'{"args": ["x", "z"]}', "order"),
        (b'{"o": ["-x"]}', b'{"o": ["-x", "-y"]}', b'{"o": ["-x", "-z"]}', "options"),
        (b'{"a": 1, "b": 2}', b'{"b": 2, "a": 1}', b'{"a": 1, "b": 3}', "another order"),
        (b'{"a": 1, "a": 2}', b'{"a": 1, "a": 3}', b'{"a": 2, "a": 2}', "twice"),
        (b'{"a": 1} // x', b'{"a": 2} // x', b'{"a": 1, "b": 1} // x', "not plain JSON"),
    ],
)
def test_what_is_not_proved_is_declined(base: bytes, main: bytes, change: bytes, said: str) -> None:
    assert said in reason_of(rule(collide("a.json", base, main, change)))


def test_lock_files_and_notebooks_are_left_to_their_programs() -> None:
    for path in ("package-lock.json", "a.ipynb", "x/composer.lock"):
        assert "author" in reason_of(rule(collide(path, b"{}", b'{"a": 1}', b'{"b": 1}')))


def test_line_ends_the_mark_at_the_beginning_and_a_missing_last_line_end_stay() -> None:
    base = b'\xef\xbb\xbf{\r\n\t"a": 1\r\n}'
    merged = content_of(
        rule(collide("a.json", base, edited(base, (b"1", b'1,\r\n\t"b": 2')), edited(base, (b"1", b"3"))))
    )
    assert merged == b'\xef\xbb\xbf{\r\n\t"a": 3,\r\n\t"b": 2\r\n}'


def test_an_equal_key_that_both_sides_added_is_one_key() -> None:
    both = b'{"a": 1, "b": "x"}'
    assert content_of(rule(collide("a.json", b'{"a": 1}', edited(both, (b"1", b"2")), both))) == edited(
        both, (b"1", b"2")
    )


def test_a_file_that_a_side_deleted_is_declined() -> None:
    sides = Side(content=b"{}"), Side(content=None)
    assert reason_of(rule(Collision(path=RepoPath(b"a.json"), base=sides[0], main=sides[1], change=sides[0])))


def test_odd_bytes_never_raise() -> None:
    takes_odd_bytes(rule, "a.json", b'{"a": 1}\n')


def random_value(source: random.Random, depth: int = 0) -> Any:
    if depth == 3 or source.random() < 0.4:
        return source.choice([1, 2.5, "x\n\u00e9", None, True, [], {}, ["p", "q"], [1, [2]]])
    return {f"k{source.randrange(12)}": random_value(source, depth + 1) for _ in range(source.randint(0, 5))}


def mixed(source: random.Random, base: Any, mark: str) -> tuple[Any, dict[str, Any]]:
    """Return an edited copy whose new keys and values bear a mark, and the edits by key."""
    edits = {f"{mark}{number}": random_value(source, 2) for number in range(source.randint(1, 3))}
    keys = [*base, *edits]
    return {key: edits[key] if key in edits else base[key] for key in keys}, edits


def check_random_objects(count: int) -> None:
    source = random.Random(11)
    resolved = 0
    for _ in range(count):
        base = {f"k{number}": random_value(source) for number in range(source.randint(0, 6))}
        indent = source.choice([None, 2, 4, "\t"])
        main, ours = mixed(source, base, "m")
        change, theirs = mixed(source, base, "c")
        sides = [json.dumps(side, indent=indent).encode() for side in (base, main, change)]
        outcome = rule(collide("a.json", *sides))
        if isinstance(outcome, Resolved):
            resolved += 1
            value = json.loads(outcome.content)
            assert value == {**base, **ours, **theirs}
            assert outcome.content == json.dumps(value, indent=indent).encode()
    assert resolved > 0.9 * count


def test_random_objects_get_both_sides_keys_in_the_same_format() -> None:
    check_random_objects(150)


@pytest.mark.full
def test_many_random_objects_get_both_sides_keys_in_the_same_format() -> None:
    check_random_objects(3000)


def test_any_json_is_put_together_again_byte_for_byte() -> None:
    source = random.Random(5)
    for _ in range(200):
        content = json.dumps(random_value(source), indent=source.choice([None, 1, 4])).encode() + b" \n"
        assert render(read(content)) == content


@pytest.mark.parametrize(
    ("base", "main", "change"),
    [
        (b'{"at": [10, 20]}', b'{"at": [12, 20]}', b'{"at": [14, 20]}'),
        (b'{"look": ["light", "x"]}', b'{"look": ["dark", "x"]}', b'{"look": ["blue", "x"]}'),
        (b'{"look": ["light", "x"]}', b'{"look": ["dark", "x"]}', b'{"look": ["x"]}'),
    ],
)
def test_an_item_that_both_sides_took_out_was_changed_by_both(base: bytes, main: bytes, change: bytes) -> None:
    assert "one for another" in reason_of(rule(collide("a.json", base, main, change)))
    assert "one for another" in reason_of(rule(collide("a.json", base, change, main)))


def test_a_reason_can_be_written_whatever_the_key() -> None:
    main, change = b'{"a": 1, "\\ud800": 2}', b'{"a": 1, "\\ud800": 3}'
    assert reason_of(rule(collide("a.json", b'{"a": 1}', main, change))).encode()


def test_conditions_of_a_package_s_exports_keep_their_order_and_paths_need_none() -> None:
    base = b'{"exports": {".": {"import": "./a.mjs"}}}'
    main = edited(base, (b'.mjs"', b'.mjs", "default": "./a.js"'))
    change = edited(base, (b'.mjs"', b'.mjs", "node": "./n.js"'))
    assert "first condition" in reason_of(rule(collide("shop/package.json", base, main, change)))
    assert content_of(rule(collide("schema.json", base, main, change)))
    one, two = (edited(base, (b'.mjs"}', b'.mjs"}, "./%s": "./x.js"' % name)) for name in (b"b", b"c"))
    both = edited(base, (b'.mjs"}', b'.mjs"}, "./b": "./x.js", "./c": "./x.js"'))
    assert content_of(rule(collide("package.json", base, one, two))) == both
    assert content_of(rule(collide("package.json", b"[1]", b"[1, 2]", b"[1, 3]"))) == b"[1, 2, 3]"
