"""A data directory of the user's own becomes one of ours: copied, taken out of replication, upgraded."""

import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from mydyno.core.errors import LabError, ServerError, UsageError
from mydyno.core.server_version import Version
from mydyno.core.sql_names import SYSTEM_SCHEMAS, quote
from mydyno.lab.stack.own_data.source import OwnData
from mydyno.lab.stack.own_data.statements import statements
from mydyno.lab.stack.server.sandbox import RunningServer
from mydyno.lab.stack.site import Site
from mydyno.machine.trees import LONGEST_COPY_SECONDS, size_of_tree
from mydyno.server.access import dbapi
from mydyno.server.program.binary import ServerBinary

_LEFT_BEHIND = re.compile(
    r".*-bin\.(\d{6,}|index|state)|binlog\.(\d{6,}|index)|.*relay.*\.(\d{6,}|index|info)|(multi-)?master.*\.info"
    r"|(mysql|mariadb)_upgrade_info|.*\.pid|.*\.sock|.*\.err|ib_buffer_pool|grastate\.dat|gvwstate\.dat"
    r"|galera\.cache|auto\.cnf"
)
"""Binary and relay logs, a replica's position, a cluster's state, the identity and logs of the server, and
the release of its last upgrade."""

_STEPS = ((5, 5), (5, 6), (5, 7), (8, 0), (8, 4), (9, 7))
"""Series of MySQL that upgrade in place to the next one (MySQL Reference Manual, "Upgrade Paths")."""

_EXPECTED = frozenset({1050, 1051, 1054, 1060, 1061, 1062, 1068, 1091, 1146, 1347, 1348, 1356})
"""What the scripts of mariadb-upgrade meet where there is nothing to change; it ignores them, too."""
_FIX_SCRIPTS = (
    ("mariadb_system_tables.sql", "mysql_system_tables.sql"),
    ("mariadb_performance_tables.sql", "mysql_performance_tables.sql"),
    ("mariadb_system_tables_fix.sql", "mysql_system_tables_fix.sql"),
)


def refuse_unreachable(data: OwnData, version: Version) -> None:
    """Raises UsageError when `version` cannot be started on the files, not even by an upgrade."""
    if not data.is_files:
        return
    dump = "use a dump: --from-server, or mariadb-dump / mysqldump"
    if (data.family == "MariaDB") != version.is_mariadb:
        raise UsageError(f"{data.path} is of {data.said}, whose files {version} does not read", dump)
    if data.release is None:
        return
    old, new = data.release[:2], version.numbers[:2]
    if new < old:
        raise UsageError(f"{data.path} is of {data.said}: there is no way back to {version}", dump)
    if version.is_mariadb or new == old:
        return
    series = [step for step in _STEPS if step <= old], [step for step in _STEPS if step <= new]
    if len(series[1]) - len(series[0]) > 1:
        way = " -> ".join(".".join(map(str, step)) for step in _STEPS if old <= step <= new)
        raise UsageError(f"{data.said} is not upgraded to {version} in one step (the way is {way})", dump)
    if new < (8, 0):
        raise UsageError(
            f"{data.said} is upgraded to {version} by mysql_upgrade, which is not run here", dump
        )


def copy(site: Site, data: OwnData, datadir: Path, scratch: Path) -> None:
    """Copies the files to the new folder `datadir` for the server's user. Raises LabError with numbers when
    they do not fit."""
    host = site.host
    for folder in (datadir, scratch):
        host.make_folder(folder, owner=host.server_identity)
    size, free = size_of_tree(data.path), host.facts(datadir).free_disk_bytes
    if free is not None and free < size:
        raise LabError(
            f"a copy of {data.path} takes {size:,} bytes and {datadir.parent} has {free:,} free",
            "free some space, or --lab on a larger disk",
        )
    names = [each for each in sorted(data.path.iterdir()) if not _LEFT_BEHIND.fullmatch(each.name)]
    command = ["cp", "-a", "--reflink=auto", "--sparse=auto", "-t", str(datadir), "--", *map(str, names)]
    done = host.run(command, timeout_seconds=LONGEST_COPY_SECONDS)
    if done.returncode != 0:
        raise LabError(f"{data.path} could not be copied: {done.stderr.strip().splitlines()[-1:]}")
    if (owner := host.server_identity) is not None:
        host.run(
            ["chown", "-R", f"{owner.uid}:{owner.gid}", str(datadir)], timeout_seconds=LONGEST_COPY_SECONDS
        )
    host.run(["chmod", "-R", "u+rwX", str(datadir)], timeout_seconds=LONGEST_COPY_SECONDS)


def finish_upgrade(server: RunningServer, binary: ServerBinary, data: OwnData) -> None:
    """Takes it out of replication and brings system tables and tables up to the release, as mariadb-upgrade
    does; MySQL 8.0.16 and later have done that at their start. Raises ServerError."""
    word = "SLAVE" if server.version.is_mariadb or server.version.numbers < (8, 4, 0) else "REPLICA"
    with (
        server.connect(answer_seconds=int(LONGEST_COPY_SECONDS)) as connection,
        connection.cursor() as cursor,
    ):
        with suppress(dbapi.Error):
            cursor.execute(f"RESET {word} ALL")
        upgraded = data.release is None or data.release[:2] != server.version.numbers[:2]
        if not (server.version.is_mariadb and upgraded):
            return
        cursor.execute("USE mysql")
        for script in _scripts(binary):
            with script.open("rb") as file:
                for line, statement in statements(file, str(script)):
                    _upgrade(cursor, statement, f"{script} line {line}")
        for schema, table in _tables(cursor):
            _check(cursor, quote(schema, table))


def _scripts(binary: ServerBinary) -> Iterator[Path]:
    share = binary.share_folder
    for names in _FIX_SCRIPTS:
        paths = [binary.outside(share / name) for name in names] if share is not None else []
        yield from [path for path in paths if path.is_file()][:1]


def _upgrade(cursor: dbapi.Cursor, statement: bytes, where: str) -> None:
    try:
        cursor.execute(statement.decode(errors="surrogateescape"))
    except dbapi.Error as error:
        if dbapi.number_of(error) not in _EXPECTED:
            raise ServerError(f"the system tables were not upgraded: {where}: {error}") from error


def _tables(cursor: dbapi.Cursor) -> list[tuple[str, str]]:
    cursor.execute(
        "SELECT table_schema, table_name FROM information_schema.tables WHERE table_type = 'BASE TABLE'"
    )
    rows = [(str(schema), str(table)) for schema, table in cursor.fetchall()]
    return [row for row in rows if row[0].lower() not in SYSTEM_SCHEMAS]


def _check(cursor: dbapi.Cursor, table: str) -> None:
    """Rebuilds a table whose format the release wants changed (MariaDB documentation, "CHECK TABLE")."""
    cursor.execute(f"CHECK TABLE {table} FOR UPGRADE")
    texts = [str(row[-1]) for row in cursor.fetchall()]
    if any(re.search(r"upgrade required|ALTER TABLE|REPAIR", text) for text in texts):
        cursor.execute(f"ALTER TABLE {table} FORCE")
