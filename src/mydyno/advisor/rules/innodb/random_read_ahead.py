"""Whether pages that are read ahead are used.

Random read-ahead fetches the rest of an extent (64 pages) once 13 of its pages are in the pool. It is off
by default; where it is on and its pages are evicted unread, it wastes disk time and space in the pool.
"""

from mydyno.advisor.rules import *

_NAME = "innodb_random_read_ahead"
_READ, _EVICTED = "Innodb_buffer_pool_read_ahead_rnd", "Innodb_buffer_pool_read_ahead_evicted"
_WASTE = 0.2
_ENOUGH = 1000


@Rule(
    checks="innodb_random_read_ahead, and how many pages are evicted unused",
    why="Unused pages cost reads and push others out of the pool.",
    expected="fewer disk reads",
    sources=('MySQL Reference Manual, "Configuring InnoDB Buffer Pool Prefetching (Read-Ahead)"',),
    variables=(_NAME,),
)
def rule(system: System, _: Targets) -> Judgement:
    server = system.server
    on = require(server.switch(_NAME), _NAME)
    if not on:
        return Fine(f"{_NAME} is OFF, the default")
    linear, random = server.counter("Innodb_buffer_pool_read_ahead"), server.counter(_READ)
    evicted = server.counter(_EVICTED)
    if linear is None or random is None or evicted is None or linear + random < _ENOUGH:
        return Unknown("whether pages read ahead are used")
    share = evicted / (linear + random)
    if share < _WASTE:
        return Fine(f"{share:.0%} of the pages read ahead were evicted unused")
    return finding(
        title=f"{share:.0%} of the pages that are read ahead are never used",
        evidence=(f"{evicted:,.0f} evicted of {linear:,.0f} + {random:,.0f} read ahead = {share:.1%}",),
        recommendation=f"set {_NAME} to OFF, the default",
        changes=settings(server, {_NAME: "OFF"}),
        effect=better("throughput", "small"),
    )
