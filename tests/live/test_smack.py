"""`.smack` files against a real server: tables, statements counted by the server, errors, ownership."""

from __future__ import annotations

import re
import signal
from collections.abc import Iterator
from importlib import resources
from pathlib import Path
from typing import Any

import pytest

from live.engine import once_under_load
from mydyno.core.errors import EngineError, UsageError
from mydyno.lab.load import job as jobs
from mydyno.lab.load.engine import Engine
from mydyno.lab.load.messages import PhaseEnd
from mydyno.lab.load.smack import Overrides, Result, Settings, complain, figures, run
from mydyno.lab.load.smack.settings import target_of
from mydyno.lab.stack import RunningServer
from mydyno.lab.workload.smack.grammar import Section, parse
from mydyno.lab.workload.smack.resolve import resolve_file
from mydyno.machine.local import LocalHost

pytestmark = pytest.mark.live

DATABASE = "smack_live"
CLASSIC = Path(str(resources.files("mydyno.lab.workload.smack")))


class Smack:
    """Runs files in a folder of its own, as root of the server, in a schema of its own."""

    def __init__(self, server: RunningServer, folder: Path) -> None:
        self.server = server
        self.folder = folder
        self.output: list[str] = []
        self.notes: list[str] = []
        self.overrides = Overrides(
            socket=server.socket,
            user=server.login.user,
            password=server.login.password,
            database=DATABASE,
        )

    def run(self, text: str, *arguments: str, **settings: Any) -> Result:
        file = self.folder / "test.smack"
        file.write_text(text)
        chosen = Settings(overrides=self.overrides, datadir=self.folder, **settings)
        return run(file, arguments, chosen, self._emit)

    def sql(self, statement: str) -> list[tuple[Any, ...]]:
        with self.server.connect() as connection, connection.cursor() as cursor:
            cursor.execute(statement)
            return list(cursor.fetchall())

    def status(self, name: str) -> int:
        return int(self.sql(f"SHOW GLOBAL STATUS LIKE '{name}'")[0][1])

    def _emit(self, kind: str, text: str) -> None:
        (self.output if kind == "output" else self.notes).append(text)


@pytest.fixture
def smack(server: RunningServer, tmp_path: Path) -> Iterator[Smack]:
    runner = Smack(server, tmp_path)
    yield runner
    runner.sql(f"DROP DATABASE IF EXISTS {DATABASE}")


def classic(name: str, rows: int = 2000) -> str:
    """The file of that name with fewer rows and as many different keys a row."""
    text = (CLASSIC / f"{name}.smack").read_text()
    return text.replace("90000", str(rows)).replace('"45000"', f'"{rows // 2}"')


def counted(smack: Smack, *names: str) -> dict[str, int]:
    return {name: smack.status(name) for name in names}


def test_select_key_makes_its_table_and_sends_clients_times_rounds_times_two(smack: Smack) -> None:
    result = smack.run(classic("select-key"), "10", "10")
    complain(result)
    [report] = result.reports
    assert [(one.type, one.count) for one in report.types] == [("select_index", 200)]
    assert report.clients == 10
    assert smack.sql(f"SELECT COUNT(*), COUNT(DISTINCT username) FROM {DATABASE}.http_auth") == [(2000, 2000)]
    assert (smack.folder / "words.dat").read_text().count("\n") == 2000
    shown = smack.sql(f"SHOW CREATE TABLE {DATABASE}.http_auth")[0][1]
    assert "PRIMARY KEY (`username`)" in shown
    assert "made by mydyno" in shown
    before = counted(smack, "Com_select", "Handler_read_key")
    smack.run(classic("select-key"), "10", "100")
    after = counted(smack, "Com_select", "Handler_read_key")
    # One more than the load: the table check.
    assert after["Com_select"] - before["Com_select"] == 10 * 100 * 2 + 1
    assert after["Handler_read_key"] - before["Handler_read_key"] >= 10 * 100 * 2


