"""How much memory all TempTable tables together may take.

It is a limit for the whole server, 1G by default until MySQL 8.4, where it became 3% of the memory (1G to
4G). So on a small machine a single bad query may take as much as the buffer pool has. At the limit,
temporary tables continue on disk: slower, without an out-of-memory kill.
"""

from mydyno.advisor.rules import *

_NAME = "temptable_max_ram"
_TOO_MUCH = 4
"""A quarter of the memory."""
_LEAST = 16 << 20


@Rule(
    checks="temptable_max_ram compared with the memory (MySQL 8.0 and later)",
    why="It limits all temporary tables together; on a small machine the default is most of the memory.",
    expected="queries with large temporary tables use the disk before the server runs out of memory",
    risk="such queries become slower",
    sources=(
        "MySQL Reference Manual, Internal Temporary Table Use in MySQL, TempTable storage engine",
        "MySQL 8.4 Reference Manual, What Is New in MySQL 8.4 since MySQL 8.0, new defaults",
    ),
    variables=(_NAME,),
)
def rule(system: System, _: Targets) -> Judgement:
    server = system.server
    now = require(server.number(_NAME), NotHere(f"{server.release} has no TempTable engine"))
    host = require(system.host, "the machine's memory")
    memory = host.memory.usable
    if now <= memory / _TOO_MUCH:
        return Fine(f"{format_bytes(now)} of {format_bytes(memory)}")
    wanted = max(_LEAST, 1 << (memory // 16).bit_length() - 1)
    if wanted >= now:
        return Fine(f"{format_bytes(now)} of {format_bytes(memory)}: less would be too little")
    return finding(
        title=f"Temporary tables may take {format_bytes(now)} of {format_bytes(memory)}",
        evidence=(
            f"{_NAME} = {format_bytes(now)}, {now / memory:.0%} of the memory",
            f"a sixteenth of it, a power of two: {format_bytes(wanted)}",
        ),
        recommendation=f"set {_NAME} to {format_bytes(wanted)}",
        changes=settings(server, {_NAME: wanted}),
        severity=Severity.MEDIUM,
        effect=better("stability", "medium"),
    )
