from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lanes.router import DEFAULT, Router, SharedByLane, lanes_from_tree
from qodebase.codec import JSON
from qodebase.paths import RepoPath, path_text
from qodebase.patterns import BadPattern
from qodebase.ports import SharedPath
from qodebase.trunk.naming import fault_of_path


def paths(*names: str) -> list[RepoPath]:
    return [RepoPath(name.encode()) for name in names]


def module(name: str, count: int = 4) -> list[RepoPath]:
    return paths(*(f"{name}/{number}.py" for number in range(count)))


def test_the_first_lane_that_matches_takes_a_path_and_the_default_lane_the_rest() -> None:
    router = Router({"tests": ["test_*.py"], "core": ["/core/**", "!/core/vendor/**"], "vendor": ["vendor/"]})
    found = [router.lane(path) for path in paths("core/test_a.py", "core/a.py", "core/vendor/b.py", "c.py")]
    assert found == ["tests", "core", "vendor", DEFAULT]
    assert router.names == ("tests", "core", "vendor", DEFAULT)


def test_the_default_lane_can_be_one_of_those_that_were_given() -> None:
    router = Router({DEFAULT: ["/a/**"], "b": ["/b/**"]})
    assert router.names == (DEFAULT, "b")
    assert router.lane(RepoPath(b"zzz")) == DEFAULT


def test_a_change_has_its_lanes_once_each_and_in_one_order_whatever_its_paths_order() -> None:
    router = Router({"z": ["/z/**"], "a": ["/a/**"]})
    mixed = paths("z/1", "a/1", "other", "a/2", "z/2")
    assert router.lanes(mixed) == router.lanes(reversed(mixed)) == ("a", DEFAULT, "z")
    assert router.lanes([]) == (DEFAULT,)


def test_a_pattern_without_meaning_is_an_error() -> None:
    with pytest.raises(BadPattern):
        Router({"a": ["!"]})


def test_there_is_a_lane_for_each_top_level_module() -> None:
    lanes = lanes_from_tree([*module("a"), *module("b/deep"), *module("small", 3), *paths("setup.py")])
    assert lanes == {"a": ("/a/**",), "b": ("/b/**",)}
    router = Router(lanes)
    found = [router.lane(path) for path in paths("a/x/y.py", "b/z.py", "small/1.py", "setup.py", "x/a/1.py")]
    assert found == ["a", "b", DEFAULT, DEFAULT, DEFAULT]


def test_folders_that_hold_nearly_everything_are_passed_through() -> None:
    inside = [*module("src/pkg/a", 8), *module("src/pkg/b", 8)]
    assert list(lanes_from_tree([*inside, *paths("setup.py", "src/x.py")])) == ["src/pkg/a", "src/pkg/b"]
    assert list(lanes_from_tree([*inside, *module("docs", 8)])) == ["docs", "src"]


@pytest.mark.parametrize("names", [[], ["a.py"], ["src/a.py"], ["a/b/c/d/e.py"], ["x.py", "y.py"]])
def test_a_tree_without_modules_has_only_the_default_lane(names: list[str]) -> None:
    assert lanes_from_tree(paths(*names)) == {}


def test_there_are_at_most_64_lanes_and_the_largest_modules_have_them() -> None:
    lanes = lanes_from_tree([path for number in range(100) for path in module(f"m{number:02}", 4 + number)])
    assert sorted(lanes) == [f"m{number:02}" for number in range(37, 100)]
    assert len(Router(lanes).names) == 64


