"""Tables and data files of a `.smack` script: made, checked, loaded, and read into dictionaries.

In the order of super-smack 1.3: count the rows, drop a table with too few, create it, make its data file,
load it. A table that mydyno did not make is never dropped unasked.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

from mydyno.core.beneath import exists_below, read_below, write_below
from mydyno.core.errors import MydynoError, ServerError, UsageError
from mydyno.core.sql_names import quote
from mydyno.lab.load import sessions
from mydyno.lab.load.job import Target
from mydyno.lab.load.smack.settings import Emit, Settings
from mydyno.lab.workload.smack import dictionary as dictionaries
from mydyno.lab.workload.smack import generate
from mydyno.lab.workload.smack.dictionary import BELOW, MOST_BYTES, Dictionary
from mydyno.lab.workload.smack.grammar import Script, Section
from mydyno.lab.workload.smack.traps import TrapAt, trap_at
from mydyno.server.access import dbapi

_BATCH = 1000


def folder(script: Script, settings: Settings) -> Path:
    return settings.datadir or Path(script.file).parent


def populate(table: Section, folder: Path, settings: Settings, emit: Emit) -> None:
    """Make a table's data file below `folder` when it is missing.

    Raises UsageError for a command that was not allowed, for a file that does not fit its command and for one
    that is not below `folder`, ServerError when the command fails or the file cannot be written.
    """
    text, name = table.text("gen_data_file"), table.text("data_file")
    path = folder / name
    command = generate.parse_command(text)
    if _exists(folder, name):
        if command:
            _check(folder, name, command, settings, emit)
        return
    emit("output", f"Populating data file '{path}'")
    if command:
        if (size := generate.most_bytes(command)) > MOST_BYTES:
            raise UsageError(
                f"the data file of table {table.name} would have up to {size:,} bytes",
                f"at most {MOST_BYTES:,}: fewer rows, or narrower fields",
            )
        body = generate.lines(command.form, command.rows, settings.seed, settings.strict)
        _write(folder, name, "".join(line + "\n" for line in body).encode())
    elif not text:
        raise UsageError(f"{path} is missing, and table {table.name} has no gen_data_file to make it")
    elif not settings.allow_commands:
        raise UsageError(
            f"table {table.name} needs the shell command {text!r} for its data",
            "create the data file yourself, or allow the command with --allow-commands",
        )
    else:
        emit("note", f"running {text!r}")
        done = subprocess.run(text, shell=True, stdout=subprocess.PIPE, check=False)
        if done.returncode:
            raise ServerError(f"{text!r} failed with exit code {done.returncode}")
        _write(folder, name, done.stdout)


def _exists(folder: Path, name: str) -> bool:
    try:
        return exists_below(folder, folder / name)
    except OSError as error:
        raise _unusable(folder, name, error) from None


def _write(folder: Path, name: str, data: bytes) -> None:
    """All of the file or nothing: half a file would be taken for a whole one the next time."""
    try:
        write_below(folder, folder / name, data)
    except OSError as error:
        raise MydynoError(
            f"cannot write {folder / name}: {error.strerror}", "use another folder with --datadir"
        ) from None


def _read(folder: Path, name: str) -> bytes:
    try:
        return read_below(folder, folder / name, MOST_BYTES)
    except OSError as error:
        raise _unusable(folder, name, error) from None


def _unusable(folder: Path, name: str, error: OSError) -> UsageError:
    return UsageError(f"cannot use the data file {folder / name}: {error.strerror}", BELOW)


def _check(folder: Path, name: str, command: generate.Command, settings: Settings, emit: Emit) -> None:
    path = folder / name
    lines = _read(folder, name).split(b"\n")[:-1]
    commas = command.form.commas
    problem = None
    if len(lines) != command.rows:
        problem = f"it has {len(lines)} lines, its gen-data command makes {command.rows}"
    elif any(line.count(b",") != commas for line in lines):
        problem = f"not all of its lines have {commas + 1} fields, as its gen-data command makes"
    if problem is None:
        return
    if settings.strict:
        emit("note", trap_at("stale-data-file", None, problem).message(str(path), strict=True))
        return
    raise UsageError(f"{path} is stale: {problem}", "remove it to create it again, or use --strict-compat")


def read_rows(folder: Path, name: str) -> list[list[str | None]]:
    r"""The fields of each line, by the rules of LOAD DATA with commas: \N is NULL.

    Raises UsageError for a file that cannot be read as UTF-8 text.
    """
    try:
        lines = _read(folder, name).decode().split("\n")
    except UnicodeDecodeError as error:
        raise UsageError(f"cannot load {folder / name}: {error}") from None
    if not lines[-1]:
        lines.pop()
    return [[None if field == "\\N" else field for field in line.split(",")] for line in lines]


def read_dictionary(section: Section, script: Script, settings: Settings) -> tuple[Dictionary, list[TrapAt]]:
    """The dictionary with its words. Raises SpecErrors at its place when its file is missing or damaged."""
    match section.text("source_type"):
        case "list":
            return dictionaries.from_list(section, settings.strict)
        case "template":
            return dictionaries.from_template(section, script.file, settings.strict)
    return dictionaries.read_file(section, folder(script, settings), script.file, settings.strict)


def make_table(table: Section, target: Target, folder: Path, settings: Settings, emit: Emit) -> None:
    """See that the table is there with at least min_rows rows.

    Raises ServerError when the server refuses a statement, UsageError when a table that is not ours would
    have to be dropped or the data file does not fit.
    """
    what = f"table {table.name}"
    try:
        with _connect(target, settings, emit) as connection, connection.cursor() as cursor:
            if not _is_wanted(cursor, table, target.database, settings, emit):
                return
            what = f"creating table {table.name}"
            emit("output", f"Creating table '{table.name}'")
            cursor.execute(table.text("create"))
            sessions.mark(cursor, table.name)
            what = f"loading table {table.name}"
            _load(cursor, table, folder, settings, emit)
            emit("output", f"Table {table.name} is now ready for the test")
    except dbapi.Error as error:
        raise sessions.failed(target, what, error) from None


def _connect(target: Target, settings: Settings, emit: Emit) -> dbapi.Connection[dbapi.Cursor]:
    """In the target's schema, which is made when it is missing."""
    try:
        return sessions.connect(target, target.database)
    except dbapi.Error as error:
        if settings.strict or sessions.code_of(error) != sessions.NO_SUCH_DATABASE:
            raise
    emit("note", f"creating the schema {target.database}, which is missing")
    connection = sessions.connect(target)
    with connection.cursor() as cursor:
        cursor.execute(f"CREATE DATABASE {quote(target.database)}")
    connection.select_db(target.database)
    return connection


