"""Dictionaries: words that values are taken from."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mydyno.core.nearest import nearest
from mydyno.lab.workload.expressions import number_of
from mydyno.lab.workload.functions import Names
from mydyno.lab.workload.sql import Context, compile_fixed_sql
from mydyno.lab.workload.written import Gathered, Written

DICTIONARY_KEYS = {
    "words": "The words themselves; a plain list under the dictionary's name means the same.",
    "file": "A text file, one word a line; its path counts from the workload file.",
    "query": "SQL; the first column of its rows, read once before the load.",
    "column": "`TABLE.COLUMN`: the values that the rows of this workload's own table got, made without "
    "asking the server.",
    "every": "With `column`: of rows number N, 2N, 3N and so on only.",
}
_SOURCES = ("words", "file", "query", "column")
_LARGEST_FILE_BYTES = 16 * 1024**2


def compile_dictionary(
    name: str, written: Written, names: Names, tables: Mapping[str, list[str]], gathered: Gathered
) -> dict[str, Any]:
    """The engine's dictionary; `tables` has the filled columns of each table by its name. Raises Wrong."""
    what = f"dictionaries.{name}"
    if written.is_list:
        return {"words": _words(written, what)}
    entries = written.entries(what)
    gathered.add(*written.only(DICTIONARY_KEYS, what))
    given = [source for source in _SOURCES if source in entries]
    if len(given) != 1:
        message = f"{what} has {' and '.join(given) if given else 'no words'}"
        raise written.wrong_key(message, f"one of {', '.join(_SOURCES)}")
    [source] = given
    if source == "words":
        return {"words": _words(entries["words"], what)}
    if source == "file":
        return {"words": _read(entries["file"], what)}
    if source == "query":
        return {"query": compile_fixed_sql(entries["query"], what, Context(names))}
    every = number_of(entries["every"], names, f"{what}.every", 1) if "every" in entries else 1
    return {"column": {**_column(entries["column"], what, tables), "every": every}}


def _words(written: Written, what: str) -> list[str]:
    words = [item.describe() for item in written.items(what)]
    if not words:
        raise written.wrong(f"{what} has no words", "[first, second]")
    return words


def _read(written: Written, what: str) -> list[str]:
    name = written.text_of(f"{what}.file")
    path = written.part.folder / name
    try:
        with path.open("rb") as file:
            data = file.read(_LARGEST_FILE_BYTES + 1)
    except OSError as error:
        reason = "there is no such file" if isinstance(error, FileNotFoundError) else str(error.strerror)
        raise written.wrong(
            f"the dictionary cannot be read: {reason}", nearest=_neighbour(path, name)
        ) from None
    if len(data) > _LARGEST_FILE_BYTES:
        raise written.wrong("the dictionary is too large", f"at most {_LARGEST_FILE_BYTES // 1024**2}M")
    words = [line for line in data.decode("utf-8", "replace").splitlines() if line]
    if not words:
        raise written.wrong("the dictionary has no words", "one word a line")
    return words


def _neighbour(path: Path, name: str) -> str | None:
    folder = path.parent
    files = sorted(each.name for each in folder.iterdir() if each.is_file()) if folder.is_dir() else []
    close = nearest(path.name, files)
    return str(Path(name).with_name(close)) if close else None


def _column(written: Written, what: str, tables: Mapping[str, list[str]]) -> dict[str, str]:
    table, dot, column = written.text_of(f"{what}.column").rpartition(".")
    if not dot:
        raise written.wrong(f"{what}.column is not a column", "TABLE.COLUMN")
    if table not in tables:
        raise written.wrong(f"unknown table '{table}'", ", ".join(tables), nearest(table, tables))
    if column not in tables[table]:
        known = tables[table]
        raise written.wrong(f"{table} does not fill {column}", ", ".join(known), nearest(column, known))
    return {"table": table, "column": column}
