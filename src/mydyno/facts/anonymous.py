"""Facts without the names of what is whose: pure.

Hosts, schemas, tables, indexes, columns, accounts and addresses get other names, the same one everywhere.
Numbers, settings and paths stay, but for owners of home folders.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from mydyno.core.hiding import HOST, HOST_SETTINGS, Hide, hider
from mydyno.facts.server import Server
from mydyno.facts.system import System
from mydyno.facts.tables import Index, Schema, Table

_ACCOUNT = re.compile(r"'[^']*'@'[^']*'")
_ADDRESS = re.compile(r"(?<![\w.])(?!127\.|0\.0\.0\.0)(?:\d{1,3}\.){3}\d{1,3}(?![\w.])")
_ADDRESS_6 = re.compile(r"(?<![\w:])(?:[0-9a-f]{1,4}:){3,7}[0-9a-f]{1,4}(?![\w:])", re.IGNORECASE)
_REMOTE = re.compile(r"^(?://)?([\w.-]+)(?::/|/\w)")
_PEERS = re.compile(r"[\w.-]+\.[\w-]+(?=:\d)|(?<=//)[\w.-]+")
_LISTS_OF_HOSTS = (
    "wsrep_cluster_address",
    "group_replication_group_seeds",
    "group_replication_local_address",
)
_NAMES = frozenset(
    {"report_user", "server_uuid", "wsrep_cluster_name", "wsrep_sst_donor", "server_uid", "wsrep_gcomm_uuid"}
)
_OF_SCHEMAS = ("replicate_", "binlog_do_db", "binlog_ignore_db")
_OF_A_RELEASE = frozenset({"version", "innodb_version", "release", "version_comment"})


def anonymous(system: System) -> System:
    """The same facts under names that tell nobody whose they are."""
    names = hider(_hosts(system))
    host = system.server.text("hostname") or HOST
    logs = re.compile(rf"(?<![\w.-]){re.escape(host)}(?=-(?:bin|slow|relay))")

    def hide(text: str) -> str:
        text = logs.sub(HOST, _ACCOUNT.sub("'somebody'@'%'", text))
        return names(_ADDRESS_6.sub(HOST, _ADDRESS.sub(HOST, text)))

    told = _hidden(system.model_dump(mode="json"), hide, "")
    for name, found in told["server"]["variables"].items():
        if name in _NAMES or name.startswith(_OF_SCHEMAS):
            found["value"] = found["value"] and "somebody"
    schema = system.server.schema_facts
    told["server"]["schema_facts"] = None if schema is None else _schema(schema).model_dump(mode="json")
    return System.model_validate(told)


def _hidden(value: Any, hide: Hide, key: str) -> Any:
    if isinstance(value, str):
        return value if key in _OF_A_RELEASE else hide(value)
    if isinstance(value, list):
        return [_hidden(each, hide, key) for each in value]
    if isinstance(value, dict):
        return {
            name: _hidden(each, hide, key if name == "value" and key in _OF_A_RELEASE else name)
            for name, each in value.items()
        }
    return value


def _hosts(system: System) -> Iterator[str]:
    server = system.server
    if server.address and not server.address.startswith("/"):
        yield server.address.rpartition(":")[0].strip("[]")
    for name in HOST_SETTINGS:
        yield from (server.text(name) or "").split(",")
    for value in _peers(server):
        yield from _PEERS.findall(value)
    if system.host is not None:
        storage = system.host.storage
        sources = [mount.source for mount in storage.filesystems] + [line.source for line in storage.fstab]
        yield from (found[1] for source in sources if (found := _REMOTE.match(source)) and source[0] != "/")


def _peers(server: Server) -> Iterator[str]:
    for name in _LISTS_OF_HOSTS:
        yield server.text(name) or ""
    yield server.status.after.get("wsrep_incoming_addresses", "")


def _schema(schema: Schema) -> Schema:
    tables: dict[str, str] = {}
    schemas: dict[str, str] = {}
    columns: dict[str, str] = {}
    indexes: dict[str, str] = {"PRIMARY": "PRIMARY"}

    def other(known: dict[str, str], name: str, word: str) -> str:
        return known.setdefault(name, f"{word}{len(known) + 1}")

    def table_name(name: str) -> str:
        of, _, table = name.partition(".")
        return f"{other(schemas, of, 'schema')}.{other(tables, table, 'table')}"

    def table(each: Table) -> Table:
        return each.model_copy(update={"name": table_name(each.name)})

    def index(each: Index) -> Index:
        return each.model_copy(
            update={
                "table": table_name(each.table),
                "name": other(indexes, each.name, "index"),
                "columns": tuple(other(columns, column, "column") for column in each.columns),
                "covered_by": None if each.covered_by is None else other(indexes, each.covered_by, "index"),
            }
        )

    def all_tables(each: Sequence[Table] | None) -> tuple[Table, ...] | None:
        return None if each is None else tuple(map(table, each))

    def all_of(each: Sequence[Index] | None) -> tuple[Index, ...] | None:
        return None if each is None else tuple(map(index, each))

    return schema.model_copy(
        update={
            "without_primary_key": all_tables(schema.without_primary_key),
            "other_engines": all_tables(schema.other_engines),
            "fragmented": all_tables(schema.fragmented),
            "nearly_full_counters": all_tables(schema.nearly_full_counters),
            "unused_indexes": all_of(schema.unused_indexes),
            "redundant_indexes": all_of(schema.redundant_indexes),
        }
    )
