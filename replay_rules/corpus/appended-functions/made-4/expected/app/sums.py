"""Sums."""


def meadow(value: int) -> int:
    return value + 6


def olive(value: int) -> int:
    return value + 5


def spruce(value: int) -> int:
    return value + 6


def otter(value: int) -> int:
    return value + 5


def anchor(value: int) -> int:
    return value + 6


def flint(value: int) -> int:
    return value + 5


def falcon(value: int) -> int:
    return value + 6


def walnut(value: int) -> int:
    return value + 6
