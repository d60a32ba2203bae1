"""The memory for reading rows in the order of a sort, and for reading in the order of the disk (MRR).

A sort that kept only positions fetches its rows through this buffer. Each such sort allocates all of it; a
few large reports can set their own.
"""

from mydyno.advisor.rules import *
from mydyno.advisor.session_buffer import judge_buffer

_NAME = "read_rnd_buffer_size"


@Rule(
    checks="read_rnd_buffer_size compared with the memory budget",
    why="Each session that sorts by position allocates all of it.",
    expected="less memory at peaks",
    risk="large sorts fetch rows in smaller groups",
    sources=(
        "MySQL Reference Manual, Server System Variables, read_rnd_buffer_size",
        "MariaDB Documentation, Server System Variables, read_rnd_buffer_size",
    ),
    variables=(_NAME,),
)
def rule(system: System, targets: Targets) -> Judgement:
    rows = a_second(often(system.server, "Handler_read_rnd"))
    more = f"SET SESSION {_NAME} before a large report"
    return judge_buffer(_NAME, system, targets, f"rows fetched by position: {rows}", more)
