"""The axes that the panels of curves share: their scales are chosen here, so that labels can be placed on
them in pixels, and so that marks of several settings at one load are drawn next to each other."""

import math
from collections.abc import Sequence
from typing import Literal

import altair as alt

from mydyno.lab.analysis.metrics import Metric
from mydyno.lab.analysis.words import Words
from mydyno.lab.report.views.curves import Curves
from mydyno.page.charts.marks import one_two_five

_NS_PER_MS = 1e6
_MANY_ORDERS = 20
"""A latency whose largest value is this many times its smallest is drawn on a logarithmic axis."""
_WIDE_RANGE = 60
"""So is the load."""


class ValueAxis:
    """Up: from 0, or logarithmic; with `lanes` pixels kept free at the top."""

    def __init__(self, views: Sequence[Curves], height: int, lanes: int = 0) -> None:
        self.height = height
        metrics = {view.metric.name for view in views}
        is_latency = views[0].metric.unit == "ns"
        self._per = _NS_PER_MS if is_latency else 1.0
        self._title = "ms" if is_latency and len(metrics) > 1 else axis_title(views[0].metric, views[0].words)
        least = min((low for view in views if (low := view.least_positive) is not None), default=None)
        most = max(view.most for view in views)
        self._log = is_latency and least is not None and least * _MANY_ORDERS < most
        if self._log and least is not None:
            self._low, self._high = least / self._per / 1.5, most / self._per * 1.2
        else:
            self._low, self._high = 0.0, (most / self._per or 1.0) * 1.08 * height / (height - lanes)

    def value(self, of: float) -> float:
        """In the axis' unit; what lies below a logarithmic axis (an interval down to 0) is on its edge."""
        return max(of / self._per, self._low)

    def pixel(self, of: float) -> float:
        """Pixels from the top."""
        at = self.value(of)
        if self._log:
            return self.height * math.log(self._high / at) / math.log(self._high / self._low)
        return self.height * (1 - at / self._high)

    def at_pixel(self, pixel: float) -> float:
        """In the axis' unit."""
        if self._log:
            return float(self._high * (self._low / self._high) ** (pixel / self.height))
        return self._high * (1 - pixel / self.height)

    def encoding(self, field: str = "value", *, named: bool = True) -> alt.Y:
        """Without labels next to a panel that has the same."""
        return alt.Y(
            f"{field}:Q",
            title=self._title if named else None,
            scale=alt.Scale(
                type="log" if self._log else "linear", domain=[self._low, self._high], nice=False, zero=False
            ),
            axis=alt.Axis(format=",~f", values=one_two_five(self._low, self._high), labels=named)
            if self._log
            else alt.Axis(format=",~f", tickCount=5, labels=named),
        )


class LoadAxis:
    """Along: connections or queue depth."""

    def __init__(self, views: Sequence[Curves], width: int) -> None:
        self.width = width
        self.loads = sorted({load for view in views for load in view.connections})
        first, last = self.loads[0], self.loads[-1]
        self.log = len(self.loads) > 2 and first > 0 and last / first > _WIDE_RANGE
        margin = (last - first) * 0.03 or 1
        self.domain = (first / 1.1, last * 1.1) if self.log else (max(0.0, first - margin), last + margin)
        self._title = views[0].words.load

    def dodged(self, load: float, place: int, of: int) -> float:
        """`load` moved a few pixels to the side, so that the intervals of several settings do not hide each
        other."""
        step = min(5.0, 18 / max(1, of - 1), self.width / 80)
        share = (place - (of - 1) / 2) * step / self.width
        low, high = self.domain
        return float(load * (high / low) ** share if self.log else load + share * (high - low))

    def between(self, low: float, high: float, steps: int) -> list[float]:
        """Loads for a smooth line, evenly spread on this axis."""
        shares = [step / (steps - 1) for step in range(steps)]
        if self.log:
            return [low * (high / low) ** share for share in shares]
        return [low + share * (high - low) for share in shares]

    def share(self, load: float) -> float:
        """Its position along the axis, 0 to 1."""
        low, high = self.domain
        return math.log(load / low) / math.log(high / low) if self.log else (load - low) / (high - low)

    def inside(self, load: float) -> float:
        return min(max(load, self.domain[0]), self.domain[1])

    def encoding(self, field: str = "connections") -> alt.X:
        return alt.X(
            f"{field}:Q",
            title=self._title,
            scale=alt.Scale(
                type="log" if self.log else "linear", domain=list(self.domain), nice=False, zero=False
            ),
            axis=alt.Axis(values=self.loads, format=",~f", labelOverlap="greedy", labelSeparation=6),
        )


class BarAxis:
    """Along, for bars and marks: from 0 to `high`, or logarithmic from `low`; values are divided by `per`."""

    def __init__(self, title: str, low: float | None, high: float, width: int, per: float = 1.0) -> None:
        """`low`: None for an axis from 0."""
        self._title, self._per = title + ("" if low is None else " (logarithmic)"), per
        self._kind: Literal["linear", "log"] = "linear" if low is None else "log"
        self.low = low or 0.0
        self._domain = [self.low, high]
        steps = {"tickCount": max(3, width // 90)} if low is None else {"values": one_two_five(low, high)}
        self._axis = alt.Axis(format=",~f", grid=True, **steps)

    def value(self, of: float) -> float:
        """What lies below a logarithmic axis (an interval down to 0) is on its edge."""
        return max(of / self._per, self.low)

    def value_or_none(self, of: float | None) -> float | None:
        return None if of is None else self.value(of)

    def encoding(self, field: str = "value") -> alt.X:
        return alt.X(
            f"{field}:Q",
            title=self._title,
            scale=alt.Scale(type=self._kind, domain=self._domain, nice=False, zero=False),
            axis=self._axis,
        )


def axis_title(metric: Metric, words: Words) -> str:
    """What is on the axis, with its unit."""
    return f"{metric.noun}, ms" if metric.unit == "ns" else short_noun(metric, words)


def short_noun(metric: Metric, words: Words) -> str:
    if metric is words.rate:
        return words.rate_short
    return metric.noun.replace(" per second", "/s")
