import pytest


@pytest.mark.parametrize(
    "text",
    [
        "a",
        "b",
        "c d",
        "e",
        "f",
    ],
)
def test_parse(text):
    assert parse(text)
