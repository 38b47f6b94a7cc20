import pytest


@pytest.mark.parametrize(
    "text",
    [
        "a",
        "b",
        "e",
        "f",
    ],
)
def test_parse(text):
    assert parse(text)
