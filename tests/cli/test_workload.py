import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from mydyno.cli.main import app
from mydyno.core.errors import SpecError, UsageError
from mydyno.lab import workload

GOOD = Path(__file__).parents[1] / "lab" / "workload" / "good"


def mydyno(*arguments: str) -> str:
    done = CliRunner().invoke(app, ["workload", *arguments], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.output


def test_the_list_names_every_builtin_workload_with_what_it_is() -> None:
    listed, _, last = mydyno("list").strip().rpartition("\n\n")
    assert [line.split()[0] for line in listed.splitlines() if not line.startswith(" ")] == [
        *(*workload.builtin_names(), "slap", "sql-bench", "sysbench", "mysqlslap", "fio")
    ]
    assert ".smack script" in last
    assert json.loads(mydyno("list", "--json"))["idle"] == workload.read("idle").about


def test_show_shows_options_tables_and_how_often_each_statement_is_sent() -> None:
    shown = mydyno("show", "oltp-read-write", "--set", "tables=3", "--set", "table-size=2k")
    assert "sbtest1 to sbtest3, 3 tables: 2,000 rows each (id, k, c, pad)" in shown
    assert "an event sends 20 statements on average" in shown
    assert "      10  point_select         SELECT c FROM sbtestN WHERE id=?" in shown
    assert "an event starts again after error 1213, 1020, 1205" in " ".join(shown.split())
    assert "table_size           2000         Rows of each table." in shown


def test_show_shows_how_events_are_shared_among_transactions(tmp_path: Path) -> None:
    file = tmp_path / "two.yaml"
    file.write_text(
        "workload: two\ntransactions: {look: {weight: 3, steps: [SELECT 1]}, buy: [BEGIN, SELECT 2, END]}\n"
    )
    shown = mydyno("show", str(file))
    assert "an event sends 1.5 statements on average" in shown
    assert "look: 0.75 of the events, 1 statement" in shown
    assert "buy: 0.25 of the events, 3 statements" in shown


def test_show_prints_the_program_and_the_file() -> None:
    program = json.loads(mydyno("show", "smack", "--program", "--set", "scenario=update-select"))
    assert program == workload.read("smack").resolve({"scenario": "update-select"}).program
    assert mydyno("show", "smack", "--text") == workload.read("smack").text


def test_check_shows_what_an_event_of_a_good_file_sends() -> None:
    result = mydyno("check", str(GOOD / "every-key.yaml"))
    assert result.splitlines()[0] == f"{GOOD / 'every-key.yaml'}: no problem found"
    assert "checked after the load: thing is full" in result


@pytest.mark.parametrize("command", ["show", "check"])
def test_a_wrong_file_or_option_ends_as_a_wrong_experiment_does(command: str, tmp_path: Path) -> None:
    file = tmp_path / "wrong.yaml"
    file.write_text("workload: wrong\ntransactions:\n  look:\n    - SELECT :ids\n")
    runner = CliRunner()
    done = runner.invoke(app, ["workload", command, str(file)])
    assert isinstance(done.exception, SpecError)
    assert f"{file}:4:15: unknown name 'ids'" in str(done.exception)
    done = runner.invoke(app, ["workload", command, "idle", "--set", "qurey=SELECT 2"])
    assert isinstance(done.exception, UsageError)
    assert "did you mean query?" in str(done.exception)
    assert done.exception.exit_code == 2


@pytest.mark.parametrize("name", ["slap", "sql-bench", "sysbench", "mysqlslap", "fio"])
def test_workloads_of_other_programs_are_shown_with_their_options(name: str) -> None:
    shown = mydyno("show", name)
    assert shown.startswith(f"{name}\n")
    assert "options\n" in shown


def test_an_option_of_another_programs_workload_is_chosen_and_checked() -> None:
    assert "load_type            write" in mydyno("show", "slap", "--set", "load_type=write")
    done = CliRunner().invoke(app, ["workload", "show", "slap", "--set", "load_type=none"])
    assert isinstance(done.exception, SpecError)


def test_a_script_of_super_smack_is_shown_and_checked(tmp_path: Path) -> None:
    script = Path(workload.__file__).parent / "smack" / "select-key.smack"
    shown = mydyno("show", str(script))
    assert "query select_by_username: select * from http_auth where username" in shown
    assert mydyno("check", str(script)).endswith("select-key.smack: no problem found\n")
    assert mydyno("show", str(script), "--text") == script.read_text()
    wrong = tmp_path / "wrong.smack"
    wrong.write_text(script.read_text().replace(".connect", ".conect"))
    done = CliRunner().invoke(app, ["workload", "check", str(wrong)])
    assert isinstance(done.exception, SpecError)
    assert "conect" in str(done.exception)
