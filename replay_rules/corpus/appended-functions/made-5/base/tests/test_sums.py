from app import sums


def test_iris_adds_its_length():
    assert sums.iris(1) == 1 + 4


def test_reef_adds_its_length():
    assert sums.reef(1) == 1 + 4


def test_copper_adds_its_length():
    assert sums.copper(1) == 1 + 6


def test_meadow_adds_its_length():
    assert sums.meadow(1) == 1 + 6


def test_linen_adds_its_length():
    assert sums.linen(1) == 1 + 5


def test_walnut_adds_its_length():
    assert sums.walnut(1) == 1 + 6
