"""The joint decisions: what they are, and that they hold together."""

from advisor.builders import GIB, MARIADB, MYSQL_84, host, server, system
from mydyno.advisor.targets import Targets, targets_of
from mydyno.survey.facts import FileSystem, Memory, Process, Schema, Server, Storage, Use

MIB = 1 << 20

SETTINGS = {
    "innodb_buffer_pool_size": str(128 * MIB),
    "innodb_log_buffer_size": str(16 * MIB),
    "innodb_log_file_size": str(96 * MIB),
    "max_connections": "151",
    "sort_buffer_size": str(2 * MIB),
    "join_buffer_size": "262144",
    "read_buffer_size": "131072",
    "read_rnd_buffer_size": "262144",
    "thread_stack": "299008",
    "tmp_table_size": str(16 * MIB),
    "max_heap_table_size": str(16 * MIB),
    "table_open_cache": "2000",
}


LARGE = Schema(tables=10, bytes_by_engine={"InnoDB": 100 * GIB}, tables_by_engine={"InnoDB": 10})


def targets(
    memory: int | None = 16 * GIB,
    used: int = 20,
    the_status: dict[str, float] | None = None,
    version: str = MARIADB,
    the_schema: Schema | None = None,
    **variables: str,
) -> Targets:
    status = {"Max_used_connections": float(used), **(the_status or {})}
    asked = server(version, {**SETTINGS, **variables}, status, schema_facts=the_schema or LARGE)
    if memory is None:
        return targets_of(system(asked).model_copy(update={"host": None}))
    return targets_of(system(asked, host(memory)))


def the_server(**status: float) -> Server:
    return server(MARIADB, SETTINGS, {"Max_used_connections": 20.0, **status}, schema_facts=LARGE)


def test_a_limit_that_is_far_from_used_up_stays() -> None:
    assert targets(used=20).max_connections == 151


def test_a_limit_that_is_nearly_used_up_is_raised_with_headroom_and_says_so() -> None:
    found = targets(used=140)
    assert found.max_connections == 210
    assert "140 x 1.5 headroom = 210" in found.connections_lines


def test_a_server_that_is_young_gets_more_headroom() -> None:
    assert targets(used=140, the_status={"Uptime": 3600}).max_connections == 280


def test_connections_are_not_raised_beyond_what_memory_has_room_for() -> None:
    found = targets(memory=2 * GIB, used=1000, max_connections="1000", sort_buffer_size=str(256 << 10))
    assert found.max_connections == 1000


def test_five_thousand_connections_on_14_gib_are_lowered_but_not_below_their_use() -> None:
    found = targets(memory=14 * GIB, used=600, max_connections="5000", innodb_buffer_pool_size=str(7 * GIB))
    assert found.max_connections is not None
    assert 900 <= found.max_connections < 5000
    assert found.fits


def test_the_pool_gets_what_is_left_in_whole_chunks() -> None:
    found = targets()
    assert found.buffer_pool_bytes is not None
    assert found.usable_bytes is not None
    assert found.buffer_pool_bytes % (128 * MIB) == 0
    assert found.buffer_pool_bytes > 0.7 * found.usable_bytes
    assert found.fits


def test_mysql_rounds_to_the_instances_that_its_next_start_may_have() -> None:
    found = targets(
        version=MYSQL_84, innodb_buffer_pool_instances="1", innodb_buffer_pool_chunk_size=str(128 * MIB)
    )
    assert found.buffer_pool_bytes is not None
    assert found.buffer_pool_bytes % GIB == 0


def test_the_pool_is_not_larger_than_the_data_can_use() -> None:
    found = targets(
        the_schema=Schema(tables=10, bytes_by_engine={"InnoDB": 2 * GIB}, tables_by_engine={"InnoDB": 10})
    )
    assert found.buffer_pool_bytes == int(2.5 * GIB)


def test_a_pool_that_fits_is_never_made_smaller() -> None:
    small = Schema(tables=1, bytes_by_engine={"InnoDB": 1000}, tables_by_engine={"InnoDB": 1})
    assert targets(the_schema=small, innodb_buffer_pool_size=str(8 * GIB)).buffer_pool_bytes == 8 * GIB


def test_a_pool_as_large_as_the_machine_is_lowered_until_all_fits() -> None:
    found = targets(innodb_buffer_pool_size=str(16 * GIB))
    assert found.fits
    assert found.buffer_pool_bytes is not None
    assert found.buffer_pool_bytes < 13 * GIB


