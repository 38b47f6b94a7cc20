"""The generated codebase: a package ``shop`` of 24 modules of about 60 functions, four to an area of the business.

Four base modules are imported by the others; in an area, three modules import the fourth. So what a module imports,
all in all, are at most five modules, itself among them.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

from fleet.jobs.tasks.shapes import Clause, Helper, Words, Worker
from qodebase.paths import RepoPath

PACKAGE = "shop"
BASES = ("units", "dates", "texts", "money")
AREAS = (
    ("orders", "carts", "invoices", "refunds"),
    ("stock", "suppliers", "picking", "packing"),
    ("routes", "parcels", "couriers", "depots"),
    ("accounts", "members", "loyalty", "messages"),
    ("prices", "taxes", "coupons", "reports"),
)
FUNCTIONS = 60
FULL = 12
"""Functions of a module with every block; each has a helper of its own, so that many tasks fit one of them."""

_WORDS = (
    Words(kind="kind", amount="amount", count="count"),
    Words(kind="sort", amount="cents", count="days"),
    Words(kind="code", amount="grams", count="steps"),
    Words(kind="channel", amount="value", count="weeks"),
)
_FIRST = ("late", "early", "bulk", "rush", "gift", "spare", "night", "local", "export", "member", "partial", "annual")
_SECOND = ("fee", "rate", "bonus", "limit", "score", "share", "credit", "weight", "margin", "quota")
_HELPERS = ("round", "scale", "clip", "shift", "fold", "trim", "blend", "lift")
_KINDS = ("north", "south", "east", "west", "inner", "outer", "upper", "lower", "front", "rear")
_ROWS = ("amber", "birch", "cedar", "daisy", "elder", "fern", "grape", "hazel")
_LOCALS = ("spare", "rest", "margin", "extra")
_BLOCKS = ("guard", "spare", "clauses", "table", "loop")
_NUMBERS = ("number", "turn", "place")


@dataclass(frozen=True, slots=True, kw_only=True)
class Module:
    """One module: what it imports, and its functions in their order."""

    name: str
    imports: tuple[str, ...]
    functions: tuple[Worker | Helper, ...]

    @property
    def path(self) -> RepoPath:
        """Return where it lies."""
        return path_of(self.name)

    def source(self) -> str:
        """Return its text."""
        head = f'"""What the shop knows about {self.name}."""\n\nfrom __future__ import annotations\n'
        if self.imports:
            head += f"\nfrom {PACKAGE} import {', '.join(sorted(self.imports))}\n"
        return head + "".join(f"\n\n{function.source()}" for function in self.functions)


def path_of(module: str) -> RepoPath:
    """Return the path of a module of the codebase."""
    return RepoPath(f"{PACKAGE}/{module}.py".encode())


def make_modules(rng: random.Random) -> tuple[Module, ...]:
    """Make the modules, those that are imported before those that import them."""
    made: dict[str, Module] = {}
    for name in BASES:
        made[name] = _module(rng, name, ("units",) if name == "money" else (), made, full=0)
    for area in AREAS:
        bases = rng.sample(BASES, 2)
        first = area[0]
        made[first] = _module(rng, first, tuple(bases), made, full=FULL)
        for name in area[1:]:
            made[name] = _module(rng, name, (first, rng.choice(bases)), made, full=FULL)
    return tuple(made.values())


def _module(rng: random.Random, name: str, imports: tuple[str, ...], made: dict[str, Module], *, full: int) -> Module:
    names = [f"{first}_{second}" for first in _FIRST for second in _SECOND]
    rng.shuffle(names)
    own = full if full else FUNCTIONS // 3
    helpers = [_helper(rng, name, names.pop()) for _ in range(own)]
    words = rng.choice(_WORDS)
    abroad = [f"{one}.{helper.name}" for one in imports for helper in made[one].functions if isinstance(helper, Helper)]
    workers = [_full(rng, name, names.pop(), words, helper.name, abroad) for helper in helpers[:full]]
    while len(workers) + len(helpers) < FUNCTIONS:
        workers.append(_light(rng, name, names.pop(), words, rng.choice(helpers).name, abroad))
    rng.shuffle(workers)
    return Module(name=name, imports=imports, functions=(*helpers, *workers))


def _helper(rng: random.Random, module: str, ending: str) -> Helper:
    name = f"{rng.choice(_HELPERS)}_{ending}"
    first, second, third = (rng.randint(2, 9) for _ in range(3))
    lines = rng.choice(
        (
            (f"return amount // {first} * {second} + {third}",),
            (f"step = amount % {first + 2}", f"return step * {second} + {third}"),
            (f"if amount < {first * 3}:", f"    return {second}", f"return amount // {second + 1} + {third}"),
            (f"total = {third}", f"for digit in str(amount * {first}):", "    total += int(digit)", "return total"),
        )
    )
    return Helper(module=module, name=name, says=f"Return an amount of {module}, {_said(name)}.", lines=lines)


def _full(rng: random.Random, module: str, name: str, words: Words, helper: str, abroad: list[str]) -> Worker:
    calls = rng.choice(abroad) if abroad and rng.random() < 0.5 else ""
    return _worker(rng, module, name, words, helper=helper, calls=calls, blocks=_BLOCKS)


def _light(rng: random.Random, module: str, name: str, words: Words, helper: str, abroad: list[str]) -> Worker:
    blocks = [
        block
        for block, part in (("guard", 0.5), ("spare", 0.5), ("clauses", 0.55), ("table", 0.35), ("loop", 0.4))
        if rng.random() < part
    ]
    calls = rng.choice(abroad) if abroad and rng.random() < 0.6 else ""
    helper = helper if rng.random() < 0.4 else ""
    label = name.partition("_")[0] if rng.random() < 0.25 else ""
    return _worker(rng, module, name, words, helper=helper, calls=calls, blocks=tuple(blocks), label=label)


def _worker(
    rng: random.Random,
    module: str,
    name: str,
    words: Words,
    *,
    helper: str,
    calls: str,
    blocks: tuple[str, ...],
    label: str = "",
) -> Worker:
    keys = rng.sample(_KINDS, rng.randint(2, 4))
    rows = sorted(rng.sample(_ROWS, rng.randint(3, 5)))
    return Worker(
        module=module,
        name=name,
        says=f"Return the {_said(name)} of {module} for one {words.kind}.",
        words=words,
        guard=rng.randint(1, 9) if "guard" in blocks else 0,
        factor=rng.randint(2, 9),
        plus=rng.randint(3, 90),
        spare=rng.choice(_LOCALS) if "spare" in blocks else "",
        clauses=tuple(Clause(key=key, result=linear(rng, words.amount)) for key in keys) if "clauses" in blocks else (),
        chained=rng.random() < 0.8,
        table=tuple((row, rng.randint(3, 90)) for row in rows) if "table" in blocks else (),
        in_list=rng.random() < 0.5,
        otherwise=rng.randint(1, 9),
        helper=helper,
        calls=calls,
        step=rng.randint(2, 9) if "loop" in blocks else 0,
        number=rng.choice(_NUMBERS),
        divisor=rng.randint(5, 20),
        label=label,
    )


def linear(rng: random.Random, amount: str) -> str:
    """Return an expression of the amount that is never alike for two amounts."""
    return f"{amount} * {rng.randint(2, 9)} + {rng.randint(100, 999)}"


def _said(name: str) -> str:
    return name.replace("_", " ")
