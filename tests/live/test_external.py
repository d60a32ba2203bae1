"""The real sysbench and mariadb-slap on a private server: what they tell is what the server counted."""

from __future__ import annotations

import shutil
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from live.conftest import Start
from live.engine import ask
from mydyno.core.errors import EngineError
from mydyno.core.secrets import Secret
from mydyno.lab.load import messages
from mydyno.lab.load.external import External
from mydyno.lab.load.job import Job, Phase, Sampling, Target, closed_loop, open_loop, rounds, timed
from mydyno.lab.stack import RunningServer
from mydyno.lab.workload.external_program import ExternalSlap, ExternalSysbench

pytestmark = pytest.mark.live

needs_sysbench = pytest.mark.skipif(
    not shutil.which("sysbench"), reason="sysbench is not installed: apt-get install sysbench"
)
needs_slap = pytest.mark.skipif(
    not (shutil.which("mariadb-slap") or shutil.which("mysqlslap")),
    reason="mariadb-slap is not installed: apt-get install mariadb-client",
)

DATABASE = "external_test"
SCHEMA = "mydyno_slap"
READ_WRITE = ExternalSysbench(script="oltp_read_write", tables=2, table_size=500)


@dataclass
class Heard:
    """The messages of one job, and what the server counted during its phases: `Com_*` deltas."""

    all: list[messages.Message] = field(default_factory=list)
    counted: dict[str, int] = field(default_factory=dict)

    @property
    def ends(self) -> list[messages.PhaseEnd]:
        return [message for message in self.all if isinstance(message, messages.PhaseEnd)]

    @property
    def end(self) -> messages.PhaseEnd:
        [end] = self.ends
        return end

    @property
    def done(self) -> messages.Done:
        assert isinstance(self.all[-1], messages.Done)
        return self.all[-1]

    def com(self, *names: str) -> int:
        return sum(self.counted.get(name, 0) for name in names)


def target(server: RunningServer, *, tcp: bool = False, password: Secret | None = None) -> Target:
    return Target(
        user=server.login.user,
        password=password or server.login.password,
        database=DATABASE,
        socket=None if tcp else server.socket,
        host="127.0.0.1" if tcp else None,
        port=server.port if tcp else None,
    )


def counters(server: RunningServer) -> dict[str, int]:
    return {
        name.removeprefix("Com_"): int(value)
        for name, value in server.status().items()
        if name.startswith("Com_")
    }


def external(
    target: Target,
    phases: Sequence[Phase],
    options: ExternalSysbench | ExternalSlap,
    sampling: Sampling | None = None,
    **more: Any,
) -> External:
    job = Job(target=target, seed=1, workload={}, phases=tuple(phases), sampling=sampling, **more)
    return External(job, options)


def hear(
    server: RunningServer, driver: External, on: Callable[[messages.Message], None] = lambda message: None
) -> Heard:
    """Hears it out; the program runs between the phase's first message and its last."""
    heard, before = Heard(), {}
    with driver:
        for message in driver:
            if isinstance(message, messages.PhaseStart):
                before = counters(server)
            if isinstance(message, messages.PhaseEnd):
                now = counters(server)
                heard.counted = {name: now[name] - before[name] for name in now}
            heard.all.append(message)
            on(message)
    return heard


@pytest.fixture
def loaded(server: RunningServer) -> RunningServer:
    hear(server, external(target(server), (), READ_WRITE, prepare="if-missing"))
    return server


@pytest.fixture
def no_schema(server: RunningServer) -> Iterator[RunningServer]:
    yield server
    ask(server, f"DROP DATABASE IF EXISTS {SCHEMA}")


@needs_sysbench
@pytest.mark.parametrize("prepared", [True, False])
def test_sysbench_reports_the_statements_that_the_server_counted(
    loaded: RunningServer, prepared: bool
) -> None:
    options = READ_WRITE.model_copy(update={"prepared": prepared})
    heard = hear(loaded, external(target(loaded), [Phase(3, closed_loop(), rounds(50))], options))
    end = heard.end
    assert (end.aborted, end.connections_reached, end.transactions.count) == (None, 3, 150)
    result = {kind: one.count for kind, one in end.statements.items()}
    assert result["read"] == heard.com("select")
    # sysbench counts a write that changed no row as "other", and one that failed not at all.
    writes = heard.com("insert", "update", "delete")
    assert writes - end.retries - result["write"] == result["other"] - heard.com("begin", "commit") >= 0
    assert end.queries.count == sum(result.values())
    # Events that met a deadlock were begun again: their statements are counted too.
    assert end.queries.count >= 150 * 20
    assert (heard.com("stmt_execute") > 0) == prepared
    assert end.client_cpu.user_s > 0


