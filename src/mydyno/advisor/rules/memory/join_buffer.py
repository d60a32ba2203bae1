"""The memory in which a join without an index gathers rows.

Each join of a statement that cannot use an index takes one buffer; MySQL 8.0.18 and later build their hash
table in it. An index is worth more than any buffer: the large values of old guides hide missing indexes and
take memory from all.
"""

from mydyno.advisor.rules import *
from mydyno.advisor.session_buffer import judge_buffer

_NAME = "join_buffer_size"


def _judge(system: System, targets: Targets) -> Judgement:
    joins = a_second(often(system.server, "Select_full_join"))
    more = "index the columns of such joins"
    return judge_buffer(RULE.id, _NAME, system, targets, f"joins without an index: {joins}", more)


RULE = Rule(
    checks="join_buffer_size against the memory budget and joins without an index",
    why="Each join without an index in each session may take it.",
    expected="less memory at peaks",
    risk="joins without an index read the other table more often",
    sources=(
        "MySQL Reference Manual, Server System Variables, join_buffer_size; Hash Join Optimization",
        "MariaDB Documentation, Server System Variables, join_buffer_size",
    ),
    judge=_judge,
    variables=(_NAME,),
)
