"""Servers that mydyno does not own: loaded, sampled, and left as they were found.

The server of each test is a private one that the test has started; mydyno is not told so.
"""

from __future__ import annotations

import shutil
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from live.conftest import Start
from live.mydyno_process import MEASURED, Workplace, faults, interrupt, wait_for_line
from mydyno.core.errors import ServerError, UsageError
from mydyno.core.facts import HostFacts
from mydyno.lab import plan, spec
from mydyno.lab.results.store import Lab
from mydyno.lab.spec import SpecErrors
from mydyno.lab.stack import RunningServer, Setting
from mydyno.lab.stack.journal import outstanding_in
from mydyno.lab.stack.undo import RestoreVariables
from mydyno.lab.trial import preflight
from mydyno.machine.local import LocalHost
from mydyno.server.variables.global_variables import read, write

pytestmark = pytest.mark.live

READ_WRITE = "oltp-read-write: {tables: 2, table_size: 300}"
READ_ONLY = "oltp-read-only: {tables: 2, table_size: 300}"
FACTS = HostFacts(memory_bytes=8 * 1024**3, cpus=2, free_disk_bytes=100 * 1024**3)


def ask(server: RunningServer, *statements: str) -> tuple[object, ...]:
    """The first row of the last statement's answer."""
    row: tuple[object, ...] | None = None
    with server.connect() as connection, connection.cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)
            row = cursor.fetchone()
    return row or ()


def option_file(folder: Path, server: RunningServer, **more: str) -> Path:
    """A client option file for the server's root account, over its socket unless told otherwise."""
    options = {
        "user": server.login.user,
        "password": server.login.password.reveal(),
        **({} if "host" in more else {"socket": str(server.socket)}),
        **more,
    }
    path = folder / "client.cnf"
    path.write_text("[client]\n" + "".join(f"{name} = {value}\n" for name, value in options.items()))
    path.chmod(0o600)
    return path


def experiment(
    external: str,
    load: str = READ_WRITE,
    config: str = "{}",
    factor: str = "server.config.sort_buffer_size: [262144, 524288]",
    measure: str = "1s",
    repeats: int = 2,
) -> str:
    # The load leaves CPU to other tests; the real sysbench does not rest.
    rest = "" if load.startswith("sysbench:") else "  think: 5ms\n"
    return f"""
experiment: foreign
setup:
  server:
    external: {external}
    config: {config}
factors:
  {factor}
workload:
  {load}
  connections: [2, 4]
{rest}  each: {{measure: {measure}}}
sampling: {{every: 100ms}}
design: {{repeats: {repeats}, seed: 3}}
"""


def checked(text: str) -> preflight.Prepared:
    """What `mydyno plan` finds out. Raises what it would say."""
    read = spec.loads(text, "foreign.yaml")
    return preflight.check(read, plan.make(read, FACTS), LocalHost())


@pytest.fixture
def by_file(workplace: Workplace, server: RunningServer) -> str:
    """`external` as an experiment writes it, with a schema of this test's own."""
    path = option_file(workplace.folder, server)
    return f"{{defaults_file: {path}, database: bench_{workplace.folder.name.replace('-', '_')}}}"


def test_a_search_measures_candidates_and_puts_back_what_it_set(
    workplace: Workplace, server: RunningServer, by_file: str
) -> None:
    before = ask(server, "SELECT @@GLOBAL.innodb_io_capacity, @@GLOBAL.innodb_adaptive_hash_index")
    workplace.experiment.write_text(
        f"""
experiment: foreign-search
setup:
  server: {{external: {by_file}}}
workload:
  {READ_ONLY}
  connections: 2
  think: 5ms
  each: {{measure: 300ms}}
search:
  space:
    server.config.innodb_io_capacity: [{before[0]}, 400, 800]
    server.config.innodb_adaptive_hash_index: [OFF, ON]
  candidates: 2
  repeats: 1
"""
    )
    done = workplace.run("tune", str(workplace.experiment), "--trials", "4", "--no-confirm")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "heat 2: " in done.stdout
    assert "4 trials of 4" in done.stdout
    assert ask(server, "SELECT @@GLOBAL.innodb_io_capacity, @@GLOBAL.innodb_adaptive_hash_index") == before


