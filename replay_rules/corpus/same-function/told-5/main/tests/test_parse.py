import pytest


@pytest.mark.parametrize(
    "text",
    [
        "a",
        "b",
        "c d",
    ],
)
def test_parse(text):
    assert parse(text)
