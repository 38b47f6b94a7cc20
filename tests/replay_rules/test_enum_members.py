"""Members that both sides appended to an enumeration."""

from __future__ import annotations

import pytest

from replay_rules.enum_members import rule
from tests.support.three_ways import content, inserted, three, why

AUTO = b"class E(Enum):\n    A = auto()\n"
WRITTEN = b'class E(StrEnum):\n    """Words."""\n\n    A = "a"\n'
SCRIPT = b"export enum E {\n  A,\n  B\n}\n"


def test_counted_members_are_appended() -> None:
    got = content(rule(inserted(AUTO, b"", b"    B = auto()\n", b"    C = auto()\n")))
    assert got == AUTO + b"    B = auto()\n    C = auto()\n"


def test_written_members_are_appended_and_inserted() -> None:
    got = content(rule(inserted(WRITTEN, b"    A", b'    B = "b"\n', b'    C = "c"  # sea\n')))
    assert got == WRITTEN.replace(b"    A", b'    B = "b"\n    C = "c"  # sea\n    A')


def test_members_of_typescript_get_their_commas() -> None:
    versions = [SCRIPT.replace(b"B\n", b"B,\n  %s\n" % name) for name in (b"C", b"D")]
    assert content(rule(three(SCRIPT, versions[0], versions[1], b"e.ts"))) == SCRIPT.replace(b"B\n", b"B,\n  C,\n  D\n")


@pytest.mark.parametrize(
    ("base", "before", "main", "change"),
    [
        (AUTO, b"    A", b"    B = auto()\n", b"    C = auto()\n"),
        (WRITTEN, b"", b'    B = "b"\n', b'    C = "b"\n'),
        (WRITTEN, b"", b'    B = "b"\n', b'    B = "c"\n'),
        (WRITTEN, b"", b'    B = "b"\n', b"    C = auto()\n"),
        (WRITTEN, b"", b'    B = "a"\n', b'    C = "c"\n'),
        (WRITTEN, b"", b'    B = "b"\n', b"    C = f()\n"),
        (WRITTEN, b"", b'    B = "b"\n', b"    def c(self):\n        return 1\n"),
    ],
)
def test_members_whose_values_may_move_or_meet_are_declined(
    base: bytes, before: bytes, main: bytes, change: bytes
) -> None:
    assert why(rule(inserted(base, before, main, change)))


def test_old_ordinals_stay() -> None:
    base = b"from enum import Enum, auto\n\n\n" + AUTO
    for first in (b"B", b"C", b"D"):
        got = content(rule(inserted(base, b"", b"    %s = auto()\n" % first, b"    Z = auto()\n    Y = auto()\n")))
        spaces: dict[str, object] = {}
        exec(got, spaces)
        members = {member.name: member.value for member in spaces["E"]}  # type: ignore[attr-defined]
        assert members == {"A": 1, first.decode(): 2, "Z": 3, "Y": 4}