def test_a_factor_is_set_measured_and_put_back_over_the_socket(
    workplace: Workplace, server: RunningServer, by_file: str
) -> None:
    before = ask(server, "SELECT @@GLOBAL.sort_buffer_size, @@GLOBAL.long_query_time")
    schemas = ask(server, "SELECT GROUP_CONCAT(schema_name ORDER BY 1) FROM information_schema.schemata")[0]
    workplace.experiment.write_text(experiment(by_file, config="{long_query_time: 2.5}", repeats=1))
    done = workplace.run("run", str(workplace.experiment))
    assert done.returncode in MEASURED, done.stdout + done.stderr
    assert ask(server, "SELECT @@GLOBAL.sort_buffer_size, @@GLOBAL.long_query_time") == before
    with Lab.open(workplace.lab, write=False) as lab:
        run = lab.find_run("foreign")
        trials = run.trials()
        assert len(trials) == 2
        for trial in trials:
            assert faults([trial]) == set()
            level = trial.levels["server.config.sort_buffer_size"]
            assert trial.settings_in_force["sort_buffer_size"] == level
            assert trial.settings_in_force["long_query_time"] == "2.500000"
            assert trial.durability == "durable"
            assert trial.remarks == ()
            samples = run.samples(trial.trial_id)
            assert samples["server.rss_bytes"].drop_nulls().len() == samples.height
            assert "host.cpu.idle_s" in samples.columns
        assert run.environment()["server.external"] == str(server.socket)
        page = (run.report_folder / "report.html").read_text()
    assert "external server" in page
    kept = [path for path in workplace.lab.rglob("*") if path.is_file()]
    assert not any(server.login.password.reveal().encode() in path.read_bytes() for path in kept)
    assert outstanding_in(workplace.lab) == []
    database = by_file.rpartition(" ")[2].rstrip("}")
    after = ask(server, "SELECT GROUP_CONCAT(schema_name ORDER BY 1) FROM information_schema.schemata")[0]
    assert set(str(after).split(",")) - set(str(schemas).split(",")) == {database}
    comments = ask(
        server,
        f"SELECT GROUP_CONCAT(DISTINCT table_comment) FROM information_schema.tables "
        f"WHERE table_schema = '{database}'",
    )
    assert comments == ("made by mydyno",)


def test_tables_that_the_load_only_reads_are_loaded_once_over_tcp(
    workplace: Workplace, server: RunningServer
) -> None:
    password = workplace.folder / "password"
    password.write_text(server.login.password.reveal() + "\n")
    external = f"{{dsn: 'mysql://root@127.0.0.1:{server.port}/bench_tcp', password_file: {password}}}"
    made = (
        "SELECT MIN(create_time), MIN(table_comment) FROM information_schema.tables "
        "WHERE table_schema = 'bench_tcp'"
    )
    workplace.experiment.write_text(experiment(external, READ_ONLY, repeats=1))
    assert workplace.run("run", str(workplace.experiment), "--no-report").returncode in MEASURED
    first = ask(server, made)
    assert str(first[1]).startswith("made by mydyno: 300 rows of ")
    again = workplace.run("run", str(workplace.experiment), "--no-report", "--again")
    assert again.returncode in MEASURED, again.stderr
    assert ask(server, made) == first
    with Lab.open(workplace.lab, write=False) as lab:
        run = lab.find_run("foreign")
        assert [faults([trial]) for trial in run.trials()] == [set(), set()]
        assert run.samples("t001")["server.rss_bytes"].drop_nulls().len() > 0
    ask(server, "DELETE FROM bench_tcp.sbtest1 WHERE id = 7")
    assert workplace.run("run", str(workplace.experiment), "--no-report", "--again").returncode in MEASURED
    assert ask(server, "SELECT COUNT(*) FROM bench_tcp.sbtest1") == (300,)


def test_a_kill_leaves_the_settings_to_cleanup(
    workplace: Workplace, server: RunningServer, by_file: str
) -> None:
    before = ask(server, "SELECT @@GLOBAL.sort_buffer_size")
    levels = "server.config.sort_buffer_size: [300032, 400384]"
    workplace.experiment.write_text(experiment(by_file, factor=levels, measure="8s"))
    process = workplace.start("run", str(workplace.experiment), "--no-report")
    wait_for_line(process, "2 connections")
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=20)
    assert ask(server, "SELECT @@GLOBAL.sort_buffer_size") in ((300032,), (400384,))
    swept = workplace.run("cleanup")
    assert swept.returncode == 0, swept.stderr
    assert "sort_buffer_size" in swept.stdout
    assert ask(server, "SELECT @@GLOBAL.sort_buffer_size") == before
    assert "nothing was left behind" in workplace.run("cleanup").stdout


