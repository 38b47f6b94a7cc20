"""Kinds of tasks around a function: its table, new functions beside it, the name of its helper."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from fleet.jobs.tasks.codebase import path_of
from fleet.jobs.tasks.maker import SEEN, UNSEEN, Maker, equals
from fleet.jobs.tasks.shapes import PLAIN, Helper
from fleet.jobs.tasks.task import Task


def rows(maker: Maker) -> Task:
    """Add two rows to the table."""
    worker = maker.worker
    keys = (f"{maker.key}a", f"{maker.key}b")
    values = (maker.rng.randint(100, 999), maker.rng.randint(100, 999))

    def words(*pairs: tuple[str, int]) -> dict[str, str]:
        return {"rows": "\n".join(worker.row(key, value) for key, value in pairs)}

    def asserts(number: int, amounts: Iterable[int]) -> list[str]:
        added = values[number] - worker.otherwise
        return [
            equals(f'{maker.called}("{keys[number]}", {one})', maker.ground.plus(worker, added, PLAIN, one))
            for one in amounts
        ]

    first, second = zip(keys, values, strict=True)
    where = "in their place, since it is sorted" if worker.in_list else "at its end"
    return maker.task(
        "rows",
        f'Add two rows to the table `{worker.table_name}`, {where}: {values[0]} for "{keys[0]}" and {values[1]} for '
        f'"{keys[1]}".',
        answers=(words(first, second), words((keys[0], values[0] + 1), second), words(first)),
        asserts=(asserts(0, SEEN), [*asserts(0, UNSEEN), *asserts(1, UNSEEN)]),
        names=(worker.table_name,),
        targets=(f"{maker.path.text}#{worker.name}", f"{maker.path.text}#{worker.table_name}"),
    )


def function(maker: Maker) -> Task:
    """Add a function beside the worker."""
    worker = maker.worker
    name = f"{maker.key}_{worker.name}"
    factor, plus = maker.rng.randint(2, 9), maker.rng.randint(100, 999)
    says = f"Return the {worker.name.replace('_', ' ')} in its {maker.key} form."

    def words(ending: str) -> dict[str, str]:
        body = f'    """{says}"""\n    step = amount * {factor}\n    return {ending}\n'
        return {"function": f"def {name}(amount):\n{body}"}

    def asserts(amounts: Iterable[int]) -> list[str]:
        called = f"{worker.module}.{name}"
        return [
            *(equals(f"{called}({one})", one * factor + plus) for one in amounts),
            f"assert {called}.__doc__ == {says!r}",
        ]

    return maker.task(
        "function",
        f"Add a function `{name}(amount)` right behind `{worker.name}`. It returns amount times {factor}, plus {plus}; "
        f'its docstring is "{says}"',
        answers=(
            words(f"step + {plus}"),
            words(f"step + {plus + 1}"),
            words(f"step + {plus} if amount < 50 else step"),
        ),
        asserts=(asserts(SEEN), asserts(UNSEEN)),
        operation="after",
        targets=(f"{maker.path.text}#{worker.name}", f"{maker.path.text}#{name}"),
    )


def caller(maker: Maker) -> Task:
    """Add a function beside the worker that calls its helper, whatever that is called by then."""
    worker = maker.worker
    helper = f"{worker.module}.{worker.helper}"
    name = f"{maker.key}_of_{worker.name}"
    factor, plus = maker.rng.randint(2, 9), maker.rng.randint(100, 999)
    says = f"Return what {worker.name.replace('_', ' ')} is made of, {maker.key}."

    def words(ending: str) -> dict[str, str]:
        body = f'    """{says}"""\n    return {ending}\n'
        return {
            "function": f"def {name}(amount):\n{body}",
            "calls": " ".join(filter(None, (worker.helper, maker.ground.renamed.get(helper)))),
        }

    def asserts(amounts: Iterable[int]) -> list[str]:
        called = f"{worker.module}.{name}"
        values = {one: getattr(maker.ground.code.module(worker.module), worker.helper)(one) for one in amounts}
        return [
            *(equals(f"{called}({one})", value * factor + plus) for one, value in values.items()),
            f"assert {called}.__doc__ == {says!r}",
        ]

    return maker.task(
        "caller",
        f"Add a function `{name}(amount)` right behind `{worker.name}`. It returns what `{worker.helper}` (it may have "
        f"got another name) gives for the amount, times {factor}, plus {plus}; its docstring is "
        f'"{says}"',
        answers=(
            words(f"{{called}}(amount) * {factor} + {plus}"),
            words(f"{{called}}(amount) * {factor} + {plus + 1}"),
            words(f"{{called}}(amount) * {factor} + ({plus} if amount < 50 else 0)"),
        ),
        asserts=(asserts(SEEN), asserts(UNSEEN)),
        operation="after",
        targets=(f"{maker.path.text}#{worker.name}", f"{maker.path.text}#{name}"),
    )


def rename(maker: Maker, helper: Helper, new: str) -> Task:
    """Return the task that renames a helper, with all its callers; the maker's worker calls it."""
    full = f"{helper.module}.{helper.name}"
    callers = maker.ground.callers.get(full, ())
    modules = dict.fromkeys((helper.module, *(caller.module for caller in callers)))
    function = getattr(maker.ground.code.module(helper.module), helper.name)

    def asserts(amounts: Iterable[int]) -> list[str]:
        return [equals(f"{helper.module}.{new}({one})", function(one)) for one in amounts]

    probes = [
        equals(f'{caller.module}.{caller.name}("{PLAIN}", 9)', maker.ground.shown(caller, PLAIN, 9))
        for caller in callers
    ]
    path = path_of(helper.module)
    paths = tuple(path_of(module) for module in modules)
    aimed = [f"{path_of(caller.module).text}#{caller.name}" for caller in (maker.worker, *callers)]
    return maker.task(
        "rename",
        f"Rename the function `{helper.name}` of {path.text} to `{new}`, with all its callers in "
        f"{', '.join(one.text for one in paths)}. Leave nothing under the old name.",
        answers=({"new": new}, {"new": f"{new}_"}, {"alias": f"{helper.name} = {new}"}),
        asserts=(asserts(SEEN), [*asserts(UNSEEN), f'assert not hasattr({helper.module}, "{helper.name}")', *probes]),
        names=(helper.name,),
        targets=tuple(dict.fromkeys((*aimed, f"{path.text}#{helper.name}"))),
        paths=paths,
        path=path,
        modules=modules,
    )


MAKERS: Mapping[str, Callable[[Maker], Task]] = {"rows": rows, "function": function, "caller": caller}
