"""Whether the server keeps accounts of what it does.

performance_schema (and the sys schema on top) tells which statements take the time, which indexes are never
used, who waits for whom. MySQL has it on by default, MariaDB off. It takes memory that grows with the load,
usually 100M to 400M, and some per cent of throughput with its default instruments, so on a machine that is
short of either it is your choice. It takes effect at a restart.
"""

from mydyno.advisor.rules import *

_NAME = "performance_schema"
_SMALL = 2 << 30


def _judge(system: System, _: Targets) -> Judgement:
    server = system.server
    now = server.switch(_NAME)
    if now is None:
        return Unknown(_NAME)
    if now:
        return Fine("it is on")
    memory = system.host.memory.usable if system.host else None
    if memory is None:
        return Unknown("the machine's memory")
    if memory < _SMALL:
        return NotHere(f"on {format_bytes(memory)} of memory its own would be missed")
    return RULE.finding(
        title="The server keeps no account of statements, waits and indexes",
        evidence=(
            f"{_NAME} = OFF ({'the default of MariaDB' if server.release.is_mariadb else 'MySQL has it on'})",
        ),
        recommendation=f"switch {_NAME} on where some memory and a few per cent of throughput can be spared",
        changes=by_hand(f"put {_NAME} = ON under [mysqld], restart, and measure what it costs"),
        severity=Severity.LOW,
        effect=better(
            "insight", "medium", "the statements, waits and unused indexes behind a bad day can be looked up"
        ),
        risk="100M to 400M of memory and some per cent of throughput",
        restart=True,
    )


RULE = Rule(
    checks="performance_schema",
    why="Without it nobody can say which statements take the time and which indexes are used.",
    expected="insight; a little less throughput",
    risk="memory and some per cent of throughput",
    sources=(
        "MySQL Reference Manual, MySQL Performance Schema; The Performance Schema Memory-Allocation Model",
        "MariaDB Documentation, Performance Schema Overview",
    ),
    judge=_judge,
)
