"""What real servers counted, as digests: the same statements have the same ids as in a log."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest

from mydyno.core.errors import ServerError
from mydyno.core.secrets import Secret
from mydyno.lab.stack import RunningServer
from mydyno.queries.fingerprints import fingerprints
from mydyno.queries.performance_schema import read_digests
from mydyno.queries.records import Digest, Group
from mydyno.server.access.login import Login

pytestmark = pytest.mark.live

Counting = Callable[[str], RunningServer]
RELEASES = (
    "mysql-9.7",
    "mariadb-11.8",
    pytest.param("mysql-5.6", marks=pytest.mark.slow),
    pytest.param("mariadb-10.5", marks=pytest.mark.slow),
)
on_every_release = pytest.mark.parametrize("name", RELEASES)

SUMMARY = "performance_schema.events_statements_summary_by_digest"
SHOP = (
    "DROP DATABASE IF EXISTS shop",
    "DROP DATABASE IF EXISTS shop2",
    "CREATE DATABASE shop",
    "CREATE DATABASE shop2",
    "CREATE TABLE shop.orders (id INT PRIMARY KEY, customer INT, note VARCHAR(20), KEY customer (customer))",
    "INSERT INTO shop.orders VALUES (1, 1, 'x'), (2, 1, 'y'), (3, 2, 'z')",
    "CREATE TABLE shop2.orders LIKE shop.orders",
)


def run(server: RunningServer, *statements: str, database: str | None = None) -> None:
    with server.login.connect(database) as connection, connection.cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)
        # A statement is counted after its answer was sent, and before the next command of its connection.
        connection.ping(reconnect=False)


def prepared(server: RunningServer) -> RunningServer:
    """With the tables of the tests, and nothing counted."""
    run(server, *SHOP, f"TRUNCATE TABLE {SUMMARY}")
    return server


def read(login: Login, **more: Any) -> Digest:
    return read_digests(login, **{"seconds": None, "limit": None, "report": lambda text: None, **more})


def group_of(digest: Digest, statement: str) -> Group:
    (fingerprint,) = fingerprints([statement])
    (found,) = [group for group in digest.groups if group.id == fingerprint.id]
    assert found.fingerprint == fingerprint.text
    return found


@on_every_release
def test_statements_are_grouped_by_the_fingerprint_that_a_log_gives_them(
    name: str, counting: Counting
) -> None:
    server, began_us = prepared(counting(name)), time.time_ns() // 1000
    run(
        server,
        "SELECT note FROM orders WHERE customer IN (1, 2)",
        "select note from orders where customer in (7) /* a comment */",
        "SELECT COUNT(DISTINCT note) FROM orders WHERE note LIKE 'x%'",
        "UPDATE orders SET note = 'q' WHERE id = 1",
        database="shop",
    )
    run(server, "SELECT `note` FROM `orders` WHERE `customer` IN (3, 4, 5)", database="shop2")
    digest, ended_us = read(server.login), time.time_ns() // 1000

    found = group_of(digest, "SELECT note FROM orders WHERE customer IN (1)")
    assert found.count == 3
    assert found.databases == (("shop", 2), ("shop2", 1))
    taken = found.measures["query_time"]
    assert taken.count == 3
    assert 0 < (taken.min or 0) <= (taken.mean or 0) <= (taken.max or 0) <= ended_us - began_us
    assert found.measures["rows_sent"].sum == 3
    # Before MySQL 8 times are rounded to seconds; and the server's zone is another than this machine's.
    assert began_us - 1_000_000 <= (found.first_us or 0) <= (found.last_us or 0) <= ended_us + 1_000_000

    scan = group_of(digest, "SELECT COUNT(DISTINCT note) FROM orders WHERE note LIKE 'x%'")
    assert scan.flags["no_index_used"].yes == 1
    assert scan.measures["rows_examined"].sum >= 3
    assert group_of(digest, "UPDATE orders SET note = 1 WHERE id = 2").measures["rows_affected"].sum == 1

    assert digest.total.count == sum(group.count for group in digest.groups) == digest.sources[0].entries
    assert digest.problems == ()
    assert [group.query_time_us for group in digest.groups] == sorted(
        (group.query_time_us for group in digest.groups), reverse=True
    )
    # Its own questions are not in there.
    assert not any("setup_consumers" in group.fingerprint for group in digest.groups)


@on_every_release
def test_an_interval_has_only_what_ran_in_it(name: str, counting: Counting) -> None:
    server = prepared(counting(name))
    run(server, "SELECT note FROM orders WHERE id = 1", "SELECT 1", database="shop")
    rounds = 0

    def load(seconds: float) -> None:
        nonlocal rounds
        rounds += 1
        run(server, "SELECT note FROM orders WHERE id = 2", "SELECT 1, 2", database="shop")

    digest = read(server.login, seconds=0.05, wait=load)
    old, new = group_of(digest, "SELECT note FROM orders WHERE id = 3"), group_of(digest, "SELECT 3, 4")
    assert (old.count, new.count) == (rounds, rounds)
    assert old.measures["query_time"].max is None
    assert old.first_us is None
    assert new.measures["query_time"].max is not None
    assert "select ?" not in [group.fingerprint for group in digest.groups]
    assert digest.seconds is not None
    assert 0.05 <= digest.seconds < 60


def test_ctrl_c_ends_an_interval_early_and_what_ran_until_then_counts(counting: Counting) -> None:
    server = prepared(counting("mysql-9.7"))

    def press(seconds: float) -> None:
        run(server, "SELECT 1, 2, 3", database="shop")
        raise KeyboardInterrupt

    digest = read(server.login, seconds=600, wait=press)
    assert group_of(digest, "SELECT 1, 2, 3").count == 1
    assert [problem.kind for problem in digest.problems] == ["interrupted"]


def test_counters_that_somebody_emptied_meanwhile_are_reported(counting: Counting) -> None:
    server = prepared(counting("mysql-9.7"))
    run(server, "SELECT 1", "SELECT 1", database="shop")

    def empty(seconds: float) -> None:
        run(server, f"TRUNCATE TABLE {SUMMARY}", "SELECT 1", database="shop")

    digest = read(server.login, seconds=0.001, wait=empty)
    assert group_of(digest, "SELECT 1").count == 1
    assert [problem.kind for problem in digest.problems] == ["counters-reset"]


@on_every_release
def test_statements_that_find_the_table_full_are_reported_and_counted(name: str, counting: Counting) -> None:
    server = prepared(counting(name))
    run(server, *(f"SELECT 1 AS c{number}" for number in range(400)))
    digest = read(server.login, limit=10)
    (problem,) = digest.problems
    assert problem.kind == "digests-lost"
    assert 50 < problem.count < 200
    assert "300 digests" in problem.says
    rest = digest.rest
    assert rest is not None
    assert len(digest.groups) == 10
    assert digest.total.count == rest.count + sum(group.count for group in digest.groups)
    run(server, f"TRUNCATE TABLE {SUMMARY}")


@on_every_release
def test_a_text_that_the_server_has_cut_is_reported(name: str, counting: Counting) -> None:
    server = prepared(counting(name))
    run(server, f"SELECT {', '.join(f'1 AS column_number_{number}' for number in range(100))}")
    digest = read(server.login)
    (cut,) = [group for group in digest.groups if group.is_cut]
    assert cut.fingerprint.startswith("select ? as column_number_0")
    assert [(problem.kind, problem.count) for problem in digest.problems] == [("cut-digest", 1)]
    assert "1024 bytes" in digest.problems[0].says


def test_a_sample_that_is_whole_reports_more_than_a_digest_that_is_cut(counting: Counting) -> None:
    server = prepared(counting("mysql-9.7"))
    statement = f"SELECT {','.join(f'{number} a{number}' for number in range(110))}"
    assert len(statement) < 1024
    run(server, statement)
    digest = read(server.login)
    assert group_of(digest, statement).count == 1
    assert not any(group.is_cut for group in digest.groups)


def test_mysql_keeps_an_example_and_a_histogram(counting: Counting) -> None:
    server = prepared(counting("mysql-9.7"))
    run(server, *(f"SELECT note FROM orders WHERE id = {number}" for number in range(20)), database="shop")
    run(server, "CREATE USER somebody IDENTIFIED BY 'geheim-word'", "DROP USER somebody")
    digest = read(server.login)
    found = group_of(digest, "SELECT note FROM orders WHERE id = 5")
    taken = found.measures["query_time"]
    assert sum(count for _, count in taken.histogram) == taken.count == 20
    assert (taken.min or 0) <= (taken.p50 or 0) <= (taken.p95 or 0) <= (taken.p99 or 0) <= (taken.max or 0)
    example = found.example
    assert example is not None
    assert example.text.startswith("SELECT note FROM orders WHERE id = ")
    assert (example.database, example.is_cut) == ("shop", False)
    assert (found.first_us or 0) <= (example.time_us or 0) <= (found.last_us or 0)
    assert (found.measures["max_total_memory"].max or 0) > 0
    assert "geheim-word" not in digest.model_dump_json()


def test_cpu_time_is_reported_once_the_server_counts_it(counting: Counting) -> None:
    server = prepared(counting("mysql-9.7"))
    switch = (
        "UPDATE performance_schema.setup_consumers SET ENABLED = '{}' WHERE NAME = 'events_statements_cpu'"
    )
    run(server, "SELECT 1", database="shop")
    assert "cpu_time" not in group_of(read(server.login), "SELECT 1").measures
    run(server, switch.format("YES"))
    try:
        run(server, "SELECT BENCHMARK(100000, SHA2('x', 256))", database="shop")
        found = group_of(read(server.login), "SELECT BENCHMARK(100000, SHA2('x', 256))").measures
        assert 1000 < found["cpu_time"].sum <= 1.1 * found["query_time"].sum
    finally:
        run(server, switch.format("NO"))


@on_every_release
def test_an_account_without_rights_hears_which_grant_helps(name: str, counting: Counting) -> None:
    server = prepared(counting(name))
    run(server, "CREATE USER monitor@localhost IDENTIFIED BY 'word'")
    try:
        login = Login("monitor", Secret("word"), socket=server.login.socket)
        with pytest.raises(ServerError) as error:
            read(login)
        grant = error.value.hint or ""
        assert grant == "GRANT SELECT ON performance_schema.* TO 'monitor'@'localhost'"
        run(server, grant, "SELECT 1")
        assert group_of(read(login), "SELECT 1").count == 1
    finally:
        run(server, "DROP USER monitor@localhost")


@on_every_release
@pytest.mark.parametrize("consumer", ["statements_digest", "global_instrumentation"])
def test_a_server_that_does_not_count_digests_is_shown_how_to(
    name: str, consumer: str, counting: Counting
) -> None:
    server = prepared(counting(name))
    switch = "UPDATE performance_schema.setup_consumers SET ENABLED = '{}' WHERE NAME = '{}'"
    run(server, switch.format("NO", consumer))
    try:
        with pytest.raises(ServerError, match=consumer) as error:
            read(server.login)
        run(server, error.value.hint or "", "SELECT 1")
        assert group_of(read(server.login), "SELECT 1").count == 1
    finally:
        run(server, switch.format("YES", consumer))


@on_every_release
def test_kinds_of_statements_that_are_not_counted_or_timed_are_named(name: str, counting: Counting) -> None:
    server = prepared(counting(name))
    instruments = "UPDATE performance_schema.setup_instruments SET ENABLED = '{}', TIMED = '{}' WHERE NAME {}"
    select, update = "= 'statement/sql/select'", "= 'statement/sql/update'"
    run(server, instruments.format("NO", "NO", select), instruments.format("YES", "NO", update))
    try:
        run(server, "SELECT 1", "UPDATE orders SET note = '' WHERE id = 0", database="shop")
        digest = read(server.login)
        said = {problem.kind: problem.says for problem in digest.problems}
        assert said["not-counted"].endswith(": select")
        assert said["not-timed"].endswith(": update")
        assert "query_time" not in group_of(digest, "UPDATE orders SET note = 1 WHERE id = 1").measures
        run(server, instruments.format("NO", "NO", "LIKE 'statement/%'"))
        with pytest.raises(ServerError, match="no kind of statement is counted") as error:
            read(server.login)
        run(server, error.value.hint or "")
        assert read(server.login).problems == ()
    finally:
        run(server, instruments.format("YES", "YES", "LIKE 'statement/sql/%'"))


@pytest.mark.slow
def test_a_server_with_its_performance_schema_off_is_shown_how_to_turn_it_on(server: RunningServer) -> None:
    with pytest.raises(ServerError, match="performance_schema is off") as error:
        read(server.login)
    assert "performance_schema = ON" in (error.value.hint or "")
