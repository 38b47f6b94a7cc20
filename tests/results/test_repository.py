from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from qodebase.paths import RepoPath
from qodebase.trunk.objects import MissingObject
from results.cat_file import CatFile
from results.repository import Repository

if TYPE_CHECKING:
    from tests.results.conftest import ToyRun


@pytest.fixture
def objects(honest: ToyRun) -> Iterator[CatFile]:
    opened = CatFile(honest.git_dir)
    yield opened
    opened.close()


def test_objects_are_read_byte_for_byte(honest: ToyRun, objects: CatFile) -> None:
    with Repository(honest.git_dir) as repository:
        view = repository.view(honest.tip)
        for path, entry in view.walk():
            content = objects.read(entry.id, "blob")
            assert content == repository.reader.content(honest.tip, path) == view.read(path)
    assert objects.read(honest.git("rev-parse", "main^{tree}"), "tree").startswith(b"40000 docs\0")


def test_an_object_that_is_missing_or_of_another_kind_is_named_and_the_next_is_still_read(
    honest: ToyRun, objects: CatFile
) -> None:
    tree = honest.git("rev-parse", "main^{tree}")
    with pytest.raises(MissingObject, match="f" * 40):
        objects.read("f" * 40, "blob")
    with pytest.raises(MissingObject, match=f"{tree} is a tree, not a blob"):
        objects.read(tree, "blob")
    assert objects.read(tree, "tree")


def test_a_commit_that_the_repository_does_not_hold_is_named(honest: ToyRun) -> None:
    from qodebase.paths import CommitId

    with Repository(honest.git_dir) as repository, pytest.raises(MissingObject, match="e" * 40):
        repository.view(CommitId("e" * 40)).read(RepoPath(b"a"))
