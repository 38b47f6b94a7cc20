"""The collector of cycles."""

from __future__ import annotations

import gc
from contextlib import ExitStack

from qodebase.collector import seldom_collected


def test_blocks_that_overlap_leave_the_collector_as_the_first_has_found_it() -> None:
    usual = gc.get_threshold()
    with ExitStack() as first, ExitStack() as second:
        first.enter_context(seldom_collected())
        seldom = gc.get_threshold()
        assert seldom != usual
        second.enter_context(seldom_collected())
        first.close()
        assert gc.get_threshold() == seldom
    assert gc.get_threshold() == usual
    assert gc.get_freeze_count() == 0
