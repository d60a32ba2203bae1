"""Statements that advice gives to a hand are accepted by the release, and mend what they are given for."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from live.conftest import Start
from mydyno.advisor import advise
from mydyno.advisor.registry import variables
from mydyno.apply.change import ByHand
from mydyno.lab.stack import RunningServer
from mydyno.survey import survey
from mydyno.survey.facts import System

pytestmark = pytest.mark.live

OTHERS = ("mariadb-10.5", "mariadb-11.8", "mysql-5.6", "mysql-9.7")
SCHEMA = (
    "CREATE DATABASE `it's a``shop`",
    "CREATE TABLE `it's a``shop`.keyless (a INT)",
    "INSERT INTO `it's a``shop`.keyless VALUES (1), (2)",
    "CREATE TABLE `it's a``shop`.old (id INT PRIMARY KEY) ENGINE=MyISAM",
    "CREATE TABLE `it's a``shop`.twice (id INT PRIMARY KEY, a INT, b INT, KEY one (a), KEY two (a, b))",
)
MENDED = {"tables-without-primary-key", "myisam-tables", "redundant-indexes"}
RUN = MENDED | {"unused-indexes", "full-joins", "full-scans", "aborted-connects"}


def facts(server: RunningServer) -> System:
    """What the server says, after ten days of a load that the test does not make."""
    result = survey(server.login, settable=variables(), seconds=0, without_host=True)
    counted = {
        "Aborted_connects": "900000",
        "Connections": "1000000",
        "Handler_read_rnd_next": "1000000000000",
        "Select_full_join": "9000000",
        "Uptime": "864000",
    }
    status = result.server.status.model_copy(update={"after": {**result.server.status.after, **counted}})
    return result.model_copy(update={"server": result.server.model_copy(update={"status": status})})


def statements(system: System) -> dict[str, list[str]]:
    found = {each.rule: each.changes for each in advise(system, system.read_at).findings if each.rule in RUN}
    return {
        rule: [text for change in changes if isinstance(change, ByHand) for text in change.commands]
        for rule, changes in found.items()
    }


def check(server: RunningServer) -> None:
    with server.connect() as connection, connection.cursor() as cursor:
        for statement in SCHEMA:
            cursor.execute(statement)
    before = statements(facts(server))
    assert {*MENDED, "full-joins", "full-scans", "aborted-connects"} <= set(before)
    with server.connect() as connection, connection.cursor() as cursor:
        for texts in before.values():
            for text in texts:
                cursor.execute(text.partition(" -- ")[0])
                cursor.fetchall()
        cursor.execute("SELECT * FROM `it's a``shop`.keyless")
        assert len(cursor.fetchall()) == 2
    assert not MENDED & set(statements(facts(server)))


def test_the_systems_server_takes_the_statements(start: Start) -> None:
    check(start({"performance_schema": "ON"}))


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize("name", OTHERS)
def test_every_release_takes_the_statements(name: str, start_release: Callable[[str], Start]) -> None:
    check(start_release(name)({"performance_schema": "ON"}))
