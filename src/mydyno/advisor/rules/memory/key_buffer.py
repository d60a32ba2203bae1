"""The cache of MyISAM's indexes.

It serves MyISAM alone (its data goes through the kernel's cache). On a server of InnoDB tables a few
megabytes are enough for the remaining MyISAM tables, and the rest is better used for the buffer pool.
Key_blocks_used is the most ever used since the start. Where MyISAM is in use, Key_reads counts index blocks
read from disk.
"""

from mydyno.advisor.rules import *

_NAME = "key_buffer_size"
_READS = 10.0
"""Index blocks from disk each second."""
_MISSED = 0.02


@Rule(
    checks="key_buffer_size compared with its use and misses",
    why="It serves MyISAM indexes only: the unused part is lost to InnoDB.",
    expected="memory for the buffer pool",
    risk="none known: only the unused part is removed",
    sources=(
        "MySQL Reference Manual, The MyISAM Key Cache; Server Status Variables, Key_blocks_used",
        "MariaDB Documentation, Optimizing key_buffer_size",
    ),
    variables=(_NAME,),
)
def rule(system: System, targets: Targets) -> Judgement:
    server = system.server
    now = require(server.number(_NAME), _NAME)
    wanted = require(targets.key_buffer_bytes, "Key_blocks_used")
    changes = settings(server, {_NAME: wanted})
    used = (server.counter("Key_blocks_used") or 0) * (server.number("key_cache_block_size") or 1024)
    reads = often(server, "Key_reads")
    missed = share(server.counter("Key_reads"), server.counter("Key_read_requests"))
    if changes:
        return finding(
            title=f"MyISAM's key buffer has {format_bytes(now)}, of which {format_bytes(int(used))} were "
            "used",
            evidence=(
                f"{_NAME} = {format_bytes(now)}, Key_blocks_used = {format_bytes(int(used))} at most",
                f"twice that, at least 16M: {format_bytes(wanted)}",
            ),
            recommendation=f"set {_NAME} to {format_bytes(wanted)}",
            changes=changes,
            effect=better(
                "memory",
                "medium" if now - wanted >= 1 << 30 else "small",
                f"{format_bytes(now - wanted)} are free for the buffer pool",
            ),
        )
    if reads is not None and missed is not None and reads >= _READS and missed >= _MISSED:
        return finding(
            title=f"{missed:.0%} of MyISAM's index reads go to disk",
            evidence=(
                f"Key_reads grows by {a_second(reads)}, {_NAME} = {format_bytes(now)}",
                f"at most {format_bytes(int(used))} of it were used",
            ),
            recommendation="convert these tables to InnoDB, which uses the buffer pool",
            changes=by_hand(f"convert MyISAM tables to InnoDB (rule myisam-tables), or raise {_NAME}"),
            effect=better("latency", "small", "fewer reads of MyISAM's indexes"),
        )
    return Fine(f"{format_bytes(now)}, of which {format_bytes(int(used))} were used at most")
