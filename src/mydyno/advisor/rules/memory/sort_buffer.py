"""The memory of one sort.

A sort that does not fit is done in pieces that are merged on disk; Sort_merge_passes counts the merges. A
little more makes fewer passes, yet each sort of each session may take as much. How much it takes at once
differs. MySQL takes memory as rows come, up to this size, since 8.0.12; before, its manual says, all of it
at the start. MariaDB estimates the maximum number of rows and allocates space for those, up to this size: a
sort of a few rows takes little, one whose number of rows is unknown takes all of it. So do not set it
globally: the report that needs it sets it for its own session.
"""

from mydyno.advisor.rules import *
from mydyno.advisor.session_buffer import judge_buffer
from mydyno.core.server_version import Version

_NAME = "sort_buffer_size"


@Rule(
    checks="sort_buffer_size compared with the memory budget and merge passes",
    why="Every sort of every session may allocate it: at once where many rows are expected or the "
    "release always does (MySQL before 8.0.12), otherwise as rows arrive.",
    expected="less memory at peaks; sometimes faster small sorts",
    risk="large sorts make more passes",
    sources=(
        "MySQL Reference Manual, Server System Variables, sort_buffer_size; ORDER BY Optimization",
        "MariaDB Documentation, Server System Variables, sort_buffer_size",
    ),
    variables=(_NAME,),
)
def rule(system: System, targets: Targets) -> Judgement:
    passes = a_second(often(system.server, "Sort_merge_passes"))
    more = f"SET SESSION {_NAME} before a large report"
    use = f"{_taken(system.server.release)}; merge passes: {passes}"
    return judge_buffer(_NAME, system, targets, use, more)


def _taken(release: Version) -> str:
    if release.is_mariadb:
        return "a sort allocates space for the maximum number of rows, up to this size"
    if is_mysql(release, (8, 0, 12)):
        return "a sort allocates memory as rows arrive, up to this size"
    return "a sort allocates all of it at the start"
