"""How many connections to allow: what was in use at most, with headroom, as far as memory allows.

Max_used_connections is the peak since the server's start (MySQL Reference Manual, "Server Status
Variables"); a server that is up for less than a day has not seen its peak, so it gets more headroom. A
limit that is high and never used costs nothing but the worst case of the memory budget: it is lowered only
where memory is short, and never below what was used with headroom. Refused connections ask for no more than
that: Max_used_connections has then reached the limit, or they were refused at a lower one, which was raised.
"""

from dataclasses import dataclass

from mydyno.advisor.targets.steps import up_to
from mydyno.survey.facts import Server

NEAR = 0.85
"""Of the limit: from here on the next rush is refused."""
_HEADROOM = 1.5
_HEADROOM_WHEN_YOUNG = 2.0
_DAY = 86_400
FLOOR = 50
"""Fewer are advised on no machine: administration, replication and a pool's spikes need some."""


@dataclass(frozen=True)
class Connections:
    """`wanted` by use alone; `least` how far it may be lowered where memory is short."""

    now: int
    wanted: int
    least: int
    lines: tuple[str, ...]

    def within(self, most: int | None) -> int:
        """What to set when memory has room for `most` (None: not known): never less than now or `least`."""
        if self.wanted <= self.now or most is None:
            return self.wanted
        bounded = min(self.wanted, down_to_step(most))
        return max(self.now, bounded)


def connections(server: Server) -> Connections | None:
    """None where the limit or its use is not known."""
    now, used = server.number("max_connections"), server.counter("Max_used_connections")
    if not now or used is None:
        return None
    uptime = server.uptime_seconds
    young = uptime is None or uptime < _DAY
    headroom = _HEADROOM_WHEN_YOUNG if young else _HEADROOM
    needed = max(FLOOR, up_to_step(used * headroom))
    wanted = max(now, needed) if used >= NEAR * now else now
    lines = []
    if wanted > now:
        why = ", as the server is up for less than a day" if young else ""
        lines.append(f"{used:.0f} x {headroom:g} headroom{why} = {wanted}")
    return Connections(now, wanted, min(now, needed), tuple(lines))


def up_to_step(value: float) -> int:
    """Rounded up to tens, above 500 to fifties."""
    return up_to(value, _step(value))


def down_to_step(value: float) -> int:
    return int(value) // _step(value) * _step(value)


def _step(value: float) -> int:
    return 50 if value > 500 else 10