def test_update_select_sends_as_many_selects_as_updates(smack: Smack) -> None:
    smack.run(classic("update-select"), "1", "1")
    before = counted(smack, "Com_select", "Com_update")
    result = smack.run(classic("update-select"), "10", "50")
    complain(result)
    after = counted(smack, "Com_select", "Com_update")
    assert after["Com_update"] - before["Com_update"] == 500
    assert after["Com_select"] - before["Com_select"] == 501
    assert {one.type: one.count for one in result.reports[0].types} == {
        "select_index": 500,
        "update_index": 500,
    }
    assert figures(result)["errors"] == 0


def test_strict_compat_prints_the_report_of_super_smack(smack: Smack) -> None:
    smack.run(classic("update-select"), "1", "1")
    result = smack.run(classic("update-select"), "4", "25", strict=True)
    complain(result)
    title, connect, header, *types = smack.output[-1].split("\n")
    assert title == "Query Barrel Report for client smacker"
    assert re.fullmatch(r"connect: max=\d+ms  min=\d+ms avg= \d+ms from 4 clients ", connect)
    assert header == "Query_type\tnum_queries\tmax_time\tmin_time\tq_per_s"
    assert [re.sub(r"\t\d+\t0\t[\d.]+$", "", line) for line in types] == [
        "select_index\t100",
        "update_index\t100",
    ]
    assert result.reports[0].connect.count == 4


