"""A plot: an altair chart with the frame behind it, shown in a notebook or saved for print."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from qodebase.errors import QodebaseError
from results.export import Format, written
from results.plots.theme import theme

if TYPE_CHECKING:
    import polars as pl

SIMULATED = "simulated: seconds are virtual"

_VEGA_LITE = "6.4"
_MM = 25.4 / 96
"""Millimetres in a CSS pixel."""
_POINTS_PER_PX = 72 / 96
_SCREEN_MM = 170.0
_PRINT_PPI = 300
_SIZE = re.compile(r'(<svg[^>]*?) width="([\d.]+)" height="([\d.]+)"')


class NoFigure(QodebaseError):
    """A file that a plot cannot be saved as."""


AnyChart = Any
"""An altair chart or layers of them; altair's own types do not follow its methods."""


def chart_of(rows: Sequence[Mapping[str, Any]]) -> AnyChart:
    """Return a chart of rows, without marks."""
    import altair as alt

    return alt.Chart(alt.Data(values=list(rows)))  # type: ignore[no-untyped-call]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Plot:
    """One plot.

    Attributes:
        name: what its file may be called.
        title, says: what it shows, in a few words and in a sentence.
        data: the frame behind it, a row a mark.
        draw: puts marks and axes on a chart of the data.
        simulated: whether its seconds are virtual; it then says so.
        height: in CSS pixels.
        empty: what to say instead where there is no data.
    """

    name: str
    title: str
    says: str
    data: pl.DataFrame
    draw: Callable[[AnyChart], AnyChart]
    simulated: bool
    height: int = 200
    empty: str = "Nothing to show."

    @property
    def chart(self) -> AnyChart:
        """Return the altair chart, to change or combine."""
        import altair as alt

        title = alt.TitleParams(self.title, subtitle=SIMULATED) if self.simulated else alt.TitleParams(self.title)
        return self._bare().properties(title=title, width="container")

    def spec(self) -> dict[str, Any]:
        """Return the Vega-Lite specification for a page that has its own title, theme and width."""
        return _plain(self._bare().properties(width="container").to_dict(validate=False))

    def csv(self) -> bytes:
        """Return the data as CSV."""
        return written(self.data, Format.CSV)

    def save(self, path: str | Path, *, width_mm: float = 85.0) -> Path:
        """Save the plot as SVG, PNG or PDF by the file's ending, and its data as CSV beside it; nothing is fetched.

        Args:
            path: the file, whose folder exists.
            width_mm: how wide it is on paper; 85 is a column of most journals. PNG has 300 dots an inch.

        Raises:
            NoFigure: another ending, or no width.
        """
        import vl_convert

        path = Path(path)
        if width_mm < 20:
            raise NoFigure(f"{width_mm:g} mm is too narrow for a plot", hint="Give at least width_mm=20.")
        svg, spec = self._svg(width_mm), self._sized(width_mm)
        match path.suffix.lower():
            case ".svg":
                path.write_text(_resized(svg, _MM, "mm"), encoding="utf-8")
            case ".png":
                path.write_bytes(
                    vl_convert.vegalite_to_png(spec, vl_version=_VEGA_LITE, scale=_POINTS_PER_PX, ppi=_PRINT_PPI)
                )
            case ".pdf":
                path.write_bytes(vl_convert.svg_to_pdf(_resized(svg, _POINTS_PER_PX, "")))
            case other:
                raise NoFigure(
                    f"a plot cannot be saved as {other or 'a file without an ending'}",
                    hint="Name a file that ends in .svg, .png or .pdf.",
                )
        path.with_suffix(".csv").write_bytes(self.csv())
        return path

    def _repr_mimebundle_(
        self, include: Sequence[str] | None = None, exclude: Sequence[str] | None = None
    ) -> Mapping[str, str]:
        words = f"{self.title}: {self.says}{f' ({SIMULATED})' if self.simulated else ''}"
        return {"image/svg+xml": self._svg(_SCREEN_MM), "text/plain": words}

    def _bare(self) -> AnyChart:
        """Return the chart without a title; one without data says that instead of drawing empty axes."""
        if self.data.is_empty():
            return chart_of([{"text": self.empty}]).mark_text().encode(text="text:N").properties(height=60)
        return self.draw(chart_of(self.data.to_dicts())).properties(height=self.height)

    def _svg(self, width_mm: float) -> str:
        import vl_convert

        return vl_convert.vegalite_to_svg(self._sized(width_mm), vl_version=_VEGA_LITE)

    def _sized(self, width_mm: float) -> dict[str, Any]:
        chart = self.chart.properties(width=round(width_mm / _MM, 2), autosize={"type": "fit-x", "contains": "padding"})
        return _plain(chart.to_dict(validate=False)) | {"config": theme()}


def _plain(spec: dict[str, Any]) -> dict[str, Any]:
    """Return a specification without altair's own look."""
    return {key: value for key, value in spec.items() if key != "config"}


def _resized(svg: str, factor: float, unit: str) -> str:
    """Return an SVG of the same picture whose size is told in another unit, so that it is placed as large as meant."""

    def size(found: re.Match[str]) -> str:
        width, height = (f"{float(found[at]) * factor:.2f}{unit}" for at in (2, 3))
        return f'{found[1]} width="{width}" height="{height}"'

    return _SIZE.sub(size, svg, count=1)