@needs_sysbench
def test_every_script_runs_and_reports_what_the_server_counted(server: RunningServer) -> None:
    for script, statement, others in (
        ("oltp_point_select", "select", 0),
        ("oltp_update_index", "update", 0),
        ("oltp_update_non_index", "update", 0),
        ("oltp_delete", "delete", 0),
        ("oltp_insert", "insert", 0),
        ("select_random_points", "select", 0),
        ("select_random_ranges", "select", 0),
        ("oltp_read_only", "select", 2),
        ("oltp_write_only", "update", 2),
    ):
        options = ExternalSysbench(script=script, table_size=200)
        phase = Phase(1, closed_loop(), rounds(20))
        heard = hear(server, external(target(server), [phase], options, prepare="create"))
        assert (script, heard.end.aborted, heard.end.errors) == (script, None, {})
        assert heard.com(statement) >= 20
        assert heard.com("begin", "commit") == 20 * others
        # oltp_delete finds some of its rows gone, and sysbench counts such a DELETE as "other".
        assert heard.end.queries.count == heard.com("select", "insert", "update", "delete", "begin", "commit")


@needs_sysbench
def test_a_timed_phase_of_sysbench_warms_up_and_measures_its_seconds(loaded: RunningServer) -> None:
    phases = [
        Phase(2, closed_loop(), timed(1.0, 2.0)),
        Phase(4, open_loop("poisson", 50.0), timed(0.0, 1.0)),
    ]
    heard = hear(loaded, external(target(loaded, tcp=True), phases, READ_WRITE))
    first, second = heard.ends
    assert [first.aborted, second.aborted] == [None, None]
    assert (first.measured_to_ns or 0) - (first.measured_from_ns or 0) == pytest.approx(2e9, rel=0.3)
    intervals = [m for m in heard.all if isinstance(m, messages.Interval) and m.phase == 0]
    assert [one.warmup for one in intervals][:2] == [True, False]
    # The latency of each second is of the order of that of the whole.
    assert first.transactions.latency.p95_ns
    assert second.latency_kind == "response"
    # Four standard deviations of a Poisson count are 4 * sqrt(50); a busy machine may not carry the rate.
    assert 0 < second.transactions.count < 50 + 29
    assert heard.done.exit == "ok"


@needs_sysbench
def test_the_server_is_sampled_beside_sysbench_on_one_clock(loaded: RunningServer) -> None:
    phase = Phase(3, closed_loop(), timed(0.0, 2.0), pause_s=0.5)
    sampling = Sampling(interval_s=0.2, server_pid=loaded.pid)
    heard = hear(loaded, external(target(loaded), [phase, phase], READ_WRITE, sampling))
    samples = [message for message in heard.all if isinstance(message, messages.Sample)]
    assert heard.done.exit == "ok"
    for end in heard.ends:
        within = [
            one for one in samples if (end.measured_from_ns or 0) < one.t_ns < (end.measured_to_ns or 0)
        ]
        assert len(within) >= 4
        # The threads of sysbench and the connection that asks; at the edges one may not be there yet.
        [(usual, _)] = Counter(one.status["Threads_connected"] for one in within if one.status).most_common(1)
        assert usual == "4"
    between = [one for one in samples if heard.ends[0].ended_ns < one.t_ns < heard.ends[1].started_ns]
    # That connection, and sometimes the one of this test that reads the counters.
    assert {one.status["Threads_connected"] for one in between if one.status} in ({"1"}, {"1", "2"})


@needs_sysbench
def test_sysbench_prepares_tables_that_are_marked_as_ours_and_makes_them_once(server: RunningServer) -> None:
    options = ExternalSysbench(script="oltp_read_only", tables=3, table_size=100)
    create = external(target(server), (), options, prepare="create")
    [prepared] = [m for m in hear(server, create).all if isinstance(m, messages.Prepared)]
    assert [(table.name, table.rows) for table in prepared.tables] == [(f"sbtest{i}", 100) for i in (1, 2, 3)]
    comments = ask(
        server, f"SELECT table_comment FROM information_schema.tables WHERE table_schema = '{DATABASE}'"
    )
    assert ("made by mydyno",) in comments
    again = hear(server, external(target(server), (), options, prepare="if-missing"))
    assert not [m for m in again.all if isinstance(m, messages.Progress)]
    larger = options.model_copy(update={"table_size": 150})
    anew = hear(server, external(target(server), (), larger, prepare="if-missing"))
    assert [m.tables[2].rows for m in anew.all if isinstance(m, messages.Prepared)] == [150]


