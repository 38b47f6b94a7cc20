from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qodebase.change import (
    BadPatch,
    Change,
    Delete,
    Hunk,
    Patch,
    Rename,
    SetMode,
    Symlink,
    Write,
    patched,
)
from qodebase.codec import JSON, PACK, json_decoder, pack_decoder
from qodebase.paths import CommitId, RepoPath

BASE = CommitId("0" * 40)


@st.composite
def hunked(draw: st.DrawFn) -> tuple[bytes, tuple[Hunk, ...], bytes]:
    """A content, hunks that fit it, and what must come of them."""
    pieces = draw(st.lists(st.tuples(st.binary(max_size=5), st.booleans(), st.binary(max_size=5)), max_size=6))
    content, result, hunks = b"", b"", []
    for piece, replaced, text in pieces:
        if replaced:
            hunks.append(Hunk(offset=len(content), length=len(piece), text=text))
        content += piece
        result += text if replaced else piece
    return content, tuple(hunks), result


@given(hunked())
def test_hunks_replace_what_they_say_and_nothing_else(case: tuple[bytes, tuple[Hunk, ...], bytes]) -> None:
    content, hunks, result = case
    assert patched(content, hunks) == result


@pytest.mark.parametrize(
    "hunks",
    [
        [Hunk(offset=4, text=b"x")],
        [Hunk(offset=2, length=2, text=b"")],
        [Hunk(offset=-1, text=b"x")],
        [Hunk(offset=1, length=-1, text=b"x")],
        [Hunk(offset=0, length=2, text=b"x"), Hunk(offset=1, text=b"y")],
        [Hunk(offset=2, text=b"x"), Hunk(offset=0, text=b"y")],
    ],
    ids=["behind the end", "over the end", "negative", "negative length", "overlapping", "descending"],
)
def test_hunks_that_do_not_fit_are_an_error(hunks: list[Hunk]) -> None:
    with pytest.raises(BadPatch, match="of 3 bytes does not fit"):
        patched(b"abc", tuple(hunks))


def test_a_change_names_each_path_once_in_order_of_first_mention() -> None:
    a, b, c = (RepoPath(name) for name in (b"a", b"b", b"c"))
    change = Change(
        base=BASE,
        operations=(Delete(path=c), Rename(path=a, target=b), Patch(path=b, hunks=()), SetMode(path=a, mode=0o100755)),
    )
    assert change.paths == (c, a, b)


def test_every_operation_comes_back_from_a_file() -> None:
    path = RepoPath(b"\xff")
    change = Change(
        base=BASE,
        operations=(
            Write(path=path, content=b"\x00\xff", mode=0o100755),
            Patch(path=path, hunks=(Hunk(offset=1, length=2, text=b"\xfe"),)),
            Delete(path=path),
            Rename(path=path, target=RepoPath(b"b")),
            SetMode(path=path, mode=0o100644),
            Symlink(path=path, target=b"../x"),
        ),
        symbols=("a#b",),
    )
    assert pack_decoder(Change).decode(PACK.encode(change)) == change
    assert json_decoder(Change).decode(JSON.encode(change)) == change
