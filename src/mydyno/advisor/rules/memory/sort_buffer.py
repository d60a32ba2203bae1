"""The memory in which one sort works.

A sort that does not fit is done in pieces that are merged on disk; Sort_merge_passes counts the merges. A
little more makes fewer passes, yet each sort of each session may take as much. How much it takes at once
differs. MySQL takes memory as rows come, up to this size, since 8.0.12; before, its manual says, all of it
at the start. MariaDB works out at the start how many rows there can be at most and takes room for those, no
more than this size: a sort of a few rows takes little, one whose number of rows cannot be foreseen takes all
of it. So a large global value is the wrong place: the report that needs it sets it for its own session.
"""

from mydyno.advisor.rules import *
from mydyno.advisor.session_buffer import judge_buffer
from mydyno.core.server_version import Version

_NAME = "sort_buffer_size"


def _judge(system: System, targets: Targets) -> Judgement:
    passes = a_second(often(system.server, "Sort_merge_passes"))
    more = f"SET SESSION {_NAME} before a large report"
    use = f"{_taken(system.server.release)}; merge passes: {passes}"
    return judge_buffer(RULE.id, _NAME, system, targets, use, more)


def _taken(release: Version) -> str:
    if release.is_mariadb:
        return "a sort takes room for as many rows as there can be, no more than this"
    if is_mysql(release, (8, 0, 12)):
        return "a sort takes memory as rows come, no more than this"
    return "a sort takes all of it at the start"


RULE = Rule(
    checks="sort_buffer_size against the memory budget and merge passes",
    why="Every sort of every session may take as much: at once where many rows are expected or the release "
    "always does (MySQL before 8.0.12), else as rows come.",
    expected="less memory at peaks; sometimes faster small sorts",
    risk="large sorts make more passes",
    sources=(
        "MySQL Reference Manual, Server System Variables, sort_buffer_size; ORDER BY Optimization",
        "MariaDB Documentation, Server System Variables, sort_buffer_size",
    ),
    judge=_judge,
    variables=(_NAME,),
)