@needs_sysbench
def test_sysbench_replaces_no_table_of_anybody_else(server: RunningServer) -> None:
    ask(server, "CREATE DATABASE precious")
    ask(server, "CREATE TABLE precious.sbtest1 (i INT)")
    ask(server, "INSERT INTO precious.sbtest1 VALUES (1), (2)")
    options = ExternalSysbench(script="oltp_read_only", table_size=100)
    where = Target(
        user=server.login.user, password=server.login.password, database="precious", socket=server.socket
    )
    with pytest.raises(EngineError, match=r"precious\.sbtest1 \(2 rows\) was not made by mydyno"):
        hear(server, external(where, (), options, prepare="create"))
    assert ask(server, "SELECT COUNT(*) FROM precious.sbtest1") == [(2,)]
    hear(server, external(where, (), options, prepare="create", drop_existing=True))
    assert ask(server, "SELECT COUNT(*) FROM precious.sbtest1") == [(100,)]


@needs_sysbench
def test_too_few_connections_are_an_aborted_phase(start: Start) -> None:
    server = start({"max_connections": 10})
    options = ExternalSysbench(script="oltp_point_select", table_size=100)
    phase = Phase(30, closed_loop(), timed(0.0, 1.0))
    heard = hear(server, external(target(server), [phase, phase], options, prepare="create"))
    assert heard.end.errors["1040"] > 0
    assert "Too many connections" in (heard.end.aborted or "")
    assert (heard.end.connections_reached, heard.done.exit) == (0, "aborted")


@needs_sysbench
def test_a_stop_ends_sysbench_at_once_and_keeps_its_seconds(loaded: RunningServer) -> None:
    driver = external(target(loaded), [Phase(2, closed_loop(), timed(0.0, 600.0))] * 2, READ_WRITE)

    def stop(message: messages.Message) -> None:
        if isinstance(message, messages.Interval):
            driver.request_stop()

    before = time.monotonic()
    heard = hear(loaded, driver, stop)
    assert time.monotonic() - before < 60
    assert (heard.end.interrupted, heard.end.aborted, heard.done.exit) == (True, None, "interrupted")
    assert heard.end.queries.count > 0


@needs_sysbench
def test_a_server_that_hangs_ends_the_phase_within_ten_seconds_of_its_time(loaded: RunningServer) -> None:
    with loaded.connect() as connection, connection.cursor() as cursor:
        cursor.execute(f"LOCK TABLES {DATABASE}.sbtest1 WRITE, {DATABASE}.sbtest2 WRITE")
        options = READ_WRITE.model_copy(update={"prepared": False})
        driver = external(target(loaded), [Phase(2, closed_loop(), timed(0.0, 1.0))], options)
        before = time.monotonic()
        heard = hear(loaded, driver)
    assert 10 < time.monotonic() - before < 60
    assert "does not answer" in (heard.end.aborted or "")


@needs_sysbench
def test_a_program_that_waits_too_long_is_given_up(loaded: RunningServer) -> None:
    with loaded.connect() as connection, connection.cursor() as cursor:
        cursor.execute(f"LOCK TABLES {DATABASE}.sbtest1 WRITE, {DATABASE}.sbtest2 WRITE")
        phase = Phase(1, closed_loop(), rounds(1))
        options = READ_WRITE.model_copy(update={"prepared": False})
        heard = hear(loaded, external(target(loaded), [phase], options, answer_within_s=1.0))
    assert "waited 1 s" in (heard.end.aborted or "")


@needs_sysbench
@needs_slap
@pytest.mark.parametrize(
    "password", ["plain", "two words", "a,b;c#d=e", "#first", "it's", " edge ", "back\\slash", "ä€"]
)
def test_both_programs_get_in_with_any_password_that_they_can_read(
    loaded: RunningServer, no_schema: RunningServer, password: str
) -> None:
    quoted = password.replace("\\", "\\\\").replace("'", "''")
    for host in ("localhost", "127.0.0.1"):
        ask(
            loaded,
            f"CREATE OR REPLACE USER guest@{host} IDENTIFIED BY '{quoted}'".replace(
                "@127.0.0.1", "@'127.0.0.1'"
            ),
        )
        ask(loaded, f"GRANT ALL ON *.* TO guest@'{host}'")
    where = Target(user="guest", password=Secret(password), database=DATABASE, socket=loaded.socket)
    one = [Phase(1, closed_loop(), rounds(1))]
    assert hear(loaded, external(where, one, READ_WRITE)).end.aborted is None
    assert hear(loaded, external(where, one, ExternalSlap())).end.aborted is None


