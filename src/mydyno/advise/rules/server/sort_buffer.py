"""The memory in which one sort works.

A sort that does not fit is done in pieces that are merged on disk; Sort_merge_passes counts the merges. A
little more makes fewer passes, yet each sort of a session takes the buffer: before MySQL 8.0.12, and in
MariaDB, all of it at once however few rows there are, which above some megabytes costs more time to map
than it saves. So a large global value is the wrong place: the report that needs it sets it for its own
session.
"""

from __future__ import annotations

from mydyno.advise.counts import a_second, often
from mydyno.advise.rule import Judgement, Rule
from mydyno.advise.session_buffer import judge_buffer
from mydyno.advise.targets import Targets
from mydyno.facts import System

_NAME = "sort_buffer_size"


def _judge(system: System, targets: Targets) -> Judgement:
    passes = a_second(often(system.server, "Sort_merge_passes"))
    more = f"SET SESSION {_NAME} before a large report"
    return judge_buffer(RULE.id, _NAME, system, targets, f"merge passes: {passes}", more)


RULE = Rule(
    id="sort-buffer",
    layer="sessions",
    checks="sort_buffer_size against the memory budget and merge passes",
    why="Every sort of every session may take it, in most releases all of it at once.",
    expected="less memory at peaks; sometimes faster small sorts",
    durability="none",
    risk="large sorts make more passes",
    sources=(
        "MySQL Reference Manual, Server System Variables, sort_buffer_size; ORDER BY Optimization",
        "MariaDB Documentation, Server System Variables, sort_buffer_size",
    ),
    judge=_judge,
    variables=(_NAME,),
)
