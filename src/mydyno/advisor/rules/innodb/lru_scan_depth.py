"""How many pages the cleaner scans for free ones, once a second in each buffer pool instance.

innodb_lru_scan_depth is how many free pages the cleaner tries to keep for reads. Each step costs CPU under
the pool's latch; with many instances a large depth makes a round last longer than a second ("page_cleaner:
1000ms intended loop took ..." in the error log). MySQL's manual: smaller than the default is right for most
loads, more only where there is spare I/O. So too high and too low are both checked, by whether queries had
to wait for a free page.
"""

from mydyno.advisor.rules import *

_NAME = "innodb_lru_scan_depth"
_WAITS = "Innodb_buffer_pool_wait_free"
_TOO_FAR = 4
_OFTEN = 1.0


@Rule(
    checks="innodb_lru_scan_depth compared with the waits for free pages",
    why="Too many costs CPU under a latch each second, too few leaves reads waiting.",
    expected="slightly less CPU or latency",
    sources=('MySQL Reference Manual, "Configuring Buffer Pool Flushing", innodb_lru_scan_depth',),
    variables=(_NAME,),
)
def rule(system: System, _: Targets) -> Judgement:
    server = system.server
    now = require(server.number(_NAME), _NAME)
    waits = require(server.rate(_WAITS), _WAITS)
    default = 1536 if is_mariadb(server.release, (10, 5, 7)) else 1024
    short, far = now < default and waits >= _OFTEN, now > _TOO_FAR * default and waits == 0
    if not short and not far:
        return Fine(f"{_NAME} is {now}, {waits:.2g} waits for a free page each second")
    return finding(
        title=f"The cleaner scans {now} pages for free ones, "
        + ("and queries wait for them" if short else "and no query ever waits for one"),
        evidence=(f"{_NAME} = {now}, the default is {default}", f"{_WAITS}: {waits:.2g}/s"),
        recommendation=f"set {_NAME} to {default}, the default",
        changes=settings(server, {_NAME: default}),
        effect=better(
            "latency" if short else "throughput",
            "small",
            "more pages are free in advance" if short else "less CPU under the pool's latch",
        ),
    )
