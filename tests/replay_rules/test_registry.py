from __future__ import annotations

import doctest
import importlib

import pytest

from replay_rules.registry import UnknownRule, load_rule, rule_names


def test_every_rule_is_found_by_listing_the_folder_and_its_example_holds() -> None:
    names = rule_names()
    assert "sorted-index" in names
    for name in names:
        module = importlib.import_module("replay_rules." + name.replace("-", "_"))
        failed, tried = doctest.testmod(module)
        assert (failed, tried > 0) == (0, True)


def test_an_unknown_rule_says_which_there_are() -> None:
    with pytest.raises(UnknownRule, match="sorted-index"):
        load_rule("nonsense")