def test_ctrl_c_puts_the_settings_back(workplace: Workplace, server: RunningServer, by_file: str) -> None:
    before = ask(server, "SELECT @@GLOBAL.sort_buffer_size")
    workplace.experiment.write_text(experiment(by_file, measure="8s"))
    process = workplace.start("run", str(workplace.experiment), "--no-report")
    wait_for_line(process, "2 connections")
    code, output = interrupt(process)
    assert code == 130, output
    assert ask(server, "SELECT @@GLOBAL.sort_buffer_size") == before
    assert outstanding_in(workplace.lab) == []


@pytest.mark.slow
@pytest.mark.parametrize("name", ["mysql-5.6", "mysql-9.7", "mariadb-11.8"])
def test_a_server_of_another_release_is_set_and_left_as_it_was(
    workplace: Workplace, start_release: Callable[[str], Start], name: str
) -> None:
    server = start_release(name)()
    before = ask(server, "SELECT @@GLOBAL.sort_buffer_size")
    by_file = f"{{defaults_file: {option_file(workplace.folder, server)}, database: bench}}"
    with pytest.raises(SpecErrors, match="lower_case_table_names"):
        checked(experiment(by_file, config="{lower_case_table_names: 1}"))
    workplace.experiment.write_text(experiment(by_file, repeats=1))
    done = workplace.run("run", str(workplace.experiment), "--no-report")
    assert done.returncode in MEASURED, done.stdout + done.stderr
    with Lab.open(workplace.lab, write=False) as lab:
        for trial in lab.find_run("foreign").trials():
            assert faults([trial]) == set()
            level = trial.levels["server.config.sort_buffer_size"]
            assert trial.settings_in_force["sort_buffer_size"] == level
    assert ask(server, "SELECT @@GLOBAL.sort_buffer_size") == before


@pytest.mark.slow
def test_what_somebody_else_sets_meanwhile_is_left_and_spoils_the_trial(
    workplace: Workplace, server: RunningServer, by_file: str
) -> None:
    before = ask(server, "SELECT @@GLOBAL.sort_buffer_size")[0]
    workplace.experiment.write_text(experiment(by_file, measure="1s", repeats=1))
    process = workplace.start("run", str(workplace.experiment), "--no-report")
    wait_for_line(process, "2 connections")
    ask(server, "SET GLOBAL sort_buffer_size = 700416")
    output, _ = process.communicate(timeout=60)
    try:
        assert process.returncode == 7, output
        assert "another session has set it" in output
        assert ask(server, "SELECT @@GLOBAL.sort_buffer_size") == (700416,)
    finally:
        ask(server, f"SET GLOBAL sort_buffer_size = {before}")


def test_the_way_back_leaves_what_somebody_else_has_set_since_and_says_so(
    workplace: Workplace, server: RunningServer
) -> None:
    external = spec.External(defaults_file=str(option_file(workplace.folder, server)))
    names = ("innodb_io_capacity", "innodb_io_capacity_max", "sort_buffer_size")
    with server.connect() as connection, connection.cursor() as cursor:
        before = read(cursor, names)
        way = RestoreVariables(server=external, before=before)
        # The maximum first, or the other could not be above its old value.
        write(cursor, "innodb_io_capacity_max", 90000)
        write(cursor, "innodb_io_capacity", 80000)
        write(cursor, "sort_buffer_size", 300032)
        way = way.model_copy(update={"ours": read(cursor, names)})
        write(cursor, "sort_buffer_size", 700416)
        (line,) = way.carry_out()
        assert line.startswith(f"sort_buffer_size of the server of {external.defaults_file} was ")
        assert "is 700416 now, which another session has set since: left unchanged" in line
        assert read(cursor, names) == before | {"sort_buffer_size": 700416}
        about_to_be_set = way.model_copy(update={"ours": None})
        assert about_to_be_set.carry_out() == ()
        assert about_to_be_set.carry_out() == ()
        assert read(cursor, names) == before


