"""What accounts with few rights are shown of a real server: unknown stays unknown, and the GRANT mends it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from live.conftest import Start
from live.test_survey import tell
from mydyno.advisor import Advice, advise
from mydyno.advisor.registry import variables
from mydyno.advisor.report.advice_text import advice_lines
from mydyno.core.secrets import Secret
from mydyno.lab.stack import RunningServer
from mydyno.server.access.login import Login
from mydyno.survey import survey
from mydyno.survey.facts import System, missing_rights

pytestmark = pytest.mark.live

SCHEMA = (
    "CREATE DATABASE shop",
    "CREATE TABLE shop.orders (id INT PRIMARY KEY, a INT, KEY a (a)) ENGINE=InnoDB",
    "CREATE DATABASE hr",
    "CREATE TABLE hr.people (id INT PRIMARY KEY, name VARCHAR(100)) ENGINE=MyISAM",
)
_WORD = "word"


def look(server: RunningServer, name: str, grants: Sequence[str] = ()) -> System:
    """The facts that a new account with these grants reads."""
    tell(
        server,
        f"CREATE USER {name}@localhost IDENTIFIED BY '{_WORD}'",
        *(f"GRANT {grant} TO {name}@localhost" for grant in grants),
    )
    return look_again(server, name)


def look_again(server: RunningServer, name: str) -> System:
    login = Login(name, Secret(_WORD), socket=server.socket)
    return survey(login, settable=variables(), seconds=0.0, without_host=True)


def outcomes(advice: Advice) -> dict[str, str]:
    return {each.rule: each.outcome for each in advice.silent} | {
        each.rule: "finding" for each in advice.findings
    }


def page(system: System) -> str:
    advice = advise(system, system.read_at)
    return "\n".join(line.text for line in advice_lines(advice, system, 400))


def as_replica(server: RunningServer) -> None:
    if server.version.is_mariadb:
        tell(server, "CHANGE MASTER TO MASTER_HOST = '127.0.0.1', MASTER_USER = 'nobody'")
    else:
        tell(server, "CHANGE REPLICATION SOURCE TO SOURCE_HOST = '127.0.0.1', SOURCE_USER = 'nobody'")


def every_account_knows_what_it_may_see(server: RunningServer) -> None:
    as_replica(server)
    tell(server, *SCHEMA)
    role_right = "SLAVE MONITOR" if server.version.is_mariadb else "REPLICATION CLIENT"
    nothing = look(server, "nothing")
    everything = look(server, "everything", [f"SELECT, PROCESS, {role_right} ON *.*"])
    usage_alone_knows_neither_role_nor_schema(nothing)
    known = everything.server
    assert (known.role.replica, known.role.source) == (True, False)
    assert known.schema_facts is not None
    assert (known.schema_facts.partial, known.schema_facts.tables) == (False, 2)
    assert missing_rights(everything.unread) == {}
    one_schema_is_a_part(look(server, "shopper", ["SELECT ON shop.*"]), everything)
    blind = look(server, "blind", [f"SELECT, {role_right} ON *.*"])
    assert (blind.server.role.replica, blind.server.role.source, blind.server.innodb) == (True, None, None)
    alone = look(server, "alone", ["SELECT, PROCESS ON *.*"])
    assert (alone.server.role.replica, alone.server.role.source) == (None, False)
    columns = look(server, "columns", ["SELECT (a) ON shop.orders"]).server.schema_facts
    assert columns is not None
    assert (columns.partial, columns.without_primary_key, columns.redundant_indexes) == (True, None, None)
    the_grant_that_is_shown_mends_it(server, "nothing", nothing, everything)


def usage_alone_knows_neither_role_nor_schema(system: System) -> None:
    server = system.server
    assert (server.role.replica, server.role.source, server.schema_facts) == (None, None, None)
    result = outcomes(advise(system, system.read_at))
    assert {result[rule] for rule in ("replica-crash-safety", "myisam-tables", "redundant-indexes")} == {
        "unknown"
    }


def one_schema_is_a_part(system: System, everything: System) -> None:
    schema = system.server.schema_facts
    assert schema is not None
    assert (schema.partial, schema.tables, schema.innodb_bytes) == (True, 1, None)
    # The counters have moved between the two readings: what rests on rates is judged by the same ones.
    same_load = system.server.model_copy(update={"status": everything.server.status})
    system = system.model_copy(update={"server": same_load})
    result, known = (outcomes(advise(each, each.read_at)) for each in (system, everything))
    assert (result["myisam-tables"], known["myisam-tables"]) == ("unknown", "finding")
    new = {rule for rule, outcome in result.items() if outcome == "finding" != known[rule]}
    assert new == set()


def the_grant_that_is_shown_mends_it(
    server: RunningServer, name: str, before: System, everything: System
) -> None:
    statements = [
        line.split(" -- adds ")[0].strip() for line in page(before).splitlines() if "-- adds" in line
    ]
    assert statements == list(missing_rights(before.unread))
    assert len(statements) == 1, "one line"
    tell(server, *statements)
    after = look_again(server, name)
    assert missing_rights(after.unread) == {}
    assert after.server.role == everything.server.role
    assert after.server.schema_facts == everything.server.schema_facts


def test_every_account_knows_what_it_may_see(start: Start) -> None:
    every_account_knows_what_it_may_see(start({"server_id": 7, "performance_schema": True}))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["mysql-9.7", "mariadb-11.8"])
def test_on_other_releases_too(name: str, start_release: Callable[[str], Start]) -> None:
    every_account_knows_what_it_may_see(start_release(name)({"server_id": 7}))
