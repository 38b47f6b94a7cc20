from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from lane_world import World, git

from lanes.fork import Main
from qodebase.collision import Entry
from qodebase.edits import blob_id
from qodebase.paths import CommitId, RepoPath
from qodebase.ports import Tree

A, B, INDEX, GONE = (RepoPath(name) for name in (b"a", b"dir/b", b"index", b"gone"))
ONE, TWO = (CommitId(digit * 40) for digit in "12")
Make = Callable[..., World]
FILES = {b"a": b"a0\n", b"dir/b": b"b0\n", b"index": b"i0\n"}


def test_a_fork_keeps_what_main_was_when_it_was_taken(world: Make) -> None:
    one = world(FILES)
    fork = one.fork(b"a", b"gone")
    before = one.main.entry(A)
    one.main.advance("x", ONE, {A: Entry(0o100755, "5" * 40), GONE: Entry(0o100644, "6" * 40)})
    assert (fork.commit, fork.position) == (one.base, 0)
    assert fork.entry(A) == before == Entry(0o100644, blob_id(b"a0\n"))
    assert fork.entry(GONE) is None
    assert fork.entry(B) == Entry(0o100644, blob_id(b"b0\n"))
    assert (fork.read(A), fork.read(B)) == (b"a0\n", b"b0\n")
    assert [path for path, _ in fork.walk()] == [A, B, INDEX]
    assert one.main.entry(A) == Entry(0o100755, "5" * 40)
    with pytest.raises(KeyError):
        fork.read(GONE)


def test_a_fork_after_a_landing_sees_it_and_a_deletion_too(world: Make) -> None:
    one = world(FILES)
    one.main.advance("x", ONE, {A: None, B: Entry(0o100644, "5" * 40)})
    one.main.keep(B, b"kept")
    fork = one.fork(b"a", b"dir/b")
    assert (fork.commit, fork.position) == (ONE, 1)
    assert fork.entry(A) is None
    assert fork.read(B) == one.main.read(B) == b"kept"


def test_the_content_of_shared_paths_goes_with_a_fork(world: Make) -> None:
    one = world(FILES, shared={b"index": "sorted-index", b"gone": "sorted-index"})
    fork = one.fork(b"a")
    one.reader.close()
    assert fork.read(INDEX) == b"i0\n"
    assert fork.entry(GONE) is None
    assert one.main.read(INDEX) == b"i0\n"


def test_a_fork_reads_what_it_knows_the_id_of_without_opening_its_commit(world: Make) -> None:
    one = world(FILES)
    tree = one.tree(one.base)

    def unopened(commit: CommitId) -> Tree:
        raise AssertionError(commit)

    main = Main(tree, unopened, blob=one.reader.blob)
    main.look_up_all()
    fork = main.fork([A, GONE])
    assert fork.read(A) == b"a0\n"
    assert fork.entry(GONE) is None
    assert [main.entry(path) for path in (A, B, GONE)] == [tree.entry(path) for path in (A, B, GONE)]
    with pytest.raises(AssertionError):
        fork.read(B)


def test_a_fork_takes_a_content_that_somebody_else_has_read(world: Make) -> None:
    fork = world(FILES).fork(b"a")
    assert fork.held(A) is None
    fork.know(A, b"a0\n")
    assert fork.held(A) == fork.read(A) == b"a0\n"


def test_movers_are_those_after_a_position_oldest_first() -> None:
    main = Main(Empty(), lambda commit: Empty())
    for number in range(5):
        main.advance(f"i{number}", ONE, {A: None} if number % 2 == 0 else {B: None})
    assert main.position == 5
    assert main.movers(A, 0) == ["i0", "i2", "i4"]
    assert main.movers(A, 1) == ["i2", "i4"]
    assert main.movers(A, 2) == ["i2", "i4"]
    assert main.movers(A, 5) == main.movers(GONE, 0) == []
    assert main.movers(B, 0) == ["i1", "i3"]


def test_landings_of_an_earlier_sitting_are_movers_for_forks_at_earlier_commits(world: Make) -> None:
    one = world(FILES)
    second = one.foreign({b"a": b"a1\n"})
    third = one.foreign({b"dir/b": b"b1\n"})
    main = Main(one.tree(third), one.tree)
    main.remember("first", second, [A], before=one.base)
    main.remember("second", third, [B], before=second)
    old, middle, new = (main.fork_at(commit, [A, B, GONE]) for commit in (one.base, second, third))
    assert [fork.position for fork in (old, middle, new)] == [0, 1, 2]
    assert [fork.read(A) for fork in (old, middle, new)] == [b"a0\n", b"a1\n", b"a1\n"]
    assert [fork.read(B) for fork in (old, middle, new)] == [b"b0\n", b"b0\n", b"b1\n"]
    assert old.entry(GONE) is None
    assert main.movers(B, middle.position) == ["second"]
    assert main.movers(A, middle.position) == []
    assert main.fork([A]).position == 2


