"""A plot on a page: the plot, the data behind it as a table and as a file, the words that go with it."""

from __future__ import annotations

import base64
from typing import Any

from results.plots.plot import SIMULATED, Plot
from results.report.markup import Markup, data_block, el, table
from results.report.words import figure

_ROWS = 200


def plot_figure(key: str, plot: Plot) -> Markup:
    """Return a plot as a figure; the page's script draws it when it comes into view.

    Args:
        key: what the ids of the run begin with.
    """
    id = f"{key}-plot-{plot.name}"
    badge = el("span", SIMULATED, class_="badge") if plot.simulated else None
    caption = el("figcaption", el("strong", plot.title), " ", badge, el("span", plot.says, class_="says"))
    if plot.data.is_empty():
        return el("figure", caption, el("p", plot.empty, class_="quiet"), id=id)
    # A figure keeps its place while it is not drawn yet, so that nothing jumps.
    canvas = el("div", class_="canvas", style=f"min-height:{plot.height + 40}px")
    return el("figure", caption, canvas, data_block(f"{id}-spec", plot.spec()), _data(plot), id=id, class_="plot")


def _data(plot: Plot) -> Markup:
    data = plot.data
    columns = data.columns
    rows = [[_cell(row[name]) for name in columns] for row in data.head(_ROWS).to_dicts()]
    numbers = [at for at, type in enumerate(data.dtypes) if type.is_numeric()]
    cut = f", the first {_ROWS}; all are in the CSV" if data.height > _ROWS else ""
    href = f"data:text/csv;charset=utf-8;base64,{base64.b64encode(plot.csv()).decode()}"
    link = el("a", "Download CSV", href=href, download=f"{plot.name}.csv")
    body = table(f"{plot.title}{cut}", [name.replace("_", " ") for name in columns], rows, numbers=numbers)
    return el(
        "details", el("summary", f"Data ({data.height:,} row{'' if data.height == 1 else 's'})"), el("p", link), body
    )


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return figure(value) if isinstance(value, int | float) else str(value)
