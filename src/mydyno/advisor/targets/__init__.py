"""What several rules must agree on, decided once. Rules only report it.

    use of connections ─┐
    session buffers ────┤
    log, key buffer ────┼─> memory: one sum that stays in the machine's memory ─> buffer pool ─> redo capacity
    query cache ────────┤
    temporary tables ───┘                                    connections ─> table caches ─> open files

Every target is a function of load and machine, or the present value where that is well: advice that was
followed is not given again.
"""

from mydyno.advisor.targets import caches, connections, memory, redo, sessions, tables, temporary
from mydyno.advisor.targets.budget import budget
from mydyno.advisor.targets.record import Targets
from mydyno.advisor.targets.usable import usable
from mydyno.survey.facts import System

__all__ = ["Targets", "targets_of"]


def targets_of(system: System) -> Targets:
    """The targets for a system."""
    server = system.server
    room = usable(system)
    uses = connections.connections(server)
    log_buffer = redo.log_buffer(system)
    temporaries = temporary.temporary(server, room.bytes if room else None)
    decided = {
        "innodb_log_buffer_size": log_buffer.bytes if log_buffer else None,
        "key_buffer_size": caches.key_buffer_bytes(server, room.bytes if room else None),
        "query_cache_size": caches.query_cache_bytes(server),
        "temporary tables": temporaries.bytes if temporaries else None,
    }
    fixed = {name: size for name, size in decided.items() if size is not None}
    solution = memory.solve(system, room, uses, fixed) if room and uses else None
    buffers = solution.buffers if solution else sessions.capped(server)
    limit = solution.max_connections if solution else uses.within(None) if uses else None
    pool_bytes = solution.pool_bytes if solution else None
    capacity = redo.redo(system, pool_bytes or server.number("innodb_buffer_pool_size"))
    caches_of_tables = tables.table_caches(server)
    innodb_files = tables.innodb_open_files(server)
    files = tables.open_files(server, limit, caches_of_tables.open_cache, innodb_files)
    return Targets(
        max_connections=limit,
        connections_lines=uses.lines if uses else (),
        buffer_pool_bytes=pool_bytes,
        buffer_pool_could_grow=solution.pool_could_grow if solution else False,
        redo_bytes=capacity.bytes if capacity else None,
        redo_lines=capacity.lines if capacity else (),
        log_buffer_bytes=log_buffer.bytes if log_buffer else None,
        log_buffer_lines=log_buffer.lines if log_buffer else (),
        session_buffers=buffers,
        key_buffer_bytes=decided["key_buffer_size"],
        query_cache_bytes=decided["query_cache_size"],
        temporary_table_bytes=temporaries.bytes if temporaries else None,
        temporary_lines=temporaries.lines if temporaries else (),
        table_open_cache=caches_of_tables.open_cache,
        table_definition_cache=caches_of_tables.definition_cache,
        table_lines=caches_of_tables.lines,
        innodb_open_files=innodb_files,
        open_files=files[0] if files else None,
        open_files_lines=(files[1],) if files else (),
        memory_lines=solution.lines if solution else (),
        usable_bytes=room.bytes if room else None,
        memory_bytes=solution.total.total if solution else None,
        memory_now_bytes=budget(server, {}).total if room else None,
    )
