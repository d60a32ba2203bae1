"""Indexes that no statement has read since the server started.

Each index costs an extra change for every row that is inserted, deleted or moved in it, and space in the
buffer pool. An unused index is only cost. But "since the start" is not "never": consider the report at the
end of the year, a replica that serves other queries, a foreign key. So hide the index first where the
release can (queries then ignore it, and making it visible again is instant), wait, and drop it then.
Indexes that a foreign key needs are left out, and so are those for which rule redundant-indexes drops a
shorter one: they will serve its reads.
"""

from mydyno.advisor.rules import *

_ENOUGH = 7 * DAY


@Rule(
    checks="indexes without a read since the start, where the server is up for a week or more",
    why="An unused index slows every write and takes memory.",
    expected="each write of such tables changes fewer indexes; a little more space in the buffer pool",
    risk="a rare report, another replica or a hint (FORCE INDEX) may need one of them",
    sources=(
        "MySQL Reference Manual, The schema_unused_indexes View; Invisible Indexes",
        "MariaDB Documentation, Ignored Indexes",
    ),
)
def rule(system: System, _: Targets) -> Judgement:
    server = system.server
    schema = server.schema_facts
    if schema is None or schema.unused_indexes is None:
        return Unknown("which indexes are used (counted by performance_schema)")
    if (server.uptime_seconds or 0) < _ENOUGH:
        return Unknown("the server has been up for less than a week: too short to call an index unused")
    # What rule redundant-indexes drops, and what it drops that for: both gone would leave no index at all.
    redundant = schema.redundant_indexes or ()
    spoken_for = {(index.table, name) for index in redundant for name in (index.name, index.covered_by)}
    unused = [index for index in schema.unused_indexes if (index.table, index.name) not in spoken_for]
    if not unused:
        return Fine(f"every index was read {uptime(server)}")
    return finding(
        title=f"{counted(len(unused), 'index', 'was')} not read once {uptime(server)}",
        evidence=(first([f"{index.table}.{index.name}" for index in unused]),),
        recommendation="make them invisible, wait for a whole business cycle, check the replicas too, "
        "then drop them",
        changes=by_hand(
            "make unused indexes invisible first, drop them when nothing needs them",
            *tuple(_statement(server, index) for index in unused[:SHOWN]),
        ),
        effect=better("throughput", "small"),
    )


def _statement(server: Server, index: Index) -> str:
    release, alter = server.release, f"ALTER TABLE {quoted(index.table)}"
    name = quoted(index.name)
    if index.hidden:
        return f"{alter} DROP INDEX {name};"
    if release.is_mariadb and release.numbers >= (10, 6, 0):
        return f"{alter} ALTER INDEX {name} IGNORED;"
    if not release.is_mariadb and release.numbers >= (8, 0, 0):
        return f"{alter} ALTER INDEX {name} INVISIBLE;"
    return f"{alter} DROP INDEX {name};"
