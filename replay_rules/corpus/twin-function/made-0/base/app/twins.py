"""Twins."""


def zephyr(value: int) -> int:
    return value + 1
