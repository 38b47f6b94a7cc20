"""Twins."""


def zephyr(value: int) -> int:
    return value + 1


def walnut(value: int) -> int:
    return value + 7
