"""Turns of threads."""

from __future__ import annotations

import sys
from contextlib import ExitStack

from fleet.turns import short_turns


def test_turns_are_short_until_the_last_of_several_sittings_has_ended_and_then_as_they_were() -> None:
    usual = sys.getswitchinterval()
    with ExitStack() as first, ExitStack() as second:
        first.enter_context(short_turns())
        short = sys.getswitchinterval()
        assert short < usual
        second.enter_context(short_turns())
        first.close()
        assert sys.getswitchinterval() == short
    assert sys.getswitchinterval() == usual
