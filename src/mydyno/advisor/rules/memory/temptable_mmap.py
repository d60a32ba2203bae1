"""Whether temporary tables that are too large for memory go to memory-mapped files.

Since MySQL 8.0.23 a TempTable table above temptable_max_ram continues in memory-mapped files of up to
temptable_max_mmap (1G by default) before it becomes an InnoDB table on disk. The mapped pages are written
out and read back by the kernel one by one, and count as the server's memory in a control group. MySQL 8.4
has set the default to 0: InnoDB's own temporary tablespace, with its buffer pool, performs better.
"""

from mydyno.advisor.rules import *

_NAME = "temptable_max_mmap"
_MANY = 1.0
"""Temporary tables each second."""


@Rule(
    checks="temptable_max_mmap where temporary tables are created (MySQL 8.0.23 and later)",
    why="Mapped temporary files are written by the kernel page by page; newer releases avoid them.",
    expected="large temporary tables go to InnoDB, as MySQL 8.4 does by default; usually no effect",
    risk="a query with a huge temporary table may be slower or faster",
    sources=(
        "MySQL 8.0 Reference Manual, Internal Temporary Table Use in MySQL, TempTable storage engine",
        "MySQL 8.4 Reference Manual, What Is New in MySQL 8.4 since MySQL 8.0, new defaults",
    ),
    variables=(_NAME,),
)
def rule(system: System, _: Targets) -> Judgement:
    server = system.server
    now = require(
        server.number(_NAME),
        NotHere(f"{server.release} does not map temporary tables, or not under this name"),
    )
    made = often(server, "Created_tmp_tables")
    if made is None:
        return Unknown("Created_tmp_tables")
    if now == 0 or server.switch("temptable_use_mmap") is False:
        return Fine("temporary tables go from memory straight to InnoDB")
    if made < _MANY:
        return Fine(f"{a_second(made)} temporary tables: too few to matter")
    return finding(
        title=f"Temporary tables may take {format_bytes(now)} in mapped files",
        evidence=(
            f"{_NAME} = {format_bytes(now)}; the default is 0 since MySQL 8.4",
            f"{a_second(made)} temporary tables are created; how many are mapped is not counted here",
        ),
        recommendation=f"set {_NAME} to 0",
        changes=settings(server, {_NAME: 0}),
        effect=better("latency", "small"),
    )
