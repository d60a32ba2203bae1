"""Whether an online ALTER TABLE would fail because of concurrent changes.

While a table is rebuilt online, concurrent changes to it are recorded in a log of at most
innodb_online_alter_log_max_size. When that is full, the ALTER fails with error 1799 at its end, perhaps
after hours. The default of 128M is enough for most tables; at a high rate of changes it is full within
minutes. The log is written in temporary files only while an ALTER runs, so a higher limit costs nothing
until then.
"""

from mydyno.advisor.rules import *
from mydyno.advisor.targets.redo import write_rate

_NAME = "innodb_online_alter_log_max_size"
_SECONDS = 1800
_LEAST, _MOST = 128 * MIB, 2 * GIB
_OF_FREE_DISK = 0.5


@Rule(
    checks="innodb_online_alter_log_max_size compared with the rate of redo",
    why="An ALTER that fails after an hour has to be done again.",
    expected="an online ALTER of half an hour succeeds at the present rate of changes",
    risk="an ALTER may take as much space in innodb_tmpdir, and locks the table longer at its end",
    sources=('MySQL Reference Manual, "Online DDL Space Requirements", "Online DDL Failure Conditions"',),
    variables=(_NAME,),
)
def rule(system: System, _: Targets) -> Judgement:
    server = system.server
    now = require(server.number(_NAME), _NAME)
    writing = require(write_rate(system), "the rate of redo")
    rate, lines = writing
    needed = rate * _SECONDS
    if now * 2 > min(needed, _MOST) and now >= _LEAST:
        return Fine(f"{format_bytes(now)} for about {format_bytes(int(needed))} of redo in half an hour")
    free = free_bytes(system, "temporary files", "data")
    wanted = _LEAST
    while wanted < min(needed, _MOST) and (free is None or wanted * 2 <= free * _OF_FREE_DISK):
        wanted *= 2
    if wanted <= now or (free is not None and wanted > free * _OF_FREE_DISK):
        return Fine(f"{format_bytes(now)}, and {format_bytes(free or 0)} free for temporary files: no more")
    return finding(
        title=f"An online ALTER TABLE may fail after {format_bytes(now)} of changes",
        evidence=(
            *lines,
            f"{format_bytes(int(rate))}/s, of all tables, x {_SECONDS} s = {format_bytes(int(needed))}",
            f"{_NAME} = {format_bytes(now)}",
            None if free is None else f"{format_bytes(free)} are free for temporary files",
        ),
        recommendation=f"set {_NAME} to {format_bytes(wanted)}",
        changes=settings(server, {_NAME: size_text(wanted)}),
        effect=better("stability", "small"),
    )
