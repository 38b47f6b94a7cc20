"""Twins."""


def sorrel(value: int) -> int:
    return value + 1


def beacon(value: int) -> int:
    return value + 7


def zephyr(value: int) -> int:
    return value + 2


def canyon(value: int) -> int:
    return value + 3
