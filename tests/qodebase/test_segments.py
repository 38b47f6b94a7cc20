from __future__ import annotations

import resource
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qodebase.segments import BadSegment, Ref, SegmentFailed, SegmentReader, SegmentWriter, packed


def test_payloads_come_back_by_their_references(tmp_path: Path) -> None:
    writer, reader = SegmentWriter(tmp_path / "attempts"), SegmentReader(tmp_path / "attempts")
    payloads = [b"", b"a", b"\x00" * 100_000, bytes(range(256)) * 40]
    refs = [writer.put(payload).text for payload in payloads]
    assert [reader.get(ref) for ref in refs] == payloads
    writer.close()
    assert [reader.get(ref) for ref in reversed(refs)] == payloads[::-1]
    reader.close()


@settings(max_examples=20, deadline=None)
@given(st.lists(st.binary(max_size=200), max_size=6))
def test_what_is_written_can_be_read_while_more_is_written(
    tmp_path_factory: pytest.TempPathFactory, payloads: list[bytes]
) -> None:
    folder = tmp_path_factory.mktemp("attempts")
    writer, reader = SegmentWriter(folder), SegmentReader(folder)
    refs: list[str] = []
    for number, payload in enumerate(payloads):
        refs.append(writer.put(payload).text)
        assert [reader.get(ref) for ref in refs] == payloads[: number + 1]
    writer.close()
    reader.close()


def test_each_sitting_writes_a_segment_of_its_own_and_an_empty_one_is_removed(tmp_path: Path) -> None:
    first = SegmentWriter(tmp_path)
    ref = first.put(b"first")
    first.close()
    SegmentWriter(tmp_path).close()
    third = SegmentWriter(tmp_path)
    assert third.put(b"third") == Ref(2, 0)
    third.close()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["000001.seg", "000002.seg"]
    reader = SegmentReader(tmp_path)
    assert (reader.get(ref.text), reader.get("2:0")) == (b"first", b"third")
    reader.close()


def test_a_torn_frame_is_an_error_and_harms_no_other(tmp_path: Path) -> None:
    writer = SegmentWriter(tmp_path)
    first, second = writer.put(b"first" * 50), writer.put(b"second" * 50)
    writer.close()
    file = tmp_path / "000001.seg"
    whole = file.read_bytes()
    for size in range(second.offset, len(whole)):
        file.write_bytes(whole[:size])
        reader = SegmentReader(tmp_path)
        assert reader.get(first.text) == b"first" * 50
        with pytest.raises(BadSegment, match=f"segment 1, offset {second.offset}"):
            reader.get(second.text)
        reader.close()
    later = SegmentWriter(tmp_path)
    assert later.put(b"later") == Ref(2, 0)
    later.close()


def test_a_changed_byte_is_found_wherever_it_is(tmp_path: Path) -> None:
    writer = SegmentWriter(tmp_path)
    ref = writer.put(b"some payload")
    writer.put(b"behind it")
    writer.close()
    file = tmp_path / "000001.seg"
    whole = file.read_bytes()
    for at in range(12 + 20):
        file.write_bytes(whole[:at] + bytes([whole[at] ^ 0x55]) + whole[at + 1 :])
        reader = SegmentReader(tmp_path)
        with pytest.raises(BadSegment):
            reader.get(ref.text)
        reader.close()


@pytest.mark.parametrize("ref", ["7:0", "1:99999", "", "1", "one:two", ":", "1:3"])
def test_a_reference_into_nothing_is_an_error(tmp_path: Path, ref: str) -> None:
    writer = SegmentWriter(tmp_path)
    writer.put(b"x")
    writer.close()
    reader = SegmentReader(tmp_path)
    with pytest.raises(BadSegment):
        reader.get(ref)
    reader.close()


@pytest.mark.parametrize("room", [0, 1, 11, 12, 20])
def test_a_full_disk_leaves_whole_frames_and_a_place_to_go_on(tmp_path: Path, room: int) -> None:
    writer = SegmentWriter(tmp_path)
    first = writer.put(b"first")
    size = (tmp_path / "000001.seg").stat().st_size
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size + room, before[1]))
    try:
        with pytest.raises(SegmentFailed, match="cannot be written") as caught:
            writer.put(bytes(range(256)))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert caught.value.exit_code == 3
    assert (tmp_path / "000001.seg").stat().st_size == size
    third = writer.put(b"third")
    writer.close()
    reader = SegmentReader(tmp_path)
    assert (reader.get(first.text), reader.get(third.text)) == (b"first", b"third")
    reader.close()


def test_a_folder_of_attempts_is_for_its_owner_only(tmp_path: Path) -> None:
    SegmentWriter(tmp_path / "a" / "attempts").close()
    assert (tmp_path / "a" / "attempts").stat().st_mode & 0o777 == 0o700


def test_a_segment_that_gathers_is_read_after_a_flush(tmp_path: Path) -> None:
    writer, reader = SegmentWriter(tmp_path, gathers=True), SegmentReader(tmp_path)
    refs = [writer.put(payload).text for payload in (b"one", b"two" * 999)]
    with pytest.raises(BadSegment):
        reader.get(refs[0])
    writer.flush()
    assert [reader.get(ref) for ref in refs] == [b"one", b"two" * 999]
    ref = writer.put_packed(packed(b"three")).text
    writer.sync()
    assert reader.get(ref) == b"three"
    last = writer.put(b"four").text
    writer.close()
    assert reader.get(last) == b"four"
    reader.close()


def test_payloads_that_were_gathered_and_not_written_end_the_segment(tmp_path: Path) -> None:
    writer, reader = SegmentWriter(tmp_path, gathers=True), SegmentReader(tmp_path)
    first = writer.put(b"one").text
    writer.flush()
    size = (tmp_path / "000001.seg").stat().st_size
    writer.put(b"two")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size + 5, before[1]))
    try:
        with pytest.raises(SegmentFailed):
            writer.flush()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert (tmp_path / "000001.seg").stat().st_size == size
    with pytest.raises(SegmentFailed):
        writer.put(b"three")
    with pytest.raises(SegmentFailed):
        writer.close()
    assert reader.get(first) == b"one"
    reader.close()


def test_payloads_that_a_bug_kept_from_being_written_end_the_segment(tmp_path: Path) -> None:
    writer = SegmentWriter(tmp_path, gathers=True)
    writer.put(b"one")
    writer.close()
    writer.put(b"two")
    with pytest.raises(ValueError, match="closed file"):
        writer.flush()
    with pytest.raises(SegmentFailed, match="closed file"):
        writer.put(b"three")
    with pytest.raises(SegmentFailed):
        writer.flush()
