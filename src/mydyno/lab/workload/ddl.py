"""What a CREATE TABLE says about columns, keys and the storage engine: enough to check it and to estimate.

Not a parser of SQL: whatever it does not understand it leaves to the server.
"""

import re
from dataclasses import dataclass

STORAGE_ENGINES = (
    "innodb", "myisam", "aria", "memory", "archive", "csv", "blackhole", "rocksdb", "myrocks", "tokudb",
    "columnstore", "spider", "mroonga", "sequence", "connect", "federated", "federatedx", "merge",
    "mrg_myisam", "s3", "ndb", "ndbcluster", "example", "heap",
)  # fmt: skip
"""Those that MySQL and MariaDB have or had; each server has its own choice of them."""

_CREATE = re.compile(
    r"\s*CREATE\s+(?:TEMPORARY\s+)?TABLE\s+(?:IF\s+NOT\s+EXISTS\s+)?(`[^`]+`|\w+)\s*", re.IGNORECASE
)
_ENGINE = re.compile(r"\bENGINE\s*=?\s*([^\s,;*/]+)", re.IGNORECASE)
_NO_COLUMN = {
    "primary", "key", "index", "unique", "constraint", "foreign", "fulltext", "spatial", "check", "period"
}  # fmt: skip
_INTEGERS = {
    "tinyint": 1, "bool": 1, "boolean": 1, "smallint": 2, "mediumint": 3, "int": 4, "integer": 4, "bigint": 8,
    "float": 4, "double": 8, "real": 8, "date": 3, "time": 3, "datetime": 5, "timestamp": 4, "year": 1,
}  # fmt: skip
_ROW_HEADER_BYTES = 18
"""InnoDB: 5 bytes of record header, 6 of transaction and 7 of roll pointer."""
_PAGE_FILL = 15 / 16
_INDEX_FILL = 0.7
_INDEX_HEADER_BYTES = 5


@dataclass(frozen=True)
class Column:
    name: str
    type: str
    length: int | None

    def bytes(self, text_length: float | None) -> float:
        """Bytes of a value; `text_length` is the mean length of what is put into it, where that is known."""
        if self.type in _INTEGERS:
            return _INTEGERS[self.type]
        if self.type in ("decimal", "numeric", "dec", "fixed"):
            return (self.length or 10) / 2 + 1
        if self.type in ("char", "binary"):
            return self.length or 1
        if self.type in ("enum", "set", "bit"):
            return 2
        known = text_length if text_length is not None else (self.length or 100) / 2
        return (min(known, self.length) if self.length else known) + 1


@dataclass(frozen=True)
class Definition:
    """A table as its CREATE TABLE describes it."""

    table: str
    columns: tuple[Column, ...]
    """Empty when the statement could not be read."""
    primary: tuple[str, ...]
    secondary: tuple[tuple[str, ...], ...]
    engine: str | None

    def row_bytes(
        self, text_lengths: dict[str, float | None], more_indexes: tuple[str, ...], *, ascending: bool
    ) -> float:
        """Bytes on disk of one row with its index entries, freshly loaded into InnoDB.

        `ascending`: rows come in the order of the primary key, so that pages are filled to the end.
        """
        sizes = {column.name: column.bytes(text_lengths.get(column.name)) for column in self.columns}
        primary = sum(sizes.get(name, 4) for name in self.primary)
        fill = _PAGE_FILL if ascending else _INDEX_FILL
        row = (sum(sizes.values()) + _ROW_HEADER_BYTES) / fill
        added = tuple(columns for sql in more_indexes if (columns := _index_columns(sql)))
        for columns in (*self.secondary, *added):
            row += (sum(sizes.get(name, 4) for name in columns) + primary + _INDEX_HEADER_BYTES) / _INDEX_FILL
        return row


def read_definition(sql: str) -> Definition | None:
    """What `sql` creates; None when it is not a CREATE TABLE."""
    created = _CREATE.match(sql)
    if created is None:
        return None
    engine = _ENGINE.search(sql, created.end())
    columns: list[Column] = []
    primary: tuple[str, ...] = ()
    secondary: list[tuple[str, ...]] = []
    for item in _items(sql[created.end() :]):
        words = re.findall(r"`[^`]+`|\w+", item)
        if not words:
            continue
        if words[0].lower() not in _NO_COLUMN:
            columns.append(_column(item, words))
            if re.search(r"\bPRIMARY\s+KEY\b", item, re.IGNORECASE):
                primary = (_bare(words[0]),)
        elif words[0].lower() == "primary":
            primary = _listed(item)
        elif words[0].lower() in ("key", "index", "unique"):
            secondary.append(_listed(item))
    return Definition(
        _bare(created.group(1)),
        tuple(columns),
        primary,
        tuple(secondary),
        engine.group(1).strip("'\"`") if engine else None,
    )


def _bare(name: str) -> str:
    return name.strip("`")


def _column(item: str, words: list[str]) -> Column:
    match = re.match(r"\s*(?:`[^`]+`|\w+)\s+(\w+)\s*(?:\(\s*(\d+))?", item)
    kind = match.group(1).lower() if match else "text"
    return Column(_bare(words[0]), kind, int(match.group(2)) if match and match.group(2) else None)


def _listed(item: str) -> tuple[str, ...]:
    """The columns between the brackets of a key."""
    inside = re.search(r"\(([^()]*(?:\([^()]*\)[^()]*)*)\)", item)
    return (
        tuple(_bare(name) for name in re.findall(r"`[^`]+`|[A-Za-z_]\w*", inside.group(1))) if inside else ()
    )


def _index_columns(sql: str) -> tuple[str, ...]:
    return _listed(sql) if re.match(r"\s*CREATE\s+(?:UNIQUE\s+)?INDEX\b", sql, re.IGNORECASE) else ()


def _items(text: str) -> list[str]:
    """What is between the outermost brackets, cut at the commas that are in no further bracket."""
    if not text.lstrip().startswith("("):
        return []
    items: list[str] = []
    depth, current, quote = 0, "", ""
    for letter in text.lstrip():
        if quote or letter in "'\"":
            quote = "" if letter == quote else quote or letter
        elif letter == "(":
            depth += 1
            if depth == 1:
                continue
        elif letter == ")":
            depth -= 1
            if depth == 0:
                return [*items, current]
        elif letter == "," and depth == 1:
            items.append(current)
            current = ""
            continue
        current += letter
    return []
