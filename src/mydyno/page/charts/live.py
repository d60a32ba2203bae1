"""What a chart needs to be drawn again in the page: its specification for a wide and a narrow box, with
tooltips, and with a zoom along x where that helps.

`report.js` draws it. A chart is stretched to its box by the width of its panels alone, so nothing in it may
be at a number of pixels from the left that was reckoned from the width: `alt.value("width")` is the right
edge of a panel, and `dx` goes on from there.
"""

import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from mydyno.page.charts import theme
from mydyno.page.charts.draw import Chart, Spec, specification
from mydyno.page.charts.theme import Size

ZOOM = "zoom"
"""The selection that the zoom is; Vega-Lite calls its signal `zoom_FIELD`. `usermeta` gives the page that
name and that of a scale which follows."""
_WHEEL = "wheel![event.ctrlKey || event.metaKey]"
"""The bare wheel scrolls the page, also over a chart."""
_DRAG = "[pointerdown[event.pointerType == 'mouse'], window:pointerup] > window:pointermove!"
"""A finger scrolls the page; it has the buttons."""


@dataclass(frozen=True)
class LiveChart:
    """A chart as `report.js` reads it. The theme is in the page once, for all of them."""

    name: str
    wide: Spec
    narrow: Spec
    width: float = theme.WIDE.width
    """Pixels that the wide one really takes, where that is known: what is missing is given to its panels."""

    def embedded(self) -> dict[str, Any]:
        return {
            "wide": {"width": self.width, "spec": _without(self.wide, "config", "datasets")},
            "narrow": {"width": theme.NARROW.width, "spec": _without(self.narrow, "config", "datasets")},
            # Named by their content, and mostly the same in both.
            "datasets": self.wide.get("datasets", {}) | self.narrow.get("datasets", {}),
        }


def _without(spec: Spec, *keys: str) -> Spec:
    return {key: value for key, value in spec.items() if key not in keys}


def live(name: str, draw: Callable[[Size], Chart], *, zoom: bool = False) -> LiveChart:
    """The chart that `draw` draws at any width. With `zoom` its panels share one zoom along x, a quantity;
    all of them have the same field there."""
    wide, narrow = (specification(draw(size)) for size in (theme.WIDE, theme.NARROW))
    return LiveChart(name, interactive(wide, zoom=zoom), interactive(narrow, zoom=zoom))


def interactive(spec: Spec, *, zoom: bool) -> Spec:
    """`spec` and a tooltip on each mark that describes itself and, with `zoom`, the zoom."""
    # The rows stay as they are, and are most of it.
    rows = {"datasets": spec["datasets"]} if "datasets" in spec else {}
    spec = copy.deepcopy(_without(spec, "datasets")) | rows
    for unit in _units(spec):
        description = unit.get("encoding", {}).get("description")
        if description is not None:
            unit["encoding"]["tooltip"] = description
        for channel in unit.get("encoding", {}).values():
            if isinstance(channel, dict) and (channel.get("scale") or {}).get("type") == "log":
                # It says nothing there, and Vega-Lite would write so to the reader's console.
                channel["scale"].pop("zero", None)
    if zoom:
        _zoom(spec)
    return spec


def _zoom(spec: Spec) -> None:
    panels = spec.get("concat", [spec])
    along = [next((unit for unit in _units(panel) if _field(unit)), None) for panel in panels]
    field = next((_field(unit) for unit in along if unit), None)
    if field is None:
        return
    views = []
    for place, unit in enumerate(along):
        if unit and _field(unit) == field:
            unit["name"] = f"{ZOOM}-{place}"
            views.append(unit["name"])
    for unit in _units(spec):
        if unit["mark"]["type"] != "text":
            continue
        # Vega-Lite cuts every mark at the edge of a panel that is zoomed, but names stand above it. A name
        # goes when the place that it names does.
        unit["mark"]["clip"] = False
        if _field(unit):
            unit.setdefault("transform", []).append({"filter": {"param": ZOOM}})
    first = panels.index(
        next(panel for panel, unit in zip(panels, along, strict=True) if unit and "name" in unit)
    )
    spec["usermeta"] = {
        "zoom": {"signal": f"{ZOOM}_{field}", "scale": f"concat_{first}_x" if "concat" in spec else "x"}
    }
    select = {"type": "interval", "encodings": ["x"], "zoom": _WHEEL, "translate": _DRAG}
    spec["params"] = [{"name": ZOOM, "select": select, "bind": "scales", "views": views}]


def _field(unit: Spec) -> str | None:
    """The quantity or time along x, if there is one."""
    x = unit.get("encoding", {}).get("x", {})
    field: str | None = x.get("field") if x.get("type") in ("quantitative", "temporal") else None
    return field


def _units(spec: Spec) -> Iterator[Spec]:
    """The single views of a specification, lowest first."""
    inner = spec.get("concat", spec.get("layer"))
    if inner is None:
        yield spec
        return
    for each in inner:
        yield from _units(each)
