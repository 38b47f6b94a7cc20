from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from qodebase.cli import make_app
from qodebase.commands.bench.support.replay_cases import is_equivalent, read_case, shipped
from qodebase.commands.bench.support.replay_speed import measure
from tests.support.replay_corpus import case_toml, made
from tests.support.replay_sides import collide

Case = Callable[..., Path]


def call(*arguments: str) -> Result:
    return CliRunner().invoke(make_app(), ["bench", "replay", *arguments], prog_name="qodebase")


@pytest.fixture
def case(tmp_path: Path) -> Case:
    """Write a case below ``corpus`` and return the corpus."""

    def write(words: str, **trees: str) -> Path:
        folder = tmp_path / "corpus" / f"case-{len(list(tmp_path.glob('corpus/*')))}"
        for tree, text in trees.items():
            (folder / tree / "app").mkdir(parents=True)
            (folder / tree / "app" / "a.json").write_text(text)
        (folder / "case.toml").write_text(f'kind = "json"\npath = "app/a.json"\n{words}\n')
        return folder.parent

    return write


def test_the_shipped_cases_have_no_wrong_answer_and_enough_right_ones() -> None:
    result = call("--json", "--check")
    report = json.loads(result.stdout)
    wrong = [one["case"] for one in report["listed"] if one["verdict"] == "wrong"]
    assert wrong == []
    assert report["traps_declined"] == report["traps"]
    assert report["right"] + report["equivalent"] >= 0.9 * report["resolvable"]
    assert report["cases"] == sum(report[name] for name in ("right", "equivalent", "declined", "wrong"))
    assert result.exit_code == 0


def test_every_kind_has_its_share_of_cases_and_traps() -> None:
    kinds: dict[str, list[str]] = {}
    for file in shipped().rglob("case.toml"):
        found, _ = read_case(file.parent)
        kinds.setdefault(found.kind, []).append(found.expect)
    assert len(kinds) >= 25
    for kind, expects in kinds.items():
        files, traps = expects.count("file"), expects.count("decline")
        assert files >= 12 or (files == 0 and traps >= 3), kind


def test_the_generated_cases_are_what_their_script_makes() -> None:
    places = set()
    for place, one in made():
        folder = shipped() / place
        places.add(folder)
        assert (folder / "case.toml").read_text() == case_toml(one)
        shown = {file.relative_to(folder).as_posix(): file for file in folder.rglob("*") if file.is_file()}
        assert {name: file.read_bytes().decode() for name, file in shown.items() if name != "case.toml"} == one.files
    assert places == set(shipped().glob("*/made-*"))


def test_verdicts_are_counted_in_all_by_rule_and_by_kind(case: Case) -> None:
    sides = {"base": '{"a": 1}', "main": '{"a": 1, "m": 2}', "change": '{"a": 1, "c": 3}'}
    case('expect = "file"', **sides, expected='{"a": 1, "m": 2, "c": 3}')
    case('expect = "file"', **sides, expected='{"c": 3, "a": 1, "m": 2}')
    case('expect = "file"', **sides, expected='{"a": 1}')
    case('expect = "decline"', **sides)
    case('expect = "decline"', **{**sides, "change": '{"a": 1, "m": 3}'})
    corpus = case('expect = "file"', **{**sides, "change": '{"a": 1, "m": 3}'}, expected='{"a": 1, "m": 5}')
    report = json.loads(call(str(corpus), "--json").stdout)
    counts = {name: report[name] for name in ("cases", "right", "equivalent", "declined", "wrong")}
    assert counts == {"cases": 6, "right": 1, "equivalent": 1, "declined": 2, "wrong": 2}
    assert (report["traps"], report["traps_declined"], report["ok"]) == (2, 1, False)
    row = report["by_rule"]["rule:json-keys"]
    assert row.pop("microseconds") > 0
    assert row == {"right": 1, "equivalent": 1, "declined": 2, "wrong": 2}
    assert report["by_kind"]["json"]["cases"] == 6
    assert call(str(corpus), "--check").exit_code == 1
    assert call(str(corpus)).exit_code == 0


def test_a_check_judges_the_result_where_it_lies(case: Case) -> None:
    sides = {"base": '{"a": 1}', "main": '{"a": 1, "m": 2}', "change": '{"a": 1, "c": 3}'}
    case('expect = "check"\ncheck = "grep -q m app/a.json && grep -q c app/a.json"', **sides)
    corpus = case('expect = "check"\ncheck = ["grep", "-q", "nothing", "app/a.json"]', **sides)
    report = json.loads(call(str(corpus), "--json").stdout)
    assert (report["right"], report["wrong"]) == (1, 1)


def test_a_file_mode_that_is_not_as_expected_is_wrong(case: Case) -> None:
    words = 'expect = "file"\nmodes = { change = "100755", expected = "100644" }'
    corpus = case(words, base="{}", main='{"m": 1}', change="{}", expected='{"m": 1}')
    assert json.loads(call(str(corpus), "--json").stdout)["wrong"] == 1


@pytest.mark.parametrize("words", ["", 'expect = "maybe"', "expect = "])
def test_a_case_that_is_not_whole_is_an_error_that_names_the_file(case: Case, words: str) -> None:
    result = call(str(case(words, base="{}", main="{}", change="{}")))
    assert result.exit_code == 2
    assert "case.toml" in result.stderr


def test_a_folder_without_cases_is_an_error(tmp_path: Path) -> None:
    result = call(str(tmp_path))
    assert result.exit_code == 2
    assert "no cases" in result.stderr


def test_blocks_of_both_sides_may_stand_either_way_round_but_no_line_of_one_moves() -> None:
    sides = collide("a.txt", b"a\n", b"a\nm\nn\n", b"a\nc\n")
    assert is_equivalent(sides, b"a\nm\nn\nc\n", b"a\nc\nm\nn\n")
    assert not is_equivalent(sides, b"a\nm\nn\nc\n", b"a\nc\nm\nn\n", order_matters=True)
    assert not is_equivalent(sides, b"a\nn\nm\nc\n", b"a\nc\nm\nn\n")
    assert not is_equivalent(sides, b"m\nn\na\nc\n", b"a\nm\nn\nc\n")


def test_code_that_differs_only_in_blanks_is_the_same_and_a_changed_token_is_not() -> None:
    for path, one, same, other in (
        ("a.py", b"a = 1\n", b"a  =  1\n", b"a = 2\n"),
        ("a.js", b"f(1);\n", b"f( 1 );\n", b"f(2);\n"),
        ("a.json", b'{"a": 1, "b": 2}', b'{"b": 2,\n"a": 1}', b'{"a": 1, "b": "2"}'),
    ):
        sides = collide(path, one, one, one)
        assert is_equivalent(sides, one, same)
        assert not is_equivalent(sides, one, other)


def test_speed_is_measured_in_microseconds_of_work_that_was_done() -> None:
    figures = measure(2)
    assert set(figures) == {
        *(f"{what}_{language}" for what in ("merge", "merge_with_invariants") for language in ("python", "javascript")),
        "sorted_index",
    }
    assert all(0 < value < 10_000_000 for value in figures.values())


def test_a_case_says_what_kind_of_merge_it_is_rewritten_from() -> None:
    cases = [read_case(file.parent)[0] for file in shipped().glob("*/real-*/case.toml")]
    assert len(cases) >= 30
    assert all(case.origin.startswith("a merge of ") and case.expect == "file" for case in cases)
    assert len({case.origin for case in cases}) >= 3
