"""Whether queries have to wait for a free page.

A page is read into a free page of the buffer pool. Usually the cleaner keeps some free in advance; where it
cannot keep up, the query itself must first write out a dirty page and wait for the disk
(Innodb_buffer_pool_wait_free). Then the pool is too small for the load, or the cleaner too slow for the
changes: its rate is innodb_io_capacity.
"""

from mydyno.advisor.rules import *

_COUNTER = "Innodb_buffer_pool_wait_free"
_SELDOM = 0.1
_OFTEN = 10.0


@Rule(
    checks="the rate of Innodb_buffer_pool_wait_free",
    why="A query that must write out a page before it can read one waits for the disk twice.",
    expected="reads that do not wait for a write: lower and steadier latency",
    sources=('MySQL Reference Manual, "Server Status Variables", Innodb_buffer_pool_wait_free',),
)
def rule(system: System, _: Targets) -> Judgement:
    server = system.server
    rate = require(server.rate(_COUNTER), _COUNTER)
    if rate < _SELDOM:
        return Fine(f"{rate:.2g} waits for a free page each second")
    dirty, total = (server.counter(f"Innodb_buffer_pool_pages_{kind}") for kind in ("dirty", "total"))
    return finding(
        title=f"Queries wait for a free page of the buffer pool {rate:,.1f} times a second",
        evidence=(
            f"{_COUNTER} grew by {rate:,.1f}/s in {server.status.seconds:.0f} s",
            f"{dirty:,.0f} of {total:,.0f} pages are dirty ({dirty / total:.0%})"
            if dirty is not None and total
            else None,
        ),
        recommendation="give the buffer pool more memory, or its cleaner a higher innodb_io_capacity",
        changes=by_hand(
            "see buffer-pool-size and io-capacity; if both are followed, the disks are too slow for the load"
        ),
        severity=Severity.HIGH if rate >= _OFTEN else Severity.MEDIUM,
        effect=better("latency", "large" if rate >= _OFTEN else "medium"),
    )
