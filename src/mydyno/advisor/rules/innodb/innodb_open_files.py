"""Whether InnoDB keeps closing and reopening table files.

With a file for each table, InnoDB keeps innodb_open_files of them open and closes the least used when one
more is needed. That costs one or two system calls and a shared latch; it shows when it happens all the
time. It matters only when there are more tables than the limit and the limit is reached.
"""

from mydyno.advisor.rules import *

_NAME = "innodb_open_files"


@Rule(
    checks="innodb_open_files compared with open files and the number of tables",
    why="Closing and opening files takes a shared latch.",
    expected="files stay open between uses: slightly lower latency on servers with thousands of tables in "
    "use",
    risk="the process needs as many open files: check its limit",
    sources=(
        'MySQL Reference Manual, "InnoDB Startup Options and System Variables", innodb_open_files',
        'MariaDB Documentation, "InnoDB System Variables", innodb_open_files',
    ),
    variables=(_NAME,),
)
def rule(system: System, targets: Targets) -> Judgement:
    server = system.server
    now, opened = server.number(_NAME), server.counter("Innodb_num_open_files")
    wanted = targets.innodb_open_files
    if not now or opened is None or wanted is None:
        return Unknown(f"{_NAME}, the number of InnoDB's tables and open files")
    changes = settings(server, {_NAME: wanted})
    if not changes:
        return Fine(f"{opened:,.0f} of {now:,} files are open")
    return finding(
        title=f"InnoDB may have {now:,} files open, {opened:,.0f} are, and there are more tables",
        evidence=(f"{opened:,.0f} / {now:,} = {opened / now:.0%} of the limit are used",),
        recommendation=f"set {_NAME} to {wanted:,}",
        changes=changes,
        effect=better("latency", "small"),
    )
