from app import sums


def test_quill_adds_its_length():
    assert sums.quill(1) == 1 + 5


def test_heron_adds_its_length():
    assert sums.heron(1) == 1 + 5


def test_pepper_adds_its_length():
    assert sums.pepper(1) == 1 + 6


def test_larch_adds_its_length():
    assert sums.larch(1) == 1 + 5


def test_indigo_adds_its_length():
    assert sums.indigo(1) == 1 + 6


def test_pine_adds_its_length():
    assert sums.pine(1) == 1 + 4


def test_mistral_adds_its_length():
    assert sums.mistral(1) == 1 + 7


def test_sierra_adds_its_length():
    assert sums.sierra(1) == 1 + 6


def test_ember_adds_its_length():
    assert sums.ember(1) == 1 + 5
