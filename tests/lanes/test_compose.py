from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from lane_world import RUN_ID, World, git

from lanes.compose import Composer, NotComposed, shards_of
from qodebase import events
from qodebase.composition import read_composition
from qodebase.paths import RepoPath
from qodebase.ports import SharedPath
from qodebase.trailers import COMPOSE, INTENT, RUN
from qodebase.trunk.batch import Person

INDEX = RepoPath(b"docs/INDEX.md")
A, B, C = (RepoPath(b"docs/api/%s.md" % name) for name in (b"a", b"b", b"c"))
SHARDS = [
    SharedPath(path=path, rule="sorted-index", lane=path[9:10].decode(), compose_into=INDEX) for path in (A, B, C)
]
FILES = {
    A: b"# Index\n\n- `a.py` `x` function\n- `a.py` `y` function\n",
    B: b"# Index\n\n- `b.py` `x` function\n",
    b"code.py": b"x = 1\n",
}
WHOLE = b"# Index\n\n- `a.py` `x` function\n- `a.py` `y` function\n- `b.py` `x` function\n"


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    with World(tmp_path / "repo.git", FILES) as made:
        yield made


def compose(world: World, *landed: RepoPath) -> None:
    author = Person(name="qodebase", mail="qodebase@example.org", time=1_700_000_000)
    composer = Composer(run=RUN_ID, trunk=world.trunk, journal=world.journal, clock=world.clock, author=author)
    composer.compose_all(SHARDS, frozenset(landed))


def test_shards_become_one_file_in_one_commit_that_says_so(world: World) -> None:
    compose(world, A)
    assert world.files() == {INDEX: WHOLE, b"code.py": b"x = 1\n"}
    (commit,) = world.reader.log(world.tip(), world.base)
    words = dict(commit.trailers)
    assert words == {RUN: RUN_ID, COMPOSE: INDEX.text}
    assert INTENT not in words
    note = read_composition(world.reader.note(commit.id) or b"")
    assert (note.run, note.composes, note.shards, note.parent) == (RUN_ID, INDEX, (A, B), world.base)
    (event,) = world.events(events.Composed)
    assert isinstance(event, events.Composed)
    assert (event.commit, event.parent, event.path, event.shards) == (commit.id, world.base, INDEX, (A, B))
    git(world.repository, "fsck", "--strict")


@pytest.mark.parametrize("landed", [(), (RepoPath(b"code.py"),), (C,)])
def test_shards_that_nothing_landed_on_stay(world: World, landed: tuple[RepoPath, ...]) -> None:
    if landed == (C,):
        world.foreign({A: None, B: None})
        world.trunk.refresh()
    tip = world.tip()
    compose(world, *landed)
    assert world.tip() == tip
    assert world.events(events.Composed) == []


def test_what_others_put_on_main_meanwhile_is_folded_too(world: World) -> None:
    world.foreign({INDEX: b"# Ours\n\n- `0.py` `x` function\n", B: FILES[B] + b"- `b.py` `z` function\n"})
    compose(world, A)
    index = world.files()[INDEX]
    assert index.startswith(b"# Ours\n\n- `0.py` `x` function\n- `a.py`")
    assert index.endswith(b"- `b.py` `x` function\n- `b.py` `z` function\n")
    assert B not in world.files()


def test_the_file_keeps_its_mode(world: World) -> None:
    blob = git(world.repository, "hash-object", "-w", "--stdin", given=b"# Ours\n\n").strip().decode()
    docs = git(world.repository, "ls-tree", "main:docs") + f"100755 blob {blob}\tINDEX.md\n".encode()
    both = git(world.repository, "mktree", given=docs).strip().decode()
    top = git(world.repository, "ls-tree", "main").replace(
        git(world.repository, "rev-parse", "main:docs").strip(), both.encode()
    )
    whole = git(world.repository, "mktree", given=top).strip().decode()
    commit = git(world.repository, "commit-tree", whole, "-p", world.base, "-m", "x").strip().decode()
    git(world.repository, "update-ref", "refs/heads/main", commit)
    compose(world, A)
    assert git(world.repository, "ls-tree", "main", "docs/INDEX.md").startswith(b"100755 ")


@pytest.mark.parametrize("content", [b"- `b.py` `x` class\n", b"- `z` `z` z"])
def test_shards_that_cannot_be_folded_stay_and_the_error_says_what_to_do(world: World, content: bytes) -> None:
    tip = world.foreign({INDEX: content})
    with pytest.raises(NotComposed, match="cannot be composed") as found:
        compose(world, A)
    assert "resume" in found.value.hint
    assert world.tip() == tip


def test_shards_of_several_paths_are_told_apart() -> None:
    other = SharedPath(path=RepoPath(b"x/a"), rule="r", compose_into=RepoPath(b"x/all"))
    alone = SharedPath(path=RepoPath(b"y"), rule="r")
    assert shards_of([*SHARDS, other, alone]) == {INDEX: SHARDS, RepoPath(b"x/all"): [other]}