def test_where_memory_is_short_buffers_of_sessions_go_first_by_what_is_short() -> None:
    wide = {"join_buffer_size": str(4 * MIB), "sort_buffer_size": str(4 * MIB), "max_connections": "300"}
    some = targets(memory=4 * GIB, innodb_buffer_pool_size=str(2 * GIB), used=250, **wide)
    assert 256 << 10 < some.session_buffers["join_buffer_size"] < 4 * MIB
    assert some.buffer_pool_bytes == 2 * GIB
    assert some.fits
    more = targets(memory=4 * GIB, innodb_buffer_pool_size=str(3 * GIB), used=250, **wide)
    assert more.session_buffers["join_buffer_size"] == 256 << 10
    assert more.session_buffers["sort_buffer_size"] == 2 * MIB, "MariaDB's default"


def test_other_processes_have_their_memory() -> None:
    facts = Memory(total=16 * GIB, available=4 * GIB)
    mine = Process(pid=1, resident_bytes=2 * GIB)
    found = targets_of(system(the_server(), host(memory_facts=facts, process=mine)))
    assert found.usable_bytes == 16 * GIB - 10 * GIB - int(1.6 * GIB)
    assert any("10G for other processes" in line for line in found.memory_lines)


def test_a_control_group_bounds_it() -> None:
    found = targets_of(
        system(the_server(), host(memory_facts=Memory(total=64 * GIB, available=60 * GIB, limit=2 * GIB)))
    )
    assert found.usable_bytes is not None
    assert found.usable_bytes < 2 * GIB


def test_without_the_memory_known_nothing_of_memory_is_decided() -> None:
    found = targets(memory=None)
    assert found.buffer_pool_bytes is None
    assert found.memory_lines == ()
    assert found.fits is None


def test_redo_takes_an_hour_of_writes() -> None:
    found = targets(the_status={"Innodb_os_log_written": 250_000.0 * 864_000})
    assert found.redo_bytes == 2 * GIB
    assert "488.3K/s x 3600 s = 1.7G in an hour" in found.redo_lines


def test_redo_is_bounded_by_the_free_disk() -> None:
    disk = FileSystem(mount_point="/", kind="ext4", source="/dev/sda", options=(), free_bytes=5 * GIB)
    storage = Storage(filesystems=(disk,), uses=(Use(files="data", path="/x", mount_point="/"),))
    busy = the_server(Innodb_os_log_written=5e6 * 864_000)
    found = targets_of(system(busy, host(storage=storage)))
    assert found.redo_bytes == GIB
    assert any("a fifth of the free disk" in line for line in found.redo_lines)


def test_the_log_buffer_is_raised_where_transactions_waited() -> None:
    assert targets(the_status={"Innodb_log_waits": 0}).log_buffer_bytes == 16 * MIB
    assert targets(the_status={"Innodb_log_waits": 9}).log_buffer_bytes == 64 * MIB


def test_table_caches_that_are_full_and_missed_are_made_as_large_as_tables_and_connections_need() -> None:
    status = {"Open_tables": 2000, "Opened_tables": 5e6, "Max_used_connections": 700}
    found = targets(the_status=status)
    assert found.table_lines[0].startswith("Open_tables = 2000 of table_open_cache = 2000")
    assert "10 tables + 700 connections x 4 tables = 2810" in found.table_lines[1]
    assert found.open_files is not None
    assert found.open_files >= 151 + 2 * 2800


def test_an_unused_key_buffer_of_gigabytes_is_given_to_the_pool() -> None:
    found = targets(the_status={"Key_blocks_used": 10}, key_buffer_size=str(4 * GIB))
    assert found.key_buffer_bytes == (16 + 256) * MIB


def test_on_machines_of_half_a_gibibyte_the_finding_says_that_it_does_not_fit() -> None:
    found = targets(memory=GIB // 4, used=100)
    assert found.fits is False
    assert found.buffer_pool_bytes == 128 * MIB


def test_a_limit_is_lowered_by_a_tenth_at_least_and_then_the_pool_stays() -> None:
    found = targets(memory=4 * GIB, innodb_buffer_pool_size=str(2832 * MIB))
    assert found.max_connections == 130
    assert found.buffer_pool_bytes == 2832 * MIB
    assert found.fits


def test_more_connections_leave_the_pool_half_of_the_memory() -> None:
    """A pool that has all of it makes room for clients that are refused, once."""
    full = targets(used=290, max_connections="300", innodb_buffer_pool_size=str(13 * GIB))
    assert full.max_connections == 440
    assert full.buffer_pool_bytes is not None
    assert 11 * GIB <= full.buffer_pool_bytes < 13 * GIB
    assert full.fits


def test_on_a_small_machine_an_unused_key_buffer_of_the_default_size_is_given_up_too() -> None:
    unused = {"Key_blocks_used": 0.0}
    sizes = [
        targets(memory=memory, the_status=unused, key_buffer_size=str(128 * MIB)).key_buffer_bytes
        for memory in (GIB, 64 * GIB)
    ]
    assert sizes == [(16 + 46) * MIB, 128 * MIB]
