from __future__ import annotations

import pytest

from fleet.jobs.document.shards import MOST_IN_ONE, IndexPaths, Layout, is_sharded, shard_path
from qodebase.paths import RepoPath
from qodebase.trunk.naming import fault_of_path

INDEX = RepoPath(b"docs/API_INDEX.md")
LANES = {"src/a": ("/src/a/**",), "src/b": ("/src/b/**",)}


@pytest.mark.parametrize(
    ("layout", "landings", "sharded"),
    [
        (Layout.AUTO, MOST_IN_ONE, False),
        (Layout.AUTO, MOST_IN_ONE + 1, True),
        (Layout.SINGLE, MOST_IN_ONE + 1, False),
        (Layout.SHARDED, 1, True),
    ],
)
def test_a_large_run_keeps_shards(layout: Layout, landings: int, sharded: bool) -> None:
    assert is_sharded(layout, landings) is sharded


def test_each_lane_has_its_shard_and_one_for_what_no_lane_takes() -> None:
    paths = IndexPaths(INDEX, LANES)
    assert paths.of(RepoPath(b"src/a/x.py")) == b"docs/api/src+a.md"
    assert paths.of(RepoPath(b"src/b/x.py")) == b"docs/api/src+b.md"
    assert paths.of(RepoPath(b"x.py")) == b"docs/api/main.md"
    assert {shared.path for shared in paths.shared} == paths.shards == paths.all - {INDEX}
    assert {(shared.lane, shared.compose_into) for shared in paths.shared} == {
        (lane, INDEX) for lane in (*LANES, "main")
    }


def test_one_index_is_shared_by_all_lanes_and_none_by_nobody() -> None:
    paths = IndexPaths(INDEX)
    assert paths.of(RepoPath(b"src/a/x.py")) == INDEX
    assert [(shared.path, shared.lane, shared.compose_into) for shared in paths.shared] == [(INDEX, "", None)]
    assert paths.shards == frozenset()
    assert IndexPaths(RepoPath(b"")).shared == ()
    assert IndexPaths(RepoPath(b"")).all == frozenset()


def test_no_two_lanes_share_a_shard_and_each_name_is_one_that_a_file_can_have() -> None:
    names = ["a/b", "a+b", "a%b", "a b", "a.b", "..", ".git", "é", "a\\b", "A/b", "a/b/c", "x\n", "\udce9"]
    paths = [shard_path(INDEX, name) for name in names]
    assert len(set(paths)) == len(names)
    for path in paths:
        assert fault_of_path(path) is None
        assert path.count(b"/") == 2
    assert shard_path(RepoPath(b"INDEX.md"), "a") == b"api/a.md"
