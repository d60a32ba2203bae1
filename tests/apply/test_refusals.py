"""Changes that are refused before anything is written, whatever server they are for."""

from __future__ import annotations

import pytest

from mydyno.advise.change import Change, SetMountOptions, SetSysctl, SetUnit, SetVariable
from mydyno.apply.edits.texts import RefusedError
from mydyno.apply.refusals import Room, refuse_impossible
from mydyno.core.server_version import Version, parse_version

MARIADB = parse_version("mariadbd  Ver 10.11.19-MariaDB")
MYSQL = parse_version("mysqld  Ver 8.4.0 for Linux (MySQL Community Server - GPL)")
GIB = 1 << 30


def refused(
    change: Change, now: str | None = None, room: Room | None = None, version: Version = MARIADB
) -> str | None:
    try:
        refuse_impossible(change, version, now, room or Room(8 * GIB, 20 * GIB))
    except RefusedError as error:
        return error.message
    return None


def variable(name: str, value: str) -> SetVariable:
    return SetVariable(name=name, value=value, was=None, restart=True)


@pytest.mark.parametrize(
    "change",
    [
        variable("init_connect", "SET a = 1;\nSET b = 2"),
        SetSysctl(name="vm.swappiness", value="1\nkernel.panic = 1", was="60"),
        SetUnit(unit="mariadb.service", name="LimitNOFILE", value="1\rExecStart=/bin/sh", was=None),
        SetMountOptions(mount_point="/data", add=("noatime", "a\nb"), was=None),
    ],
    ids=lambda change: change.kind,
)
def test_a_line_break_in_a_value_is_named_with_its_place(change: Change) -> None:
    assert "has a line break as character" in (refused(change) or "")


def test_a_tab_between_two_numbers_is_text_as_any_other() -> None:
    assert refused(SetSysctl(name="net.ipv4.ip_local_port_range", value="1024\t65000", was=None)) is None


def test_what_is_settled_when_the_data_directory_is_made_is_refused_unless_it_is_that_already() -> None:
    assert refused(variable("innodb_page_size", "8K"), now="16384") == (
        "innodb_page_size is 16384, and cannot become 8K on existing data: "
        "the pages of its files have the size that they were made with"
    )
    assert refused(variable("innodb_page_size", "16K"), now="16384") is None
    assert refused(variable("innodb_data_file_path", "garbage")) is not None


def test_letter_case_of_names_is_settled_by_mysql_alone() -> None:
    change = variable("lower_case_table_names", "1")
    assert refused(change, now="0", version=MYSQL) is not None
    assert refused(change, now="0", version=MARIADB) is None


def test_more_memory_or_disk_than_the_machine_has_is_refused_where_that_is_known() -> None:
    assert refused(variable("innodb_buffer_pool_size", "200T")) == (
        "innodb_buffer_pool_size = 200T is more than the memory of this machine, 8G"
    )
    assert refused(variable("innodb_buffer_pool_size", "7G")) is None
    assert refused(variable("innodb_buffer_pool_size", "200T"), room=Room()) is None
    assert "more than there is room for" in (refused(variable("innodb_log_file_size", "21G")) or "")
    # A bound that is never reached takes nothing.
    assert refused(variable("tmp_memory_table_size", "200T")) is None
