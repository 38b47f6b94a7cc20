from __future__ import annotations

import subprocess
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qodebase.codec import JSON, PACK, json_decoder, pack_decoder
from qodebase.paths import RepoPath, path_text


class Holder(msgspec.Struct, frozen=True):
    path: RepoPath
    paths: tuple[RepoPath, ...] = ()


@given(st.binary())
def test_any_bytes_come_back_from_their_text(raw: bytes) -> None:
    path = RepoPath(raw)
    again = RepoPath.parse(path.text)
    assert again == path
    assert type(again) is RepoPath


@given(st.binary())
def test_any_bytes_come_back_from_json_and_messagepack(raw: bytes) -> None:
    value = Holder(path=RepoPath(raw), paths=(RepoPath(raw), RepoPath(b"x")))
    assert json_decoder(Holder).decode(JSON.encode(value)) == value
    assert pack_decoder(Holder).decode(PACK.encode(value)) == value


@given(st.binary(), st.binary())
def test_two_paths_never_have_one_text(one: bytes, other: bytes) -> None:
    assert (path_text(one) == path_text(other)) == (one == other)


@given(st.binary())
def test_a_text_stays_on_one_line_and_is_utf8(raw: bytes) -> None:
    text = path_text(raw)
    assert not any(char < " " for char in text)
    text.encode()


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        (b"src/main.py", "src/main.py"),
        ("src/größe.py".encode(), "src/größe.py"),
        (b"two words", "two words"),
        (b"back\\slash", "back\\slash"),
        (b'in"side', 'in"side'),
        (b'"first', r'"\"first"'),
        (b"tab\there", r'"tab\there"'),
        (b"line\nbreak", r'"line\nbreak"'),
        (b"\xff.py", r'"\377.py"'),
        (b"\x7f", r'"\177"'),
        (b"", ""),
    ],
)
def test_a_path_is_written_plainly_where_that_can_be_read_back(raw: bytes, text: str) -> None:
    assert RepoPath(raw).text == text


@pytest.mark.parametrize("text", ['"open', '"', r'"\9"', r'"\12"', r'"\400"', '"end\\"', r'"\x41"'])
def test_a_quotation_that_git_does_not_write_is_an_error(text: str) -> None:
    with pytest.raises(ValueError, match=r"path|escape|byte"):
        RepoPath.parse(text)


def test_a_quoted_path_is_read_as_git_writes_it(tmp_path: Path) -> None:
    def git(*words: str, given: bytes = b"") -> bytes:
        return subprocess.run(["git", "-C", tmp_path, *words], input=given, capture_output=True, check=True).stdout

    raw = b'odd \x01\x07\b\t\n\v\f\r "\\ \xff\xc3\xa9'
    git("init", "-q")
    blob = git("hash-object", "-w", "--stdin", given=b"x").decode().strip()
    git("update-index", "--add", "-z", "--index-info", given=b"100644 " + blob.encode() + b"\t" + raw + b"\0")
    written = git("-c", "core.quotePath=true", "ls-files").decode().removesuffix("\n")
    assert written.startswith('"')
    assert RepoPath.parse(written) == raw


@pytest.mark.parametrize("value", [5, None, ["a"], {"a": 1}])
def test_what_is_no_text_is_no_path(value: object) -> None:
    with pytest.raises(msgspec.ValidationError, match=r"\$\.path"):
        json_decoder(Holder).decode(msgspec.json.encode({"path": value}))


def test_a_bad_quotation_in_a_file_names_its_field() -> None:
    with pytest.raises(msgspec.ValidationError, match=r"\$\.paths\[1\]"):
        json_decoder(Holder).decode(msgspec.json.encode({"path": "a", "paths": ["b", '"open']}))