def _is_wanted(cursor: dbapi.Cursor, table: Section, database: str, settings: Settings, emit: Emit) -> bool:
    """Whether the table has to be made; one with too few rows is dropped on the way."""
    try:
        cursor.execute(f"SELECT COUNT(*) FROM {quote(table.name)}")
    except dbapi.Error as error:
        if not settings.strict and sessions.code_of(error) != sessions.NO_SUCH_TABLE:
            raise
        emit("note", f"table {table.name}: {dbapi.text_of(error)}")
        return True
    (rows,) = cursor.fetchone() or (0,)
    least = int(table.text("min_rows", "0"))
    if rows >= least:
        return False
    emit("output", f"Table '{table.name}' does not meet condition: {rows} of {least} rows")
    if not settings.drop_existing:
        sessions.refuse_foreign(sessions.foreign_tables(cursor, database, table.name), database)
    cursor.execute(f"DROP TABLE {quote(table.name)}")
    return True


def _load(cursor: dbapi.Cursor, table: Section, folder: Path, settings: Settings, emit: Emit) -> None:
    if not table.text("data_file"):
        return
    name = table.text("data_file")
    path = folder / name
    populate(table, folder, settings, emit)
    emit("output", f"Loading data from file '{path}' into table '{table.name}'")
    if settings.strict:
        cursor.execute(
            f"LOAD DATA INFILE %s INTO TABLE {quote(table.name)} FIELDS TERMINATED BY ','",
            (str(path.resolve()),),
        )
        return
    rows = read_rows(folder, name)
    cursor.execute(f"SELECT * FROM {quote(table.name)} LIMIT 0")
    columns = len(cursor.description or ())
    wrong = next((number for number, row in enumerate(rows, 1) if len(row) != columns), None)
    if wrong:
        raise UsageError(
            f"{path}: line {wrong} has {len(rows[wrong - 1])} fields,"
            f" table {table.name} has {columns} columns"
        )
    values = "(" + ", ".join(["%s"] * columns) + ")"
    cursor.execute("SET autocommit=0")
    for start in range(0, len(rows), _BATCH):
        batch = rows[start : start + _BATCH]
        cursor.executemany(f"INSERT INTO {quote(table.name)} VALUES {values}", batch)
    cursor.execute("COMMIT")
    cursor.execute("SET autocommit=1")
    cursor.execute(f"SELECT COUNT(*) FROM {quote(table.name)}")
    (found,) = cursor.fetchone() or (0,)
    if found != len(rows):
        raise ServerError(f"table {table.name} has {found} rows after loading {len(rows)} from {path}")
