"""How many connections should be able to wait for being accepted: what back_log and the kernel agree on."""

from mydyno.advisor.counts import often
from mydyno.survey.facts import Server

MOST = 4096
"""The kernels' default since 5.4 (net.core.somaxconn)."""
_MANY = 50
"""New connections each second, below which the default will do."""


def places_wanted(server: Server) -> int | None:
    """Two seconds' worth of new connections, as a power of two; 0 where they are few, None: not known."""
    rate = often(server, "Connections")
    if rate is None:
        return None
    return 0 if rate < _MANY else min(MOST, 1 << int(2 * rate).bit_length())
