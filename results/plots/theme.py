"""How plots look: colours that colour-blind readers can tell apart, and one theme for light and one for dark pages.

The colours are those of Okabe and Ito, "Color Universal Design" (2008, https://jfly.uni-koeln.de/color/), which are
also the ones of Wong, "Points of view: Color blindness", Nature Methods 8, 441 (2011). Amounts are shades of their blue
from little to much. Nothing is told by colour alone: bars, lines and points are named by axis, shape or dashes too.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import Any

BLUE, ORANGE, GREEN, VERMILLION = "#0072B2", "#E69F00", "#009E73", "#D55E00"
SKY, PURPLE, GREY = "#56B4E9", "#CC79A7", "#999999"
PALETTE = (BLUE, ORANGE, GREEN, VERMILLION, SKY, PURPLE, GREY)

ENDINGS = MappingProxyType(
    {
        "landed": BLUE,
        "sent back": VERMILLION,
        "no answer": ORANGE,
        "refused": PURPLE,
        "skipped": GREY,
        "cancelled": "#666666",
        "pending": SKY,
    }
)
"""The colour of each ending."""

FONT = "Liberation Sans, Arial, Helvetica, sans-serif"
"""The first one comes with vl-convert, so that PNG and PDF have it embedded; the others have the same widths."""

_INK = {"light": "#1c1f23", "dark": "#e6e8eb"}
_QUIET = {"light": "#5a6270", "dark": "#a3acb9"}
_LINE = {"light": "#e3e6ea", "dark": "#30353d"}
_SHADES = {"light": ["#e8f1f8", "#7fb8d9", "#0072B2", "#003a5c"], "dark": ["#1d2a35", "#0a5a8a", "#3f9fd6", "#bfe3f8"]}


def theme(mode: str = "light", *, font: str = FONT) -> dict[str, Any]:
    """Return the Vega-Lite configuration for ``light`` or ``dark`` surroundings."""
    ink, quiet, line = _INK[mode], _QUIET[mode], _LINE[mode]
    return {
        "font": font,
        "background": "transparent" if mode == "dark" else "white",
        "view": {"stroke": None},
        "title": {
            "anchor": "start",
            "color": ink,
            "fontSize": 12,
            "fontWeight": 600,
            "subtitleColor": quiet,
            "subtitleFontSize": 10,
            "offset": 8,
        },
        "axis": {
            "labelColor": quiet,
            "titleColor": quiet,
            "titleFontWeight": "normal",
            "titleFontSize": 11,
            "labelFontSize": 10,
            "gridColor": line,
            "domainColor": line,
            "tickColor": line,
            "labelLimit": 150,
            "tickCount": 6,
        },
        "axisY": {"domain": False, "ticks": False, "labelPadding": 6},
        "axisBand": {"grid": False, "tickCount": 100},
        "legend": {
            "orient": "top",
            "title": None,
            "direction": "horizontal",
            "columns": 3,
            "labelColor": ink,
            "labelFontSize": 10,
            "labelLimit": 170,
            "titleColor": quiet,
            "titleFontWeight": "normal",
            "offset": 6,
        },
        "bar": {"color": BLUE},
        "line": {"color": BLUE, "strokeWidth": 2},
        "point": {"color": BLUE, "filled": True, "size": 55},
        "rule": {"color": quiet},
        "text": {"color": ink, "fontSize": 10},
        "range": {"category": list(PALETTE), "ramp": _SHADES[mode], "heatmap": _SHADES[mode]},
    }
