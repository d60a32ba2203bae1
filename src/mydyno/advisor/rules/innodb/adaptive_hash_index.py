"""Whether the adaptive hash index is worth its latches.

InnoDB can build hash indexes in memory for pages that are searched often. Where searches repeat they save
some CPU; where they do not, and under many changes, maintaining them costs more than they save, and threads
wait for their latches. New releases have it off (MariaDB 10.5, MySQL 8.4).

The counters of searches with and without hash show which it is here. Where a release does not have them as
status variables, threads that wait for latches at the moment of the survey are the only sign, and nothing
is changed on so little evidence.
"""

from mydyno.advisor.rules import *

_NAME = "innodb_adaptive_hash_index"
_BY_HASH, _WITHOUT = "Innodb_adaptive_hash_hash_searches", "Innodb_adaptive_hash_non_hash_searches"
_WORTH_IT = 0.3
_ENOUGH_SEARCHES = 100_000
_MANY_WAITS = 8


@Rule(
    checks="innodb_adaptive_hash_index, by the share of searches that it serves or by waits for latches",
    why="Rarely used hash indexes cost CPU, memory and latches with every change.",
    expected="a bit more throughput under mixed loads",
    risk="loads that search the same few pages can get slower; it can be changed back while the server runs",
    sources=(
        'MySQL Reference Manual, "Adaptive Hash Index"; 8.4: "What Is New", table of new defaults',
        'MariaDB Documentation, "InnoDB System Variables", innodb_adaptive_hash_index',
    ),
    variables=(_NAME,),
)
def rule(system: System, _: Targets) -> Judgement:
    server = system.server
    on = require(server.switch(_NAME), _NAME)
    if not on:
        return Fine(f"{_NAME} is OFF, as newer releases have it")
    by_hash, without = server.counter(_BY_HASH), server.counter(_WITHOUT)
    if by_hash is None or without is None:
        return _by_waits(server)
    searches = by_hash + without
    if searches < _ENOUGH_SEARCHES:
        return Unknown(f"whether it helps: only {searches:,.0f} searches so far")
    share = by_hash / searches
    if share >= _WORTH_IT:
        return Fine(f"{share:.0%} of {searches:,.0f} searches went by hash")
    return finding(
        title=f"The adaptive hash index serves only {share:.0%} of the searches",
        evidence=(f"{by_hash:,.0f} searches by hash of {searches:,.0f} = {share:.1%}",),
        recommendation=f"set {_NAME} to OFF and measure",
        changes=settings(server, {_NAME: "OFF"}),
        effect=better(
            "throughput",
            "small",
            "no maintenance of rarely used hash indexes; their memory returns to the pool",
        ),
    )


def _by_waits(server: Server) -> Judgement:
    waits = require(
        server.innodb.semaphore_waits if server.innodb else None,
        "waits for latches: the account needs PROCESS for SHOW ENGINE INNODB STATUS",
    )
    if waits < _MANY_WAITS:
        return Fine(f"{waits} threads wait for a latch")
    return finding(
        title=f"{waits} threads wait for latches, and the adaptive hash index is on",
        evidence=(f"{waits} threads in the list of semaphores of SHOW ENGINE INNODB STATUS",),
        recommendation="check whether they wait in btr0sea; if so, turn the index off and measure",
        changes=by_hand(
            "check the SEMAPHORES section; where it names btr0sea, turn the index off",
            "SHOW ENGINE INNODB STATUS",
            f"SET GLOBAL {_NAME} = OFF",
        ),
        effect=better("throughput", "medium", "less waiting, if the latches are its own"),
    )
