"""The solver of the memory budget: what every memory setting would be, so that the sum stays in the memory.

The buffer pool gets what is left. Where even the present settings may take more than there is, that which
costs least goes first: buffers of sessions down to their defaults, then connections nobody uses, then the
buffer pool. Nothing here looks at a present value but to leave what is well, so that asking again after all
of it was set gives the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from mydyno.advise.targets import pool
from mydyno.advise.targets.budget import OVERHEAD, POOL, budget
from mydyno.advise.targets.connections import Connections, down_to_step
from mydyno.advise.targets.sessions import capped, lowered
from mydyno.advise.targets.steps import down_to
from mydyno.advise.targets.usable import Usable
from mydyno.catalogue.memory import MemorySum
from mydyno.core.units import format_bytes
from mydyno.facts import System

_SESSIONS_SHARE = 0.3
"""Of the usable memory: more connections than this has room for are not allowed in addition."""
_WORTH_LOWERING = 0.9
"""Connections are lowered by a tenth or more: the rest is the pool's to give."""
_WORTH = 1.25
"""A pool is made larger only when it becomes larger by a quarter."""


@dataclass(frozen=True)
class Solution:
    max_connections: int | None
    buffers: Mapping[str, int]
    pool_bytes: int | None
    total: MemorySum
    lines: tuple[str, ...]


def solve(system: System, room: Usable, uses: Connections | None, fixed: Mapping[str, int]) -> Solution:
    """`fixed`: what other targets have decided (log buffer, key buffer, query cache, temporary tables)."""
    server = system.server
    now, useful = server.number(POOL), pool.most_useful(system)
    kept = _with_overhead(min(now or 0, useful if useful is not None else now or 0))
    buffers = capped(server)

    def rest(limit: int | None) -> MemorySum:
        limits = {} if limit is None else {"max_connections": limit}
        return budget(server, {**fixed, **buffers, **limits, POOL: 0})

    limit = uses.now if uses else None
    if rest(limit).total + kept > room.bytes:
        buffers = lowered(server, buffers)
    each = rest(limit).each_connection
    if uses is not None and uses.wanted > uses.now:
        limit = uses.within(int(room.bytes * _SESSIONS_SHARE / each) if each else None)
    elif uses is not None and each and rest(limit).total + kept > room.bytes:
        affordable = int((room.bytes - kept - rest(0).total) / each)
        limit = max(uses.least, min(uses.now, down_to_step(affordable)))
        limit = limit if limit <= _WORTH_LOWERING * uses.now else uses.now
    left = room.bytes - rest(limit).total
    size = None if now is None else _pool(system, now, useful, left)
    chosen = {**fixed, **buffers} | ({} if limit is None else {"max_connections": limit})
    total = budget(server, chosen if size is None else {**chosen, POOL: size})
    return Solution(limit, buffers, size, total, lines_of(room, total))


def _pool(system: System, now: int, useful: int | None, left: int) -> int:
    """The pool that fits into `left` bytes: as it is when it fits and not much more would be of use."""
    room = int(left / (1 + OVERHEAD))
    best = down_to(room, pool.unit(system, room))
    if useful is not None:
        best = min(best, useful)
    if _with_overhead(now) <= left:
        return best if best >= _WORTH * now else now
    return min(now, max(best, pool.unit(system, pool.LEAST)))


def _with_overhead(size: int) -> int:
    return size + int(size * OVERHEAD)


def lines_of(room: Usable, total: MemorySum) -> tuple[str, ...]:
    """The whole arithmetic, a line for each part."""
    parts = [f"  {name} {format_bytes(size)}" for name, size in total.once]
    each = " + ".join(f"{name} {format_bytes(size)}" for name, size in total.per_connection)
    sessions = total.max_connections * total.each_connection
    verdict = "fits into" if total.total <= room.bytes else "is more than"
    return (
        *room.lines,
        "the server with what is advised may take",
        *parts,
        f"  {total.max_connections} connections x {format_bytes(total.each_connection)} ="
        f" {format_bytes(sessions)} ({each})",
        f"  = {format_bytes(total.total)} in all, which {verdict} {format_bytes(room.bytes)}",
    )
