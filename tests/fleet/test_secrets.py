from __future__ import annotations

import sysconfig
import time
from pathlib import Path

import pytest

from fleet.secrets import BadSecretPattern, Scanner, placeholder, redacted
from tests.support.made_secrets import MIXED, OTHER_FORMS, SECRETS, private_key

AROUND = "import os\n\n\ndef connect():\n    return {}\n\n# the end of the file\n"


def kinds(text: str, **patterns: tuple[str, ...]) -> list[str]:
    return [one.kind for one in Scanner(patterns).find(text)]


@pytest.mark.parametrize("kind", SECRETS)
def test_a_secret_of_each_kind_is_found_where_it_stands_in_code(kind: str) -> None:
    text = AROUND.format(SECRETS[kind])
    assert kinds(text) == [kind]
    one = Scanner().find(text)[0]
    assert text[one.start : one.end].strip() in text[text.index("return") :]


@pytest.mark.parametrize("kind", OTHER_FORMS)
def test_another_form_of_a_secret_is_found_too(kind: str) -> None:
    assert kinds(AROUND.format(OTHER_FORMS[kind])) == [kind]


@pytest.mark.parametrize("kind", SECRETS)
def test_nothing_of_a_secret_is_left_where_it_was_redacted(kind: str) -> None:
    text = AROUND.format(SECRETS[kind])
    clean = redacted(text, Scanner().find(text))
    assert placeholder(kind) in clean
    assert MIXED[8:20] not in clean
    assert clean.startswith("import os\n\n\ndef connect():")
    assert clean.endswith("\n\n# the end of the file\n")
    assert kinds(clean) == []


@pytest.mark.parametrize("begin", ["", "# ", "    "])
def test_a_private_key_that_is_cut_off_is_taken_out_down_to_its_last_line(begin: str) -> None:
    lines = private_key().splitlines()[:-1]
    text = "KEY = '''\n" + "".join(f"{begin}{line}\n" for line in lines) + "'''\nprint(KEY)\n"
    clean = redacted(text, Scanner().find(text))
    assert MIXED[8:20] not in clean
    assert clean.endswith("'''\nprint(KEY)\n")


def test_what_only_looks_like_a_secret_is_none() -> None:
    for harmless in (
        "sha256 = '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08'",
        "uuid = '123e4567-e89b-12d3-a456-426614174000'",
        "password = 'hunter2'",
        "url = 'https://example.com:8080/path@here'",
        "eyJ.eyJ.not-a-token",
        "ADDRESS = '203.0.113.7'",
        "commit 5f2c8e1d9b7a4c3e2f1d0b9a8c7e6f5d4c3b2a19",
    ):
        assert kinds(AROUND.format(harmless)) == []


def test_a_line_may_say_that_it_is_no_secret() -> None:
    secret = SECRETS["AWS Access Key"]
    assert kinds(f"KEY = '{secret}'  # pragma: allowlist secret\n") == []
    assert kinds(f"// pragma: allowlist nextline secret\nconst key = '{secret}';\n") == []
    assert kinds(f"# pragma: allowlist nextline secret\n\nKEY = '{secret}'\n") == ["AWS Access Key"]


def test_a_users_pattern_finds_its_own_kind_anywhere() -> None:
    patterns = {"corp": (r"corp-[0-9]{4}", r"CORP_[A-Z]{4}")}
    text = "short: corp-1234 and CORP_ABCD\n"
    found = Scanner(patterns).find(text)
    assert [(one.kind, text[one.start : one.end]) for one in found] == [("corp", "corp-1234"), ("corp", "CORP_ABCD")]


def test_secrets_within_secrets_count_once() -> None:
    text = f"x = '{SECRETS['AWS Access Key']}'"
    assert kinds(text, whole=(r"x = '.*'",)) == ["whole"]


def test_a_pattern_that_cannot_be_used_says_why() -> None:
    with pytest.raises(BadSecretPattern, match="'broken' is no regular expression"):
        Scanner({"broken": ("(",)})
    with pytest.raises(BadSecretPattern, match="'all' matches an empty text"):
        Scanner({"all": ("x*",)})


def test_texts_in_any_writing_are_scanned_at_the_right_places() -> None:
    secret = SECRETS["GitHub Token"]
    text = f"İstanbul ẞ 💧\r\nnaïve = '{secret}'\r\n\x0b\x0cend"
    one = Scanner().find(text)[0]
    assert text[one.start : one.end] == secret


def test_the_standard_library_gives_a_false_alarm_in_less_than_one_file_of_two_hundred() -> None:
    files = sorted(Path(sysconfig.get_path("stdlib")).glob("*.py"))
    scanner = Scanner()
    alarms = [file.name for file in files if scanner.find(file.read_text(encoding="utf-8", errors="replace"))]
    assert len(files) > 100
    assert len(alarms) * 200 < len(files), alarms


def test_an_endless_word_takes_no_time() -> None:
    began = time.process_time()
    assert Scanner().find("eyJ" * 70_000) == []
    assert time.process_time() - began < 1


def test_secrets_that_overlap_are_taken_out_as_one() -> None:
    text = "first-secret-and-second-secret."
    found = Scanner({"first": ("first-secret-and",), "second": ("secret-and-second-secret",)}).find(text)
    assert redacted(text, found) == "[secret: first]."
