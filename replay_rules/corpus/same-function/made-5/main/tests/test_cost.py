import pytest


@pytest.mark.parametrize(
    ("name", "cost"),
    [
        ("pebble", 6),
        ("delta", 5),
        ("topaz", 5),
        ("reef", 4),
        ("opal", 4),
        ("ochre", 5),
        ("river", 5),
    ],
)
def test_cost(name, cost):
    assert len(name) == cost
