"""Whether performance_schema is on.

performance_schema (and the sys schema on top) shows which statements take the time, which indexes are never
used, and which session waits for which. MySQL has it on by default, MariaDB off. It takes memory that grows
with the load, usually 100M to 400M, and a few per cent of throughput with its default instruments, so on a
machine that is short of either it is your decision. It takes effect at a restart.
"""

from mydyno.advisor.rules import *

_NAME = "performance_schema"
_SMALL = 2 << 30


@Rule(
    checks="performance_schema",
    why="Without it there is no record of which statements take the time and which indexes are used.",
    expected="the statements, waits and unused indexes behind a problem can be found; a little less "
    "throughput",
    risk="100M to 400M of memory and a few per cent of throughput",
    sources=(
        "MySQL Reference Manual, MySQL Performance Schema; The Performance Schema Memory-Allocation Model",
        "MariaDB Documentation, Performance Schema Overview",
    ),
)
def rule(system: System, _: Targets) -> Judgement:
    server = system.server
    now = require(server.switch(_NAME), _NAME)
    if now:
        return Fine("it is on")
    memory = require(system.host.memory.usable if system.host else None, "the machine's memory")
    if memory < _SMALL:
        return NotHere(f"with {format_bytes(memory)} of memory, it would take too much of it")
    return finding(
        title="The server does not record statements, waits and index use",
        evidence=(
            f"{_NAME} = OFF ({'the default of MariaDB' if server.release.is_mariadb else 'MySQL has it on'})",
        ),
        recommendation=f"switch {_NAME} on if some memory and a few per cent of throughput can be spared",
        changes=by_hand(f"put {_NAME} = ON under [mysqld], restart, and measure what it costs"),
        effect=better("insight", "medium"),
        restart=True,
    )
