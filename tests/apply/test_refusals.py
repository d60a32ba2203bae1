"""Changes that are refused before anything is written, whatever server they are for."""

from __future__ import annotations

import pytest

from apply.builders import finding
from mydyno.apply.change import (
    ByHand,
    Change,
    RemoveVariable,
    SetArray,
    SetMountOptions,
    SetQueue,
    SetSysctl,
    SetSysfs,
    SetUnit,
    SetVariable,
)
from mydyno.apply.diff import unified
from mydyno.apply.edits.texts import RefusedError, Texts
from mydyno.apply.preparing import Prepared
from mydyno.apply.proposal import Proposal
from mydyno.apply.refusals import Room, refuse_impossible
from mydyno.cli.apply_text import lines
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


FOREIGN: tuple[Change, ...] = (
    SetSysctl(name="kernel.core_pattern", value="|/tmp/x", was=None),
    SetSysctl(name="kernel.modprobe", value="/tmp/x", was=None),
    SetSysctl(name="vm/../kernel/modprobe", value="1", was=None),
    SetSysctl(name="vm.swappiness", value="1 # 2", was=None),
    SetSysctl(name="vm.swappiness", value="1; 2", was=None),
    SetUnit(unit="mariadb.service", name="User", value="root", was=None),
    SetUnit(unit="mariadb.service", name="ExecStartPre", value="/tmp/x", was=None),
    SetUnit(unit="mariadb.service", name="ExecStartPre=/tmp/x\\", value="", was=None),
    SetUnit(unit="mariadb.service", name="LimitNOFILE", value="1 \\", was=None),
    SetUnit(unit="mariadb.service", name="LimitNOFILE", value="%h", was=None),
    variable("init_file", "/tmp/x"),
    variable("init_connect", "SELECT 1"),
    variable("skip_grant_tables", "ON"),
    variable("plugin_load", "x=x.so"),
    variable("plugin_load_add", "x.so"),
    variable("secure_file_priv", ""),
    variable("local_infile", "ON"),
    variable("require_secure_transport", "OFF"),
    variable("innodb_encrypt_tables", "OFF"),
    variable("innodb_force_recovery", "6"),
    variable("general_log_file", "/var/www/x.php"),
    variable("max_connections = 1 # ", "1"),
    variable("max_connections", "1 # 2"),
    variable("max_connections", "1; 2"),
    variable("max_connections", "1 \\"),
    variable("sort_buffer_size", "'1"),
    RemoveVariable(name="require_secure_transport", file=None, line=None, was=None),
    SetMountOptions(mount_point="/data", add=("suid",), was=None),
    SetMountOptions(mount_point="/data", add=("noatime,suid",), was=None),
    SetMountOptions(mount_point="/data", remove=("nosuid",), was=None),
    SetQueue(disk="../../kernel", attribute="scheduler", value="none", was=None),
    SetQueue(disk="sda", attribute="scheduler", value='none", RUN+="/tmp/x', was=None),
    SetArray(array="md0", attribute="stripe_cache_size", value="x", was=None),
    SetSysfs(path="/sys/kernel/mm/transparent_hugepage/enabled", value="x", was=None),
)


@pytest.mark.parametrize("change", FOREIGN, ids=lambda change: ascii(change.target))
def test_what_mydyno_does_not_set_is_refused_whatever_an_advice_says(change: Change) -> None:
    assert refused(change) is not None


@pytest.mark.parametrize("character", ["\n", "\r", "\0", "\x1b", "\x85", "\u2028", "\u202e"], ids=ascii)
@pytest.mark.parametrize("field", ["name", "value", "was"])
def test_control_characters_are_refused_in_every_field_and_shown_escaped(character: str, field: str) -> None:
    change = variable("max_connections", "1").model_copy(update={field: f"1{character}2"})
    result = refused(change)
    assert result is not None
    assert result.isprintable()


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
    assert "more than the space for the redo log" in (refused(variable("innodb_log_file_size", "21G")) or "")
    # A bound that is never reached takes nothing.
    assert refused(variable("tmp_memory_table_size", "200T")) is None


def test_a_difference_shows_a_carriage_return_and_other_controls_as_what_they_are() -> None:
    shown = unified("/etc/x", "a\n", "a\rb\x1b[2J\u202e\n")
    assert shown.splitlines()[-1] == "+a\\x0db\\x1b[2J\\u202e"


def test_what_is_shown_of_an_advice_is_one_line_each() -> None:
    found = finding("swappiness", ByHand(says="a\nb: c", commands=("d\x1b[2Je",)))
    found = found.model_copy(update={"title": "x\n\x1b[1A", "risk": "y\rz"})
    proposal = Proposal((found,), Texts(lambda path: None, lambda folder: None), ())
    shown = "\n".join(lines(Prepared(proposal, (), (), (), ())))
    assert not {"\x1b", "\r"} & set(shown)
    assert "swappiness: x \\x1b[1A" in shown
