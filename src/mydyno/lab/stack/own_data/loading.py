"""Loads dumps into a running server, statement by statement, through mydyno's own client.

System schemas in a dump are left out: accounts and time zones of another release would break the server.
"""

import bz2
import gzip
import lzma
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, cast

from mydyno.core.errors import MissingToolError, ServerError
from mydyno.core.sql_names import SYSTEM_SCHEMAS, quote
from mydyno.lab.stack.own_data.source import OwnData
from mydyno.lab.stack.own_data.statements import statements
from mydyno.lab.stack.server.sandbox import RunningServer
from mydyno.machine.trees import LONGEST_COPY_SECONDS
from mydyno.server.access import dbapi

_USE = re.compile(rb"\s*USE\s+`?([^`;\s]+)`?\s*\Z", re.IGNORECASE)
_CREATES = re.compile(rb"\s*(?:CREATE|DROP)\s+DATABASE\b[^`]*`(\w+)`", re.IGNORECASE)
_EMPTY, _NO_DATABASE = 1065, 1046
_HINTS = {
    _NO_DATABASE: "the dump names no schema: setup.data.database, or `--database` of mydyno rehearse",
    1115: "this release does not know the character set: edit the dump, as an upgrade would need it too",
    1227: "the dump sets what only an administrator may: dump without DEFINER clauses and GTIDs",
    1273: "this release does not know the collation: dump with one that both have, or ALTER TABLE first",
    1064: "this release does not take the statement: the dump is of another family or a newer release",
    1286: "this release does not have the storage engine",
    1118: "the row is too large for this release's defaults: innodb_strict_mode, innodb_page_size",
}


def load(server: RunningServer, data: OwnData, database: str | None) -> None:
    """Raises ServerError naming file and line of the first statement that the server refused."""
    with _session(server) as cursor:
        if database is not None:
            cursor.execute(f"CREATE DATABASE IF NOT EXISTS {quote(database)}")
        if data.kind == "dump":
            _run(cursor, data.path, database)
            return
        for file, schema in mydumper_order(data.path):
            if schema not in SYSTEM_SCHEMAS:
                is_create = "-schema-create.sql" in file.name
                _run(cursor, file, None if is_create else schema)


def run_file(server: RunningServer, file: Path, database: str | None) -> None:
    """The statements of a schema change, with one of the schemas as the current one. Raises ServerError."""
    with _session(server) as cursor:
        if database is None:
            cursor.execute("SHOW DATABASES")
            own = [str(name) for (name,) in cursor.fetchall() if str(name).lower() not in SYSTEM_SCHEMAS]
            database = own[0] if len(own) == 1 else None
        _run(cursor, file, database)


def mydumper_order(folder: Path) -> list[tuple[Path, str]]:
    """Files with the schema of each: schemas, tables, rows, then views, triggers and routines."""
    parts = re.compile(r"(?P<db>[^.]+?)(?:-schema-(?P<of>create|post)|\.(?P<table>.+?))\.sql(?:\.\w+)?\Z")
    ranked = []
    for file in sorted(folder.iterdir()):
        match = parts.fullmatch(file.name)
        if match is None:
            continue
        table = match["table"] or ""
        last = {"-schema-view": 4, "-schema-triggers": 5}
        rank = {"create": 0, "post": 6}.get(match["of"] or "", 3)
        rank = next((number for end, number in last.items() if table.endswith(end)), rank)
        if table.endswith(("-schema", "-schema-sequence")):
            rank = 1
        ranked.append((rank, file.name, file, match["db"]))
    return [(file, database) for _, _, file, database in sorted(ranked)]


@contextmanager
def opened(path: Path) -> Iterator[BinaryIO]:
    """The text of a dump, whatever it is compressed with. Raises MissingToolError for .zst without zstd."""
    if path.suffix == ".zst":
        program = shutil.which("zstd")
        if program is None:
            raise MissingToolError(f"{path} needs zstd", "apt-get install zstd")
        with subprocess.Popen([program, "-dcq", "--", str(path)], stdout=subprocess.PIPE) as child:
            assert child.stdout is not None
            try:
                yield cast(BinaryIO, child.stdout)
            except BaseException:
                child.kill()
                raise
            child.stdout.close()
            if child.wait() != 0:
                raise ServerError(f"{path} could not be decompressed", f"zstd -t {path}")
        return
    readers = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
    with readers.get(path.suffix, open)(path, "rb") as file:  # type: ignore[operator]
        yield cast(BinaryIO, file)


@contextmanager
def _session(server: RunningServer) -> Iterator[dbapi.Cursor]:
    with (
        server.connect(answer_seconds=int(LONGEST_COPY_SECONDS)) as connection,
        connection.cursor() as cursor,
    ):
        cursor.execute("SET SESSION foreign_key_checks = 0, SESSION unique_checks = 0")
        yield cursor


def _run(cursor: dbapi.Cursor, file: Path, database: str | None) -> None:
    current = (database or "").lower()
    if database is not None:
        cursor.execute(f"USE {quote(database)}")
    try:
        with opened(file) as text:
            for line, statement in statements(text, str(file)):
                if named := _USE.match(statement) or _CREATES.match(statement):
                    current = named[1].decode(errors="replace").lower()
                if current in SYSTEM_SCHEMAS:
                    continue
                _execute(cursor, statement, f"{file} line {line}")
    except (EOFError, OSError, lzma.LZMAError) as error:
        raise ServerError(f"{file} cannot be read to its end: {error}", "is it whole?") from error


def _execute(cursor: dbapi.Cursor, statement: bytes, where: str) -> None:
    try:
        # PyMySQL sends bytes as they are; a dump may change its character set on the way.
        cursor.execute(cast(str, statement))
        with suppress(AttributeError):
            while cursor.nextset():
                pass
    except dbapi.Error as error:
        number = dbapi.number_of(error)
        if number == _EMPTY:
            return
        raise ServerError(
            f"{where}: the server refused the statement: {dbapi.text_of(error)} (error {number})",
            _HINTS.get(number or 0),
        ) from error
