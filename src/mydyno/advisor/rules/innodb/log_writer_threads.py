"""Whether MySQL's threads for writing redo fit the number of CPUs.

Since MySQL 8.0.22 redo can be written by dedicated threads or by the committing threads. Dedicated threads
win where many connections commit on many CPUs; on few CPUs they cost wake-ups and spinning. MySQL's own
choice is used here: since 9.5, with the binary log on from 32 CPUs on (as since 8.4), without it from 5 on.
Before 8.4 the threads were always on.
"""

from mydyno.advisor.rules import *

_NAME = "innodb_log_writer_threads"
_MANY_WITH_BINLOG, _MANY_WITHOUT = 32, 5


@Rule(
    checks="innodb_log_writer_threads compared with the number of CPUs and the binary log",
    why="On few CPUs threads that only pass on work cost more than they save.",
    expected="somewhat shorter commits",
    risk="none known; it can be changed back while the server runs",
    sources=(
        'MySQL 9.5 Reference Manual, "What Is New in MySQL 9.5"',
        'MySQL Reference Manual, "Optimizing InnoDB Redo Logging"',
    ),
    variables=(_NAME,),
)
def rule(system: System, _: Targets) -> Judgement:
    server = system.server
    on = require(server.switch(_NAME), NotHere("this release has no dedicated redo threads"))
    binlog = server.switch("log_bin")
    if system.host is None or binlog is None:
        return Unknown("the number of CPUs")
    cpus = system.host.cpu.count
    many = _MANY_WITH_BINLOG if binlog else _MANY_WITHOUT
    wanted = cpus >= many
    machine = f"{cpus} CPUs, the binary log is {'on' if binlog else 'off'}"
    if on == wanted:
        return Fine(f"{_NAME} is {server.text(_NAME)}: {machine}")
    word = "ON" if wanted else "OFF"
    return finding(
        title=f"{_NAME} is {server.text(_NAME)} with {machine}",
        evidence=(f"MySQL 9.5 and later would choose {word}: ON from {many} CPUs on",),
        recommendation=f"set {_NAME} to {word}",
        changes=settings(server, {_NAME: word}),
        effect=better(
            "latency",
            "small",
            "commits on many connections wait less" if wanted else "a commit needs fewer wake-ups",
        ),
    )
