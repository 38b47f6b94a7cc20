"""Twins."""


def cedar(value: int) -> int:
    return value + 1
