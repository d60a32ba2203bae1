"""Names written next to the ends of lines, kept apart from each other."""

from collections.abc import Sequence

import altair as alt

from mydyno.page.charts import theme
from mydyno.page.charts.draw import data
from mydyno.page.format import shorten

CHARACTER_PX = 6.3
"""About the width of a character of 12 px Liberation Sans."""
_LEGEND_ROW = 18


def room_for(names: Sequence[str], most: int) -> tuple[int, int]:
    """(pixels to keep free at the right, characters to which names are cut) for `names`."""
    longest = max(map(len, names), default=0)
    pixels = min(most, int(longest * CHARACTER_PX) + 18)
    return pixels, max(6, int((pixels - 14) / CHARACTER_PX))


def spread(wanted: Sequence[float], gap: float, top: float, bottom: float) -> list[float]:
    """Positions near the `wanted` ones, in the same order, at least `gap` apart, between `top` and `bottom`
    where they fit. A pixel's y grows downwards."""
    order = sorted(range(len(wanted)), key=lambda place: (wanted[place], place))
    placed = [0.0] * len(wanted)
    at = top - gap
    for place in order:
        at = max(wanted[place], at + gap)
        placed[place] = at
    limit = bottom + gap
    for place in reversed(order):
        limit = min(placed[place], limit - gap)
        placed[place] = limit
    return placed


def legend(entries: Sequence[tuple[str, int]], width: int) -> list[alt.Chart]:
    """Marker and name of each (name, slot) above a chart, in as many lines as they need."""
    lines: list[list[tuple[str, int, float]]] = [[]]
    at = 0.0
    for title, slot in entries:
        name = shorten(title, int(width / CHARACTER_PX) - 6)
        if at and at + 16 + len(name) * (CHARACTER_PX + 0.5) > width:
            lines.append([])
            at = 0.0
        lines[-1].append((name, slot, at))
        at += 16 + len(name) * (CHARACTER_PX + 0.5) + 22
    layers = []
    for place, line in enumerate(reversed(lines)):
        y_px = -14 - place * _LEGEND_ROW
        for name, slot, x_px in line:
            color = theme.color(slot)
            base = alt.Chart(data([{"name": name}])).encode(y=alt.YValue(y_px))
            layers += [
                base.mark_point(shape=theme.shape(slot), filled=True, size=60, color=color, opacity=1).encode(
                    x=alt.XValue(x_px + 5)
                ),
                base.mark_text(align="left", baseline="middle", fontWeight="bold", color=color).encode(
                    x=alt.XValue(x_px + 14), text=alt.Text("name:N")
                ),
            ]
    return layers
