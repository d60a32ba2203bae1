"""The memory in which a join without an index collects rows.

Each join of a statement that cannot use an index takes one buffer; MySQL 8.0.18 and later build their hash
table in it. An index is worth more than any buffer: the large values of old guides hide missing indexes and
waste memory.
"""

from mydyno.advisor.rules import *
from mydyno.advisor.session_buffer import judge_buffer

_NAME = "join_buffer_size"


@Rule(
    checks="join_buffer_size compared with the memory budget and joins without an index",
    why="Each join without an index in each session may allocate it.",
    expected="less memory at peaks",
    risk="joins without an index read the inner table more often",
    sources=(
        "MySQL Reference Manual, Server System Variables, join_buffer_size; Hash Join Optimization",
        "MariaDB Documentation, Server System Variables, join_buffer_size",
    ),
    variables=(_NAME,),
)
def rule(system: System, targets: Targets) -> Judgement:
    joins = a_second(often(system.server, "Select_full_join"))
    more = "index the columns of such joins"
    return judge_buffer(_NAME, system, targets, f"joins without an index: {joins}", more)
