"""Values of a metric as the report writes them."""

from collections.abc import Callable

from mydyno.lab.analysis.bootstrap import Interval
from mydyno.lab.analysis.metrics import Metric
from mydyno.lab.analysis.wording import TOO_WIDE, too_wide
from mydyno.page.format import count, interval, kilobytes, latency, number, seconds

_WRITERS: dict[str, Callable[[float | None], str]] = {
    "ns": latency,
    "s": seconds,
    "bytes": kilobytes,
    "": number,
}


def writer(metric: Metric) -> Callable[[float | None], str]:
    """What writes a value of `metric` with its unit; a rate has none."""
    return _WRITERS.get(metric.unit, count)


def bracketed(low: float | None, high: float | None, write: Callable[[float], str] = number) -> str:
    """The interval of a quantity above 0 (a mean, a ratio), printed after it: ` (0.869 to 1.45)`; empty
    without one."""
    if low is None or high is None:
        return ""
    return f" ({TOO_WIDE})" if too_wide(Interval(low, high)) else f" ({interval(low, high, write)})"
