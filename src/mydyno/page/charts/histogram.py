"""A small histogram as a separate SVG, without Vega: a page has dozens of them, which differ in their bars
alone. It is as wide as its box; its axis is text next to it."""

from collections.abc import Callable, Sequence

from markupsafe import Markup, escape

from mydyno.page.charts import theme

HEIGHT = 100
_LEAST = 1.5
"""Of HEIGHT: a bar that is there can be seen."""
_WIDTH = 0.9
"""Of a bin."""


def histogram(counts: Sequence[int], label: Callable[[int], str], color: str = theme.SERIES[0]) -> Markup:
    """Bars of `counts`, from 0; `label(place)` is the tooltip of the bar at that place."""
    most = max(counts, default=0)
    bars = []
    for place, count in enumerate(counts):
        if count:
            height = max(_LEAST, count / most * HEIGHT)
            at = f'x="{place}" y="{HEIGHT - height:.1f}" width="{_WIDTH}" height="{height:.1f}"'
            bars.append(f'<rect {at} fill="{color}"><title>{escape(label(place))}</title></rect>')
    box = f'viewBox="0 0 {max(1, len(counts))} {HEIGHT}" preserveAspectRatio="none"'
    return Markup(f'<svg class="bars" {box} aria-hidden="true">{"".join(bars)}</svg>')
