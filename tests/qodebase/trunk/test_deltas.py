from __future__ import annotations

from dulwich.pack import apply_delta
from hypothesis import given, settings
from hypothesis import strategies as st

from qodebase.trunk.deltas import Splice, encode_delta, pieces_of, splice_between, splice_delta

TEXTS = st.binary(max_size=60) | st.text(alphabet="ab", max_size=300).map(str.encode)


def applied(content: bytes, splices: list[Splice]) -> bytes:
    for start, end, text in splices:
        content = content[:start] + text + content[end:]
    return content


@given(old=TEXTS, new=TEXTS)
@settings(max_examples=300, deadline=None, derandomize=True)
def test_one_splice_leads_from_any_content_to_any_other(old: bytes, new: bytes) -> None:
    start, end, text = splice_between(old, new)
    assert 0 <= start <= end <= len(old)
    assert applied(old, [(start, end, text)]) == new


def test_a_splice_holds_no_more_than_what_changed() -> None:
    line = b"a line of the index\n"
    old = line * 20_000
    assert splice_between(old, old) == (len(old), len(old), b"")
    for at in (0, 1, 4095, 4096, 4097, 200_000, len(old) - 1, len(old)):
        new = old[:at] + b"#\0#" + old[at:]
        assert splice_between(old, new) == (at, at, b"#\0#")
        assert splice_between(new, old) == (at, at + 3, b"")


@st.composite
def edits(draw: st.DrawFn) -> tuple[bytes, list[Splice]]:
    content = draw(st.binary(min_size=1, max_size=400))
    splices: list[Splice] = []
    length = len(content)
    for _ in range(draw(st.integers(1, 8))):
        start = draw(st.integers(0, length))
        end = draw(st.integers(start, min(length, start + 40)))
        text = draw(st.binary(max_size=200))
        splices.append((start, end, text))
        length += len(text) - (end - start)
    return content, splices


@given(edits())
@settings(max_examples=300, deadline=None, derandomize=True)
def test_a_delta_of_many_splices_gives_what_the_splices_give(case: tuple[bytes, list[Splice]]) -> None:
    content, splices = case
    wanted = applied(content, splices)
    delta = encode_delta(len(content), len(wanted), pieces_of(len(content), splices))
    assert b"".join(apply_delta(content, delta)) == wanted


@given(
    content=st.binary(min_size=200, max_size=300),
    places=st.lists(st.tuples(st.integers(0, 9), st.integers(0, 3), st.binary(min_size=20, max_size=20)), max_size=30),
)
@settings(max_examples=300, deadline=None, derandomize=True)
def test_replaced_ids_give_one_delta_whether_they_cut_each_other_or_not(
    content: bytes, places: list[tuple[int, int, bytes]]
) -> None:
    splices = [(at := 20 * slot + (shift if shift == 3 and slot < 9 else 0), at + 20, id) for slot, shift, id in places]
    wanted = applied(content, splices)
    pieces = pieces_of(len(content), splices)
    assert b"".join(apply_delta(content, encode_delta(len(content), len(wanted), pieces))) == wanted
    if all(shift < 3 or slot == 9 for slot, shift, _ in places):
        assert sum(isinstance(piece, bytes) for piece in pieces) == len({slot for slot, _, _ in places})


def test_a_copy_longer_than_one_instruction_can_say_is_split() -> None:
    content = bytes(range(256)) * 70_000
    wanted = b"head" + content
    delta = encode_delta(len(content), len(wanted), pieces_of(len(content), [(0, 0, b"head")]))
    assert len(delta) < 40
    assert b"".join(apply_delta(content, delta)) == wanted


@given(edits())
@settings(max_examples=200, deadline=None, derandomize=True)
def test_the_delta_of_one_splice_is_that_of_its_pieces(case: tuple[bytes, list[Splice]]) -> None:
    content, splices = case
    wanted = applied(content, splices[:1])
    delta = splice_delta(len(content), len(wanted), splices[0])
    assert delta == encode_delta(len(content), len(wanted), pieces_of(len(content), splices[:1]))