@needs_slap
@pytest.mark.parametrize("load_type", ["write", "mixed", "read", "update", "key"])
def test_mysqlslap_reports_the_statements_that_the_server_counted(
    no_schema: RunningServer, load_type: str
) -> None:
    server = no_schema
    options = ExternalSlap.model_validate(
        {"load_type": load_type, "options": {"auto-generate-sql-guid-primary": True}}
    )
    heard = hear(server, external(target(server), [Phase(3, closed_loop(), rounds(44))], options))
    end = heard.end
    assert (end.aborted, end.errors, end.connections_reached, end.queries.count) == (None, {}, 3, 132)
    # Before the clients: 99 rows for the 100 asked for, and one SELECT of their ids.
    result = heard.com("select", "insert", "update") - 99 - 1
    assert result == end.queries.count
    assert end.measured_from_ns is not None
    assert ask(server, f"SHOW DATABASES LIKE '{SCHEMA}'") == []


@needs_slap
def test_mysqlslap_leaves_the_rest_of_a_division_out(no_schema: RunningServer) -> None:
    phase = Phase(3, closed_loop(), {"kind": "split", "events": 100})
    heard = hear(no_schema, external(target(no_schema), [phase], ExternalSlap(load_type="write")))
    assert heard.end.queries.count == 99 == heard.com("insert") - 99


@needs_slap
def test_iterations_are_runs_on_new_tables(no_schema: RunningServer) -> None:
    phase = Phase(2, closed_loop(), rounds(10))
    options = ExternalSlap(load_type="write", iterations=3)
    heard = hear(no_schema, external(target(no_schema, tcp=True), [phase], options))
    assert heard.end.queries.count == 60 == heard.com("insert") - 3 * 99
    assert heard.com("create_table") == 3


@needs_slap
def test_mysqlslap_drops_no_schema_that_holds_anything_else(no_schema: RunningServer) -> None:
    ask(no_schema, f"CREATE DATABASE {SCHEMA}")
    ask(no_schema, f"CREATE TABLE {SCHEMA}.precious (i INT)")
    phase = Phase(1, closed_loop(), rounds(1))
    with pytest.raises(EngineError, match=r"precious \(0 rows\) was not made by mydyno"):
        hear(no_schema, external(target(no_schema), [phase], ExternalSlap()))
    assert ask(no_schema, f"SHOW TABLES FROM {SCHEMA}") == [("precious",)]
    heard = hear(no_schema, external(target(no_schema), [phase], ExternalSlap(), drop_existing=True))
    assert heard.end.aborted is None


@needs_slap
def test_a_stop_ends_mysqlslap_and_drops_what_it_made(no_schema: RunningServer) -> None:
    driver = external(target(no_schema), [Phase(2, closed_loop(), rounds(10_000_000))], ExternalSlap())
    timer = threading.Timer(1.0, driver.request_stop)
    timer.start()
    heard = hear(no_schema, driver)
    assert (heard.end.interrupted, heard.done.exit) == (True, "interrupted")
    assert ask(no_schema, f"SHOW DATABASES LIKE '{SCHEMA}'") == []


@needs_slap
def test_a_driver_that_is_not_heard_out_leaves_no_schema(no_schema: RunningServer) -> None:
    with external(target(no_schema), [Phase(2, closed_loop(), rounds(10_000_000))], ExternalSlap()) as driver:
        said = iter(driver)
        assert [next(said).type, next(said).type] == ["hello", "phase_start"]
        threading.Timer(1.0, driver.request_stop).start()
        assert next(said).type == "phase_end"
        assert ask(no_schema, f"SHOW DATABASES LIKE '{SCHEMA}'") == [(SCHEMA,)]
    assert ask(no_schema, f"SHOW DATABASES LIKE '{SCHEMA}'") == []


@needs_sysbench
def test_nothing_is_left_of_a_driver_that_is_not_heard_out(loaded: RunningServer, tmp_path: Path) -> None:
    driver = external(target(loaded), [Phase(2, closed_loop(), timed(0.0, 600.0))], READ_WRITE)
    with driver:
        for message in driver:
            if isinstance(message, messages.Measuring):
                break
        child = driver._child
        assert child is not None
    assert not Path(f"/proc/{child.pid}").exists()
    assert not driver._folder.path.exists()


@needs_sysbench
def test_an_account_that_may_not_in_is_an_error_that_shows_no_password(server: RunningServer) -> None:
    wrong = target(server, password=Secret("not-the-password"))
    with pytest.raises(EngineError, match="Access denied") as caught:
        hear(server, external(wrong, (), READ_WRITE))
    assert "not-the-password" not in str(caught.value)
