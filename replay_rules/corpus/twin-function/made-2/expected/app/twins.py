"""Twins."""


def cedar(value: int) -> int:
    return value + 1


def meadow(value: int) -> int:
    return value + 7


def cobalt(value: int) -> int:
    return value + 2


def onyx(value: int) -> int:
    return value + 3
