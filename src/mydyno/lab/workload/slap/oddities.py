"""Where mysqlslap does something else than its options say, by name: reported whenever a choice meets it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from mydyno.lab.workload.slap.options import Options


@dataclass(frozen=True)
class Oddity:
    """`original` is what mysqlslap does, and so does this load; `corrected` what --corrected does."""

    name: str
    original: str
    corrected: str

    def tell(self, corrected: bool) -> str:
        if corrected:
            return f"[{self.name}] corrected: {self.corrected} (mysqlslap: {self.original})"
        return f"[{self.name}] as mysqlslap: {self.original} (--corrected: {self.corrected})"


def met(options: Options, clients: int, own_sql: bool = False) -> list[Oddity]:
    """The oddities that these options meet with so many clients, in the order of a run."""
    return [*(() if own_sql else _of_data(options)), *_of_run(options, clients, own_sql)]


def _of_data(options: Options) -> Iterator[Oddity]:
    if options.preload:
        short = max(options.preload - 1, 0)
        yield Oddity("one-row-less", f"{short} rows before the load", f"{options.preload} rows")
    yield Oddity("one-text-more", f"clients go through {options.texts + 1} texts", f"{options.texts} texts")
    yield Oddity(
        "same-data",
        "every run has the same values, and the letters U and V never come",
        "all letters and digits; with and without, another --seed makes other values",
    )
    if options.guid_primary or options.secondary_indexes:
        yield Oddity(
            "ascending-uuid",
            "UUIDs are the server's uuid(), which ascend for about 7 minutes: no random keys",
            "random UUIDs",
        )
    if options.load_type == "mixed" and options.texts % 2 == 0:
        writes = options.texts // 2 + 1
        share = 100 * writes / (options.texts + 1)
        yield Oddity(
            "uneven-mix", f"{writes} of {options.texts + 1} statements write ({share:.1f}%)", "half of them"
        )
    scans = options.load_type == "read" or (options.load_type == "mixed" and not options.keyed)
    if scans:
        yield Oddity("full-scan", "every SELECT reads the whole table", "the same: the load type says so")
    if options.load_type == "update" and not options.keyed:
        yield Oddity("whole-table-update", "without a key every UPDATE writes the whole table", "the same")


def _of_run(options: Options, clients: int, own_sql: bool) -> Iterator[Oddity]:
    if options.queries is not None and options.queries % clients:
        left = options.queries % clients
        yield Oddity(
            "queries-left-out",
            f"{left} of {options.queries} statements are not run ({clients} clients)",
            "all are run",
        )
    yield Oddity(
        "connect-in-time", "connecting is part of the time", "connections are open before the clock starts"
    )
    if options.detach and not own_sql:
        yield Oddity(
            "detach-by-pass",
            f"statements are counted from 0 again after each pass through the {options.texts + 1} texts",
            "counted through",
        )
    if options.detach and options.commit:
        yield Oddity(
            "detach-loses-autocommit",
            "a new connection commits each statement by itself",
            "AUTOCOMMIT=0 on every connection",
        )
