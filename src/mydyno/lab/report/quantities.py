"""Values of a metric as the report writes them."""

from __future__ import annotations

from collections.abc import Callable

from mydyno.lab.analysis.metrics import Metric
from mydyno.page.format import count, kilobytes, latency, number, seconds

_WRITERS: dict[str, Callable[[float | None], str]] = {
    "ns": latency,
    "s": seconds,
    "bytes": kilobytes,
    "": number,
}


def writer(metric: Metric) -> Callable[[float | None], str]:
    """What writes a value of `metric` with its unit; a rate has none."""
    return _WRITERS.get(metric.unit, count)
