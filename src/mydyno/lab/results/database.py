"""Opening lab.sqlite: make it, bring it up to date with a backup first, or say plainly why not."""

import os
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from itertools import count
from pathlib import Path
from urllib.parse import quote

from mydyno.core.durable import sync
from mydyno.core.errors import LabError
from mydyno.lab.results import files
from mydyno.lab.results.ownership import WriterLock
from mydyno.lab.results.schema import APPLICATION_ID, MIGRATIONS

_BUSY_TIMEOUT_S = 30.0
"""A reader may hold up a checkpoint and a backup may hold up a write; neither lasts long."""


@dataclass(frozen=True)
class Upgrade:
    """What opening a lab of an older version came to."""

    before: int
    """Its version."""
    after: int
    backup: Path | None
    """The database as it was. None: the lab was not changed, only a copy was upgraded."""
    why_not: str | None = None
    """Why the lab itself was left as it is."""


def upgrade_in_place(
    connection: sqlite3.Connection, path: Path, migrations: Sequence[Sequence[str]], before: int
) -> Upgrade:
    """Bring the database at `path` up to date, all of it or nothing. The caller holds the lab's lock.

    The backup stays next to it. Raises LabError when the disk lacks space for both, before anything is done.
    """
    size = path.stat().st_size
    # The backup, and the log of a migration that rewrites every table.
    needed = 2 * size
    with files.explain_full_disk(path.parent, "upgrading the lab", needed, 0):
        if files.free_bytes(path.parent) < needed:
            raise files.full_disk(path.parent, "upgrading the lab", needed, 0)
        backup = _free_name(path, len(migrations))
        try:
            _back_up(connection, backup)
            migrate(connection, migrations, before)
        except BaseException:
            backup.unlink(missing_ok=True)
            raise
    return Upgrade(before, len(migrations), backup)


def upgraded_copy(
    connection: sqlite3.Connection, migrations: Sequence[Sequence[str]], before: int
) -> sqlite3.Connection:
    """A private copy of an older database, brought up to date; it is gone when it is closed."""
    # The empty name is a temporary database: in memory while it is small, else in a file without a name.
    # Source: SQLite, "In-Memory Databases".
    copy = sqlite3.connect("", isolation_level=None)
    copy.row_factory = sqlite3.Row
    try:
        connection.backup(copy)
        migrate(copy, migrations, before)
        copy.execute("PRAGMA query_only = ON")
    except BaseException:
        copy.close()
        raise
    return copy


def migrate(connection: sqlite3.Connection, migrations: Sequence[Sequence[str]], before: int) -> None:
    """Apply the migrations that a database of version `before` lacks, in one transaction."""
    # A migration may rewrite a table to which others refer.
    connection.execute("PRAGMA foreign_keys = OFF")
    with transaction(connection):
        for statements in migrations[before:]:
            for statement in statements:
                connection.execute(statement)
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version = {len(migrations)}")


def _back_up(connection: sqlite3.Connection, target: Path) -> None:
    """Copy the database with SQLite's own backup, which takes in what is in the log alone, and sync it."""
    copy = sqlite3.connect(target)
    try:
        connection.backup(copy)
        # One file, that can be moved about without its log.
        copy.execute("PRAGMA journal_mode = DELETE")
    finally:
        copy.close()
    sync(target)
    sync(target.parent)


def _free_name(path: Path, version: int) -> Path:
    """`lab.sqlite.before-version-6`, and `-2`, `-3`... where a lab was restored and is upgraded again."""
    first = path.with_name(f"{path.name}.before-version-{version}")
    more = (first.with_name(f"{first.name}-{number}") for number in count(2))
    return first if not first.exists() else next(name for name in more if not name.exists())


def open_for_writing(path: Path) -> tuple[sqlite3.Connection, Upgrade | None]:
    """Open or make the database and bring it up to date. The caller holds the lab's lock.

    Raises LabError: not a lab, damaged, written by a newer mydyno, or no room for the backup.
    """
    with _damage_explained(path):
        connection = _connect(str(path))
        try:
            version = _version(connection, path)
            connection.execute("PRAGMA journal_mode = WAL")
            # FULL syncs the log at every commit: a trial that was reported as saved survives a power loss.
            connection.execute("PRAGMA synchronous = FULL")
            upgrade = None
            if version == 0:
                migrate(connection, MIGRATIONS, version)
            elif version < len(MIGRATIONS):
                upgrade = upgrade_in_place(connection, path, MIGRATIONS, version)
            # Only now: see `migrate`.
            connection.execute("PRAGMA foreign_keys = ON")
        except BaseException:
            connection.close()
            raise
        return connection, upgrade


def open_for_reading(path: Path) -> tuple[sqlite3.Connection, Upgrade | None]:
    """Open the database to read it; a writer may be at work meanwhile.

    One of an older version is upgraded when no writer is at work and the folder can be written, else read
    through an upgraded copy. Raises LabError: not a lab, empty, damaged, or written by a newer mydyno.
    """
    with _damage_explained(path):
        connection = _open_read_only(path)
        try:
            version = _version(connection, path)
            if version == len(MIGRATIONS):
                return connection, None
            if version == 0:
                _refuse_empty(path)
            why_not = None
            try:
                with WriterLock(path.parent):
                    writer, upgrade = open_for_writing(path)
                    writer.close()
            except (LabError, OSError) as error:
                why_not = error.message if isinstance(error, LabError) else f"{path.parent}: {error.strerror}"
            if why_not is None:
                connection.close()
                return _open_read_only(path), upgrade
            copy = upgraded_copy(connection, MIGRATIONS, version)
        except BaseException:
            connection.close()
            raise
        connection.close()
        return copy, Upgrade(version, len(MIGRATIONS), backup=None, why_not=why_not)


