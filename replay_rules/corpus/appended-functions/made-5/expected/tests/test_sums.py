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


def test_cypress_adds_its_length():
    assert sums.cypress(1) == 1 + 7


def test_onyx_adds_its_length():
    assert sums.onyx(1) == 1 + 4


def test_otter_adds_its_length():
    assert sums.otter(1) == 1 + 5
