"""Two caches of old whose use can be seen: MyISAM's key buffer and the query cache."""

from mydyno.advisor.targets.steps import MIB, down_to, ladder
from mydyno.survey.facts import Server

_SMALL_KEY_BUFFER = 16 * MIB
_SPARE = 256 * MIB
_SHARE = 0.05
"""Of the usable memory: on a small machine less may be there unused."""
_NOTHING = MIB
"""The default size, with a type that is OFF: not worth a change."""
_WORTH_KEEPING = 0.5
"""Share of reads that the query cache answers, below which its one lock costs more than it saves."""


def key_buffer_bytes(server: Server, usable: int | None) -> int | None:
    """Lowered where more of it was never used than 256M or 5% of the memory, to that much above twice what
    was in use at most since the start (Key_blocks_used, MySQL Reference Manual, "Server Status Variables"),
    at least 16M."""
    now = server.number("key_buffer_size")
    used, block = server.counter("Key_blocks_used"), server.number("key_cache_block_size") or 1024
    if now is None or used is None:
        return now
    enough = max(_SMALL_KEY_BUFFER, ladder(2 * used * block / MIB) * MIB)
    spare = _SPARE if usable is None else min(_SPARE, int(usable * _SHARE))
    return min(now, enough + down_to(spare, MIB))


def query_cache_bytes(server: Server) -> int | None:
    """0 where it answers less than half of the reads; None where the release has none."""
    now = server.number("query_cache_size")
    if not now:
        return now
    if (server.text("query_cache_type") or "").casefold() in ("off", "0"):
        return now if now <= _NOTHING else 0
    answered = query_cache_share(server)
    if answered is None:
        return now
    return 0 if answered < _WORTH_KEEPING else now


def query_cache_share(server: Server) -> float | None:
    """The part of all SELECTs that the query cache has answered; None: not known.

    MySQL counts those in Qcache_hits alone (MySQL 5.7 Reference Manual, "Query Cache Status and
    Maintenance"), MariaDB in Com_select too (MariaDB Documentation, "Server Status Variables").
    """
    hits, reads = server.counter("Qcache_hits"), server.counter("Com_select")
    if hits is None or reads is None:
        return None
    whole = reads if server.release.is_mariadb else reads + hits
    return hits / whole if whole else 0.0
