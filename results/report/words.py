"""Figures as people read them."""

from __future__ import annotations

from datetime import UTC, datetime

NONE = "–"


def count(value: float | None) -> str:
    """Return a whole number with its thousands apart.

    >>> count(1234567), count(None)
    ('1,234,567', '–')
    """
    return NONE if value is None else f"{value:,.0f}"


def figure(value: float | None) -> str:
    """Return a number with about three digits that matter.

    >>> [figure(value) for value in (0, 3.0, 0.01234, 4.567, 47.51, 1234.5, None)]
    ['0', '3', '0.0123', '4.57', '47.5', '1,234', '–']
    """
    if value is None:
        return NONE
    if value == int(value) or abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.3g}"


def share(value: float | None) -> str:
    """Return a share in percent.

    >>> share(0.9711), share(0.0004)
    ('97.1%', '0.04%')
    """
    if value is None:
        return NONE
    return f"{100 * value:.1f}%" if value == 0 or abs(value) >= 0.001 else f"{100 * value:.2g}%"


def seconds(value: float | None) -> str:
    """Return a duration.

    >>> [seconds(value) for value in (0.0421, 4.24, 75, 4000, None)]
    ['42 ms', '4.24 s', '1 min 15 s', '1 h 6 min', '–']
    """
    if value is None:
        return NONE
    if value < 1:
        return f"{1000 * value:.0f} ms"
    if value < 60:
        return f"{figure(value)} s"
    minutes, rest = divmod(round(value), 60)
    return f"{minutes} min {rest} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"


def money(usd: float | None) -> str:
    """Return an amount of USD.

    >>> [money(value) for value in (0.0, 12.3, 0.00012, None)]
    ['$0.00', '$12.30', '$0.00012', '–']
    """
    if usd is None:
        return NONE
    return f"${usd:,.2f}" if usd == 0 or usd >= 1 else f"${usd:.2g}"


def valued(value: float | None, unit: str) -> str:
    """Return a metric's value in its unit."""
    match unit:
        case "1":
            return share(value)
        case "s":
            return seconds(value)
        case "USD":
            return money(value)
        case _:
            return figure(value)


def signed(value: float, unit: str) -> str:
    """Return a difference of two values of a metric; of shares, in points of percent.

    >>> signed(-0.0188, "1"), signed(3357.2, "tokens"), signed(0.0, "s")
    ('-1.88', '+3,357', '+0')
    """
    value = 100 * value if unit == "1" else value
    return f"{'-' if value < 0 else '+'}{figure(abs(value))}"


def readable(text: str) -> str:
    """Return a text that UTF-8 can hold: bytes of a file's name that are no text are told by their numbers."""
    return text.encode(errors="backslashreplace").decode()


def day(at: float) -> str:
    """Return a moment, in UTC."""
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M UTC")
