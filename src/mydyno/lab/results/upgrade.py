"""Labs of older versions: brought up to date with a backup first, or read through an upgraded copy."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from mydyno.core.durable import sync
from mydyno.lab.results import files
from mydyno.lab.results.schema import APPLICATION_ID


@dataclass(frozen=True)
class Upgrade:
    """What opening a lab of an older version came to."""

    before: int
    """Its version."""
    after: int
    backup: Path | None
    """The database as it was. None: nothing of the lab was changed, only a copy was upgraded."""
    why_not: str | None = None
    """Why the lab itself was left as it is."""


def upgrade_in_place(
    connection: sqlite3.Connection, path: Path, migrations: Sequence[Sequence[str]], before: int
) -> Upgrade:
    """Bring the database at `path` up to date, all of it or nothing. The caller holds the lab's lock.

    The backup stays beside it. Raises LabError when the disk has no room for both, before anything is done.
    """
    size = path.stat().st_size
    # The backup, and the log of a migration that makes every table anew.
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
    # A migration may make a table anew to which others refer.
    connection.execute("PRAGMA foreign_keys = OFF")
    connection.execute("BEGIN IMMEDIATE")
    try:
        for statements in migrations[before:]:
            for statement in statements:
                connection.execute(statement)
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version = {len(migrations)}")
        connection.execute("COMMIT")
    except BaseException:
        # SQLite rolls back by itself on some errors, a full disk among them.
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


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
    """`lab.sqlite.before-version-6`, and `-2`, `-3`... where a lab was put back and is upgraded again."""
    first = path.with_name(f"{path.name}.before-version-{version}")
    more = (first.with_name(f"{first.name}-{number}") for number in count(2))
    return first if not first.exists() else next(name for name in more if not name.exists())
