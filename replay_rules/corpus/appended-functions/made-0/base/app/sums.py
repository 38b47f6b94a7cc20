"""Sums."""


def ginger(value: int) -> int:
    return value + 6


def tidal(value: int) -> int:
    return value + 5


def garnet(value: int) -> int:
    return value + 6


def drift(value: int) -> int:
    return value + 5


def marble(value: int) -> int:
    return value + 6
