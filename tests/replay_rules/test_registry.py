from __future__ import annotations

import doctest
import importlib

import pytest

from qodebase.paths import RepoPath
from replay_rules.registry import UnknownRule, chooser, load_rule, placed_rules, rule_names, rules_for


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


def test_rules_are_tried_where_they_apply_in_their_order() -> None:
    placed = placed_rules()
    assert [one.order for one in placed] == sorted(one.order for one in placed)
    names = rules_for(RepoPath(b"docs/a.txt"))
    assert names[:2] == ("same-file", "file-mode")
    assert "sorted-index" not in names


def test_a_rule_can_be_left_out_and_bound_to_other_paths() -> None:
    bind = {"sorted-index": ["/docs/*.md"], "file-mode": ["*.sh"]}
    choose = chooser(["same-file"], bind)
    assert "sorted-index" in choose(RepoPath(b"docs/INDEX.md"))
    assert "sorted-index" not in choose(RepoPath(b"src/INDEX.md"))
    assert "same-file" not in choose(RepoPath(b"docs/INDEX.md"))
    assert ("file-mode" in choose(RepoPath(b"run.sh")), "file-mode" in choose(RepoPath(b"run.py"))) == (True, False)
    assert choose(RepoPath(b"docs/INDEX.md")) == rules_for(RepoPath(b"docs/INDEX.md"), ["same-file"], bind)


def test_a_setting_that_names_no_rule_is_refused() -> None:
    with pytest.raises(UnknownRule, match="nonsense"):
        chooser(["nonsense"])
    with pytest.raises(UnknownRule, match="nonsense"):
        chooser([], {"nonsense": ["*"]})
