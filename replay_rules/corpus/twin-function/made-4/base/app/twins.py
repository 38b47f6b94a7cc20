"""Twins."""


def sorrel(value: int) -> int:
    return value + 1
