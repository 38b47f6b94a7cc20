"""The change between two commits gives exactly what the newer one holds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fleet.given.audit import GivenAudit
from fleet.given.authors import author_line, author_of
from fleet.given.difference import NoSuchChange, change_between, hunks_between
from qodebase.change import EXECUTABLE, REGULAR, SUBMODULE, SYMLINK, Change, Delete, Patch, SetMode, Write, patched
from qodebase.collision import Entry
from qodebase.edits import Edit, blob_id, materialise
from qodebase.intent import Given, Intent
from qodebase.paths import CommitId, RepoPath
from qodebase.ports import Landing

LINES = st.lists(st.sampled_from([b"a\n", b"b\n", b"c\n", b"\r\n", b"\0"]), max_size=8).map(b"".join)


class Code:
    """A tree in memory: content and mode by path."""

    def __init__(self, files: Mapping[str, tuple[bytes, int]], commit: str = "1" * 40) -> None:
        self._files = {RepoPath(path.encode()): file for path, file in files.items()}
        self.commit = CommitId(commit)

    def entry(self, path: RepoPath) -> Entry | None:
        """Return what stands at a path."""
        found = self._files.get(path)
        return None if found is None else Entry(found[1], blob_id(found[0]))

    def read(self, path: RepoPath) -> bytes:
        """Return a content."""
        return self._files[path][0]

    def walk(self) -> Iterator[tuple[RepoPath, Entry]]:
        """Yield everything."""
        for path in self._files:
            entry = self.entry(path)
            assert entry is not None
            yield path, entry


@settings(deadline=None)
@given(LINES, LINES)
def test_hunks_make_one_content_of_the_other(before: bytes, after: bytes) -> None:
    assert patched(before, hunks_between(before, after)) == after


def test_lines_that_only_one_side_has_are_hunks_of_their_own() -> None:
    whole = b"".join(b"line %d\n" % number for number in range(50))
    less = whole.replace(b"line 3\n", b"").replace(b"line 40\nline 41\n", b"")
    assert [hunk.length for hunk in hunks_between(whole, less)] == [7, 16]
    assert [hunk.text for hunk in hunks_between(less, whole)] == [b"line 3\n", b"line 40\nline 41\n"]


def test_a_change_gives_every_path_what_the_tip_has() -> None:
    base = Code(
        {
            "edited": (b"one\ntwo\n", REGULAR),
            "run": (b"true\n", REGULAR),
            "gone": (b"gone\n", REGULAR),
            "link": (b"edited", SYMLINK),
            "folder": (b"a file\n", REGULAR),
            "same": (b"same\n", REGULAR),
        }
    )
    tip = Code(
        {
            "edited": (b"one\n2\n", EXECUTABLE),
            "run": (b"true\n", EXECUTABLE),
            "link": (b"a file now", REGULAR),
            "folder/inside": (b"\0", REGULAR),
            "to": (b"link", SYMLINK),
            "same": (b"same\n", REGULAR),
        }
    )
    paths = [*dict(base.walk()), *dict(tip.walk())]
    change = change_between(base, tip, dict.fromkeys(paths))
    edits = materialise(change, base)
    assert edits == {
        path: None if (entry := tip.entry(path)) is None else Edit(entry.mode, tip.read(path))
        for path in paths
        if tip.entry(path) != base.entry(path)
    }
    assert {type(one) for one in change.operations[:2]} == {Delete}
    kinds = [type(one) for one in change.operations if one.path == b"edited"]
    assert kinds == [Patch, SetMode]


def test_a_submodule_is_no_change() -> None:
    module = Code({"module": (b"", SUBMODULE)})
    with pytest.raises(NoSuchChange, match="module is a submodule"):
        change_between(Code({}), module, [RepoPath(b"module")])


@pytest.mark.parametrize(
    ("told", "line"),
    [
        (("Ada", "ada@example.org", "5", "-0130"), "Ada <ada@example.org> 5 -0130"),
        (("", "ada@example.org", "5", "+0000"), "ada@example.org <ada@example.org> 5 +0000"),
        (("", "", "-5", "+00"), "unknown <> 0 +0000"),
        (("A\nda <x>", "a>b", "5", "+0000"), "Ada x <ab> 5 +0000"),
    ],
)
def test_an_author_is_written_so_that_a_commit_can_hold_it(told: tuple[str, str, str, str], line: str) -> None:
    assert author_line(*told) == line
    commit = CommitId("1" * 40)
    person = author_of(Intent(id="a", asked="a", scope=(), given=Given(base=commit, tip=commit, author=line)))
    assert person is not None
    assert f"{person.name} <{person.mail}> {person.time} {person.zone}" == line


def test_only_the_first_attempt_must_be_what_the_commits_say() -> None:
    base, tip = Code({"a": (b"one\n", REGULAR)}), Code({"a": (b"two\n", REGULAR)}, "2" * 40)
    path = RepoPath(b"a")
    given = Given(base=base.commit, tip=tip.commit, author=author_line("Ada", "", "0", "+0000"))
    intent = Intent(id="i", asked="i", scope=(path,), given=given)
    audit = GivenAudit({base.commit: base, tip.commit: tip}.__getitem__, lambda one, other: [path])

    def proof(content: bytes, attempt: int) -> str:
        change = Change(base=base.commit, operations=(Write(path=path, content=content),))
        landing = Landing(intent=intent, change=change, commit=tip.commit, parent=base.commit, attempt=attempt)
        return audit.proof(landing, base, tip, full=True)

    assert proof(b"three\n", 1) == "the change is not what 222222222222 has other than 111111111111"
    assert proof(b"three\n", 2) == ""