@pytest.mark.slow
@pytest.mark.parametrize(
    "load",
    [
        "sysbench: {script: oltp_read_write, tables: 2, table_size: 300}",
        "smack: {scenario: update-select, rows: 300}",
        "slap: {preload: 50}",
        "order-entry: {warehouses: 1}",
    ],
)
def test_other_loads_keep_to_the_schema_and_find_the_same_rows_again(
    workplace: Workplace, server: RunningServer, by_file: str, load: str
) -> None:
    database = by_file.rpartition(" ")[2].rstrip("}")
    schemas = "SELECT GROUP_CONCAT(schema_name ORDER BY 1) FROM information_schema.schemata"
    before = set(str(ask(server, schemas)[0]).split(","))
    workplace.experiment.write_text(
        experiment(by_file, load, measure="1s").replace("measure: 1s", "warmup: 1s, measure: 4s")
    )
    done = workplace.run("run", str(workplace.experiment), "--no-report")
    assert done.returncode in MEASURED, done.stdout + done.stderr
    assert set(str(ask(server, schemas)[0]).split(",")) - before == {database}
    with Lab.open(workplace.lab, write=False) as lab:
        trials = lab.find_run().trials()
    assert len(trials) == 4
    assert faults(trials) == set()


@pytest.mark.slow
def test_the_statements_of_others_are_a_remark(
    workplace: Workplace, server: RunningServer, by_file: str
) -> None:
    workplace.experiment.write_text(experiment(by_file, READ_ONLY, measure="1s", repeats=1))
    process = workplace.start("run", str(workplace.experiment), "--no-report")
    with server.connect() as connection, connection.cursor() as cursor:
        while process.poll() is None:
            cursor.execute("SELECT 1")
    output, _ = process.communicate()
    assert process.returncode in MEASURED, output
    with Lab.open(workplace.lab, write=False) as lab:
        remarks = [remark for trial in lab.find_run().trials() for remark in trial.remarks]
    assert {remark.check for remark in remarks} == {"other-traffic"}


def test_a_server_that_goes_away_spoils_its_trial_and_ends_the_run(
    workplace: Workplace, start: Start
) -> None:
    server = start(port=None)
    external = f"{{defaults_file: {option_file(workplace.folder, server)}}}"
    workplace.experiment.write_text(experiment(external, measure="2s"))
    process = workplace.start("run", str(workplace.experiment), "--no-report")
    wait_for_line(process, "2 connections")
    server.stop(patience_seconds=0.1)
    output, _ = process.communicate(timeout=90)
    assert process.returncode == 4, output
    assert "Traceback" not in output
    assert "t001 INVALID" in output
    with Lab.open(workplace.lab, write=False) as lab:
        (trial,) = lab.find_run().trials()
    assert "server-alive" in {reason.check for reason in trial.invalidities}
    assert len(outstanding_in(workplace.lab)) == 1
    swept = workplace.run("cleanup")
    assert swept.returncode == 6
    assert "could not be restored" in swept.stderr


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        (
            "{back_log: 8}",
            "foreign.yaml:6:14: back_log: it is set when the server starts",
        ),
        ("{sort_bufer_size: 1M}", "foreign.yaml:6:14: sort_bufer_size: this server has no such setting"),
        ("{sort_bufer_size: 1M}", "did you mean 'sort_buffer_size'"),
        ("{insert_id: 8}", "foreign.yaml:6:14: insert_id: it belongs to a session"),
        ("{datadir: /tmp}", "foreign.yaml:6:14: setup.server.config: an experiment may not set datadir"),
    ],
)
def test_a_setting_that_a_running_server_does_not_take_is_refused_at_its_line(
    by_file: str, server: RunningServer, config: str, expected: str
) -> None:
    before = server.variables()
    with pytest.raises(spec.SpecErrors) as caught:
        checked(experiment(by_file, config=config))
    assert expected in str(caught.value)
    assert server.variables() == before


def test_an_account_without_the_privilege_is_shown_so_before_anything_is_set(
    workplace: Workplace, server: RunningServer
) -> None:
    ask(server, "CREATE USER IF NOT EXISTS plain@localhost IDENTIFIED BY 'plain word'")
    path = option_file(workplace.folder, server, user="plain", password="'plain word'")
    with pytest.raises(spec.SpecErrors, match="the account may not set it") as caught:
        checked(experiment(f"{{defaults_file: {path}}}"))
    assert "foreign.yaml:8:" in str(caught.value)


def test_a_wrong_password_names_the_account_and_where_the_password_came_from(
    workplace: Workplace, server: RunningServer
) -> None:
    path = option_file(workplace.folder, server, password="geheim")
    with pytest.raises(ServerError, match="Access denied") as caught:
        checked(experiment(f"{{defaults_file: {path}}}"))
    assert "defaults_file" in str(caught.value.hint)
    assert "geheim" not in str(caught.value)


