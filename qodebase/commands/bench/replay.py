"""`qodebase bench replay`: replay cases whose right answer is known, and count what the ladder makes of them."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from qodebase.commands.bench.support.telling import put_figures
from qodebase.commands.support.console import Json, put, reporting

if TYPE_CHECKING:
    from qodebase.commands.bench.support.replay_cases import Outcome

_LEAST_RESOLVED = 0.9


def register(group: typer.Typer) -> None:
    """Add the bench."""

    @group.command()
    @reporting
    def replay(
        corpus: Annotated[
            Path | None,
            typer.Argument(metavar="[CORPUS]", help="A folder of cases; without it, the ones that are shipped."),
        ] = None,
        speed: Annotated[bool, typer.Option("--speed", help="Also time the clean merge and the index rule.")] = False,
        check: Annotated[bool, typer.Option("--check", help="Exit with 1 where a target is missed.")] = False,
        json: Json = False,
    ) -> int:
        """Replay cases whose right answer is known.

        A case is a folder with case.toml (kind, path, expect = "file", "decline" or "check") and the trees base/,
        main/, change/ and, for "file", expected/. A "check" is a command of the corpus; it runs here as you.
        """
        from qodebase.commands.bench.support.replay_cases import run_cases, shipped

        report = summary(run_cases(corpus or shipped()))
        if speed:
            from qodebase.commands.bench.support.replay_speed import measure

            report["speed"] = measure()
        if json:
            put_figures(report)
        else:
            put("\n".join(_lines(report)))
        return 1 if check and not report["ok"] else 0


def summary(outcomes: Iterable[Outcome]) -> dict[str, Any]:
    """Count verdicts in all, by rule and by kind.

    ``declined`` counts traps too; what is no trap is ``resolvable``. Of a rule, ``declined`` counts the cases that it
    was asked about and left to the next; ``microseconds`` is the median of one call, invariants included.
    """
    from statistics import median

    verdicts: Counter[str] = Counter()
    by_rule: dict[str, Counter[str]] = defaultdict(Counter)
    times: dict[str, list[float]] = defaultdict(list)
    kinds: dict[str, Counter[str]] = defaultdict(Counter)
    listed = []
    for one in outcomes:
        verdicts.update([one.verdict, *(["traps"] if one.trap else [])])
        verdicts["traps_declined"] += one.trap and one.verdict == "declined"
        kinds[one.kind].update(["cases", one.verdict, *(["traps"] if one.trap else [])])
        for by, declined, microseconds in one.steps:
            by_rule[by]["declined" if declined else one.verdict] += 1
            times[by].append(microseconds)
        if one.verdict == "wrong" or (one.verdict == "declined" and not one.trap):
            listed.append({"case": one.name, "verdict": str(one.verdict), "by": one.by, "why": one.why})
    cases = sum(verdicts[name] for name in ("right", "equivalent", "declined", "wrong"))
    resolvable = cases - verdicts["traps"]
    resolved = verdicts["right"] + verdicts["equivalent"]
    return {
        "cases": cases,
        **{name: verdicts[name] for name in ("right", "equivalent", "declined", "wrong", "traps", "traps_declined")},
        "resolvable": resolvable,
        "by_rule": {name: _row(by_rule[name]) | {"microseconds": round(median(times[name]), 1)} for name in by_rule},
        "by_kind": {
            name: {"cases": kinds[name]["cases"], "traps": kinds[name]["traps"]} | _row(kinds[name])
            for name in sorted(kinds)
        },
        "listed": listed,
        "ok": verdicts["wrong"] == 0
        and verdicts["traps"] == verdicts["traps_declined"]
        and resolved >= _LEAST_RESOLVED * resolvable,
    }


def _row(counts: Counter[str]) -> dict[str, int]:
    return {name: counts[name] for name in ("right", "equivalent", "declined", "wrong")}


def _lines(report: dict[str, Any]) -> list[str]:
    head = f"{'':24} {'right':>6} {'equivalent':>10} {'declined':>8} {'wrong':>5} {'microseconds':>12}"
    rows = [
        f"{name:24} {row['right']:6} {row['equivalent']:10} {row['declined']:8} {row['wrong']:5} "
        f"{row['microseconds']:12,.0f}"
        for name, row in sorted(report["by_rule"].items())
    ]
    kinds = [
        f"{name:24} {row['right']:6} {row['equivalent']:10} {row['declined']:8} {row['wrong']:5}"
        for name, row in report["by_kind"].items()
    ]
    total = (
        f"{report['cases']} cases: {report['right']} right, {report['equivalent']} equivalent, "
        f"{report['declined']} declined, {report['wrong']} wrong; "
        f"{report['traps_declined']} of {report['traps']} traps declined"
    )
    listed = [f"{one['verdict']}: {one['case']} {one['by']} ({one['why']})" for one in report["listed"]]
    speed = [f"{name}: {value:,.1f} microseconds" for name, value in report.get("speed", {}).items()]
    return [total, "", head, *rows, "", *kinds, *([""] if listed or speed else []), *listed, *speed]
