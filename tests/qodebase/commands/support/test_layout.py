from __future__ import annotations

import time

import pytest

from qodebase.commands.support.layout import columns, harmless, moment, money, on_one_line, shortened, some


def test_columns_line_up_and_short_rows_end_early() -> None:
    rows = [("intents", "12"), ("  landed", "9", "and so on"), ("x",)]
    assert columns(rows, right=(1,), indent=1) == [" intents   12", "   landed   9  and so on", " x"]
    assert columns([]) == []


def test_text_of_others_cannot_steer_a_terminal() -> None:
    assert harmless("a\tb\n\x1b[2J\x9b1m\rä") == "a\tb\n\\x1b[2J\\x9b1m\\x0dä"


def test_long_texts_and_lists_say_how_much_is_left_out() -> None:
    assert shortened("a\nb\nc", most=2) == "a\nb\n[1 more lines]"
    assert shortened("a\nb", most=2) == "a\nb"
    assert some(["a", "b", "c"], most=2) == "a, b and 1 more"
    assert some(["a", "b"], most=2) == "a, b"
    assert on_one_line(" a\n\n  b\tc ", most=5) == "a b c"
    assert on_one_line("a\nb c d", most=4, rest=" and more") == "a b and more"


def test_simulated_moments_count_from_the_start_and_real_ones_are_local_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "UTC-2")
    time.tzset()
    assert moment(1012.5, started_at=1000.0, simulated=True) == "+12.50s"
    assert moment(0.0, started_at=0.0, simulated=False) == ""
    assert moment(86400.0, started_at=0.0, simulated=False) == "1970-01-02 02:00:00"
    monkeypatch.undo()
    time.tzset()


@pytest.mark.parametrize(("usd", "text"), [(0.0, "$0.00"), (0.00126, "$0.0013"), (1234.5, "$1,234.50")])
def test_money_shows_small_amounts_too(usd: float, text: str) -> None:
    assert money(usd) == text
