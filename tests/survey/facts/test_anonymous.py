"""Facts that tell nobody whose they are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from advisor import builders
from advisor.builders import variable
from advisor.strategies import Case, cases
from hypothesis import HealthCheck, given, settings

from mydyno.advisor import advise
from mydyno.core.hiding import HOST_SETTINGS
from mydyno.core.record import Record
from mydyno.survey import facts
from mydyno.survey.facts import (
    Accounts,
    Array,
    Cpu,
    Disk,
    DiskLoad,
    DiskSpeed,
    FileSystem,
    FstabEntry,
    Host,
    Index,
    Innodb,
    Kernel,
    Load,
    LogicalVolume,
    Memory,
    Origin,
    Process,
    Role,
    Schema,
    Status,
    Storage,
    System,
    Table,
    Unit,
    Unread,
    Use,
)
from mydyno.survey.facts.anonymous import TEXTS, anonymous, kept
from mydyno.survey.facts.pseudonyms import Pseudonyms

NAMES = (
    "db1",
    "shop",
    "orders",
    "customer",
    "by_name",
    "monitor",
    "10.1.2.3",
    "alice",
    "fd00",
    "galera7",
    "backup1",
)


def test_no_name_of_anybody_is_left_and_numbers_and_settings_stay() -> None:
    server = builders.server(
        variables={
            "hostname": "db1.example.org",
            "report_host": "db1",
            "slow_query_log_file": "db1.example.org-slow.log",
            "wsrep_cluster_address": "gcomm://galera7.example.org:4567,10.1.2.3",
            "bind_address": "fd00:1:2:3:4:5:6:7",
            "replicate_do_db": "shop",
            "datadir": "/home/alice/mysql/",
            "version": "10.11.19-MariaDB",
            "max_connections": "151",
        },
        address="db1.example.org:3306",
        schema_facts=Schema(
            tables=1,
            without_primary_key=(Table(name="shop.orders", engine="InnoDB", rows=7),),
            redundant_indexes=(
                Index(table="shop.orders", name="by_name", columns=("customer",), covered_by="PRIMARY"),
            ),
        ),
    )
    mount = FileSystem(
        mount_point="/data", kind="nfs4", source="backup1:/export", options=("rw", "addr=10.1.2.3")
    )
    unread = Unread(what="x", why="denied", hint="GRANT PROCESS ON *.* TO 'monitor'@'10.1.2.3'")
    found = anonymous(
        builders.system(server, builders.host(storage=Storage(filesystems=(mount,))), unread=(unread,))
    )
    text = found.to_json()
    assert [name for name in NAMES if name in text] == []
    assert found.server.text("version") == "10.11.19-MariaDB"
    assert found.server.text("max_connections") == "151"
    assert found.server.version == builders.MARIADB
    schema = found.server.schema_facts
    assert schema is not None
    assert schema.without_primary_key[0].name == schema.redundant_indexes[0].table == "schema1.table1"
    assert schema.without_primary_key[0].rows == 7
    assert schema.redundant_indexes[0].covered_by == "PRIMARY"


def planted(value: Any, place: str = "") -> Iterator[tuple[str, Any]]:
    """The facts with a name of its own put in the place of each text, one after another, and which text."""
    if isinstance(value, Record):
        for name in type(value).model_fields:
            of = f"{type(value).__name__}.{name}"
            for where, other in planted(getattr(value, name), of):
                yield where, value.model_copy(update={name: other})
    elif isinstance(value, tuple):
        for number, each in enumerate(value):
            for where, other in planted(each, place):
                yield where, (*value[:number], other, *value[number + 1 :])
    elif isinstance(value, Mapping):
        for key, each in value.items():
            for where, other in planted(each, place):
                yield where, {**value, key: other}
    elif isinstance(value, str):
        yield place, SENTENCE if TEXTS.get(place) is Pseudonyms.text else PLANTED


PLANTED = "zq17acme"
SENTENCE = (
    "Table 'zq17acme.x' doesn't exist, `zq17acme` is 'zq17acme'; /srv/zq17acme/my.cnf:3 of zq17acme.service,"
    " GRANT SELECT ON `zq17acme`.* TO 'zq17acme'@'zq17acme'"
)
"""A name as sentences have one."""


def full_system() -> System:
    """Facts in which every record and every text occurs."""
    storage = Storage(
        disks=(
            Disk(
                name="sda",
                kind="ssd",
                model="X",
                scheduler="none",
                schedulers=("none",),
                write_cache="x",
                host_caching="None",
            ),
        ),
        arrays=(
            Array(name="md0", level="raid1", devices=2, state="x", action="x", bitmap="none", disks=("sda",)),
        ),
        volumes=(LogicalVolume(name="vg0/data", segment="linear"),),
        filesystems=(
            FileSystem(
                mount_point="/data",
                kind="xfs",
                source="/dev/md0",
                options=("rw", "noatime"),
                disks=("sda",),
                array="md0",
                volume="vg0/data",
            ),
        ),
        uses=(Use(files="data", path="/data/mysql", mount_point="/data", owner="x"),),
        speeds=(DiskSpeed(mount_point="/data", read_iops=1, write_iops=1),),
        fstab=(
            FstabEntry(line=1, source="x", mount_point="/data", kind="x", options=("rw",), fault="'x' is"),
        ),
    )
    unit = Unit(name="x.service", file="/x", drop_ins=("/x",), properties={"User": "x"})
    process = Process(
        pid=1, user="x", binary="/x", numa_policy="default", unit=unit, option_files=("/etc/my.cnf",)
    )
    kernel = Kernel(
        release="6.1",
        command_line=("quiet",),
        sysctls={"kernel.core_pattern": "x"},
        thp_enabled="x",
        thp_defrag="x",
        clock_source="x",
        clock_sources=("x",),
        limits_conf=("* soft nofile 1",),
    )
    machine = Host(
        cpu=Cpu(count=1, model="x", governor="x", scaling_driver="x"),
        memory=Memory(total=1),
        kernel=kernel,
        storage=storage,
        process=process,
        distribution="x",
        virtualisation="x",
        cloud="Microsoft Azure",
        load=Load(
            seconds=1,
            cpus=1,
            cpu_busy=1,
            cpu_waiting=0,
            cpu_stolen=0,
            disks=(DiskLoad(name="sda", busy=0, reads=0, writes=0),),
        ),
    )
    origin = Origin(source="file", file="/x", overridden=("/x:1",))
    table = Table(name="shop.orders", engine="InnoDB")
    index = Index(table="shop.orders", name="x", columns=("x",), covered_by="x")
    names = (*HOST_SETTINGS, "wsrep_notify_cmd", "wsrep_cluster_address", "some_new_variable", "datadir")
    result = builders.server(
        variables={name: variable("x", origin=origin) for name in names},
        plugins=("x",),
        innodb=Innodb(latest_deadlock="x"),
        role=Role(managed="x"),
        accounts=Accounts(number=1, anonymous_hosts=("x",), named_hosts=("x",)),
        schema_facts=Schema(
            tables=1,
            bytes_by_engine={},
            without_primary_key=(table,),
            other_engines=(table,),
            fragmented=(table,),
            nearly_full_counters=(table,),
            unused_indexes=(index,),
            redundant_indexes=(index,),
        ),
        address="db:3306",
    )
    status = Status(before={"Uptime": "1", "x": "x"}, after={"x": "x"}, seconds=1)
    result = result.model_copy(update={"status": status})
    unread = Unread(what="/x", why="'x'", hint="'x'@'y'")
    return builders.system(result, machine, unread=(unread,))


def test_every_text_of_the_facts_is_listed() -> None:
    """A new text field needs an entry that says what becomes of it."""
    modules = (facts.__name__, *(f"{facts.__name__}.{name}" for name in ("accounts", "machine", "storage")))
    kinds = [kind for kind in Record.__subclasses__() if kind.__module__.startswith(modules)]
    texts = {
        f"{kind.__name__}.{name}"
        for kind in kinds
        for name, field in kind.model_fields.items()
        if "str" in str(field.annotation) or "Literal" in str(field.annotation)
    }
    mappings = {"Kernel.sysctls", "Kernel.counters", "Status.before", "Status.after", "Unit.properties"}
    mappings |= {"Server.variables", "Process.limits", "Schema.bytes_by_engine", "Schema.tables_by_engine"}
    assert {place for place, _ in planted(full_system())} - mappings == set(TEXTS) | {"Variable.value"}
    assert texts - mappings == set(TEXTS) | {"Variable.value"}


def test_no_planted_name_is_left_but_where_the_text_is_listed_as_safe() -> None:
    left = set()
    for place, system in planted(full_system()):
        if not kept(place) and PLANTED in anonymous(system).to_json():
            left.add(place)
    assert left == set()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("wsrep_notify_cmd", "/usr/local/bin/notify --token zq17acme --password zq17acme"),
        ("wsrep_cluster_address", "gcomm://galera1,zq17acme"),
        ("wsrep_cluster_address", "gcomm://10.0.0.1,zq17acme:4567?pc.wait_prim=no"),
        ("report_host", "zq17acme"),
        ("bind_address", "127.0.0.1,zq17acme"),
        ("replicate_wild_do_table", "zq17acme.%"),
        ("innodb_data_file_path", "/data/zq17acme/ibdata1:12M:autoextend"),
        ("slow_query_log_file", "zq17acme-slow.log"),
        ("feedback_url", "http://zq17acme/"),
    ],
)
def test_no_setting_gives_a_name_away(name: str, value: str) -> None:
    found = anonymous(builders.system(builders.server(variables={name: value})))
    assert PLANTED not in found.to_json()


@pytest.mark.parametrize("name", ["on", "root", "ROW", "mysql", "4711", "O_DIRECT"])
def test_a_name_that_is_a_word_of_the_server_changes_no_setting(name: str) -> None:
    settings = {
        "log_bin": "ON",
        "binlog_format": "ROW",
        "innodb_flush_method": "O_DIRECT",
        "max_connections": "4711",
        "datadir": "/var/lib/mysql/",
        "sql_mode": "STRICT_TRANS_TABLES,NO_ZERO_DATE",
    }
    result = builders.server(
        variables={**settings, "hostname": name},
        schema_facts=Schema(tables=1, without_primary_key=(Table(name=f"{name}.{name}", engine="InnoDB"),)),
        address=f"{name}:3306",
    )
    found = anonymous(builders.system(result)).server
    assert {each: found.text(each) for each in settings} == settings
    assert found.schema_facts is not None
    assert found.schema_facts.without_primary_key[0].name == "schema1.table1"
    assert found.address == "some-host:3306"


@settings(max_examples=5, suppress_health_check=list(HealthCheck), derandomize=True)
@given(cases())
def test_advice_on_anonymous_facts_is_the_same(case: Case) -> None:
    def outline(system: System) -> list[tuple[str, int, int]]:
        findings = advise(system, "2026-11-22T12:00:00Z").findings
        return [(found.rule, found.severity, len(found.changes)) for found in findings]

    assert outline(anonymous(case.system)) == outline(case.system)
