"""Whether InnoDB keeps closing and opening the files of its tables.

With a file for each table, InnoDB keeps innodb_open_files of them open and closes the least used when one
more is needed. That is one system call or two, and a latch that everybody needs; where it happens all the
time it shows. It matters only when there are more tables than places and the places are used up.
"""

from mydyno.advisor.rules import *

_NAME = "innodb_open_files"


def _judge(system: System, targets: Targets) -> Judgement:
    server = system.server
    now, opened = server.number(_NAME), server.counter("Innodb_num_open_files")
    wanted = targets.innodb_open_files
    if not now or opened is None or wanted is None:
        return Unknown(f"{_NAME}, the number of InnoDB's tables and open files")
    changes = settings(server, {_NAME: wanted})
    if not changes:
        return Fine(f"{opened:,.0f} of {now:,} files are open")
    return RULE.finding(
        title=f"InnoDB may have {now:,} files open, {opened:,.0f} are, and there are more tables",
        evidence=(f"{opened:,.0f} / {now:,} = {opened / now:.0%} of the places are used",),
        recommendation=f"set {_NAME} to {wanted:,}",
        changes=changes,
        severity=Severity.LOW,
        effect=better("latency", "small", "files stay open between two uses"),
        risk="the process needs as many open files: see its limit",
    )


RULE = Rule(
    checks="innodb_open_files against the files that are open and the tables that there are",
    why="Closing and opening files takes a latch that all need.",
    expected="a bit of latency back on servers with thousands of tables in use",
    risk="more open files of the process",
    sources=(
        'MySQL Reference Manual, "InnoDB Startup Options and System Variables", innodb_open_files',
        'MariaDB Documentation, "InnoDB System Variables", innodb_open_files',
    ),
    judge=_judge,
    variables=(_NAME,),
)
