"""The parts of a new index: its columns in order, with so much of each as fits into a key.

Sources: MySQL Reference Manual, "InnoDB Limits" (3072 bytes for DYNAMIC and COMPRESSED rows, 767 for
REDUNDANT and COMPACT), "Column Indexes" (TEXT and BLOB need a length), "Data Type Storage Requirements", "The
MyISAM Storage Engine" (1000 bytes).
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from mydyno.core.server_version import Version
from mydyno.queries.candidates.choosing import Pattern
from mydyno.queries.candidates.existing import different_values
from mydyno.queries.candidates.schema import Column, Definition
from mydyno.survey.facts.indexes import Part

PREFIX_CHARACTERS = 32
"""Of a TEXT or BLOB: enough to distinguish most values, and many fit into a page."""
FEW_VALUES = 20
"""Below, a column with one value narrows little."""
_LONG_KEY, _SHORT_KEY, _OTHER_KEY = 3072, 767, 1000
_WITHOUT_INDEX = re.compile(r"json|geom|point|linestring|polygon|vector")
_LONG = re.compile(r"(tiny|medium|long)?(text|blob)")
_BYTES = {
    "tinyint": 1,
    "smallint": 2,
    "mediumint": 3,
    "int": 4,
    "float": 4,
    "enum": 2,
    "year": 1,
    "date": 3,
    "time": 6,
    "timestamp": 7,
}
_CHARACTER_BYTES = {"utf8mb4": 4, "utf8mb3": 3, "utf8": 3, "utf16": 4, "utf16le": 4, "utf32": 4, "ucs2": 2}


@dataclass(frozen=True)
class KeyParts:
    parts: tuple[Part, ...]
    caveats: tuple[str, ...] = ()


def can_be_indexed(column: Column) -> bool:
    return _WITHOUT_INDEX.search(column.kind) is None


def ordered(pattern: Pattern, definition: Definition | None, named: Sequence[str]) -> tuple[str, ...]:
    """The pattern's columns in their final order: in a block those with many values first.

    Where nothing is known of them, as the statement names them (`named`). One of which only the beginning is
    indexed comes last: nothing can follow it.
    """

    def worth(column: str) -> tuple[bool, int, int, int]:
        place = named.index(column) if column in named else len(named)
        known = definition.column(column) if definition else None
        is_long = known is not None and _LONG.fullmatch(known.kind) is not None
        different = values(definition, column) if definition else None
        if different is None:
            return is_long, 1, 0, place
        return is_long, (2 if different < FEW_VALUES else 0), -different, place

    return tuple(column for block in pattern for column in sorted(block, key=worth))


def values(definition: Definition, column: str) -> int | None:
    """How many different values a column has, by an index that begins with it, or at most by its type."""
    different = different_values(definition, column)
    known = definition.column(column)
    if different is not None or known is None:
        return different
    if known.kind == "enum":
        return known.type.count("','") + 1
    return 2 if known.type.lower() in ("tinyint(1)", "bit(1)") else None


def key_parts(
    columns: Sequence[str],
    definition: Definition | None,
    spelled: Mapping[str, str],
    release: Version | None,
) -> KeyParts:
    """The parts, and what had to be shortened or left out."""
    if definition is None:
        return KeyParts(tuple(Part(spelled.get(column, column)) for column in columns))
    of_one, of_all = _limits(definition, release)
    parts: list[Part] = []
    caveats: list[str] = []
    used = 0
    for name in columns:
        column = definition.column(name)
        if column is None:
            parts.append(Part(spelled.get(name, name)))
            continue
        length, size = _length(column, min(of_one, of_all - used))
        if size == 0:
            caveats.append(f"{column.name} is left out: a key has {of_all:,} bytes at most")
            break
        used += size
        parts.append(Part(column.name, length))
        if length is not None:
            caveats.append(
                f"only the first {length} characters of {column.name} ({column.type}) are indexed: check "
                "with COUNT(DISTINCT LEFT(...)) whether they are selective"
            )
            break
    return KeyParts(tuple(parts), tuple(caveats))


def fitted(
    pattern: Pattern, definition: Definition | None, named: Sequence[str], release: Version | None
) -> tuple[Pattern, tuple[str, ...]]:
    """So much of the pattern as a key of this table holds, and what is left out of it."""
    if definition is None:
        return pattern, ()
    columns = ordered(pattern, definition, named)
    keyed = key_parts(columns, definition, {}, release)
    kept: list[frozenset[str]] = []
    for block in pattern:
        parts = [(name, part) for name, part in zip(columns, keyed.parts, strict=False) if name in block]
        whole = frozenset(name for name, part in parts if part.length is None)
        cut = frozenset(name for name, part in parts if part.length is not None)
        kept += [each for each in (whole, cut) if each]
    return tuple(kept), keyed.caveats


def _limits(definition: Definition, release: Version | None) -> tuple[int, int]:
    """Bytes of one column, and of all together."""
    if (definition.engine or "").casefold() != "innodb":
        return _OTHER_KEY, _OTHER_KEY
    long_by_default = release is None or release.numbers >= ((10, 2, 0) if release.is_mariadb else (5, 7, 0))
    is_short = (definition.row_format or "").casefold() in ("compact", "redundant") or not long_by_default
    return (_SHORT_KEY if is_short else _LONG_KEY), _LONG_KEY


def _length(column: Column, room: int) -> tuple[int | None, int]:
    """How many characters of it (None: all), and the bytes they take; 0 where none fit."""
    of_character = _character_bytes(column)
    if _LONG.fullmatch(column.kind):
        length = min(PREFIX_CHARACTERS, room // of_character)
        return length, length * of_character
    if column.bytes is None:
        size = _BYTES.get(column.kind, 8)
        return None, size if size <= room else 0
    if column.bytes <= room:
        return None, max(1, column.bytes)
    length = room // of_character
    return length, length * of_character


def _character_bytes(column: Column) -> int:
    if column.collation is None:
        return 1
    if column.kind in ("char", "varchar") and column.bytes and column.characters:
        return max(1, column.bytes // column.characters)
    return _CHARACTER_BYTES.get(column.collation.partition("_")[0], 2)
