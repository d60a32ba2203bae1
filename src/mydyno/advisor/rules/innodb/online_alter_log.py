"""Whether an online ALTER TABLE would fail for too many changes meanwhile.

While a table is rebuilt online, what others change in it is recorded in a log of at most
innodb_online_alter_log_max_size. When that is full, the ALTER fails with error 1799 at its end, after hours
perhaps. 128M, the default, are enough for most tables; under a high rate of changes they are full within
minutes. The log is written in temporary files only while an ALTER runs, so that a higher bound costs nothing
until then.
"""

from mydyno.advisor.rules import *
from mydyno.advisor.targets.redo import write_rate

_NAME = "innodb_online_alter_log_max_size"
_SECONDS = 1800
_LEAST, _MOST = 128 * MIB, 2 * GIB
_OF_FREE_DISK = 0.5


def _judge(system: System, _: Targets) -> Judgement:
    server = system.server
    now, found = server.number(_NAME), write_rate(system)
    if now is None or found is None:
        return Unknown(f"{_NAME}, the rate of redo")
    rate, lines = found
    needed = rate * _SECONDS
    if now * 2 > min(needed, _MOST) and now >= _LEAST:
        return Fine(f"{format_bytes(now)} for about {format_bytes(int(needed))} of redo in half an hour")
    free = free_bytes(system, "temporary files", "data")
    wanted = _LEAST
    while wanted < min(needed, _MOST) and (free is None or wanted * 2 <= free * _OF_FREE_DISK):
        wanted *= 2
    if wanted <= now or (free is not None and wanted > free * _OF_FREE_DISK):
        return Fine(f"{format_bytes(now)}, and {format_bytes(free or 0)} free for temporary files: no more")
    changes = settings(server, {_NAME: size_text(wanted)})
    return RULE.finding(
        title=f"An online ALTER TABLE may fail after {format_bytes(now)} of changes",
        evidence=(
            *lines,
            f"{format_bytes(int(rate))}/s, of all tables, x {_SECONDS} s = {format_bytes(int(needed))}",
            f"{_NAME} = {format_bytes(now)}",
            *(() if free is None else (f"{format_bytes(free)} are free for temporary files",)),
        ),
        recommendation=f"set {_NAME} to {format_bytes(wanted)}",
        changes=changes,
        severity=Severity.LOW,
        effect=better(
            "stability", "small", "half an hour of an online ALTER survives all changes of this rate"
        ),
        risk="an ALTER may take as much room in innodb_tmpdir, and locks the table longer at its end",
    )


RULE = Rule(
    checks="innodb_online_alter_log_max_size against the rate of redo",
    why="An ALTER that fails after an hour has to be done again.",
    expected="online ALTERs that come to their end",
    risk="more temporary space while an ALTER runs",
    sources=('MySQL Reference Manual, "Online DDL Space Requirements", "Online DDL Failure Conditions"',),
    judge=_judge,
    variables=(_NAME,),
)
