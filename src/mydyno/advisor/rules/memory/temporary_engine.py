"""The engine of temporary tables in memory (MySQL 8.0 and later).

A MEMORY table has rows of fixed length: a VARCHAR(1000) with three letters takes a thousand characters,
and a table with a TEXT or BLOB column cannot be one at all and starts on disk. TempTable, the default
since 8.0, stores what is there, and since 8.0.13 large objects, too. MEMORY is left over from option files
of old.
"""

from mydyno.advisor.rules import *

_NAME = "internal_tmp_mem_storage_engine"


def _judge(system: System, _: Targets) -> Judgement:
    server = system.server
    now = server.text(_NAME)
    if now is None:
        return NotHere(f"{server.release} has one engine for temporary tables in memory")
    if server.release.numbers < (8, 0, 13):
        return NotHere("TempTable takes no large objects before MySQL 8.0.13")
    if now.casefold() != "memory":
        return Fine(f"temporary tables in memory are {now}")
    spilt = share(server.counter("Created_tmp_disk_tables"), server.counter("Created_tmp_tables"))
    return RULE.finding(
        title="Temporary tables are MEMORY tables: rows of full length, no large objects",
        evidence=(
            f"{_NAME} = {now}; the default is TempTable",
            f"{spilt:.0%} of temporary tables go to disk"
            if spilt is not None
            else "how many go to disk is not known",
        ),
        recommendation=f"set {_NAME} to TempTable",
        changes=settings(server, {_NAME: "TempTable"}),
        severity=Severity.MEDIUM if spilt is not None and spilt > 0.25 else Severity.LOW,
        effect=better("latency", "small", "smaller temporary tables, fewer of them on disk"),
    )


RULE = Rule(
    checks="internal_tmp_mem_storage_engine (MySQL 8.0.13 and later)",
    why="MEMORY pads every row to its full length and sends tables with large objects to disk.",
    expected="less memory for temporary tables and fewer on disk",
    sources=("MySQL Reference Manual, Internal Temporary Table Use in MySQL",),
    judge=_judge,
    variables=(_NAME,),
)