def test_only_words_of_the_dictionary_are_asked_for(smack: Smack) -> None:
    smack.run(classic("update-select"), "2", "200")
    words = [line.split(",")[0] for line in (smack.folder / "words.dat").read_text().splitlines()]
    size = (smack.folder / "words.dat").stat().st_size
    allowed = set(words[size // 1000 - 1 :: size // 1000])
    changed = {
        name for (name,) in smack.sql(f"SELECT username FROM {DATABASE}.http_auth WHERE pass LIKE '%0%'")
    }
    changed |= {
        name for (name,) in smack.sql(f"SELECT username FROM {DATABASE}.http_auth WHERE pass LIKE '%1%'")
    }
    assert changed
    assert changed <= allowed


TABLE = """client "c" { user "u"; db "test"; query_barrel "2 q"; }
table "t" { client "c"; create "create table t (a varchar(40) primary key, b varchar(40))"; min_rows "3";
  data_file "t.dat"; gen_data_file "gen-data -n 3 -f %n,x"; }
"""
MAIN = """main { c.init(); c.set_num_rounds(5); c.create_threads(4); c.connect(); c.unload_query_barrel();
c.collect_threads(); c.disconnect(); }"""


def script(query: str, sections: str = "", main: str = MAIN) -> str:
    defined = f'query "q" {{ query "{query}"; type "one"; has_result_set "y"; parsed "y"; }}\n'
    return sections + defined + TABLE + main


UNIQUE = 'dictionary "id" { type "unique"; source_type "template"; source "id%05d"; }\n'


def test_unique_values_are_unique_and_under_strict_compat_clients_make_the_same(smack: Smack) -> None:
    insert = script("insert into t values ('$id', 'new')", UNIQUE)
    complain(smack.run(insert))
    assert smack.sql(f"SELECT COUNT(*) FROM {DATABASE}.t WHERE b = 'new'") == [(40,)]
    smack.sql(f"DELETE FROM {DATABASE}.t WHERE b = 'new'")
    smack.notes.clear()
    result = smack.run(insert, strict=True)
    assert smack.sql(f"SELECT MIN(a), MAX(a), COUNT(*) FROM {DATABASE}.t WHERE b = 'new'") == [
        ("id00000", "id00009", 10)
    ]
    assert set(result.errors) == {"1062"}
    with pytest.raises(EngineError, match="1062"):
        complain(result)


def test_under_strict_compat_a_result_that_is_not_announced_stands_in_the_way_of_the_next_statement(
    smack: Smack,
) -> None:
    """As mysql_real_query says it to a client that has not called mysql_store_result."""
    unannounced = script("select 1").replace('has_result_set "y"', 'has_result_set "n"')
    complain(smack.run(unannounced))
    before = counted(smack, "Com_select")["Com_select"]
    result = smack.run(unannounced, strict=True)
    # Each of 4 connections has 5 rounds: the second shot of the first one fails, and the first of all others.
    assert result.errors == {"2014": 20}
    assert [(one.type, one.count) for one in result.reports[0].types] == [("one", 4)]
    assert counted(smack, "Com_select")["Com_select"] - before == 4 + 1  # the count of the table's rows
    changing = script("insert ignore into t values ('x', 'new')").replace(
        'has_result_set "y"', 'has_result_set "n"'
    )
    complain(smack.run(changing, strict=True))


def test_words_with_quotes_travel_as_they_are(smack: Smack) -> None:
    words = """dictionary "w" { type "seq"; source_type "list"; source "it's,50%,"; }\n"""
    complain(smack.run(script("insert ignore into t values ('$w', 'new')", words)))
    assert smack.sql(f"SELECT a FROM {DATABASE}.t WHERE b = 'new' ORDER BY a") == [("50%",), ("it's",)]


def test_a_failing_statement_is_counted_and_the_others_go_on(smack: Smack) -> None:
    result = smack.run(script("select * from missing"))
    # An error ends the round, which has two shots here.
    assert result.errors == {"1146": 20}
    with pytest.raises(EngineError, match="20 statements failed"):
        complain(result)
    assert smack.output[-1].endswith("errors by code: 1146: 20")


def test_a_table_of_somebody_else_is_not_dropped_unless_that_is_allowed(smack: Smack) -> None:
    smack.sql(f"CREATE DATABASE {DATABASE}")
    smack.sql(f"CREATE TABLE {DATABASE}.t (a INT)")
    smack.sql(f"INSERT INTO {DATABASE}.t VALUES (1)")
    with pytest.raises(UsageError, match=r"table smack_live.t .*mydyno did not make it"):
        smack.run(script("select 1 "))
    assert smack.sql(f"SELECT COUNT(*) FROM {DATABASE}.t") == [(1,)]
    complain(smack.run(script("select 1 "), drop_existing=True))
    assert smack.sql(f"SELECT COUNT(*) FROM {DATABASE}.t") == [(3,)]


def test_a_table_of_ours_with_too_few_rows_is_made_anew(smack: Smack) -> None:
    smack.run(script("select 1 "))
    smack.sql(f"DELETE FROM {DATABASE}.t LIMIT 1")
    smack.output.clear()
    smack.run(script("select 1 "))
    assert smack.output[0] == "Table 't' does not meet condition: 2 of 3 rows"
    assert smack.sql(f"SELECT COUNT(*) FROM {DATABASE}.t") == [(3,)]


def test_lines_of_another_width_than_the_table_are_refused(smack: Smack) -> None:
    text = script("select 1 ").replace("%n,x", "%n,x,y")
    with pytest.raises(UsageError, match="line 1 has 3 fields, table t has 2 columns"):
        smack.run(text)


def test_results_are_saved_with_their_header(smack: Smack) -> None:
    main = 'main { c.init(); c.connect(); c.run_save_result("q", "-"); c.disconnect(); }'
    smack.run(script("select a, b from t order by a ", main=main))
    assert smack.output[-1] == "a\tb\n1\tx\n2\tx\n3\tx"


def test_every_connection_saves_a_result(smack: Smack) -> None:
    main = 'main { c.init(); c.create_threads(3); c.connect(); c.run_save_result("q", "-"); c.disconnect(); }'
    smack.run(script("select count(*) from t ", main=main))
    assert smack.output.count("count(*)\n3") == 3


def test_query_is_sent_by_every_connection(smack: Smack) -> None:
    query = """c.init(); c.create_threads(3); c.connect();
      c.query("insert into t values (uuid(), 'before')"); c.unload_query_barrel(); c.collect_threads();
      c.query("insert into t values (uuid(), 'after')");"""
    complain(smack.run(script("select 1 ", main=f"main {{ {query} }}")))
    found = smack.sql(f"SELECT b, COUNT(*) FROM {DATABASE}.t WHERE b <> 'x' GROUP BY b ORDER BY b")
    assert found == [("after", 1), ("before", 3)]


def test_two_client_types_run_at_the_same_time(smack: Smack) -> None:
    more = 'client "d" { user "u"; db "test"; query_barrel "1 q"; }\n'
    both = "".join(
        f"c.{line} d.{line}"
        for line in (
            "init();",
            "create_threads(2);",
            "connect();",
            "unload_query_barrel();",
            "collect_threads();",
        )
    )
    text = script("select sleep(0.5) ", main=more + f"main {{ {both} }}")
    result = smack.run(text)
    c, d = result.reports
    assert [one.types[0].count for one in result.reports] == [4, 2]
    assert c.run_s > 0.9
    assert d.run_s < c.run_s


def test_ctrl_c_ends_the_load_early_and_keeps_its_figures(smack: Smack) -> None:
    smack.run(script("select 1 "))
    # Whoever started the tests in the background may have SIGINT ignored.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    once_under_load(smack.server, lambda: signal.raise_signal(signal.SIGINT))
    try:
        result = smack.run(
            script("select 1 ", main=MAIN.replace("set_num_rounds(5)", "set_num_rounds(100000000)"))
        )
    finally:
        signal.signal(signal.SIGINT, before)
    assert result.interrupted
    assert result.reports[0].types[0].count > 0
    assert smack.output[-1].startswith("Query Barrel Report for client c\n")


def test_a_file_as_the_workload_of_an_experiment_has_its_rows_and_750_names(smack: Smack) -> None:
    resolved = resolve_file(CLASSIC / "update-select.smack")
    job = jobs.Job(
        target=target_of(smack_client(), smack.overrides),
        seed=1,
        workload={"program": resolved.program},
        prepare="create",
        phases=(jobs.Phase(connections=4, arrival=jobs.closed_loop(), work=jobs.rounds(2000)),),
    )
    with Engine(job, LocalHost()) as engine:
        [end] = [message for message in engine if isinstance(message, PhaseEnd)]
    assert {kind: one.count for kind, one in end.statements.items()} == {
        "select_index": 8000,
        "update_index": 8000,
    }
    assert end.errors == {}
    assert end.statements["select_index"].rows == 8000
    table = f"{DATABASE}.http_auth"
    assert smack.sql(f"SELECT COUNT(*), COUNT(DISTINCT username) FROM {table}") == [(90_000, 90_000)]
    changed = [uid for (uid,) in smack.sql(f"SELECT uid FROM {table} WHERE pass REGEXP '[0-9]'")]
    assert len(changed) > 700
    assert all(uid % 120 == 0 for uid in changed)


def smack_client() -> Section:
    return parse((CLASSIC / "update-select.smack").read_text(), "f").named("client")["smacker"]


def test_a_sweep_opens_the_clients_one_for_the_table_check_and_one_of_the_engine_a_step(smack: Smack) -> None:
    smack.run(classic("select-key"), "1", "1")
    before = counted(smack, "Com_select", "Connections")
    steps = (10, 20, 30)
    for clients in steps:
        complain(smack.run(classic("select-key"), str(clients), "5"))
    after = counted(smack, "Com_select", "Connections")
    assert after["Com_select"] - before["Com_select"] == sum(steps) * 5 * 2 + len(steps)
    # This test's own connections: one a status.
    assert after["Connections"] - before["Connections"] == sum(steps) + 2 * len(steps) + 2
