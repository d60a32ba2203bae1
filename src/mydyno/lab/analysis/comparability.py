"""What makes two servers incomparable: settings that differ although the experiment does not vary them. Pure.

Releases differ in their defaults, and in what they make of one setting: MariaDB since 10.5 keeps one file of
redo log whatever innodb_log_files_in_group says, MySQL before 8.0.30 keeps two of innodb_log_file_size by
default. So points whose experiment says the same of a property must have the same of it. Where the
experiment says something else of it at two points, a factor sets it, and it may differ.

Sources: MySQL 8.0 Reference Manual, "Redo Log Configuration"; MariaDB documentation, "InnoDB Redo Log",
innodb_log_files_in_group.
"""

from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from mydyno.core.factors import last_part
from mydyno.core.server_variables import OFF_WORDS, ON_WORDS, possible_names
from mydyno.core.units import bytes_or_none, format_bytes

_ALIKE = 1.05
"""Sums of memory within this ratio are the same: servers round to whole chunks."""
_NAMED = 2
"""Points that are named one by one."""
_ONE_REDO_FILE = (10, 5, 2)
"""Of MariaDB: it ignores innodb_log_files_in_group from here on."""


PropertyName = Literal[
    "redo_capacity",
    "flush_log",
    "doublewrite",
    "binary_log",
    "sync_binlog",
    "gtid",
    "character_set",
    "collation",
    "performance_schema",
    "isolation",
    "page_size",
    "flush_method",
    "memory",
]
"""As `unequal` of an experiment file names them."""


@dataclass(frozen=True)
class Effective:
    """The settings of one server."""

    variables: Mapping[str, str]
    """In force. What the server does not have, and what is unknown, is not there."""
    mariadb: bool
    numbers: tuple[int, ...]
    """Of its release."""
    written: Mapping[str, str]
    """What the experiment says, under the names that it uses."""
    configured: Collection[str]
    """The same names as this server has them."""

    def size(self, name: str) -> int | None:
        return bytes_or_none(self.variables.get(name, ""))

    def switch(self, name: str) -> str | None:
        value = self.variables.get(name)
        if value is None:
            return None
        word = value.casefold()
        return "ON" if word in ON_WORDS else "OFF" if word in OFF_WORDS else value.upper()


@dataclass(frozen=True)
class Property:
    name: PropertyName
    noun: str
    variables: tuple[str, ...]
    """What it is made of, under the names of all releases; the first is the one to set."""
    value: Callable[[Effective], str | int | None]
    """None: it is not known, or the server has no such property. Bytes are an int."""


@dataclass(frozen=True)
class Unequal:
    """A property that differs between points."""

    property: Property
    values: tuple[tuple[str, str], ...]
    """(the value, whose)"""

    def __str__(self) -> str:
        """`redo capacity is 192M (release = mysql-5.7) and 96M (release = mariadb-10.6)`"""
        sides = [f"{value} ({whose})" for value, whose in self.values]
        return f"{self.property.noun} is {', '.join(sides[:-1])} and {sides[-1]}"


def _variable(*names: str) -> Callable[[Effective], str | None]:
    """The first of `names` that the server has."""
    return lambda server: next((value for name in names if (value := server.switch(name)) is not None), None)


def _lower(name: str) -> Callable[[Effective], str | None]:
    def value(server: Effective) -> str | None:
        text = server.variables.get(name, "").casefold()
        # MySQL and MariaDB renamed their three bytes of UTF-8.
        return f"utf8mb3{text.removeprefix('utf8')}" if text.split("_")[0] == "utf8" else text or None

    return value


def _redo_capacity(server: Effective) -> int | None:
    capacity, size = server.size("innodb_redo_log_capacity"), server.size("innodb_log_file_size")
    if size is None or (capacity is not None and not _old_redo(server)):
        return capacity
    if server.mariadb and server.numbers >= _ONE_REDO_FILE:
        return size
    files = server.size("innodb_log_files_in_group")
    return None if files is None else size * files


def _old_redo(server: Effective) -> bool:
    """MySQL 8.0.30 and later still take size and number of files, unless they are given the capacity."""
    files = {"innodb_log_file_size", "innodb_log_files_in_group"}
    return bool(files & set(server.configured)) and "innodb_redo_log_capacity" not in server.configured


def _sync_binlog(server: Effective) -> str | None:
    """It matters only where there is a binary log."""
    return server.variables.get("sync_binlog") if server.switch("log_bin") not in (None, "OFF") else None


def _gtid(server: Effective) -> str | None:
    """MariaDB gives them to all that it logs."""
    if server.switch("log_bin") in (None, "OFF"):
        return None
    return "ON" if server.mariadb else server.switch("gtid_mode")


