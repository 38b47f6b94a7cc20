"""The functions of the generated codebase: what one is made of, and its source.

A worker takes a kind, an amount and a count, and goes through blocks: guards, a chain of clauses, a table, calls, a
loop. Tasks look at different values (a new kind, an amount beyond a thousand, a count), so that those on one function
do not meet each other, while their lines do.
"""

from __future__ import annotations

from dataclasses import dataclass

PLAIN = "plain"
"""A kind that no clause and no table knows: it goes through the whole function."""

MOST_AMOUNT = 1000
"""Amounts of tests are below it, but for guards."""

GUARDED = 90_000
"""Amounts above it are refused by the guards of the base."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """How a module calls the parameters of its functions."""

    kind: str
    amount: str
    count: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Clause:
    """One value of the kind, and what a function returns for it."""

    key: str
    result: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Helper:
    """A small function of one amount."""

    module: str
    name: str
    says: str
    lines: tuple[str, ...]

    def source(self) -> str:
        """Return the definition."""
        return _definition(f"def {self.name}(amount):", self.says, self.lines)


@dataclass(frozen=True, slots=True, kw_only=True)
class Worker:
    """A function of a kind, an amount and a count; blocks that are empty or 0 are left out.

    Attributes:
        says: the docstring.
        guard: what the base's guard returns.
        factor, plus: the amount's part of the total.
        chained: the clauses are one ``if`` and ``elif`` chain, else a row of ``if`` statements.
        spare: the name of a local that holds a rest of the amount.
        table: rows by kind; ``in_list`` says that they are a sorted list of pairs, else a dictionary.
        otherwise: the table's value for other kinds.
        helper: a function of the same module that is called; ``calls`` one of another.
        step: what the loop adds for each number; ``number`` is the loop's variable.
        divisor: of the last statement before the return.
        label: where it is set, results are texts that begin with it.
    """

    module: str
    name: str
    says: str
    words: Words
    guard: int
    factor: int
    plus: int
    spare: str
    clauses: tuple[Clause, ...]
    chained: bool
    table: tuple[tuple[str, int], ...]
    in_list: bool
    otherwise: int
    helper: str
    calls: str
    step: int
    number: str
    divisor: int
    label: str

    @property
    def table_name(self) -> str:
        """Return the name of the table's constant."""
        return f"{self.name.upper()}_ROWS"

    def result(self, expression: str) -> str:
        """Return an expression as this function returns it."""
        return f'f"{self.label} {{{expression}}}"' if self.label else expression

    def source(self) -> str:
        """Return the definition, with the table's above it."""
        words = self.words
        head = f"def {self.name}({words.kind}, {words.amount}=0, {words.count}=0):"
        return self._table() + _definition(head, self.says, self._body())

    def _table(self) -> str:
        if not self.table:
            return ""
        opened, closed = ("[", "]") if self.in_list else ("{", "}")
        rows = "".join(f"{self.row(key, value)}\n" for key, value in self.table)
        return f"{self.table_name} = {opened}\n{rows}{closed}\n\n\n"

    def row(self, key: str, value: int) -> str:
        """Return a row of the table."""
        return f'    ("{key}", {value}),' if self.in_list else f'    "{key}": {value},'

    def _body(self) -> tuple[str, ...]:
        kind, amount, count = self.words.kind, self.words.amount, self.words.count
        lines = []
        if self.guard:
            lines += [f"if {amount} > {GUARDED}:", f"    return {self.result(f'-{self.guard}')}"]
        lines += [f"{self.spare} = {amount} % 7"] if self.spare else []
        lines.append(f"total = {amount} * {self.factor} + {self.spare or self.plus}")
        for number, clause in enumerate(self.clauses):
            word = "elif" if self.chained and number else "if"
            lines += [f'{word} {kind} == "{clause.key}":', f"    return {self.result(clause.result)}"]
        if self.table:
            rows = f"dict({self.table_name})" if self.in_list else self.table_name
            lines.append(f"total += {rows}.get({kind}, {self.otherwise})")
        lines += [f"total += {called}({amount})" for called in (self.helper, self.calls) if called]
        if self.step:
            lines += [f"for {self.number} in range(1, {count}):", f"    total += {self.number} * {self.step}"]
        lines += [f"total -= {amount} // {self.divisor}", f"return {self.result('total')}"]
        return tuple(lines)


def _definition(head: str, says: str, lines: tuple[str, ...]) -> str:
    return "".join(f"{line}\n" for line in (head, f'    """{says}"""', *(f"    {line}" for line in lines)))
