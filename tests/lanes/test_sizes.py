from __future__ import annotations

from collections.abc import Callable

import pytest
from lane_world import World

from lanes.policy import Policy
from lanes.sizes import TrainSize
from qodebase import events

Make = Callable[..., World]


def test_a_size_is_halved_by_red_and_grows_again_up_to_the_most() -> None:
    size = TrainSize(16)
    size.red(16)
    size.red(8)
    assert size.now == 4
    seen = []
    while size.now < 16:
        size.green(size.now)
        seen.append(size.now)
    assert seen == [5, 6, 7, 8, 10, 12, 14, 16]
    size.green(16)
    assert size.now == 16


def test_a_train_much_shorter_than_the_size_says_nothing_of_it() -> None:
    size = TrainSize(16)
    size.red(8)
    assert size.now == 16
    size.red(9)
    size.green(7)
    assert size.now == 8
    for members in (8, 4, 2, 1, 1):
        size.red(members)
    assert size.now == 1


@pytest.mark.parametrize("bad", [{"i1"}, {"i0", "i5"}])
def test_the_next_trains_of_a_lane_are_shorter_after_a_red_one_and_say_how_long_they_may_be(
    world: Make, bad: set[str]
) -> None:
    one = world({b"x": b""}, policy=Policy(train_max=8, prefetch=False))
    one.checker.bad = bad
    one.land_all(*(one.submission(f"i{number}", {b"f%d" % number: b"1"}) for number in range(24)))
    built = [event for event in one.events(events.TrainBuilt) if isinstance(event, events.TrainBuilt)]
    assert (len(built[0].members), built[0].size) == (8, 8)
    later = [event for event in built if event.members[0] in ("i8", "i12", "i17")]
    assert [(len(event.members), event.size) for event in later] == [(4, 4), (5, 5), (6, 6)]
    assert sorted(one.landed()) == sorted({f"i{number}" for number in range(24)} - bad)
