"""Kinds of tasks that change what is inside of a function."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from fleet.jobs.tasks.codebase import linear
from fleet.jobs.tasks.ground import part_name
from fleet.jobs.tasks.maker import SEEN, UNSEEN, Maker, equals
from fleet.jobs.tasks.shapes import PLAIN
from fleet.jobs.tasks.task import Task


def clause(maker: Maker) -> Task:
    """Add a clause for a kind of its own."""
    worker, key = maker.worker, maker.key
    kind, amount = worker.words.kind, worker.words.amount
    result = linear(maker.rng, amount)
    word = "elif" if worker.chained else "if"

    def lines(expression: str) -> dict[str, str]:
        return {"lines": f'{word} {kind} == "{key}":\n    return {worker.result(expression)}'}

    def asserts(amounts: Iterable[int]) -> list[str]:
        return [equals(f'{maker.called}("{key}", {one})', maker.expected(result, one)) for one in amounts]

    return maker.task(
        "clause",
        f"In `{worker.name}`, add a clause behind the last one that compares {kind} with a text: where {kind} is "
        f'"{key}", return `{worker.result(result)}`.',
        answers=(lines(result), lines(f"{result} + 1"), lines(f"{result} if {amount} < 50 else {amount}")),
        asserts=(asserts(SEEN), asserts(UNSEEN)),
    )


def guard(maker: Maker) -> Task:
    """Add a guard for a band of amounts of its own; its place among other guards is a matter of text only."""
    worker = maker.worker
    amount = worker.words.amount
    low = 2000 + 20 * maker.number
    value = maker.rng.randint(10, 99)

    def lines(high: int, result: int = value) -> dict[str, str]:
        return {"lines": f"if {low} <= {amount} < {high}:\n    return {worker.result(f'-{result}')}"}

    expected = maker.expected(f"-{value}", 0)

    def asserts(amounts: Iterable[int]) -> list[str]:
        return [equals(f'{maker.called}("{PLAIN}", {one})', expected) for one in amounts]

    beside = [
        equals(f'{maker.called}("{PLAIN}", {one})', maker.ground.shown(worker, PLAIN, one))
        for one in (low - 1, low + 10)
    ]
    return maker.task(
        "guard",
        f"In `{worker.name}`, add a guard behind the guards at its top: where {amount} is at least {low} and below "
        f"{low + 10}, return `{worker.result(f'-{value}')}`, whatever the rest would do.",
        answers=(lines(low + 10), lines(low + 10, value + 1), lines(low + 5)),
        asserts=(asserts((low + 1, low + 3)), [*asserts((low, low + 4, low + 9)), *beside]),
    )


def result(maker: Maker) -> Task:
    """Change what a clause of the base returns."""
    worker = maker.worker
    clause = worker.clauses[maker.turn % len(worker.clauses)]
    result = linear(maker.rng, worker.words.amount)
    while result == clause.result:
        result = linear(maker.rng, worker.words.amount)

    def words(expression: str) -> dict[str, str]:
        return {"key": clause.key, "result": worker.result(expression)}

    def asserts(amounts: Iterable[int]) -> list[str]:
        return [equals(f'{maker.called}("{clause.key}", {one})', maker.expected(result, one)) for one in amounts]

    return maker.task(
        "result",
        f'In `{worker.name}`, change what is returned where {worker.words.kind} is "{clause.key}": it becomes '
        f"`{worker.result(result)}`. What it was is no longer wanted.",
        answers=(
            words(result),
            words(f"{result} + 1"),
            words(f"{result} if {worker.words.amount} < 50 else {clause.result}"),
        ),
        asserts=(asserts(SEEN), asserts(UNSEEN)),
        retires=(part_name(worker, clause.key),),
    )


def tail(maker: Maker) -> Task:
    """Extend the last line for a kind of its own."""
    worker, key = maker.worker, maker.key
    value = maker.rng.randint(100, 999)

    def words(added: int, condition: str = "") -> dict[str, str]:
        return {"tail": f' + ({added} if {worker.words.kind} == "{key}"{condition} else 0)'}

    def asserts(amounts: Iterable[int]) -> list[str]:
        return [
            equals(f'{maker.called}("{key}", {one})', maker.ground.plus(worker, value, PLAIN, one)) for one in amounts
        ]

    return maker.task(
        "tail",
        f'In `{worker.name}`, add {value} to the result of the last return where {worker.words.kind} is "{key}", on '
        "that same line.",
        answers=(words(value), words(value + 1), words(value, f" and {worker.words.amount} < 50")),
        asserts=(asserts(SEEN), asserts(UNSEEN)),
    )


def parameter(maker: Maker) -> Task:
    """Add a parameter that adds to the total."""
    worker = maker.worker
    name = maker.key
    factor = maker.rng.randint(2, 99)

    def words(added: str) -> dict[str, str]:
        return {"name": name, "added": added}

    def asserts(values: Iterable[int]) -> list[str]:
        return [
            equals(
                f'{maker.called}("{PLAIN}", 9, {name}={value})',
                maker.ground.plus(worker, factor * value, PLAIN, 9),
            )
            for value in values
        ]

    return maker.task(
        "parameter",
        f"Give `{worker.name}` one more parameter at the end, `{name}`, 0 by default. Just before its last two "
        f"statements, add `{name} * {factor}` to what it returns at its end.",
        answers=(
            words(f"{name} * {factor}"),
            words(f"{name} * {factor + 1}"),
            words(f"({name} * {factor} if {name} < 5 else 0)"),
        ),
        asserts=(asserts((2, 3)), asserts((1, 4, 9))),
    )


def loop(maker: Maker) -> Task:
    """Let the loop go one number further."""
    worker = maker.worker
    count = worker.words.count

    def asserts(counts: Iterable[int]) -> list[str]:
        return [
            equals(f'{maker.called}("{PLAIN}", 9, {one})', maker.ground.shown(worker, PLAIN, 9, one + 1))
            for one in counts
        ]

    return maker.task(
        "loop",
        f"The loop of `{worker.name}` leaves out the last number: it must go from 1 to {count}, {count} among them.",
        answers=({"stop": f"{count} + 1"}, {"stop": f"{count} + 2"}, {"stop": f"{count} + ({count} < 5)"}),
        asserts=(asserts((2, 3)), asserts((1, 4, 7))),
        retires=(part_name(worker, "loop"),),
    )


def local(maker: Maker) -> Task:
    """Rename a local."""
    worker = maker.worker
    old = [name for name in (worker.spare, worker.number if worker.step else "") if name][maker.turn]
    new = f"{old}_{maker.key}"
    names = f"{maker.called}.__code__.co_varnames"
    probe = equals(f'{maker.called}("{PLAIN}", 9, 0)', maker.ground.shown(worker, PLAIN, 9))
    return maker.task(
        "local",
        f"In `{worker.name}`, rename the local `{old}` to `{new}`, everywhere.",
        answers=({"old": old, "new": new}, {"new": f"{new}_"}, {"kept": old}),
        asserts=(
            [f'assert "{new}" in {names}'],
            [f'assert "{new}" in {names}', f'assert "{old}" not in {names}', probe],
        ),
    )


MAKERS: Mapping[str, Callable[[Maker], Task]] = {
    "clause": clause,
    "guard": guard,
    "result": result,
    "tail": tail,
    "parameter": parameter,
    "loop": loop,
    "local": local,
}
