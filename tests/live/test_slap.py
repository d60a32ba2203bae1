"""The load of mysqlslap against a real server, counted by the server as mariadb-slap 10.11 was."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator
from typing import Any

import pytest

from live.conftest import Start
from live.engine import once_under_load
from mydyno.core.errors import EngineError, UsageError
from mydyno.lab.load import job as jobs
from mydyno.lab.load.engine import Engine
from mydyno.lab.load.job import Target
from mydyno.lab.load.messages import PhaseEnd
from mydyno.lab.load.slap import Result, Settings, complain, run
from mydyno.lab.stack import RunningServer
from mydyno.lab.workload.slap import Options, OwnSql, resolve
from mydyno.machine.local import LocalHost

pytestmark = pytest.mark.live

SCHEMA = "slap_live"
_COUNTED = (
    "Com_insert", "Com_select", "Com_update", "Com_commit",
    "Com_create_table", "Com_create_db", "Com_drop_db",
)  # fmt: skip


class Slap:
    """Runs loads as root of the server, in a schema of its own."""

    def __init__(self, server: RunningServer) -> None:
        self.server = server
        self.output: list[str] = []
        self.notes: list[str] = []
        self.target = Target(
            user=server.login.user, password=server.login.password, database=SCHEMA, socket=server.socket
        )

    def run(self, options: dict[str, Any] | None = None, **settings: Any) -> Result:
        return run(self.target, Settings(options=Options(**options or {}), **settings), self._emit)

    def counted(self, options: dict[str, Any], **settings: Any) -> dict[str, int]:
        """What the server counted, without zeros; the run must not fail."""
        before = self._status()
        complain(self.run(options, **settings))
        after = self._status()
        return {name[4:]: after[name] - before[name] for name in _COUNTED if after[name] > before[name]}

    def sql(self, statement: str) -> list[tuple[Any, ...]]:
        with self.server.connect() as connection, connection.cursor() as cursor:
            cursor.execute(statement)
            return list(cursor.fetchall())

    def _status(self) -> dict[str, int]:
        shown = self.sql("SHOW GLOBAL STATUS LIKE 'Com_%'")
        return {name: int(value) for name, value in shown if value.isdecimal()}

    def _emit(self, kind: str, text: str) -> None:
        (self.output if kind == "output" else self.notes).append(text)


@pytest.fixture
def slap(server: RunningServer) -> Iterator[Slap]:
    runner = Slap(server)
    # Commits do not wait for the disk: the counts are the same, and the tests are quicker.
    runner.sql("SET GLOBAL innodb_flush_log_at_trx_commit=0")
    yield runner
    runner.sql(f"DROP DATABASE IF EXISTS {SCHEMA}")


def test_the_command_of_the_seeds_sends_what_mysqlslap_sends(slap: Slap) -> None:
    seed = {
        "int_columns": 10, "char_columns": 10, "guid_primary": True, "queries": 10_000, "load_type": "write",
    }  # fmt: skip
    sent = slap.counted(seed, engines=("innodb",), concurrency=(2,), no_drop=True)
    assert sent == {"insert": 99 + 10_000, "select": 1, "create_table": 1, "create_db": 1, "drop_db": 1}
    assert slap.sql(f"SELECT COUNT(*), COUNT(DISTINCT charcol1) FROM {SCHEMA}.t1") == [(10_099, 21)]
    [text] = slap.output
    assert text.startswith("Benchmark\n\tRunning for engine innodb\n")
    assert "\tNumber of clients running queries: 2\n\tAverage number of queries per client: 5000\n" in text


@pytest.mark.parametrize(
    ("options", "sent"),
    [
        ({"load_type": "mixed", "guid_primary": True}, {"insert": 99 + 546, "select": 1 + 454}),
        ({"load_type": "read"}, {"insert": 99, "select": 1000}),
        ({"load_type": "key", "guid_primary": True}, {"insert": 99, "select": 1 + 1000}),
        ({"load_type": "update", "autoincrement": True}, {"insert": 99, "select": 1, "update": 1000}),
    ],
)
def test_each_load_type_sends_what_mysqlslap_sends(
    slap: Slap, options: dict[str, Any], sent: dict[str, int]
) -> None:
    around = {"create_table": 1, "create_db": 1, "drop_db": 2}
    assert slap.counted({**options, "queries": 1000}, concurrency=(2,)) == {**sent, **around}


def test_a_remainder_is_not_run_and_corrected_it_is(slap: Slap) -> None:
    options = {"queries": 100, "load_type": "write", "preload": 0}
    assert slap.counted(options, concurrency=(3,))["insert"] == 99
    assert "Average number of queries per client: 33\n" in slap.output[-1]
    assert slap.counted({**options, "corrected": True}, concurrency=(3,))["insert"] == 100


def test_lists_and_iterations_make_a_block_for_each_combination(slap: Slap) -> None:
    result = slap.run({"load_type": "write"}, engines=("innodb", "myisam"), concurrency=(1, 3), iterations=2)
    found = [(one.engine, one.clients, len(one.passes)) for one in result.blocks]
    assert found == [("innodb", 1, 2), ("innodb", 3, 2), ("myisam", 1, 2), ("myisam", 3, 2)]
    assert [one.passes[0].statements for one in result.blocks] == [{"insert": 11}, {"insert": 33}] * 2


def test_commits_come_as_often_as_mysqlslap_sends_them(slap: Slap) -> None:
    options = {"execute_number": 25, "commit": 5, "load_type": "write"}
    assert slap.counted(options, concurrency=(2,))["commit"] == 12


def test_connecting_is_part_of_the_time_unless_corrected(slap: Slap) -> None:
    options = {"load_type": "write", "execute_number": 1}
    slow = {"init_command": "DO SLEEP(1)"}
    assert slap.run(options, **slow).blocks[0].seconds[0] > 1
    assert slap.run({**options, "corrected": True}, **slow).blocks[0].seconds[0] < 1


def test_a_statement_without_an_answer_ends_at_the_query_timeout(slap: Slap) -> None:
    own = OwnSql((), ("DO SLEEP(60)",))
    began = time.monotonic()
    result = slap.run({"queries": 1}, own=own, query_timeout_s=0.5)
    assert time.monotonic() - began < 30
    with pytest.raises(EngineError, match="2013"):
        complain(result)


def test_detach_connects_again(slap: Slap) -> None:
    before = int(slap.sql("SHOW GLOBAL STATUS LIKE 'Connections'")[0][1])
    slap.run({"load_type": "write", "execute_number": 10, "detach": 2}, concurrency=(3,))
    after = int(slap.sql("SHOW GLOBAL STATUS LIKE 'Connections'")[0][1])
    # 3 clients x 6 connections, the driver's, the engine's admin connection, and that of this test.
    assert after - before == pytest.approx(3 * 6 + 3, abs=1)


def test_own_statements_run_on_an_own_schema(slap: Slap) -> None:
    own = OwnSql(
        ("CREATE TABLE mine (a INT)", "INSERT INTO mine VALUES (1)"),
        ("SELECT a FROM mine", "UPDATE mine SET a = a + 1"),
    )
    result = slap.run({"queries": 20}, own=own, concurrency=(2,), no_drop=True)
    complain(result)
    assert slap.sql(f"SELECT a FROM {SCHEMA}.mine") == [(11,)]
    slap.run({"queries": 20}, own=own, post_query=("INSERT INTO mine VALUES (99)",), no_drop=True)
    assert slap.sql(f"SELECT COUNT(*) FROM {SCHEMA}.mine") == [(2,)]


def test_a_schema_with_other_tables_is_refused_and_nothing_is_dropped(slap: Slap) -> None:
    slap.sql(f"CREATE DATABASE {SCHEMA}")
    slap.sql(f"CREATE TABLE {SCHEMA}.precious (a INT)")
    with pytest.raises(UsageError, match=r"table slap_live.precious .*mydyno did not make it"):
        slap.run()
    assert slap.sql(f"SHOW TABLES FROM {SCHEMA}") == [("precious",)]
    complain(slap.run(drop_existing=True))
    assert slap.sql(f"SHOW DATABASES LIKE '{SCHEMA}'") == []


def test_an_engine_that_the_server_lacks_is_refused_before_anything_is_dropped(slap: Slap) -> None:
    slap.run(no_drop=True)
    with pytest.raises(UsageError, match="unknown storage engine 'tokudb'"):
        slap.run(engines=("innodb", "tokudb"))
    assert slap.sql(f"SHOW TABLES FROM {SCHEMA}") == [("t1",)]


def test_statements_that_fail_are_counted_by_code(slap: Slap) -> None:
    result = slap.run({"queries": 10}, own=OwnSql((), ("SELECT 1", "SELECT * FROM missing")))
    assert result.blocks[0].errors == {"1146": 5}
    with pytest.raises(EngineError, match="5 statements failed"):
        complain(result)


def test_ctrl_c_ends_the_load_early_and_keeps_its_figures(slap: Slap) -> None:
    once_under_load(slap.server, lambda: signal.raise_signal(signal.SIGINT))
    result = slap.run({"queries": 100_000_000, "load_type": "key", "guid_primary": True}, iterations=3)
    assert result.interrupted
    [only] = result.blocks[0].passes
    assert only.statements["select"] > 0
    assert "\tEnded early, after " in slap.output[-1]
    assert slap.sql(f"SHOW DATABASES LIKE '{SCHEMA}'") == []


def test_a_server_that_goes_away_ends_the_load_with_its_figures(start: Start) -> None:
    slap = Slap(start())
    once_under_load(slap.server, slap.server.stop)
    result = slap.run({"queries": 100_000_000, "load_type": "key", "guid_primary": True}, iterations=3)
    [only] = result.blocks[0].passes
    assert only.aborted
    with pytest.raises(EngineError, match=r"statements? failed"):
        complain(result)


@pytest.mark.parametrize("load_type", ["mixed", "update", "key"])
def test_as_the_workload_of_an_experiment_it_makes_its_table_and_finds_its_keys(
    slap: Slap, load_type: str
) -> None:
    options = {"load_type": load_type, "guid_primary": True, "secondary_indexes": 1, "commit": 10}
    resolved = resolve(Options.model_validate(options))
    job = jobs.Job(
        target=slap.target,
        seed=1,
        workload={"program": resolved.program},
        prepare="create",
        phases=(jobs.Phase(connections=2, arrival=jobs.closed_loop(), work=jobs.rounds(110)),),
    )
    with Engine(job, LocalHost()) as engine:
        [end] = [message for message in engine if isinstance(message, PhaseEnd)]
    # Two clients that update rows in transactions of ten may deadlock; as in mysqlslap nothing is sent again.
    assert end.errors.keys() <= {"1213"}
    sent = {kind: one.count + (one.errors or 0) for kind, one in end.statements.items()}
    wanted = {"mixed": {"insert": 120, "select": 100}, "update": {"update": 220}, "key": {"select": 220}}
    assert sent.items() >= wanted[load_type].items()
    assert sent["commit"] == 22
    assert slap.sql(f"SELECT COUNT(*) FROM {SCHEMA}.t1") == [(99 + (120 if load_type == "mixed" else 0),)]
    if load_type == "key":
        assert end.statements["select"].rows == 220
