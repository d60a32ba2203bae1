"""A slow log of any size, as MariaDB 10.11 or MySQL 8 writes it: the same seed gives the same bytes.

    python benchmarks/slow_log.py BYTES [--dialect mariadb|mysql] [--seed N] > slow.log

About 400 statements of a web shop, each with its own literals every time, a few of them in most entries as
everywhere. pt-query-digest groups both; mysqldumpslow that of MariaDB only: of MySQL's it takes the line of
the time for a part of the statement. Writes about 150 MB a second.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.int64]

FINGERPRINTS = 400

_START = 1_767_225_600
"""2026-01-01 00:00:00 UTC."""
_PER_SECOND = 60
_ENTRIES_AT_ONCE = 12_000
_LITERALS = 12
"""Numbers that a statement has room for at most."""

_TABLES = (
    "orders", "order_lines", "customers", "products", "stock", "baskets", "payments", "shipments",
    "sessions", "reviews", "addresses", "coupons", "audit_log", "prices", "categories", "invoices",
)  # fmt: skip
_COLUMNS = ("customer_id", "status", "created_at", "total", "sku", "quantity", "email", "region", "note")

_SHAPES = (
    "SELECT {a}, {b} FROM {t} WHERE id = %d",
    "SELECT * FROM {t} WHERE {a} = %d AND {b} > %d ORDER BY {c} DESC LIMIT %d",
    "SELECT {a}, COUNT(*), SUM({b}) FROM {t} WHERE created_at >= '2026-01-%02d' AND {c} <> '%d' GROUP BY {a}",
    "SELECT t.{a}, u.{b} FROM {t} t JOIN {u} u ON u.id = t.{c} WHERE t.{a} > %d AND t.{b} < %d and u.{c} = 7",
    "SELECT id FROM {t} WHERE {a} IN (%d, %d, %d, %d) AND {b} LIKE 'x%d%%'",
    "SELECT id FROM {t} WHERE {a} IN (%d, %d, %d, %d, %d, %d, %d, %d)",
    "INSERT INTO {t} ({a}, {b}, {c}) VALUES (%d, 'it''s %d', NULL)",
    "INSERT INTO {t} ({a}, {b}) VALUES (%d, '%d'), (%d, '%d'), (%d, '%d'), (%d, '%d')",
    "UPDATE {t} SET {a} = {a} + %d, {b} = 'b%d@example.com' WHERE id = %d",
    "UPDATE `{t}` SET `{a}` = %d /* from the shop */ WHERE `{b}` = %d AND `{c}` IS NOT NULL",
    "DELETE FROM {t} WHERE {a} < %d AND {b} = 'old-%d' LIMIT %d",
    "select sql_no_cache {a} from {t}\nwhere {b} = -%d and {c} > %d.5\norder by {b}, {c}\nlimit %d, %d",
    "SELECT {a} FROM {t} WHERE {b} = (SELECT MAX({b}) FROM {u} WHERE {c} = %d) -- latest of %d",
)


@dataclass(frozen=True)
class Dialect:
    """How a server writes an entry. `%d` and the like are `numbers`, by their names in `_header_numbers`."""

    banner: str
    header: str
    numbers: tuple[str, ...]
    is_time_told_by_second: bool
    """Else by each entry itself."""


DIALECTS = {
    "mariadb": Dialect(
        banner=(
            "/usr/sbin/mariadbd, Version: 10.11.6-MariaDB-log (generated). started with:\n"
            "Tcp port: 3306  Unix socket: /run/mysqld/mysqld.sock\n"
            "Time\t\t    Id Command\tArgument\n"
        ),
        header=(
            "# User@Host: {user}[{user}] @ {host} [10.0.0.{address}]\n"
            "# Thread_id: %d  Schema: shop  QC_hit: No\n"
            "# Query_time: %d.%06d  Lock_time: 0.%06d  Rows_sent: %d  Rows_examined: %d\n"
            "# Rows_affected: %d  Bytes_sent: %d\n"
            "SET timestamp=%d;\n"
        ),
        numbers=("thread", "s", "us", "lock", "sent", "examined", "affected", "bytes", "second"),
        is_time_told_by_second=True,
    ),
    "mysql": Dialect(
        banner=(
            "/usr/sbin/mysqld, Version: 8.0.36 (generated). started with:\n"
            "Tcp port: 3306  Unix socket: /run/mysqld/mysqld.sock\n"
            "Time                 Id Command    Argument\n"
        ),
        header=(
            "# Time: 2026-01-%02dT%02d:%02d:%02d.%06dZ\n"
            "# User@Host: {user}[{user}] @ {host} [10.0.0.{address}]  Id: %5d\n"
            "# Query_time: %d.%06d  Lock_time: 0.%06d Rows_sent: %d  Rows_examined: %d\n"
            "SET timestamp=%d;\n"
        ),
        numbers=(
            *("day", "hour", "minute", "of_minute", "us"),
            *("thread", "s", "us", "lock", "sent", "examined", "second"),
        ),
        is_time_told_by_second=False,
    ),
}

_WHO = tuple(
    {"user": user, "host": f"{kind}{number}", "address": str(10 * at + number)}
    for at, (user, kind) in enumerate((("app", "web"), ("reports", "batch"), ("backend", "api")), start=1)
    for number in range(1, 9)
)


def write_log(size: int, dialect: Dialect, seed: int = 1) -> Iterator[bytes]:
    """Parts of a log that have `size` bytes together, or a little more: whole entries only."""
    in_header = len(dialect.numbers)
    random = np.random.default_rng(seed)
    statements = _statements(random)
    texts = [[dialect.header.format(**who) + statement + ";\n" for who in _WHO] for statement in statements]
    literals = np.array([statement.count("%") - 2 * statement.count("%%") for statement in statements])
    share = 1 / np.arange(1, FINGERPRINTS + 1)
    yield dialect.banner.encode()
    written = len(dialect.banner)
    second = _START
    while written < size:
        chosen = random.choice(FINGERPRINTS, _ENTRIES_AT_ONCE, p=share / share.sum())
        seconds = second + np.arange(_ENTRIES_AT_ONCE) // _PER_SECOND
        numbers = np.hstack(
            [
                _header_numbers(random, chosen, seconds, dialect.numbers),
                random.integers(1, 28, (_ENTRIES_AT_ONCE, _LITERALS)) ** 4,
            ]
        )
        told = np.arange(in_header + _LITERALS) < in_header + literals[chosen][:, None]
        who = random.integers(len(_WHO), size=_ENTRIES_AT_ONCE)
        entries = [texts[which][one] for which, one in zip(chosen.tolist(), who.tolist(), strict=True)]
        if dialect.is_time_told_by_second:
            for at in range(0, _ENTRIES_AT_ONCE, _PER_SECOND):
                entries[at] = _time_line(int(seconds[at])) + entries[at]
        part = ("".join(entries) % tuple(numbers[told].tolist())).encode()
        yield part
        written += len(part)
        second = int(seconds[-1]) + 1


def _statements(random: np.random.Generator) -> list[str]:
    """As many different ones as there are fingerprints, with room for their literals."""
    found: dict[str, None] = {}
    while len(found) < FINGERPRINTS:
        a, b, c = random.permutation(_COLUMNS)[:3]
        t, u = random.permutation(_TABLES)[:2]
        found[_SHAPES[random.integers(len(_SHAPES))].format(a=a, b=b, c=c, t=t, u=u)] = None
    return list(found)


def _header_numbers(
    random: np.random.Generator, chosen: Numbers, seconds: Numbers, names: tuple[str, ...]
) -> Numbers:
    """One row an entry: slower statements examine more rows."""
    micros = (random.lognormal(7, 2, len(chosen)) * (1 + chosen % 7)).astype(np.int64)
    rows = micros // 50 + 1
    passed = seconds - _START
    columns = {
        "thread": random.integers(10, 500, len(chosen)),
        "s": micros // 1_000_000,
        "us": micros % 1_000_000,
        "lock": random.integers(1, 400, len(chosen)),
        "sent": np.minimum(rows, 1_000),
        "examined": rows,
        "affected": chosen % 3,
        "bytes": np.minimum(rows, 1_000) * 57,
        "second": seconds,
        "day": 1 + passed // 86_400,
        "hour": passed // 3_600 % 24,
        "minute": passed // 60 % 60,
        "of_minute": passed % 60,
    }
    return np.column_stack([columns[name] for name in names])


def _time_line(second: int) -> str:
    when = datetime.fromtimestamp(second, UTC)
    return f"# Time: {when:%y%m%d} {when.hour:2}:{when:%M:%S}\n"


def main() -> None:
    parser = argparse.ArgumentParser(description="Write a slow log as a server does.")
    parser.add_argument("bytes", type=int)
    parser.add_argument("--dialect", choices=DIALECTS, default="mariadb")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    for part in write_log(options.bytes, DIALECTS[options.dialect], options.seed):
        sys.stdout.buffer.write(part)


if __name__ == "__main__":
    main()
