"""The memory for reading a table of MyISAM or Aria from end to end, and for a few uses besides.

InnoDB reads tables through its buffer pool and does not use it for that; bulk inserts into partitions and
sorts of row positions do. On a server of InnoDB tables a large value is memory for nothing.
"""

from mydyno.advisor.rules import *
from mydyno.advisor.session_buffer import judge_buffer

_NAME = "read_buffer_size"


def _judge(system: System, targets: Targets) -> Judgement:
    scans = a_second(often(system.server, "Select_scan"))
    more = "a session that loads or scans in bulk may set its own"
    return judge_buffer(RULE.id, _NAME, system, targets, f"scans of whole tables: {scans}", more)


RULE = Rule(
    checks="read_buffer_size against the memory budget",
    why="Each scan of a MyISAM or Aria table takes it; InnoDB's do not need it.",
    expected="less memory at peaks",
    risk="scans of MyISAM tables read in smaller pieces",
    sources=(
        "MySQL Reference Manual, Server System Variables, read_buffer_size",
        "MariaDB Documentation, Server System Variables, read_buffer_size",
    ),
    judge=_judge,
    variables=(_NAME,),
)
