from advisor.builders import GIB, MARIADB, MYSQL_57, MYSQL_84, host, server
from advisor.rules.judging import finding, judged, sentences
from mydyno.advisor.rule import Fine, NotHere
from mydyno.advisor.targets import Targets

MIB = 1 << 20


def test_both_limits_of_temporary_tables_are_set_alike() -> None:
    uneven = server(variables={"tmp_table_size": str(64 * MIB), "max_heap_table_size": str(16 * MIB)})
    found = finding("tmp-table-size", uneven, Targets(temporary_table_bytes=16 * MIB))
    assert found.title == "Of 64M for temporary tables only 16M take effect"
    assert sentences(found) == [f"tmp_table_size = {16 * MIB} (now {64 * MIB})"]
    raised = finding("tmp-table-size", uneven, Targets(temporary_table_bytes=64 * MIB))
    assert [change.target for change in raised.changes] == ["variable max_heap_table_size"]


def test_temporary_tables_beyond_the_memory_are_lowered() -> None:
    huge = server(variables={"tmp_table_size": str(GIB), "max_heap_table_size": str(GIB)})
    found = finding("tmp-table-size", huge, Targets(temporary_table_bytes=64 * MIB))
    assert found.effect.aspect == "memory"
    even = server(variables={"tmp_table_size": str(64 * MIB), "max_heap_table_size": str(64 * MIB)})
    assert isinstance(judged("tmp-table-size", even, Targets(temporary_table_bytes=64 * MIB)), Fine)


def test_mapped_temporary_files_are_left_to_innodb() -> None:
    busy = {"Created_tmp_tables": 60_000.0}
    mapped = server(MYSQL_84, {"temptable_max_mmap": str(GIB)}, busy, before={"Created_tmp_tables": 0})
    assert sentences(finding("temptable-mmap", mapped)) == [f"temptable_max_mmap = 0 (now {GIB})"]
    assert isinstance(judged("temptable-mmap", server(MYSQL_84, {"temptable_max_mmap": "0"}, busy)), Fine)
    assert isinstance(judged("temptable-mmap", server(MARIADB, status=busy)), NotHere)


def test_temporary_tables_may_not_take_a_small_machine() -> None:
    default = server(MYSQL_84, {"temptable_max_ram": str(GIB)})
    found = finding("temptable-max-ram", default, host=host(memory=2 * GIB))
    assert sentences(found) == [f"temptable_max_ram = {128 * MIB} (now {GIB})"]
    assert isinstance(judged("temptable-max-ram", default, host=host(memory=16 * GIB)), Fine)
    assert isinstance(judged("temptable-max-ram", server(MARIADB)), NotHere)


def test_memory_tables_give_way_to_temptable() -> None:
    old = server(MYSQL_84, {"internal_tmp_mem_storage_engine": "MEMORY"})
    assert sentences(finding("temporary-engine", old)) == [
        "internal_tmp_mem_storage_engine = TempTable (now MEMORY)"
    ]
    new = server(MYSQL_84, {"internal_tmp_mem_storage_engine": "TempTable"})
    assert isinstance(judged("temporary-engine", new), Fine)
    assert isinstance(judged("temporary-engine", server(MYSQL_57)), NotHere)


def test_temporary_tables_start_in_memory() -> None:
    assert sentences(finding("big-tables", server(variables={"big_tables": "ON"}))) == [
        "big_tables = OFF (now ON)"
    ]
    assert isinstance(judged("big-tables", server(variables={"big_tables": "OFF"})), Fine)
