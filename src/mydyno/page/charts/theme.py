"""How every chart looks: colours, type and sizes, in one place.

The colours of settings have the hues of Okabe and Ito, "Color Universal Design" (2008), darkened until small
text in them can be read on white (4.5 to 1) and moved until neighbours stay apart for every common kind of
colour blindness (tested in tests/lab/report/test_colours.py). Each setting has a marker too: colour is never
the only difference.
"""

from dataclasses import dataclass
from typing import Any

INK = "#1c2127"
MUTED = "#5d6673"
GRID = "#e4e7eb"
BAND = "#f4f6f8"
PAPER = "#ffffff"
INVALID = "#b3261e"

FASTER = ("#d3e7f5", "#8ec5e8")
SLOWER = ("#fbe3c8", "#f0b46c")
"""Fills of cells, a pale and a strong one: ink can be read on each of them."""

SERIES = ("#0072b2", "#a85b00", "#007a5e", "#a03f7c", "#2f7d9e", "#6b5a3e", "#5a4fcf", "#3c4650")
SHAPES = (
    *("circle", "square", "triangle-up", "diamond"),
    *("cross", "triangle-down", "triangle-right", "triangle-left"),
)

DARK = {
    INK: "#e8eaed",
    MUTED: "#a3abb6",
    GRID: "#30363d",
    BAND: "#1f242b",
    PAPER: "#15191e",
    INVALID: "#ff8a80",
    "#d3e7f5": "#1b3a50",
    "#8ec5e8": "#235f87",
    "#fbe3c8": "#4a3316",
    "#f0b46c": "#7d5312",
    "#0072b2": "#5ab4f0",
    "#a85b00": "#f0a840",
    "#007a5e": "#3ccfa2",
    "#a03f7c": "#e07fbb",
    "#2f7d9e": "#a5dcfa",
    "#6b5a3e": "#c9b693",
    "#5a4fcf": "#9385ff",
    "#3c4650": "#b9c4cf",
}
"""Colour on white -> the same colour on a dark page."""

FAINT = 0.28
"""Opacity of what is in the background; a dark page needs more of it."""
FAINT_IN_THE_DARK = 0.5

FONT = "Liberation Sans, Arial, Helvetica, sans-serif"
"""Liberation Sans comes with vl-convert, so that a picture is the same on a machine without fonts."""


@dataclass(frozen=True)
class Size:
    """A width to draw for, in CSS pixels. Text keeps its size whatever the width, so that it can be read."""

    name: str
    width: int

    @property
    def narrow(self) -> bool:
        return self.width < 500


WIDE = Size("wide", 800)
"""A desktop, a sheet of A4, and the pictures that stand alone (PNG at two dots a pixel: 1600)."""
NARROW = Size("narrow", 346)
"""A telephone held upright."""
SIZES = (WIDE, NARROW)


def color(slot: int) -> str:
    return SERIES[slot % len(SERIES)]


def shape(slot: int) -> str:
    """Past the last colour the colours come round again with other markers."""
    return SHAPES[(slot + slot // len(SERIES)) % len(SHAPES)]


TEXT_PX = 12


def config() -> dict[str, Any]:
    """Vega-Lite's `config` for all charts."""
    return {
        "font": FONT,
        "padding": 4,
        "background": None,
        "view": {"stroke": None},
        "mark": {"aria": False},
        "axis": {
            "aria": False,
            "domainColor": MUTED,
            "gridColor": GRID,
            "tickColor": MUTED,
            "labelColor": MUTED,
            "titleColor": INK,
            "labelFontSize": TEXT_PX,
            "titleFontSize": TEXT_PX,
            "titleFontWeight": "normal",
            "titlePadding": 8,
            "labelPadding": 4,
            "tickSize": 4,
            "domain": False,
            "ticks": False,
        },
        "axisX": {"grid": False, "domain": True, "ticks": True},
        "title": {
            "color": INK,
            "fontSize": TEXT_PX + 2,
            "subtitleColor": MUTED,
            "subtitleFontSize": TEXT_PX,
            "subtitlePadding": 4,
            "anchor": "start",
            "frame": "group",
            "fontWeight": "bold",
        },
        "text": {"fontSize": TEXT_PX, "color": INK},
    }