@pytest.mark.parametrize(
    "name",
    [
        b"*",
        b"[ab]",
        b"a?b",
        b"!no",
        b"#one",
        b" lead",
        b"trail ",
        b"two  words",
        b"back\\slash",
        b"{a,b}",
        b"$HOME",
        b"^",
        b"a]",
        b"-",
        b"new\nline",
        b"tab\t",
        b"caf\xe9",
        b"\xff\xfe",
        "größe".encode(),
        "\u2028".encode(),
        b'"quoted"',
        b"**",
    ],
)
def test_a_module_of_any_name_has_a_lane_that_takes_its_files_and_not_its_neighbours(name: bytes) -> None:
    inside = [RepoPath(name + b"/%d.py" % number) for number in range(4)]
    lanes = lanes_from_tree([*inside, *module("neighbour"), *module("other")])
    assert set(lanes) == {path_text(name), "neighbour", "other"}
    JSON.encode(lanes)
    router = Router(lanes)
    assert {router.lane(path) for path in inside} == {path_text(name)}
    assert {router.lane(path) for path in module("neighbour")} == {"neighbour"}
    assert router.lane(RepoPath(b"x" + name + b"/1.py")) == DEFAULT


part = st.binary(min_size=1, max_size=4).filter(lambda raw: b"/" not in raw and not fault_of_path(raw))


@given(st.lists(part, min_size=1, max_size=5, unique=True))
def test_every_file_of_a_module_is_in_the_lane_of_a_module(names: list[bytes]) -> None:
    tree = [RepoPath(b"src/" + name + b"/%d" % number) for name in names for number in range(4)]
    lanes = lanes_from_tree(tree)
    JSON.encode(lanes)
    router = Router(lanes)
    for path in tree:
        assert router.lane(path) in lanes or len(names) == 1


def test_a_folder_pattern_means_what_gitignore_means_by_it() -> None:
    by_folder = Router({"deep": ["/src/a/b/**"], "a": ["/src/a/**"], "top": ["/x/**"]})
    by_pattern = Router({"deep": ["/src/a/b/**", "!/no"], "a": ["/src/a/**", "!/no"], "top": ["/x/**", "!/no"]})
    paths = [
        b"src/a/b/c.py",
        b"src/a/b",
        b"src/a/bb/c.py",
        b"src/a/x.py",
        b"src/a",
        b"x/y/z",
        b"x",
        b"y/x/z",
        b"src.py",
    ]
    for path in map(RepoPath, paths):
        assert by_folder.lane(path) == by_pattern.lane(path)
    assert by_folder.lane(RepoPath(b"src/a/b/c.py")) == "deep"


def test_the_first_lane_that_matches_takes_a_path_whatever_its_patterns_are() -> None:
    router = Router({"tests": ["*_test.py"], "src": ["/src/**"], "late": ["*.py"]})
    assert router.lane(RepoPath(b"src/x_test.py")) == "tests"
    assert router.lane(RepoPath(b"src/x.py")) == "src"
    assert router.lane(RepoPath(b"x.py")) == "late"


def test_a_large_tree_of_few_modules_gets_many_lanes() -> None:
    paths = [
        RepoPath(b"src/vs/%s/m%d/f%d.ts" % (name, at % 40, at)) for name in (b"base", b"editor") for at in range(3000)
    ]
    lanes = lanes_from_tree(paths)
    router = Router(lanes)
    assert 40 <= len(lanes) <= 63
    assert router.lane(RepoPath(b"src/vs/editor/new.ts")) == "src/vs/editor"
    assert max(Counter(map(router.lane, paths)).values()) < 2000
    assert set(lanes_from_tree(paths[:100] + paths[-100:])) == {"src/vs/base", "src/vs/editor"}


def test_shared_paths_of_a_lane_are_for_the_work_of_that_lane() -> None:
    router = Router({"a": ["/a/**"], "b": ["/b/**"]})
    shared = SharedByLane(
        router,
        [
            SharedPath(path=RepoPath(name), rule="r", lane=lane)
            for name, lane in ((b"A", "a"), (b"B", "b"), (b"all", ""))
        ],
    )
    assert shared.of([RepoPath(b"a/x")]) == (b"A", b"all")
    assert shared.of([RepoPath(b"b/x"), RepoPath(b"a/x")]) == (b"A", b"B", b"all")
    assert shared.of([RepoPath(b"c")]) == (b"all",)
