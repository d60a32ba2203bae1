"""A little more or less of memory, data, connections or of a present value never changes a target by half.

What may jump is named here: the size that a server rounds its buffer pool to, and on and off.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from hypothesis import example, given, settings
from hypothesis import strategies as st

from advisor.builders import GIB, MARIADB, MYSQL_84, host, server, system
from mydyno.advisor.targets import Targets, targets_of
from mydyno.advisor.targets.connections import FLOOR
from mydyno.advisor.targets.pool import unit
from mydyno.survey.facts import FileSystem, Memory, Process, Schema, Storage, System, Use

MIB, KIB = 1 << 20, 1 << 10
DAYS = 30 * 86_400


@dataclass(frozen=True)
class Load:
    """A server and its use, as far as targets depend on it. Sizes in bytes, rates a second."""

    version: str = MARIADB
    memory: int = 24 * GIB
    others: int = 0
    data: int = 380 * MIB
    pool: int = 16 * GIB
    used: int = 17
    limit: int = 151
    sort_buffer: int = 2 * MIB
    join_buffer: int = 256 * KIB
    temporary_table: int = 16 * MIB
    temporary_on_disk: float = 0.1
    key_buffer: int = 128 * MIB
    redo: int = 96 * MIB
    redo_rate: int = 100_000
    free_disk: int = 100 * GIB
    open_tables: int = 300
    table_cache: int = 2000
    tables: int = 500
    open_files: int = 300
    innodb_files: int = 2000


COUNTED = (
    *("memory", "others", "data", "pool", "used", "limit", "sort_buffer", "join_buffer", "temporary_table"),
    *("temporary_on_disk", "key_buffer", "redo", "redo_rate", "free_disk"),
    *("tables", "open_files", "innodb_files"),
)


def loaded(load: Load) -> System:
    variables = {
        "innodb_buffer_pool_size": load.pool,
        "innodb_buffer_pool_chunk_size": 2 * MIB if load.version == MARIADB else 128 * MIB,
        "innodb_buffer_pool_instances": 1,
        "max_connections": load.limit,
        "sort_buffer_size": load.sort_buffer,
        "join_buffer_size": load.join_buffer,
        "read_buffer_size": 128 * KIB,
        "read_rnd_buffer_size": 256 * KIB,
        "thread_stack": 292 * KIB,
        "tmp_table_size": load.temporary_table,
        "max_heap_table_size": load.temporary_table,
        "key_buffer_size": load.key_buffer,
        "innodb_log_file_size": load.redo,
        "table_open_cache": load.table_cache,
        "table_definition_cache": load.table_cache,
        "innodb_open_files": load.innodb_files,
    }
    status = {
        "Uptime": DAYS,
        "Max_used_connections": load.used,
        "Created_tmp_tables": 1e7,
        "Created_tmp_disk_tables": 1e7 * load.temporary_on_disk,
        "Key_blocks_used": 100,
        "Innodb_os_log_written": load.redo_rate * DAYS,
        "Open_tables": min(load.open_tables, load.table_cache),
        "Opened_tables": 10 * DAYS,
        "Open_table_definitions": min(load.open_tables, load.table_cache),
        "Opened_table_definitions": 10 * DAYS,
        "Innodb_num_open_files": min(load.open_files, load.innodb_files),
    }
    disk = FileSystem(mount_point="/", kind="ext4", source="/dev/sda", options=(), free_bytes=load.free_disk)
    resident = load.memory // 4
    others = min(load.others, load.memory - resident)
    return system(
        server(
            load.version,
            {name: str(value) for name, value in variables.items()},
            {name: float(value) for name, value in status.items()},
            schema_facts=Schema(
                tables=load.tables,
                bytes_by_engine={"InnoDB": load.data},
                tables_by_engine={"InnoDB": load.tables},
            ),
        ),
        host(
            memory_facts=Memory(total=load.memory, available=load.memory - resident - others, swap_total=0),
            process=Process(pid=1, resident_bytes=resident),
            storage=Storage(filesystems=(disk,), uses=(Use(files="data", path="/x", mount_point="/"),)),
        ),
    )


_size = st.floats(0, 1)


def _between(least: int, most: int) -> st.SearchStrategy[int]:
    """Evenly on the logarithmic scale, where settings of servers lie."""
    return _size.map(lambda place: round(least * (most / least) ** place))


loads = st.builds(
    Load,
    version=st.sampled_from((MARIADB, MYSQL_84)),
    memory=_between(GIB, 256 * GIB),
    others=st.just(0) | _between(100 * MIB, 8 * GIB),
    data=_between(10 * MIB, 500 * GIB),
    pool=_between(128 * MIB, 256 * GIB),
    used=_between(1, 4000),
    limit=_between(100, 10_000),
    sort_buffer=_between(32 * KIB, 64 * MIB),
    join_buffer=_between(128 * KIB, 64 * MIB),
    temporary_table=_between(MIB, GIB),
    temporary_on_disk=st.floats(0, 1),
    key_buffer=_between(8 * MIB, 8 * GIB),
    redo=_between(8 * MIB, 64 * GIB),
    redo_rate=_between(1000, 100 * MIB),
    free_disk=_between(GIB, 1024 * GIB),
    open_tables=_between(50, 60_000),
    table_cache=_between(50, 60_000),
    tables=_between(10, 100_000),
    open_files=_between(10, 60_000),
    innodb_files=_between(300, 60_000),
)


def values(found: Targets) -> dict[str, int]:
    """Every target that is a size or a number."""
    plain = {
        "pool": found.buffer_pool_bytes,
        "max_connections": found.max_connections,
        "redo": found.redo_bytes,
        "temporary table": found.temporary_table_bytes,
        "key buffer": found.key_buffer_bytes,
        "table cache": found.table_open_cache,
        "definition cache": found.table_definition_cache,
        "InnoDB's open files": found.innodb_open_files,
        "open files": found.open_files,
        **found.session_buffers,
    }
    return {name: value for name, value in plain.items() if value is not None}


def rounding(name: str, before: System, after: System, size: int) -> int:
    """By how much a target may differ since it is written in steps, or is what other targets leave."""
    if name == "max_connections":
        # Much of what is left for them may still be little of the memory.
        found = targets_of(after)
        return max(FLOOR, int(0.04 * (found.usable_bytes or 0) / sum(found.session_buffers.values())))
    return max(unit(before, size), unit(after, size)) if name == "pool" else 0


_ONCE_FULL = ("table cache", "definition cache", "InnoDB's open files", "open files")
"""On and off: left alone until they are full, then made as large as they will ever be advised."""


@settings(max_examples=60, derandomize=True, deadline=None)
@given(loads, st.sampled_from(COUNTED), st.sampled_from((0.98, 1.02)))
@example(Load(pool=16 * GIB, memory=22 * GIB), "pool", 1.02)
@example(Load(used=17, limit=3000, pool=16 * GIB), "limit", 1.02)
@example(Load(used=1, limit=10_000, memory=105_979_920_939, pool=86_035_841_896), "memory", 0.98)
def test_a_little_more_or_less_never_changes_a_target_by_half(load: Load, name: str, factor: float) -> None:
    number = getattr(load, name)
    other = replace(load, **{name: number * factor if isinstance(number, float) else round(number * factor)})
    one, two = loaded(load), loaded(other)
    before, after = values(targets_of(one)), values(targets_of(two))
    assert before.keys() == after.keys()
    for what, size in before.items():
        if what in _ONCE_FULL:
            continue
        less, more = sorted((size, after[what]))
        assert more < 2 * less or more - less <= rounding(what, one, two, more), (what, size, after[what])


@settings(max_examples=60, derandomize=True, deadline=None)
@given(loads)
@example(Load(used=17, limit=3000, pool=16 * GIB))
@example(Load(used=17, limit=3000, pool=16 * GIB, sort_buffer=16 * MIB))
def test_the_pool_is_made_smaller_only_when_sessions_have_given_what_they_can(load: Load) -> None:
    asked = loaded(load)
    found = targets_of(asked)
    assert found.buffer_pool_bytes is not None
    assert found.max_connections is not None
    if found.buffer_pool_bytes < load.pool and found.max_connections <= load.limit:
        assert found.max_connections <= max(50, 1.5 * load.used + 50)
        assert found.session_buffers["join_buffer_size"] <= 256 * KIB
        assert found.session_buffers["sort_buffer_size"] <= 2 * MIB
        left = (found.usable_bytes or 0) - (found.memory_bytes or 0)
        assert left <= 1.1 * unit(asked, found.buffer_pool_bytes), "no more than what is short"


def test_the_same_pool_is_judged_alike_on_both_sides_of_what_fits() -> None:
    """380M of data on a machine with about 19G to give: no size of the pool is advised to become 512M."""
    for size in range(8, 23):
        found = targets_of(loaded(Load(memory=22 * GIB, pool=size * GIB)))
        assert found.buffer_pool_bytes is not None
        assert min(size * GIB, 16 * GIB) <= found.buffer_pool_bytes <= size * GIB


def test_an_unused_limit_of_connections_gives_way_before_the_pool() -> None:
    found = targets_of(loaded(Load(memory=22 * GIB, used=17, limit=3000, pool=16 * GIB)))
    assert found.buffer_pool_bytes == 16 * GIB
    assert found.max_connections is not None
    assert 50 <= found.max_connections < 3000
    assert found.fits
