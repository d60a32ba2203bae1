"""The same log through mydyno, pt-query-digest and mysqldumpslow: the same groups, counts and sums."""

from __future__ import annotations

import random
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from mydyno.queries.log import read_logs
from mydyno.queries.records import Digest, Group
from queries.peers import Sums, counts_of_mysqldumpslow, its_groups

ENTRIES = 600
START = datetime(2026, 11, 22, 3, tzinfo=UTC)

BOTH_READ_ALIKE = (
    "select c from t where id = {n}",
    "select c from t where id in ({list})",
    "select c from t where name = '{text}'",
    'select c from t where name = "{text}" and d > -{n}',
    "select sum(k), count(*) from t where created > '2026-11-22' - interval {n} day group by c limit {n}",
    "insert into t (a, b) values {rows}",
    "replace into t (a, b) values {rows}",
    "update t set a = a + {n}.25, b = null where id = {n} limit {n}",
    "delete from t where a between {n} and {n} or b like '%{text}%'",
    "select t.a, u.b\nfrom t join u on u.id = t.u_id\nwhere t.c = 0x{n}\norder by t.a desc",
    "insert into log (at, what) values (now(), '{text}')",
    "set @last = {n}",
    "commit",
    "show global status like '{text}'",
)
"""Spelt as mydyno writes fingerprints for pt-query-digest: docs/reference/digest-fingerprints.md."""

MYSQLDUMPSLOW_READS_ALIKE = tuple(
    form for form in BOTH_READ_ALIKE if not any(piece in form for piece in ("{list}", "{rows}", "-{n}", "\n"))
)
"""It knows no lists, no signs, and writes white space as it is."""


def statement(form: str, chance: random.Random) -> str:
    numbers = [str(chance.randrange(1, 10**6)) for _ in range(chance.randrange(1, 30))]
    return form.format(
        n=numbers[0],
        list=", ".join(numbers),
        rows=", ".join(f"({number}, 'x{number}')" for number in numbers),
        text=chance.choice(["bob", "", r"O\'Brien", "a, b (c)", "50 % ; done"]),
    )


def seconds(chance: random.Random, most_us: int) -> str:
    return f"{chance.randrange(most_us) / 10**6:.6f}"


def log(path: Path, forms: Sequence[str], chance: random.Random) -> None:
    """As MariaDB 10.11 and MySQL 5.6 write it, with one header line more in MariaDB's."""
    lines = ["/usr/sbin/mariadbd, Version: 10.11.6-MariaDB. started with:\nTcp port: 3306  Unix socket: /s\n"]
    lines.append("Time\t\t    Id Command\tArgument\n")
    for number in range(ENTRIES):
        at = START + timedelta(seconds=number)
        lines.append(
            f"# Time: {at:%y%m%d} {at.hour:2}:{at:%M:%S}\n"
            f"# User@Host: app[app] @ web{number % 3} [10.0.0.{number % 3}]\n"
            f"# Thread_id: {number % 7}  Schema: shop  QC_hit: No\n"
            f"# Query_time: {seconds(chance, 10**7)}  Lock_time: {seconds(chance, 1000)}"
            f"  Rows_sent: {chance.randrange(100)}  Rows_examined: {chance.randrange(10**6)}\n"
            f"SET timestamp={int(at.timestamp())};\n{statement(chance.choice(forms), chance)};\n"
        )
    path.write_text("".join(lines), encoding="utf-8")


def our_sums(group: Group) -> Sums:
    names = ("query_time", "lock_time", "rows_sent", "rows_examined")
    return Sums(group.count, *(group.measures[name].sum for name in names))


@pytest.fixture
def chance() -> random.Random:
    return random.Random(8)


def digested(path: Path) -> Digest:
    digest = read_logs([str(path)])
    assert digest.problems == ()
    assert digest.total.count == ENTRIES
    return digest


def test_pt_query_digest_has_the_same_groups_with_the_same_sums(
    tmp_path: Path, chance: random.Random
) -> None:
    path = tmp_path / "slow.log"
    log(path, BOTH_READ_ALIKE, chance)
    ours = digested(path)
    assert len(ours.groups) == len(BOTH_READ_ALIKE)
    assert sorted(map(our_sums, ours.groups)) == sorted(its_groups(path))


def test_mysqldumpslow_has_the_same_counts(tmp_path: Path, chance: random.Random) -> None:
    path = tmp_path / "slow.log"
    log(path, MYSQLDUMPSLOW_READS_ALIKE, chance)
    ours = digested(path)
    assert sorted(group.count for group in ours.groups) == sorted(counts_of_mysqldumpslow(path))
