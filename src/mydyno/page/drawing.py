"""A figure drawn: once as a still picture, for the page and for its files, where it has its title above it to
be shown without the page, and once to be drawn live."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from xml.etree import ElementTree

from markupsafe import Markup

from mydyno.page.charts import draw, theme
from mydyno.page.charts.draw import Chart
from mydyno.page.charts.inline import inline_svg
from mydyno.page.charts.live import LiveChart, interactive
from mydyno.page.charts.press import press
from mydyno.page.charts.theme import Size
from mydyno.page.format import keep_together
from mydyno.page.table import Table


@dataclass(frozen=True)
class Drawing:
    figure: Figure
    svg: str
    """At the width `theme.WIDE`, transparent, without a title."""
    chart: LiveChart

    def still(self) -> Markup:
        """The picture as a part of the page."""
        return Markup(inline_svg(self.svg, name=self.figure.name, css_class="picture"))

    def picture(self) -> str:
        """The picture with its title on it, as an SVG that is shown without the page."""
        return titled(self.svg, self.figure.picture_title, self.figure.picture_subtitle)


def drawings(figures: Sequence[Figure]) -> Callable[[], tuple[Drawing, ...]]:
    """Begins with all of them, each picture made while the next chart is prepared; called, they are done."""
    begun = []
    for figure in figures:
        wide, narrow = (draw.specification(figure.draw(size)) for size in theme.SIZES)
        live = [interactive(spec, zoom=figure.zoom) for spec in (wide, narrow)]
        chart = LiveChart(figure.name, wide=live[0], narrow=live[1])
        begun.append((figure, press().svg(wide), chart))
    return lambda: tuple(
        Drawing(figure, svg.result(), replace(chart, width=_width(svg.result())))
        for figure, svg, chart in begun
    )


def _width(drawn: str) -> float:
    """Pixels, as an SVG's first element has them."""
    return float(drawn.partition('width="')[2].partition('"')[0])


@dataclass(frozen=True)
class Figure:
    name: str
    """Also the stem of its files."""
    title: str
    caption: str
    draw: Callable[[Size], Chart]
    picture_title: str
    picture_subtitle: tuple[str, ...]
    tables: tuple[tuple[str, Table], ...] = ()
    """(title, the figure's numbers), folded on the page; empty where the figure is itself the series, and
    where they are in the comparison table."""
    labelled: bool = True
    """Its lines are named on it at every width; otherwise a narrow one needs a legend."""
    colored: bool = True
    """Settings have their colours on it."""
    zoom: bool = False
    """Its panels can be zoomed along x, which is the same quantity in all of them."""

    @property
    def description(self) -> str:
        """What it shows, in words."""
        return f"{self.title}. {self.caption}"


_SVG = "http://www.w3.org/2000/svg"
_LEFT = 5
_TITLE_PX, _TITLE_LINE, _TITLE_CHARACTERS = 16, 20, 92
_SUBTITLE_PX, _SUBTITLE_LINE, _SUBTITLE_CHARACTERS = 13, 17, 107
_GAP = 18
"""Pixels between the last line and the picture."""


def titled(drawn: str, title: str, subtitle: Sequence[str]) -> str:
    """`drawn`, an SVG, on white, with `title` and a line or more for each sentence of `subtitle` above it."""
    ElementTree.register_namespace("", _SVG)
    root = ElementTree.fromstring(drawn)
    width, height = float(root.attrib["width"]), float(root.attrib["height"])
    texts, below = [], 4.0
    for line in balanced(keep_together(title), _TITLE_CHARACTERS):
        below += _TITLE_LINE
        texts.append(_text(line, below - 4, _TITLE_PX, theme.INK, bold=True))
    for line in (line for sentence in subtitle for line in balanced(sentence, _SUBTITLE_CHARACTERS)):
        below += _SUBTITLE_LINE
        texts.append(_text(line, below - 3, _SUBTITLE_PX, theme.MUTED))
    top = below + _GAP
    picture = ElementTree.Element(f"{{{_SVG}}}g", {"transform": f"translate(0,{top:g})"})
    picture.extend(list(root))
    whole = {"width": f"{width:g}", "height": f"{height + top:g}"}
    paper = ElementTree.Element(f"{{{_SVG}}}rect", whole | {"fill": theme.PAPER})
    root[:] = [paper, *texts, picture]
    root.attrib.update(whole | {"viewBox": f"0 0 {width:g} {height + top:g}"})
    return ElementTree.tostring(root, encoding="unicode")


def balanced(text: str, most: int) -> list[str]:
    """`text` in as few lines of at most `most` characters as it needs, all about equally long."""
    lines = len(textwrap.wrap(text, most))
    for width in range(max(1, len(text) // max(1, lines)), most):
        if len(wrapped := textwrap.wrap(text, width)) <= lines:
            return wrapped
    return textwrap.wrap(text, most)


def _text(line: str, y: float, size: int, color: str, *, bold: bool = False) -> ElementTree.Element:
    attributes = {
        "x": str(_LEFT),
        "y": f"{y:g}",
        "font-family": theme.FONT,
        "font-size": f"{size}px",
        "fill": color,
    }
    made = ElementTree.Element(f"{{{_SVG}}}text", attributes | ({"font-weight": "bold"} if bold else {}))
    made.text = line
    return made
