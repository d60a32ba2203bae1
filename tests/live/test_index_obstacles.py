"""What keeps an index from being used, asked of real servers: EXPLAIN agrees with what is proposed."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from queries.builders import digest, group

from live.conftest import Start
from live.test_index_candidates import candidates, explained_keys, run
from mydyno.lab.stack import RunningServer

pytestmark = [pytest.mark.live, pytest.mark.slow]

TABLES = (
    "CREATE DATABASE shop",
    "CREATE TABLE shop.d (d INT PRIMARY KEY)",
    "INSERT INTO shop.d VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9)",
    "CREATE TABLE shop.t (id INT PRIMARY KEY, a INT, b INT, code VARCHAR(40), at DATETIME, pad CHAR(100))"
    " CHARACTER SET utf8mb4",
    "INSERT INTO shop.t SELECT n, n, n, CONCAT('c', n), '2026-01-01' + INTERVAL n HOUR, 'x'"
    " FROM (SELECT p.d + 10 * q.d + 100 * r.d + 1000 * s.d AS n"
    " FROM shop.d p, shop.d q, shop.d r, shop.d s) AS numbers",
    "CREATE TABLE shop.l (id INT PRIMARY KEY, old VARCHAR(40) CHARACTER SET latin1, number INT,"
    " word VARCHAR(40) COLLATE utf8mb4_bin, pad CHAR(100)) CHARACTER SET utf8mb4",
    "INSERT INTO shop.l SELECT id, code, a, code, 'y' FROM shop.t",
    "ANALYZE TABLE shop.t, shop.l",
)
INDEXES = (
    "ALTER TABLE shop.t ADD INDEX (a), ADD INDEX (b), ADD INDEX (code), ADD INDEX (at)",
    "ALTER TABLE shop.l ADD INDEX (old), ADD INDEX (number), ADD INDEX (word)",
    "ANALYZE TABLE shop.t, shop.l",
)
CONDITIONS = (
    "a = 5",
    "a = '5'",
    "a IN (1, 2)",
    "a <=> NULL",
    "a BETWEEN 5 AND 9",
    "a BETWEEN 5 AND b",
    "5 BETWEEN a AND b",
    "a <> 5",
    "a NOT IN (1, 2)",
    "a + 1 = 5",
    "-a = 5",
    "ABS(a) = 5",
    "COALESCE(a, 0) = 5",
    "a = FLOOR(RAND() * 9)",
    "a = 1 OR a = 2",
    "a IN (SELECT number FROM l WHERE id < 5)",
    "(a, b) > (9990, 2)",
    "code = '5'",
    "code = 5",
    "code = 5 + 0",
    "code IN ('c1', 5)",
    "code > 5",
    "code = _latin1'c5'",
    "code = 'c5' COLLATE utf8mb4_bin",
    "code LIKE 'c55%'",
    "code LIKE '%5'",
    "code LIKE '_5'",
    "code RLIKE 'c55'",
    "BINARY code = 'c5'",
    "LOWER(code) = 'c5'",
    "at = '2026-01-05'",
    "DATE(at) = '2026-02-01'",
    "YEAR(at) = 2025",
    "CAST(at AS DATE) BETWEEN '2026-01-05' AND '2026-01-06'",
    "at + INTERVAL 1 DAY > '2027-02-21'",
)
JOINS = (
    "SELECT STRAIGHT_JOIN t.id FROM t JOIN l ON l.old = t.code WHERE t.id = t.a",
    "SELECT STRAIGHT_JOIN l.id FROM l JOIN t ON l.old = t.code WHERE l.pad = 'y'",
    "SELECT STRAIGHT_JOIN t.id FROM t JOIN l ON l.number = t.code WHERE t.id = t.a",
    "SELECT STRAIGHT_JOIN l.id FROM l JOIN t ON t.code = l.number WHERE l.pad = 'y'",
    "SELECT STRAIGHT_JOIN t.id FROM t JOIN l ON l.word = t.code WHERE t.id = t.a",
    "SELECT STRAIGHT_JOIN l.id FROM l JOIN t ON t.code = l.word WHERE l.pad = 'y'",
    "SELECT STRAIGHT_JOIN t.id FROM t JOIN l ON l.number = t.a + 1 WHERE t.pad = 'y'",
)


@pytest.mark.parametrize("name", ["mariadb-10.11", "mariadb-11.8", "mysql-9.7"])
def test_an_index_is_proposed_where_explain_would_use_it(
    name: str, start_release: Callable[[str], Start]
) -> None:
    server = start_release(name)({})
    run(server, TABLES)
    statements = {f"SELECT id, pad FROM t WHERE {condition}": "t" for condition in CONDITIONS}
    statements |= {join: join.split(" JOIN ")[1].split()[0] for join in JOINS}
    proposed = {each: table in _proposed(server, each) for each, table in statements.items()}
    run(server, INDEXES)
    used = {each: bool(explained_keys(server, each, table)) for each, table in statements.items()}
    assert proposed == used


def _proposed(server: RunningServer, statement: str) -> set[str]:
    """The tables that get a candidate, without their indexes."""
    slow = group(statement, example=statement, rows_examined=[10_000] * 3, rows_sent=[1] * 3)
    slow = slow.model_copy(update={"databases": (("shop", 3),)})
    return {each.table for each in candidates(server, digest(slow)).candidates}
