"""The solver of the memory budget: what every memory setting would be, so that the sum stays in the memory.

What is more than there is gives way in this order, and each part only by as much as is still missing:

1. buffers of sessions, all by the same share of what they have above their defaults,
2. `max_connections`, down to what was used at most with headroom,
3. the buffer pool.

Each step is a continuous function of the memory, the load and the present values, but for the round numbers
that it is written in: a little more or less of anything changes the result by a little. A value that was set
as advised is in balance, so asking again gives the same.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from mydyno.advisor.targets import pool
from mydyno.advisor.targets.budget import OVERHEAD, POOL, budget
from mydyno.advisor.targets.connections import Connections, down_to_step
from mydyno.advisor.targets.record import Sized
from mydyno.advisor.targets.sessions import capped, least_of, lowered
from mydyno.advisor.targets.steps import down_to
from mydyno.core.units import format_bytes
from mydyno.server.variables.memory import MemorySum
from mydyno.survey.facts import Server, System

_SESSIONS_SHARE = 0.3
"""Of the usable memory: more connections than this has room for are not allowed in addition."""
_POOL_SHARE = 0.5
"""Of the usable memory: down to this the pool gives way so that more connections are allowed than now."""
_WORTH_LOWERING = 0.9
"""Connections are lowered by a tenth or more, where their use allows it."""
_WORTH = 1.25
"""A pool is made larger only when it becomes larger by a quarter."""


@dataclass(frozen=True)
class Solution:
    max_connections: int
    buffers: Mapping[str, int]
    pool_bytes: int | None
    pool_could_grow: bool
    """Whether there is room for a larger pool, while it is not known whether the data needs it."""
    total: MemorySum
    lines: tuple[str, ...]


@dataclass(frozen=True)
class _Budget:
    """The sum of all but the pool, for any choice of what sessions may have."""

    server: Server
    fixed: Mapping[str, int]

    def of(self, limit: int, buffers: Mapping[str, int]) -> MemorySum:
        return budget(self.server, {**self.fixed, **buffers, "max_connections": limit, POOL: 0})


def solve(system: System, room: Sized, uses: Connections, fixed: Mapping[str, int]) -> Solution:
    """`fixed`: what other targets have decided (log buffer, key buffer, query cache, temporary tables)."""
    server = system.server
    now, rest = server.number(POOL), _Budget(server, fixed)
    wanted, kept = _wanted(room, uses, rest), _with_overhead(now or 0)
    for_all = room.bytes - (min(kept, int(room.bytes * _POOL_SHARE)) if wanted > uses.now else kept)
    buffers = _buffers(server, wanted, for_all, rest)
    limit = _limit(uses, wanted, for_all, rest.of(wanted, buffers))
    left = room.bytes - rest.of(limit, buffers).total
    size, could_grow = (None, False) if now is None else _pool(system, now, left)
    chosen = {**fixed, **buffers, "max_connections": limit}
    total = budget(server, chosen if size is None else {**chosen, POOL: size})
    return Solution(limit, buffers, size, could_grow, total, lines_of(room, total))


def _wanted(room: Sized, uses: Connections, rest: _Budget) -> int:
    """The limit that use calls for, as far as a share of the memory goes with the smallest buffers."""
    smallest = rest.of(uses.now, least_of(rest.server)).each_connection
    return uses.within(int(room.bytes * _SESSIONS_SHARE / smallest) if smallest else None)


def _buffers(server: Server, limit: int, for_all: int, rest: _Budget) -> Mapping[str, int]:
    buffers = capped(server)
    short = rest.of(limit, buffers).total - for_all
    return lowered(server, buffers, -(-short // max(1, limit))) if short > 0 else buffers


def _limit(uses: Connections, wanted: int, for_all: int, now: MemorySum) -> int:
    """`wanted`, or as many as there is room for, and never fewer than use needs."""
    if now.total <= for_all or not now.each_connection:
        return wanted
    once = now.total - now.max_connections * now.each_connection
    affordable = down_to_step(max(0, for_all - once) / now.each_connection)
    if wanted > uses.now:
        return max(uses.now, min(wanted, affordable))
    return max(uses.least, min(affordable, down_to_step(_WORTH_LOWERING * uses.now)))


def _pool(system: System, now: int, left: int) -> tuple[int, bool]:
    """The pool that fits into `left` bytes, and whether only unknown data speak against a larger one.

    One that fits stays, or grows to what the data can use; one that does not fit becomes what fits.
    """
    room = int(left / (1 + OVERHEAD))
    best = down_to(room, pool.unit(system, room))
    if _with_overhead(now) > left:
        return min(now, max(best, pool.unit(system, pool.LEAST))), False
    useful = pool.most_useful(system)
    if useful is None:
        return now, best >= _WORTH * now
    best = min(best, useful)
    return (best if best >= _WORTH * now else now), False


def _with_overhead(size: int) -> int:
    return size + int(size * OVERHEAD)


def lines_of(room: Sized, total: MemorySum) -> tuple[str, ...]:
    """The whole arithmetic, a line for each part."""
    parts = [f"  {name} {format_bytes(size)}" for name, size in total.once]
    each = " + ".join(f"{name} {format_bytes(size)}" for name, size in total.per_connection)
    sessions = total.max_connections * total.each_connection
    verdict = "fits into" if total.total <= room.bytes else "is more than"
    return (
        *room.lines,
        "the server with the advised values may allocate",
        *parts,
        f"  {total.max_connections} connections x {format_bytes(total.each_connection)} ="
        f" {format_bytes(sessions)} ({each})",
        f"  = {format_bytes(total.total)} in all, which {verdict} {format_bytes(room.bytes)}",
    )
