"""Groups share no path, whatever is grouped."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from made_works import work

from qodebase.commands.support.handover.groups import Group, grouped
from qodebase.commands.support.handover.landed import Work

_SMALL = st.lists(
    st.tuples(st.lists(st.sampled_from("abcdefgh"), max_size=3, unique=True), st.sampled_from(["x", "y", "z"])),
    max_size=12,
)


def by_lane(works: list[Work], most: int = 200) -> dict[str, list[str]]:
    return named(grouped(works, lambda work: [work.record.lane], most))


def named(groups: list[Group]) -> dict[str, list[str]]:
    return {group.name: [work.intent for work in group.works] for group in groups}


@settings(max_examples=100, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
@given(_SMALL, st.integers(1, 5))
def test_every_landing_is_in_one_group_and_no_path_in_two(landings: list[tuple[list[str], str]], most: int) -> None:
    works = [work(place, *paths, lane=lane) for place, (paths, lane) in enumerate(landings)]
    groups = grouped(works, lambda work: [work.record.lane], most)
    assert sorted(one.place for group in groups for one in group.works) == list(range(len(works)))
    paths = [path for group in groups for path in group.paths]
    assert len(paths) == len(set(paths))
    for group in groups:
        assert [one.place for one in group.works] == sorted(one.place for one in group.works)
        if group.name != "shared":
            assert len({one.record.lane for one in group.works}) == 1
            together = len(group.works) == 1 or len(group.paths) <= most
            assert together or all(one.own.keys() & (group.paths - one.own.keys()) == set() for one in group.works)


def test_landings_of_several_groups_that_share_a_path_go_into_the_last_one() -> None:
    works = [work(0, "a", lane="x"), work(1, "a", "b", lane="y"), work(2, "c", lane="y"), work(3, shared="INDEX")]
    assert by_lane(works) == {"y": ["i2"], "shared": ["i0", "i1", "i3"]}


def test_a_large_group_is_split_between_neighbours_in_the_tree() -> None:
    works = [work(place, path, lane="x") for place, path in enumerate(["b/2", "a/1", "b/1", "a/2", "c/1"])]
    assert by_lane(works, 2) == {"x-1": ["i1", "i3"], "x-2": ["i0", "i2"], "x-3": ["i4"], "shared": []}


def test_landings_that_share_a_path_are_not_parted_however_many_files_they_have() -> None:
    assert by_lane([work(0, "a", "b"), work(1, "b", "c"), work(2, "d")], 1) == {
        "main-1": ["i0", "i1"],
        "main-2": ["i2"],
        "shared": [],
    }


def test_names_become_parts_of_refs_that_differ_also_where_case_does_not_count() -> None:
    works = [work(place, str(place), lane=lane) for place, lane in enumerate(["a/b", "A.b", "shared", "é.lock"])]
    assert list(by_lane(works)) == ["A-b", "a-b-2", "shared-2", "lock", "shared"]