def test_a_file_that_names_no_server_or_is_not_there_is_named(workplace: Workplace) -> None:
    with pytest.raises(UsageError, match="No such file"):
        checked(experiment(f"{{defaults_file: {workplace.folder}/none.cnf}}"))
    path = workplace.folder / "empty.cnf"
    path.write_text("[client]\nuser = root\n")
    with pytest.raises(UsageError, match="neither socket nor host"):
        checked(experiment(f"{{defaults_file: {path}}}"))


def test_a_table_of_somebody_else_s_is_refused_where_the_schema_is_named_and_kept(
    server: RunningServer, by_file: str
) -> None:
    database = by_file.rpartition(" ")[2].rstrip("}")
    ask(server, f"CREATE DATABASE {database}", f"CREATE TABLE {database}.sbtest2 (precious INT)")
    ask(server, f"INSERT INTO {database}.sbtest2 VALUES (42)")
    with pytest.raises(spec.SpecErrors, match="already exists, and mydyno did not create it") as caught:
        checked(experiment(by_file))
    assert str(caught.value).startswith("foreign.yaml:5:5: ")
    assert ask(server, f"SELECT precious FROM {database}.sbtest2") == (42,)


def test_more_connections_than_the_server_takes_are_refused_at_their_line(
    server: RunningServer, by_file: str
) -> None:
    limit = ask(server, "SELECT @@GLOBAL.max_connections")[0]
    text = experiment(by_file).replace("[2, 4]", "[2, 2000]")
    with pytest.raises(spec.SpecErrors, match=f"uses 2,000 connections, and the server allows {limit}"):
        checked(text)
    checked(text.replace("config: {}", "config: {max_connections: 3000}"))


def certificate(folder: Path) -> dict[str, Setting]:
    """The server's settings for a certificate that it may read."""
    if shutil.which("openssl") is None:
        pytest.skip("openssl is not installed: no certificate can be made")
    key, cert = folder / "key.pem", folder / "cert.pem"
    make = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=mydyno-test"]
    subprocess.run(["openssl", *make, "-keyout", key, "-out", cert], check=True, capture_output=True)
    key.chmod(0o644)
    return {"ssl_key": str(key), "ssl_cert": str(cert)}


def test_a_server_and_an_account_that_need_encryption_are_loaded_over_tcp(
    workplace: Workplace, start: Start, lab: Path
) -> None:
    server = start({"require_secure_transport": True, **certificate(lab)}, port=0)
    ask(server, "CREATE USER tls@'%' IDENTIFIED BY 'word' REQUIRE SSL")
    ask(server, "GRANT ALL ON *.* TO tls@'%'")
    place = {"host": "127.0.0.1", "port": str(server.port)}
    path = option_file(workplace.folder, server, user="tls", password="word", **place)
    workplace.experiment.write_text(experiment(f"{{defaults_file: {path}}}", repeats=1))
    done = workplace.run("run", str(workplace.experiment), "--no-report")
    assert done.returncode in MEASURED, done.stdout + done.stderr
    with Lab.open(workplace.lab, write=False) as opened:
        assert faults(opened.find_run().trials()) == set()


def test_an_external_program_is_refused_where_encryption_is_required(
    workplace: Workplace, start: Start, lab: Path
) -> None:
    server = start(certificate(lab), port=0)
    place = {"host": "127.0.0.1", "port": str(server.port), "ssl-mode": "REQUIRED"}
    path = option_file(workplace.folder, server, **place)
    sysbench = "sysbench: {script: oltp_read_only, table_size: 100, distribution: special, prepared: false}"
    with pytest.raises(SpecErrors, match="which this workload's program does not do"):
        checked(experiment(f"{{defaults_file: {path}}}", sysbench))


def test_the_plan_says_which_server_what_is_written_and_what_is_put_back(
    workplace: Workplace, server: RunningServer, by_file: str
) -> None:
    workplace.experiment.write_text(experiment(by_file))
    schemas = ask(server, "SELECT COUNT(*) FROM information_schema.schemata")
    done = workplace.run("plan", str(workplace.experiment))
    assert done.returncode == 0, done.stderr
    words = " ".join(done.stdout.split())
    assert "which mydyno neither starts nor stops" in words
    assert "sets there for each trial sort_buffer_size (SET GLOBAL) and restores the old values" in words
    assert f"external server {server.version} at {server.socket}" in words
    assert "there is no frozen copy to start from" in words
    assert server.login.password.reveal() not in done.stdout
    assert ask(server, "SELECT COUNT(*) FROM information_schema.schemata") == schemas
    assert not workplace.lab.exists()
    assert server.login.password.reveal() not in checked(experiment(by_file)).plan.model_dump_json()
