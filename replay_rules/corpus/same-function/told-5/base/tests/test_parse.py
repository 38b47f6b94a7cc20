import pytest


@pytest.mark.parametrize(
    "text",
    [
        "a",
        "b",
    ],
)
def test_parse(text):
    assert parse(text)