def test_a_fork_older_than_what_main_began_on_is_followed_over_what_happened_between(world: Make) -> None:
    text = b"".join(b"line %d\n" % number for number in range(20))
    one = world({b"a": b"a0\n", b"old": text})
    moved = one.foreign({b"old": None, b"new": text, b"a": None})
    main = Main(one.tree(moved), one.tree)
    old, gone, new = (RepoPath(name) for name in (b"old", b"a", b"new"))
    older = main.fork_at(one.base, [old, gone])
    assert (older.commit, older.read(old)) == (one.base, text)
    assert older.position < main.fork_at(CommitId(moved), [new]).position == 0
    assert main.where(old, older.position) == new
    assert main.where(gone, older.position) is None
    assert main.where(old, 0) == old
    later = one.foreign({b"new": None, b"newer": text})
    main.advance("x", CommitId(later), {new: None, RepoPath(b"newer"): Entry(0o100644, blob_id(text))})
    assert main.where(old, older.position) == RepoPath(b"newer")
    assert main.movers(new, older.position) == ["x"]
    assert main.fork_at(one.base, [old]).position == older.position


def test_a_fork_at_an_earlier_commit_can_have_a_submodule_in_its_paths(world: Make) -> None:
    one = world(FILES)
    index = str(one.repository / "own-index")
    git(one.repository, "read-tree", "main", GIT_INDEX_FILE=index)
    git(one.repository, "update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},module", GIT_INDEX_FILE=index)
    tree = git(one.repository, "write-tree", GIT_INDEX_FILE=index).decode().strip()
    commit = CommitId(git(one.repository, "commit-tree", tree, "-m", "module").decode().strip())
    fork = one.main.fork_at(commit, [A, RepoPath(b"module")])
    assert fork.entry(RepoPath(b"module")) == Entry(0o160000, "1" * 40)
    assert fork.read(A) == b"a0\n"


def test_a_reset_forgets_what_was_known_of_the_old_tip(world: Make) -> None:
    one = world(FILES)
    one.main.advance("x", ONE, {A: None, GONE: Entry(0o100644, "5" * 40)})
    one.main.keep(B, b"old")
    tip = one.foreign({b"dir/b": b"b1\n"})
    one.main.reset(one.tree(tip))
    assert one.main.tip == tip
    assert one.main.read(A) == b"a0\n"
    assert one.main.read(B) == b"b1\n"
    assert one.main.entry(GONE) is None
    assert one.main.movers(A, 0) == ["x"]


def test_kept_contents_are_bounded_and_the_newest_stays() -> None:
    main = Main(Empty(), lambda commit: Empty())
    size = 30 << 20
    for path in (A, B, INDEX):
        main.keep(path, bytes(size))
    assert [path in main._contents for path in (A, B, INDEX)] == [False, True, True]
    main.keep(GONE, bytes(65 << 20))
    assert list(main._contents) == [GONE]
    main.advance("x", TWO, {GONE: None})
    assert main._kept == 0


class Empty:
    """A tree without a file."""

    commit = TWO

    def entry(self, path: RepoPath) -> None:
        return None

    def read(self, path: RepoPath) -> bytes:
        raise KeyError(path)

    def walk(self) -> Iterator[tuple[RepoPath, Entry]]:
        return iter(())


def test_other_peoples_commits_are_named_for_the_paths_that_they_changed(world: Make) -> None:
    one = world({b"a": b"a0\n", b"b": b"b0\n"})
    before = one.main.tip
    position = one.main.position
    second = one.foreign({b"a": b"a1\n"})
    third = one.foreign({b"b": b"b1\n"})
    one.main.reset(one.tree(third), [third, second])
    assert one.main.foreign(RepoPath(b"a"), position) == [second]
    assert one.main.foreign(RepoPath(b"b"), position) == [third]
    assert one.main.foreign(RepoPath(b"b"), one.main.position) == []
    assert one.main.fork_at(second, [RepoPath(b"a")]).position < one.main.position
    assert before != one.main.tip