def _refuse_empty(path: Path) -> None:
    """Raises LabError for a database without tables, unless a writer is just creating it."""
    try:
        with WriterLock(path.parent):
            pass
    except LabError:
        return
    except OSError:
        pass  # Nobody can write there.
    raise LabError(
        f"{path} is empty: it holds no table",
        "restore a copy of it, or run the experiment again: finished trials are imported again from their "
        f"folders in {path.parent / 'runs'}",
    )


def _open_read_only(path: Path) -> sqlite3.Connection:
    # Without the right to write the folder there is nowhere to put the WAL's index: read the file as
    # it is, which is whole, since the last writer folds the log into it.
    frozen = not os.access(path.parent, os.W_OK) and not path.with_name(f"{path.name}-wal").exists()
    mode = "immutable=1" if frozen else "mode=ro"
    return _connect(f"file:{quote(str(path.absolute()))}?{mode}", uri=True)


def _connect(address: str, *, uri: bool = False) -> sqlite3.Connection:
    connection = sqlite3.connect(address, uri=uri, timeout=_BUSY_TIMEOUT_S, isolation_level=None)
    # The file may have been written by anybody: its schema calls no function that has effects, a damaged
    # page is an error; extensions are off in Python. Source: SQLite, "Defense Against The Dark Arts".
    connection.execute("PRAGMA trusted_schema = OFF")
    connection.execute("PRAGMA cell_size_check = ON")
    connection.execute("PRAGMA mmap_size = 0")
    connection.row_factory = sqlite3.Row
    return connection


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """All of it or nothing."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        # SQLite rolls back by itself on some errors, a full disk among them.
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def _version(connection: sqlite3.Connection, path: Path) -> int:
    """The number of migrations that this database has had; 0 for an empty new file."""
    version = int(connection.execute("PRAGMA user_version").fetchone()[0])
    application = int(connection.execute("PRAGMA application_id").fetchone()[0])
    tables = int(connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0])
    if application != APPLICATION_ID and (application or version or tables):
        raise LabError(f"{path} is a database, but not a mydyno lab", "use another folder with --lab FOLDER")
    if version > len(MIGRATIONS):
        raise LabError(
            f"the lab {path.parent} was written by a newer mydyno (format {version}, this one knows up to "
            f"{len(MIGRATIONS)})",
            "upgrade mydyno, or use another lab with --lab FOLDER; nothing was changed",
        )
    _refuse_strange_schema(connection, path, version)
    return version


def _refuse_strange_schema(connection: sqlite3.Connection, path: Path, version: int) -> None:
    """Tables of mydyno's names are tables with its columns, and no trigger runs when they are written. What
    else is there, a view of the user's own, is never read."""
    objects = {
        (str(name), str(kind), str(sql or "").lstrip().upper().startswith("CREATE VIRTUAL"))
        for name, kind, sql in connection.execute("SELECT name, type, sql FROM sqlite_master")
    }
    triggers = [name for name, kind, _ in objects if kind == "trigger"]
    tables = {name for name, kind, is_virtual in objects if kind == "table" and not is_virtual}
    what = f"its trigger {triggers[0]!a} was not created by mydyno" if triggers else None
    for table, columns in _tables(version).items():
        if table not in tables:
            what = what or f"{table} in it is not a table"
        elif missing := [name for name in columns if name not in _columns(connection, table)]:
            what = what or f"its table {table} has no column {missing[0]}"
    if what is not None:
        raise LabError(
            f"{path} is damaged or was changed by hand: {what}",
            "use another folder with --lab FOLDER, or move lab.sqlite away: finished trials are imported "
            f"again from their folders in {path.parent / 'runs'}",
        )


@cache
def _tables(version: int) -> Mapping[str, tuple[str, ...]]:
    """Those that a database of this version has, with their columns."""
    connection = sqlite3.connect(":memory:", isolation_level=None)
    try:
        migrate(connection, MIGRATIONS[:version], 0)
        rows = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
        names = [str(row[0]) for row in rows if not str(row[0]).startswith("sqlite_")]
        return {name: _columns(connection, name) for name in names}
    finally:
        connection.close()


def _columns(connection: sqlite3.Connection, table: str) -> tuple[str, ...]:
    return tuple(str(row[1]) for row in connection.execute(f"PRAGMA table_info({table})"))


@contextmanager
def _damage_explained(path: Path) -> Iterator[None]:
    try:
        yield
    except sqlite3.DatabaseError as error:
        if isinstance(error, sqlite3.OperationalError) and error.sqlite_errorcode == sqlite3.SQLITE_FULL:
            raise
        raise LabError(
            f"cannot open the lab's database {path}: {error}",
            "if the file is damaged, move it away and run again: finished trials are imported again from "
            "their folders in {path.parent / 'runs'}",
        ) from error
