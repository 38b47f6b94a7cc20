"""`qodebase bench gate`: tests on changed trees, by the gate's warm processes and by pytest started anew."""

from __future__ import annotations

from typing import Annotated

import typer

from qodebase.commands.bench.support.telling import tell
from qodebase.commands.support.console import Json, reporting, say

SYNTHETIC = (
    "The code is synthetic: one module of small functions and small tests of them in five files; each tree changes one "
    "function. Trees, checkouts, processes, sandbox and times are real. Plain test functions are called in a process "
    "without pytest (`warm_ms`, and `judgement_ms` for 300 of them in 300 checks); with a fixture each, they "
    "are run by a warm pytest (`fixtures_ms`)."
)


def register(group: typer.Typer) -> None:
    """Add the bench."""

    @group.command(help=_HELP)
    @reporting
    def gate(
        tests: Annotated[int, typer.Option(min=5, help="How many tests.")] = 50,
        repeats: Annotated[int, typer.Option(min=1, help="Trees that each side judges, in turn; medians count.")] = 20,
        unsafe_checks: Annotated[bool, typer.Option("--unsafe-checks", help="Measure without the sandbox.")] = False,
        json: Json = False,
        check: Annotated[bool, typer.Option("--check", help="Exit with 1 when a target is missed.")] = False,
    ) -> int:
        from qodebase.commands.bench.support.gate_sides import measure

        say(f"{tests} tests on {repeats} trees, on each side in turn")
        answer = {**measure(tests=tests, repeats=repeats, sandbox=not unsafe_checks), "synthetic": SYNTHETIC}
        return tell(answer, json=json, check=check)


_HELP = (
    "Judge trees that each change one function: by the gate (the checkout moved, the tests run in a process forked "
    "from one that is ready for them, in the sandbox) and by `python -m pytest` started anew in a folder that holds "
    "the same tree, without a sandbox.\n\n" + SYNTHETIC
)