def _flush_method(server: Effective) -> str | None:
    """MariaDB 11.0 made switches of it, and shows the old variable as it was set. MySQL before 8.0 shows
    nothing where it is not set, which is fsync."""
    buffered = server.switch("innodb_data_file_buffering")
    if buffered is not None:
        return "FSYNC" if buffered == "ON" else "O_DIRECT"
    method = server.switch("innodb_flush_method")
    return "FSYNC" if method == "" else method


def _memory(server: Effective) -> int | None:
    sizes = [server.size(name) for name in ("innodb_buffer_pool_size", "innodb_log_buffer_size")]
    return None if None in sizes else sum(size for size in sizes if size is not None)


PROPERTIES = (
    Property(
        "redo_capacity",
        "redo capacity",
        ("innodb_redo_log_capacity", "innodb_log_file_size", "innodb_log_files_in_group"),
        _redo_capacity,
    ),
    Property(
        "flush_log",
        "innodb_flush_log_at_trx_commit",
        ("innodb_flush_log_at_trx_commit",),
        lambda server: server.variables.get("innodb_flush_log_at_trx_commit"),
    ),
    Property("doublewrite", "innodb_doublewrite", ("innodb_doublewrite",), _variable("innodb_doublewrite")),
    Property("binary_log", "log_bin", ("log_bin",), _variable("log_bin")),
    Property("sync_binlog", "sync_binlog", ("sync_binlog", "log_bin"), _sync_binlog),
    Property("gtid", "gtid_mode", ("gtid_mode", "log_bin"), _gtid),
    Property(
        "character_set", "character_set_server", ("character_set_server",), _lower("character_set_server")
    ),
    Property(
        "collation",
        "collation_server",
        ("collation_server", "character_set_server"),
        _lower("collation_server"),
    ),
    Property(
        "performance_schema", "performance_schema", ("performance_schema",), _variable("performance_schema")
    ),
    Property(
        "isolation",
        "transaction_isolation",
        ("transaction_isolation", "tx_isolation"),
        _variable("transaction_isolation", "tx_isolation"),
    ),
    Property(
        "page_size",
        "innodb_page_size",
        ("innodb_page_size",),
        lambda server: server.size("innodb_page_size"),
    ),
    Property(
        "flush_method",
        "innodb_flush_method",
        ("innodb_flush_method", "innodb_data_file_buffering"),
        _flush_method,
    ),
    Property(
        "memory",
        "memory of InnoDB (buffer pool and log buffer)",
        ("innodb_log_buffer_size", "innodb_buffer_pool_size"),
        _memory,
    ),
)


def unequal(
    servers: Iterable[tuple[Mapping[str, str], Effective]], *, across: str | None = None
) -> Iterator[Unequal]:
    """Every property that differs between points, each given by its levels and its server, and that no factor
    sets. With `across`, a factor that is not about settings (runs that are compared): what differs between
    points that have all other levels in common, however it was set."""
    servers = list(servers)
    for each in PROPERTIES:
        groups: dict[Hashable, list[tuple[Mapping[str, str], str | int]]] = {}
        for levels, server in servers:
            if (value := each.value(server)) is not None:
                others = tuple(item for item in levels.items() if item[0] != across)
                alike = _written(each, server.written) if across is None else others
                groups.setdefault(alike, []).append((levels, value))
        for found in groups.values():
            if _differ([value for _, value in found]):
                yield Unequal(each, tuple(_whose(found, [levels for levels, _ in servers])))
                break


def _written(of: Property, written: Mapping[str, str]) -> Hashable:
    """What the experiment says of a property."""
    own = (name for name in written if set(possible_names(name)) & set(of.variables))
    return tuple(sorted((name, written[name]) for name in own))


def _differ(values: Sequence[str | int]) -> bool:
    sizes = [value for value in values if isinstance(value, int)]
    if len(sizes) == len(values):
        return max(sizes) > _ALIKE * min(sizes)
    return len(set(values)) > 1


def _whose(
    found: Sequence[tuple[Mapping[str, str], str | int]], points: Sequence[Mapping[str, str]]
) -> Iterator[tuple[str, str]]:
    """Each value with the levels of the one factor that goes with it, or else with its points."""
    by_value: dict[str, list[Mapping[str, str]]] = {}
    for levels, value in found:
        text = format_bytes(value) if isinstance(value, int) else value
        by_value.setdefault(text, []).append(levels)
    for factor in dict.fromkeys(factor for levels in points for factor in levels):
        own = [dict.fromkeys(levels.get(factor) for levels in some) for some in by_value.values()]
        if sum(map(len, own)) == len(set().union(*own)):
            for text, names in zip(by_value, own, strict=True):
                yield text, f"{last_part(factor)} = {', '.join(name or 'none' for name in names)}"
            return
    for text, some in by_value.items():
        titles = [" · ".join(levels.values()) for levels in some]
        yield text, "; ".join(titles) if len(titles) <= _NAMED else f"{len(titles)} points"
