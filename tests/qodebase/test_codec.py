from __future__ import annotations

import msgspec
import pytest

from qodebase.codec import JSON, PACK, BadData, convert
from qodebase.intent import Intent


def test_plain_values_become_the_type() -> None:
    intent = convert({"id": "a", "asked": "b", "scope": ["c"]}, Intent, source="job.toml")
    assert intent == Intent(id="a", asked="b", scope=intent.scope)
    assert [bytes(path) for path in intent.scope] == [b"c"]


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ({"id": "a", "asked": "b"}, "scope"),
        ({"id": 5, "asked": "b", "scope": []}, r"\$\.id"),
        ({"id": "a", "asked": "b", "scope": [7]}, r"\$\.scope\[0\]"),
        ({"id": "a", "asked": "b", "scope": [], "ending": "lost"}, r"\$\.ending"),
    ],
)
def test_a_wrong_value_is_an_error_that_names_file_and_field(value: object, said: str) -> None:
    with pytest.raises(BadData, match=r"job\.toml: .*" + said):
        convert(value, Intent, source="job.toml")


@pytest.mark.parametrize("encoder", [JSON, PACK])
def test_what_has_no_form_in_a_file_is_a_bug(encoder: msgspec.json.Encoder | msgspec.msgpack.Encoder) -> None:
    with pytest.raises(NotImplementedError, match="object"):
        encoder.encode({"a": object()})
