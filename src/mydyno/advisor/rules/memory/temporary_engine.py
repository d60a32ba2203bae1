"""The engine of temporary tables in memory (MySQL 8.0 and later).

A MEMORY table has rows of fixed length: a VARCHAR(1000) with three letters takes a thousand characters, and
a table with a TEXT or BLOB column cannot use it and starts on disk. TempTable, the default since 8.0,
stores actual lengths, and since 8.0.13 large objects. MEMORY is left over from old option files.
"""

from mydyno.advisor.rules import *

_NAME = "internal_tmp_mem_storage_engine"


@Rule(
    checks="internal_tmp_mem_storage_engine (MySQL 8.0.13 and later)",
    why="MEMORY pads every row to its full length and sends tables with large objects to disk.",
    expected="less memory for temporary tables and fewer on disk",
    sources=("MySQL Reference Manual, Internal Temporary Table Use in MySQL",),
    variables=(_NAME,),
)
def rule(system: System, _: Targets) -> Judgement:
    server = system.server
    now = require(
        server.text(_NAME), NotHere(f"{server.release} has one engine for temporary tables in memory")
    )
    if server.release.numbers < (8, 0, 13):
        return NotHere("TempTable takes no large objects before MySQL 8.0.13")
    if now.casefold() != "memory":
        return Fine(f"temporary tables in memory are {now}")
    spilt = share(server.counter("Created_tmp_disk_tables"), server.counter("Created_tmp_tables"))
    return finding(
        title="Temporary tables are MEMORY tables: fixed-length rows, no large objects",
        evidence=(
            f"{_NAME} = {now}; the default is TempTable",
            f"{spilt:.0%} of temporary tables go to disk"
            if spilt is not None
            else "how many go to disk is not known",
        ),
        recommendation=f"set {_NAME} to TempTable",
        changes=settings(server, {_NAME: "TempTable"}),
        severity=Severity.MEDIUM if spilt is not None and spilt > 0.25 else Severity.LOW,
        effect=better("latency", "small"),
    )
