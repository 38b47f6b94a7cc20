from __future__ import annotations

import threading
from pathlib import Path

from qodebase.orders import Order, Orders, What, new_id


def order(what: What = What.PAUSE, **fields: object) -> Order:
    return Order(id=new_id(), what=what, **fields)  # type: ignore[arg-type]


def test_orders_come_back_whole_in_the_order_of_their_coming_until_they_are_removed(tmp_path: Path) -> None:
    given = [
        order(to="process 1 on here"),
        order(What.CANCEL, intents=("a", "é"), reason="why not"),
        order(What.CANCEL, everything=True),
        order(What.RESUME),
    ]
    for one in given:
        Orders(tmp_path).give(one)
    assert [found.order for found in Orders(tmp_path).waiting()] == given
    next(Orders(tmp_path).waiting()).remove()
    assert [found.order for found in Orders(tmp_path).waiting()] == given[1:]


def test_a_run_without_orders_has_none_waiting_and_makes_no_folder(tmp_path: Path) -> None:
    assert list(Orders(tmp_path).waiting()) == []
    assert list(tmp_path.iterdir()) == []


def test_only_the_owner_can_read_or_write_orders(tmp_path: Path) -> None:
    given = Orders(tmp_path).give(order())
    assert given.path.stat().st_mode & 0o777 == 0o600
    assert given.path.parent.stat().st_mode & 0o777 == 0o700
    assert [path.name for path in given.path.parent.iterdir()] == [given.path.name]


def test_an_order_that_was_removed_by_both_sides_is_no_fault(tmp_path: Path) -> None:
    given = Orders(tmp_path).give(order())
    given.remove()
    given.remove()
    assert list(Orders(tmp_path).waiting()) == []


def test_a_file_that_holds_no_order_is_put_aside_and_hides_no_other(tmp_path: Path) -> None:
    orders = Orders(tmp_path)
    first = orders.give(order())
    first.path.write_bytes(b'{"id": 5')
    second = orders.give(order(What.RESUME))
    half = second.path.with_name("half.part")
    half.write_bytes(b"{")
    assert [found.order for found in orders.waiting()] == [second.order]
    assert [found.order for found in orders.waiting()] == [second.order]
    assert first.path.with_suffix(".unreadable").exists()


def test_orders_of_many_senders_at_once_are_all_kept(tmp_path: Path) -> None:
    given = [order() for _ in range(40)]

    def send(part: list[Order]) -> None:
        for one in part:
            Orders(tmp_path).give(one)

    (tmp_path / "orders").mkdir()
    senders = [threading.Thread(target=send, args=(given[at::4],)) for at in range(4)]
    for sender in senders:
        sender.start()
    for sender in senders:
        sender.join()
    assert {found.order.id for found in Orders(tmp_path).waiting()} == {one.id for one in given}
