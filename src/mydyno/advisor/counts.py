"""Counters as rules look at them: how often, what part, how long. None: not known."""

from mydyno.survey.facts import Server
from mydyno.survey.facts.server import decimal_of

DAY = 86_400
"""Seconds."""


def often(server: Server, name: str) -> float | None:
    """How many each second: the larger of the interval's rate and the mean since the server's start."""
    known = [rate for rate in (server.rate(name), server.average(name)) if rate is not None]
    return max(known, default=None)


def share(part: float | None, whole: float | None) -> float | None:
    """`part` of `whole`; None too where there is nothing to have a part of."""
    return None if part is None or not whole else part / whole


def total(server: Server, *names: str) -> float | None:
    """The sum of those counters that the release has; None when it has none of them."""
    known = [count for name in names if (count := server.counter(name)) is not None]
    return sum(known) if known else None


def decimal(server: Server, name: str) -> float | None:
    """A variable's number with its fraction, as long_query_time has one."""
    return decimal_of(server.text(name))


def least_running(server: Server) -> float | None:
    """Threads_running at the quieter end of the interval: a crowd of one instant is none."""
    return min(running) if (running := _running(server)) else None


def most_running(server: Server) -> float | None:
    """Threads_running at the busier end of the interval."""
    return max(running) if (running := _running(server)) else None


def _running(server: Server) -> tuple[float, float] | None:
    """Threads_running at both ends of the interval."""
    before, later = server.status.before.get("Threads_running"), server.counter("Threads_running")
    earlier = decimal_of(before)
    return None if earlier is None or later is None else (earlier, later)


def a_second(rate: float | None) -> str:
    """`12 a second`, `0.05 a second`; `not known`."""
    if rate is None:
        return "not known"
    return f"{rate:,.0f} a second" if rate >= 10 else f"{rate:.2g} a second"


def uptime(server: Server) -> str:
    """`in 12 days`: since the server's start."""
    seconds = server.uptime_seconds
    if seconds is None:
        return "since the start"
    return f"in {seconds / DAY:.0f} days" if seconds >= 2 * DAY else f"in {seconds / 3600:.1f} hours"
