"""What a night leaves behind: junit.xml, summary.md, results.json, environment.json and report.html."""

from __future__ import annotations

import html
import json
import xml.etree.ElementTree as Xml
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from qodebase.commands.support.environment import keep_environment
from results.nightly import Verdict

Results = Mapping[str, Any]

_HEADS = ("verdict", "bench", "size", "figure", "tonight", "usual", "worse by", "alarm from", "nights", "why")
_STYLE = """
:root { color-scheme: light dark; --line: #8884; --bad: #b3261e; --dim: #6b6b6b }
@media (prefers-color-scheme: dark) { :root { --bad: #ff8a80; --dim: #a0a0a0 } }
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 75rem; padding: 0 1rem }
.wide { overflow-x: auto } table { border-collapse: collapse; width: 100% }
th, td { border-bottom: 1px solid var(--line); padding: .3rem .6rem; text-align: left; vertical-align: top }
.regressed, .broken { color: var(--bad); font-weight: 600 } .inconclusive, .learning { color: var(--dim) }
"""


def write_all(folder: Path, results: Results, environment: Mapping[str, Any]) -> None:
    """Write all files; each is whole, or as it was before."""
    texts: dict[str, Callable[[Results], str]] = {
        "results.json": lambda found: json.dumps(found, indent=2, ensure_ascii=False) + "\n",
        "junit.xml": junit,
        "summary.md": summary,
        "report.html": page,
    }
    for name, text in texts.items():
        part = folder / f".{name}.part"
        part.write_text(text(results), encoding="utf-8")
        part.replace(folder / name)
    keep_environment(folder, environment)


def headline(results: Results) -> str:
    """Return the night in one line."""
    counts = Counter(row["verdict"] for row in results["rows"])
    counted = ", ".join(f"{counts[verdict]} {verdict}" for verdict in reversed(Verdict) if counts[verdict])
    stopped = " (stopped)" if results["stopped"] else ""
    return f"{results['verdict']}{stopped}: {counted or 'nothing was measured'}"


def junit(results: Results) -> str:
    """Return the night as JUnit knows tests: one a figure; what is inconclusive was skipped, an error stands alone."""
    rows = results["rows"]
    suite = Xml.Element("testsuite", name="qodebase nightly", tests=str(len(rows) + bool(results["error"])))
    for row in rows:
        case = Xml.SubElement(suite, "testcase", classname=f"nightly.{row['bench']}", name=row["figure"], time="0")
        _tell(case, row["verdict"], row["why"])
    if results["error"]:
        case = Xml.SubElement(suite, "testcase", classname="nightly", name="the night itself", time="0")
        Xml.SubElement(case, "error", message=_plain(results["error"]))
    for attribute, kind in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        suite.set(attribute, str(len(suite.findall(f"testcase/{kind}"))))
    suite.set("time", f"{results['seconds']:.1f}")
    root = Xml.Element("testsuites")
    root.append(suite)
    Xml.indent(root)
    return Xml.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def summary(results: Results) -> str:
    """Return the night as Markdown, what needs a look first."""
    lines = [f"# Nightly: {headline(results)}", ""]
    lines += [f"{name}: {_cell(value)}  " for name, value in _facts(results)]
    lines += ["", f"| {' | '.join(_HEADS)} |", f"|{' --- |' * len(_HEADS)}"]
    lines += [f"| {' | '.join(_cell(cell) for cell in _cells(row))} |" for row in _sorted(results)]
    return "\n".join(lines) + "\n"


def page(results: Results) -> str:
    """Return the night as one page that needs nothing else."""
    title = html.escape(f"Nightly: {headline(results)}")
    facts = "<br>".join(f"{html.escape(name)}: {html.escape(value)}" for name, value in _facts(results))
    head = "".join(f'<th scope="col">{name}</th>' for name in _HEADS)
    rows = "".join(_row_html(row) for row in _sorted(results))
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">"
        f"<title>{title}</title><style>{_STYLE}</style></head><body><h1>{title}</h1><p>{facts}</p>"
        f'<div class="wide" tabindex="0"><table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>'
        "<p>Figures are ratios against a peer that was measured in the same run, or of simulated time; worse by and "
        "alarm from are shares of the usual figure, the median of the nights that count.</p></body></html>\n"
    )


def _row_html(row: Mapping[str, Any]) -> str:
    verdict = row["verdict"]
    cells = "".join(f"<td>{html.escape(cell)}</td>" for cell in _cells(row)[1:])
    what = html.escape(row["what"], quote=True)
    return f'<tr title="{what}"><td class="{verdict}">{verdict}</td>{cells}</tr>'


def _sorted(results: Results) -> list[Mapping[str, Any]]:
    order = list(Verdict)
    return sorted(results["rows"], key=lambda row: -order.index(Verdict(row["verdict"])))


def _cells(row: Mapping[str, Any]) -> list[str]:
    def share(value: float | None) -> str:
        return "" if value is None else f"{value:.1%}"

    simulated = " (simulated)" if row["simulated"] else ""
    tonight = ", ".join(f"{value:.4g}" for value in row["values"])
    usual = "" if row["usual"] is None else f"{row['usual']:.4g}"
    bounds = [share(row["worse"]), share(row["bound"]), str(row["nights"] or "")]
    first = [row["verdict"], row["bench"] + simulated, row["size"], row["figure"]]
    return [*first, tonight, usual, *bounds, _plain(row["why"])]


def _facts(results: Results) -> list[tuple[str, str]]:
    found = [
        ("machine", results["machine"]),
        ("commit", results["commit"] or "unknown"),
        ("time", f"{results['seconds']:.0f} of {results['time_budget_s']:.0f} s"),
        ("error", results["error"]),
        ("unreadable lines of the history", str(results["unreadable"] or "")),
    ]
    return [(name, value) for name, value in found if value]


def _tell(case: Xml.Element, verdict: str, why: str) -> None:
    kinds = {Verdict.REGRESSED: "failure", Verdict.BROKEN: "error", Verdict.INCONCLUSIVE: "skipped"}
    kind = kinds.get(Verdict(verdict))
    if kind:
        Xml.SubElement(case, kind, message=_plain(f"{verdict}: {why}"))
    else:
        Xml.SubElement(case, "system-out").text = _plain(f"{verdict}: {why}")


def _cell(text: str) -> str:
    """Return a text that cannot end a cell of a Markdown table, or be read as HTML there."""
    return html.escape(_plain(text), quote=False).replace("|", "\\|").replace("`", "'")


def _plain(text: str) -> str:
    """Return a text without what XML 1.0 has no place for, on one line."""
    return "".join(one if one.isprintable() else " " for one in text)
