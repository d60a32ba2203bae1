"""The memory for full scans of MyISAM and Aria tables, and for a few other uses.

InnoDB reads tables through its buffer pool and does not use it for that; bulk inserts into partitions and
sorts of row positions do. On a server of InnoDB tables a large value wastes memory.
"""

from mydyno.advisor.rules import *
from mydyno.advisor.session_buffer import judge_buffer

_NAME = "read_buffer_size"


@Rule(
    checks="read_buffer_size compared with the memory budget",
    why="Each scan of a MyISAM or Aria table allocates it; InnoDB does not need it.",
    expected="less memory at peaks",
    risk="scans of MyISAM tables read in smaller pieces",
    sources=(
        "MySQL Reference Manual, Server System Variables, read_buffer_size",
        "MariaDB Documentation, Server System Variables, read_buffer_size",
    ),
    variables=(_NAME,),
)
def rule(system: System, targets: Targets) -> Judgement:
    scans = a_second(often(system.server, "Select_scan"))
    more = "a session that loads or scans in bulk may set its own"
    return judge_buffer(_NAME, system, targets, f"scans of whole tables: {scans}", more)
