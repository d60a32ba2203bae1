"""A figure of a page: what it is called, and how it is drawn at any width."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from mydyno.page.charts.draw import Chart
from mydyno.page.charts.theme import Size
from mydyno.page.table import Table


@dataclass(frozen=True)
class Figure:
    name: str
    """Also the stem of its files."""
    title: str
    caption: str
    draw: Callable[[Size], Chart]
    tables: tuple[tuple[str, Table], ...]
    """(title, the figure's numbers), folded on the page; empty where the figure is itself the series, and
    where they stand in the table of comparisons."""
    picture_title: str
    picture_subtitle: tuple[str, ...]
    labelled: bool
    """Its lines are named on it at every width; otherwise a narrow one needs a legend."""
    colored: bool = True
    """Settings have their colours on it."""
    zoom: bool = False
    """Its panels can be zoomed along x, which is the same quantity in all of them."""

    @property
    def description(self) -> str:
        """What it shows, in words."""
        return f"{self.title}. {self.caption}"
