"""A figure drawn: once as a still picture, for the page and for its files, and once to be drawn live."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from markupsafe import Markup

from mydyno.page.charts import draw, theme
from mydyno.page.charts.draw import Chart
from mydyno.page.charts.inline import inline_svg
from mydyno.page.charts.live import LiveChart, interactive
from mydyno.page.charts.press import press
from mydyno.page.charts.theme import Size
from mydyno.page.charts.titled import titled
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
