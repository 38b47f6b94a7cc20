from __future__ import annotations

import subprocess
from itertools import chain, pairwise
from pathlib import Path

import pytest

from qodebase.collision import Entry
from qodebase.paths import CommitId, RepoPath
from qodebase.trunk.objects import MissingObject
from results.repository import Repository
from results.tree_diff import Differs

_STATES = [
    {"a": b"1", "dir/b": b"2", "dir/sub/c": b"3", "dir.txt": b"4", "x": b"5"},
    {"a": b"1", "dir": b"a file now", "dir.txt": b"4", "x/y/z": b"a folder now"},
    {},
    {"dir/b": b"2", "dir/sub/c": b"changed", "odd \xff name": b"", "x": b"5"},
]


def _git(folder: Path, *arguments: str, stdin: bytes = b"") -> bytes:
    return subprocess.run(["git", "-C", str(folder), *arguments], input=stdin, capture_output=True, check=True).stdout


@pytest.fixture(scope="module")
def states(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[CommitId]]:
    folder = tmp_path_factory.mktemp("trees") / "repo.git"
    subprocess.run(["git", "init", "-q", "--template=", "--bare", "-b", "main", str(folder)], check=True)
    stream = bytearray()
    for number, state in enumerate(_STATES, 1):
        stream += b"commit refs/heads/main\nmark :%d\ncommitter T <t@t> %d +0000\ndata 0\ndeleteall\n" % (
            number,
            number,
        )
        for name, content in state.items():
            mode = b"100755" if name == "x" and number == 4 else b"100644"
            path = name.encode("latin-1")
            stream += b"M %s inline %s\ndata %d\n%s\n" % (
                mode,
                b'"%s"' % path if b" " in path else path,
                len(content),
                content,
            )
    _git(folder, "fast-import", "--quiet", stdin=bytes(stream))
    ids = _git(folder, "rev-list", "--reverse", "main").decode().split()
    return folder, [CommitId(id) for id in ids]


def _git_diff(folder: Path, before: str, after: str) -> dict[RepoPath, Differs]:
    parts = _git(folder, "diff-tree", "-r", "-z", "--no-renames", before, after).split(b"\0")
    found = {}
    for facts, path in zip(parts[0::2], parts[1::2], strict=False):
        old_mode, new_mode, old, new, _ = facts.decode().removeprefix(":").split()
        entries = [Entry(int(mode, 8), id) if int(mode, 8) else None for mode, id in ((old_mode, old), (new_mode, new))]
        found[RepoPath(path)] = Differs(*entries)
    return found


@pytest.mark.parametrize("before", range(4))
@pytest.mark.parametrize("after", range(4))
def test_two_trees_differ_where_git_says_so(states: tuple[Path, list[CommitId]], before: int, after: int) -> None:
    folder, ids = states
    with Repository(folder) as repository:
        trees = [repository.view(id).tree for id in ids]
        assert repository.trees.diff(trees[before], trees[after]) == _git_diff(folder, ids[before], ids[after])


@pytest.mark.parametrize("number", range(4))
def test_a_tree_is_walked_in_gits_order_and_every_path_is_found_in_it(
    states: tuple[Path, list[CommitId]], number: int
) -> None:
    folder, ids = states
    listed = _git(folder, "ls-tree", "-r", "-z", ids[number]).split(b"\0")[:-1]
    expected = []
    for line in listed:
        facts, _, path = line.partition(b"\t")
        mode, _, id = facts.decode().split()
        expected.append((RepoPath(path), Entry(int(mode, 8), id)))
    with Repository(folder) as repository:
        view = repository.view(ids[number])
        assert list(view.walk()) == expected
        assert [(path, view.entry(path)) for path, _ in expected] == expected
        assert view.entry(RepoPath(b"dir/sub")) is None
        assert view.entry(RepoPath(b"no/such/path")) is None
        with pytest.raises(KeyError):
            view.read(RepoPath(b"no/such/path"))


def test_against_nothing_every_path_differs(states: tuple[Path, list[CommitId]]) -> None:
    folder, ids = states
    with Repository(folder) as repository:
        tree = repository.view(ids[0]).tree
        differs = repository.trees.diff(None, tree)
        assert {path: now.after for path, now in differs.items()} == dict(repository.trees.walk(tree))


def test_along_a_line_every_step_differs_where_git_says_so(states: tuple[Path, list[CommitId]]) -> None:
    folder, ids = states
    line = [ids[number] for number in (0, 1, 3, 2, 2, 0) * 7]
    with Repository(folder) as repository:
        found = chain.from_iterable(repository.trees.diffs(repository.view(id).tree for id in line))
        assert list(found) == [_git_diff(folder, *step) for step in pairwise(line)]
        assert list(repository.trees.diffs([repository.view(ids[0]).tree])) == []


def test_every_step_of_a_line_before_a_missing_tree_is_told(states: tuple[Path, list[CommitId]]) -> None:
    folder, ids = states
    with Repository(folder) as repository:
        trees = [repository.view(id).tree for id in ids]
        steps = chain.from_iterable(repository.trees.diffs([*trees, "f" * 40, trees[0]]))
        assert [next(steps) for _ in trees[1:]] == [_git_diff(folder, *step) for step in pairwise(ids)]
        with pytest.raises(MissingObject, match="f" * 40):
            next(steps)


def test_odd_modes_are_told_as_the_tree_has_them_and_a_zero_ahead_is_no_difference(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", "--template=", "--bare", str(tmp_path)], check=True)
    blob, folder = (
        _git(tmp_path, "hash-object", "-w", "-t", kind, "--stdin", stdin=content).decode().strip()
        for kind, content in (("blob", b"1"), ("tree", b""))
    )
    trees = [
        _git(
            tmp_path,
            *("hash-object", "-w", "-t", "tree", "--literally", "--stdin"),
            stdin=b"".join(
                b"%s %s\0%s" % (mode, name, bytes.fromhex(id))
                for mode, name, id in ((modes[0], b"a", blob), (modes[1], b"b", folder))
            ),
        )
        .decode()
        .strip()
        for modes in ((b"100664", b"40000"), (b"0100664", b"040000"), (b"100644", b"40000"))
    ]
    with Repository(tmp_path) as repository:
        assert repository.trees.entry(trees[1], RepoPath(b"a")) == Entry(0o100664, blob)
        assert list(chain.from_iterable(repository.trees.diffs(trees))) == [
            {},
            {RepoPath(b"a"): Differs(Entry(0o100664, blob), Entry(0o100644, blob))},
        ]
