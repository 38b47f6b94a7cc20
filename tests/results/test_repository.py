from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from qodebase.paths import RepoPath
from qodebase.trunk.objects import BLOB, MissingObject, hash_object
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


def test_several_objects_are_read_in_one_go_and_the_next_after_a_missing_one_is_still_read(
    honest: ToyRun, objects: CatFile
) -> None:
    blobs = [line.split()[2] for line in honest.git("ls-tree", "-r", "main").splitlines()] * 30
    assert len(blobs) > 256
    assert objects.read_all(blobs, "blob") == [objects.read(id, "blob") for id in blobs]
    with pytest.raises(MissingObject, match="e" * 40):
        objects.read_all([blobs[0], "e" * 40, "f" * 40, blobs[1]], "blob")
    assert objects.read_all([], "blob") == []
    assert hash_object(BLOB, objects.read(blobs[0], "blob")).hex() == blobs[0]


def test_what_was_asked_for_ahead_is_read_in_any_order_and_kept_where_something_else_is_read_first(
    honest: ToyRun,
) -> None:
    kept: dict[str, bytes] = {}
    objects = CatFile(honest.git_dir, kept.__setitem__)
    tree = honest.git("rev-parse", "main^{tree}")
    with Repository(honest.git_dir) as repository, closing(objects):
        blobs = list({entry.id: repository.blob(entry.id) for _, entry in repository.view(honest.tip).walk()}.items())
        ids = [id for id, _ in blobs]
        objects.ask([*ids[:3], "e" * 40, tree, *ids[3:6]])
        assert objects.read(ids[1], "blob") == blobs[1][1]
        assert kept == dict(blobs[:1])
        with pytest.raises(MissingObject, match="e" * 40):
            objects.read("e" * 40, "blob")
        assert kept == dict([blobs[0], *blobs[2:6]])
        objects.ask(ids)
        assert objects.read(tree, "tree").startswith(b"40000 docs\0")
        assert kept == dict(blobs)
        objects.ask(ids * 100)
        assert objects.read(ids[0], "blob") == blobs[0][1]


def test_contents_of_differences_that_were_asked_for_are_read_byte_for_byte(honest: ToyRun) -> None:
    with Repository(honest.git_dir) as repository, Repository(honest.git_dir) as other:
        before, after = (repository.view(id) for id in (honest.base, honest.tip))
        differences = repository.trees.diff(before.tree, after.tree)
        repository.ask_for([differences])
        for path, differs in reversed(differences.items()):
            assert differs.after is not None
            assert after.read(path) == other.blob(differs.after.id)


def test_a_commit_that_the_repository_does_not_hold_is_named(honest: ToyRun) -> None:
    from qodebase.paths import CommitId

    with Repository(honest.git_dir) as repository, pytest.raises(MissingObject, match="e" * 40):
        repository.view(CommitId("e" * 40)).read(RepoPath(b"a"))
