import pytest


@pytest.mark.parametrize(
    ("name", "cost"),
    [
        ("north", 5),
        ("thistle", 7),
        ("olive", 5),
        ("cedar", 5),
    ],
)
def test_cost(name, cost):
    assert len(name) == cost
