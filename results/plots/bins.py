"""Seconds gathered into at most so many steps of a round width, so that a plot stays readable and small."""

from __future__ import annotations

_ROUND = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600)


def step_of(seconds: int, *, most: int) -> int:
    """Return the smallest round step, in seconds, that cuts ``seconds`` into at most ``most``.

    >>> [step_of(seconds, most=100) for seconds in (40, 150, 5_000, 1_000_000)]
    [1, 2, 60, 10800]
    """
    for step in _ROUND:
        if seconds <= step * most:
            return step
    hours = -(-seconds // (3600 * most))
    return hours * 3600
