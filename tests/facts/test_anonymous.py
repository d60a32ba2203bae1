"""Facts that tell nobody whose they are."""

from __future__ import annotations

from advise import builders

from mydyno.facts import FileSystem, Index, Schema, Storage, Table, Unread
from mydyno.facts.anonymous import anonymous

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
