from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from qodebase.paths import CommitId
from qodebase.trunk.objects import MissingObject
from results.history import read_history
from results.main_line import MainLine
from results.repository import Repository

RUN = "toy-1"

if TYPE_CHECKING:
    from tests.results.conftest import ToyRun


def test_every_commit_of_main_holds_what_its_own_tree_holds(honest: ToyRun) -> None:
    with Repository(honest.git_dir) as repository:
        base = repository.view(honest.base)
        line, before = MainLine(repository, base), base
        history = read_history(repository.reader, run=RUN, base=honest.base, tip=honest.tip)
        for commit in history.commits:
            before = line.add(commit, repository.trees.diff(before.tree, commit.tree))
        paths = {path for id in (honest.base, honest.tip) for path, _ in repository.view(id).walk()}
        for id in (honest.base, *(commit.id for commit in history.commits)):
            known, read = line.view(id), repository.view(id)
            assert {path: known.entry(path) for path in paths} == {path: read.entry(path) for path in paths}
            assert list(known.walk()) == list(read.walk())


def test_a_commit_that_is_not_of_main_is_read_from_its_tree(honest: ToyRun) -> None:
    with Repository(honest.git_dir) as repository:
        line = MainLine(repository, repository.view(honest.base))
        assert list(line.view(honest.tip).walk()) == list(repository.view(honest.tip).walk())
        with pytest.raises(MissingObject, match="e" * 40):
            line.view(CommitId("e" * 40))
