"""Doubled keys of texts that are read line by line."""

from __future__ import annotations

import pytest

from replay_rules.data_keys import reader_of


def doubled(path: str, content: bytes) -> set[bytes]:
    reader = reader_of(path.encode())
    assert reader is not None
    read = reader(content)
    assert not read.faults
    return set(read.doubled)


@pytest.mark.parametrize(
    ("path", "content", "found"),
    [
        ("a/app.properties", b"# a = 0\na = 1\r\n! a = 2\nb: a = 1\n a=3\n", {b"a"}),
        ("app.properties", b"a = 1, \\\n  b = 2\nb = 3\n", set()),
        ("app.properties", b"a = c:\\\\\nb = 1\nb = 2\n", {b"b"}),
        (".env", b"export A=1\n# B=1\nB=2\nA=3\n", {b"A"}),
        (".env.test", b"A=1\nA =2\n", {b"A"}),
        ("prod.env", b"A=B=1\nB=2\n", set()),
        ("en.lproj/Main.strings", b'"a \\" = b" = "x";\n"a" = "y";\n"a" = "z";\n', {b'"a"'}),
        ("run.sh", b"a() {\n  b () {\n  :; }\n}\nfunction b() {\n:\n}\na () {\n:\n}\n", {b"a"}),
    ],
)
def test_keys_that_stand_twice_are_found(path: str, content: bytes, found: set[bytes]) -> None:
    assert doubled(path, content) == found


def test_a_makefile_has_one_recipe_a_target_and_one_value_a_variable() -> None:
    assert doubled("Makefile", b"all: a\nall: b\na b:\n\tx\nb: c\n\ty\n.PHONY: a\n.PHONY: b\n") == {b"b"}
    assert doubled("rules.mk", b"A = 1\nA += 2\nA ?= 3\nB := 1\nC: A = 2\nA ::= 4\n\tD = 1\nD = 2\n") == {b"A"}
    assert doubled("Makefile", b"A = \\\n  B = 1\nifdef X\nB = 2\nelse\nB = 3\nendif\nB = 4\n") == set()
    assert doubled("GNUmakefile", b"$(A): x\n\ty\n$(A): z\n\ty\n%.o: %.c\n\tx\n%.o: %.d\n\ty\n") == set()


def test_a_message_has_one_field_a_name_and_a_number() -> None:
    fields = b"message A {\n  string a = 1; // b = 2;\n  oneof c { int32 d = 2; }\n%s\n}\nmessage B { int32 a = 1; }\n"
    assert doubled("a.proto", fields % b"  int64 e = 3;") == set()
    assert doubled("a.proto", fields % b"  int64 e = 2 [deprecated = true];") == {b"2"}
    assert doubled("a.proto", fields % b"  repeated int64 d = 0x3;") == {b"d"}
    assert doubled("a.proto", fields % b"  message C { string a = 1; }\n  option (x) = 1;\n  option (y) = 1;") == set()


def test_no_bytes_make_it_raise() -> None:
    for path in (b"a.properties", b".env", b"a.strings", b"Makefile", b"a.sh", b"a.proto"):
        reader = reader_of(path)
        assert reader is not None
        for content in (b"", b"\xff\xfe\x00", b"}}}\n{{{", b"endif\nendif\na = 1", b"\\\n" * 9, b"\0" * 100 + b" = 1;"):
            reader(content)
