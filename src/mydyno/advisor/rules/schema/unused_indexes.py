"""Indexes that no statement has read since the server started.

Each index costs a change of its own for every row that is inserted, deleted or moved in it, and space in
the buffer pool. An index that nobody reads is only cost. But "since the start" is not "never": the report
at the end of the year, a replica that serves other queries, a foreign key. So hide the index first where
the release can (queries then do as if it were gone, and showing it again is instant), wait, and drop it
then. Indexes that a foreign key needs are left out, and so are those for which rule redundant-indexes drops a
shorter one: that one's reads will be theirs.
"""

from mydyno.advisor.rules import *

_ENOUGH = 7 * DAY


def _judge(system: System, _: Targets) -> Judgement:
    server = system.server
    schema = server.schema_facts
    if schema is None or schema.unused_indexes is None:
        return Unknown("which indexes are used: performance_schema counts it")
    if (server.uptime_seconds or 0) < _ENOUGH:
        return Unknown("the server is up for less than a week: too short to call an index unused")
    # What rule redundant-indexes drops, and what it drops that for: both gone would leave no index at all.
    redundant = schema.redundant_indexes or ()
    spoken_for = {(index.table, name) for index in redundant for name in (index.name, index.covered_by)}
    found = [index for index in schema.unused_indexes if (index.table, index.name) not in spoken_for]
    if not found:
        return Fine(f"every index was read {uptime(server)}")
    return RULE.finding(
        title=f"{counted(len(found), 'index', 'was')} not read once {uptime(server)}",
        evidence=(first([f"{index.table}.{index.name}" for index in found]),),
        recommendation="hide them, wait for a whole business cycle, look at the replicas too, then drop them",
        changes=by_hand(
            "hide unused indexes first, drop them when nobody has missed them",
            *tuple(_statement(server, index) for index in found[:SHOWN]),
        ),
        severity=Severity.LOW,
        effect=better("throughput", "small", "each write of these tables changes fewer indexes"),
        risk="a rare report, another replica or a hint (FORCE INDEX) may need one of them",
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


RULE = Rule(
    checks="indexes without a read since the start, where the server is up for a week or more",
    why="An index that nobody reads costs every write and takes memory.",
    expected="cheaper writes, a little more room in the buffer pool",
    risk="a rare query may need it",
    sources=(
        "MySQL Reference Manual, The schema_unused_indexes View; Invisible Indexes",
        "MariaDB Documentation, Ignored Indexes",
    ),
    judge=_judge,
)
