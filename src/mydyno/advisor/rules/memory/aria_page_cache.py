"""The cache of Aria: MariaDB's system tables and its temporary tables on disk.

Temporary tables that outgrow the memory are Aria tables, whose pages live in this cache. Many misses mean
that large temporary tables are read from disk; a larger cache, or better a smaller result, helps. The
default is 128M. Where user tables are Aria, it is their buffer pool.
"""

from mydyno.advisor.rules import *

_NAME = "aria_pagecache_buffer_size"
_READS = 50
"""Pages from disk each second."""
_MISSED = 0.02


@Rule(
    checks="misses of Aria's page cache (MariaDB)",
    why="Temporary tables on disk and system tables are cached there.",
    expected="fewer reads of temporary tables; usually no effect",
    risk="memory that the buffer pool could have",
    sources=("MariaDB Documentation, Aria System Variables; Aria Status Variables",),
)
def rule(system: System, _: Targets) -> Judgement:
    server = system.server
    now = require(server.number(_NAME), NotHere(f"{server.release} has no Aria"))
    reads = require(often(server, "Aria_pagecache_reads"), "Aria_pagecache_reads")
    missed = share(server.counter("Aria_pagecache_reads"), server.counter("Aria_pagecache_read_requests"))
    if reads < _READS or missed is None or missed < _MISSED:
        return Fine(f"{format_bytes(now)}, {a_second(reads)} pages are read from disk")
    on_disk = often(server, "Created_tmp_disk_tables")
    return finding(
        title=f"{a_second(reads)} pages of Aria are read from disk",
        evidence=(
            f"Aria_pagecache_reads grows by {a_second(reads)}, {missed:.0%} of all requests miss",
            f"{_NAME} = {format_bytes(now)}, {a_second(on_disk)} temporary tables go to disk",
        ),
        recommendation="improve the statements with large temporary tables first; then enlarge the cache",
        changes=by_hand(f"set {_NAME} to {format_bytes(2 * now)} if the memory budget allows, and restart"),
        effect=better("latency", "small"),
        restart=True,
    )
