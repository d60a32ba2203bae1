"""The lines of `main`, with an engine that sends nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from lab.load.smack import fake
from lab.load.smack.fake import FakeEngine
from mydyno.core.document.problems import SpecErrors
from mydyno.core.errors import EngineError, UsageError
from mydyno.core.secrets import Secret
from mydyno.lab.load.smack import Overrides, Result, Settings, client, complain, figures, run
from mydyno.server.access.transport import Compression, SslMode, Transport

QUERY = 'query "q" { query "select 1"; type "one"; has_result_set "y"; }\n'
CLIENT = 'client "c" { user "u"; pass "p"; host "db.example"; port "3307"; db "test"; query_barrel "2 q"; }\n'
START = "c.init(); c.set_num_rounds($2); c.create_threads($1); c.connect(); c.unload_query_barrel();"


@pytest.fixture(autouse=True)
def jobs(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """The jobs that the engine gets."""
    FakeEngine.jobs = []
    monkeypatch.setattr(client, "Engine", FakeEngine)
    return FakeEngine.jobs


class Smack:
    """Runs scripts and keeps what they print."""

    def __init__(self, folder: Path) -> None:
        self.file = folder / "test.smack"
        self.output: list[str] = []
        self.notes: list[str] = []

    def run(self, text: str, *arguments: str, **settings: Any) -> Result:
        self.file.write_text(text)
        return run(self.file, arguments, Settings(**settings), self._emit)

    def main(self, *lines: str, **settings: Any) -> Result:
        return self.run(f"{QUERY}{CLIENT}main {{ {' '.join(lines)} }}", "10", "100", **settings)

    def _emit(self, kind: str, text: str) -> None:
        (self.output if kind == "output" else self.notes).append(text)


@pytest.fixture
def smack(tmp_path: Path) -> Smack:
    return Smack(tmp_path)


def test_a_barrel_is_a_phase_of_all_connections_with_their_rounds(
    smack: Smack, jobs: list[dict[str, Any]]
) -> None:
    result = smack.main(START, "c.collect_threads(); c.disconnect();")
    [job] = jobs
    [phase] = job["phases"]
    assert phase["connections"] == 10
    assert phase["work"] == {"kind": "rounds", "rounds": 100}
    assert job["prepare"] == "none"
    [report] = result.reports
    assert [(one.type, one.count) for one in report.types] == [("one", 10 * 100 * 2)]
    assert smack.output[-1].startswith("Query Barrel Report for client c\n")


def test_the_file_names_the_server_unless_the_command_line_does(
    smack: Smack, jobs: list[dict[str, Any]]
) -> None:
    smack.main(START)
    overrides = Overrides(socket=Path("/tmp/s.sock"), user="me", password=Secret("x"), database="other")
    smack.main(START, overrides=overrides)
    first, second = (job["target"] for job in jobs)
    transport = Transport().to_wire()
    assert first == {
        "socket": None, "host": "db.example", "port": 3307, "user": "u", "password": "p", "database": "test",
        **transport,
    }  # fmt: skip
    assert second == {
        "socket": "/tmp/s.sock", "host": None, "port": None,
        "user": "me", "password": "x", "database": "other", **transport,
    }  # fmt: skip


def test_options_of_the_transport_go_to_the_engine(smack: Smack, jobs: list[dict[str, Any]]) -> None:
    protected = Transport(SslMode.REQUIRED, compression=Compression(("zlib",)))
    smack.main(START, overrides=Overrides(transport=protected))
    [job] = jobs
    assert job["target"]["tls"]["mode"] == "required"
    assert job["target"]["compression"] == {"algorithms": ["zlib"], "zstd_level": 3}


def test_expressions_join_texts_arguments_variables_and_figures(smack: Smack) -> None:
    smack.main(
        '$n = "clients: " . $1 . ", ";',
        START,
        "c.collect_threads();",
        'c.print($n . c::one::num_queries . " queries, " . c::one::q_per_s);',
        "c.print(c::max_connect_time);",
        "c.print(c::two::num_queries);",
    )
    assert smack.output[-3:] == ["clients: 10, 2000 queries, 6666.67", "0.270", ""]


def test_strict_compat_prints_every_figure_with_six_decimals_and_takes_them_as_numbers(
    smack: Smack, jobs: list[dict[str, Any]]
) -> None:
    smack.main(
        START,
        "c.collect_threads();",
        "c.print(c::one::num_queries); c.print(c::one::min_time); c.print(c::max_connect_time);",
        "c.set_num_rounds(c::one::num_queries); c.create_threads($1); c.unload_query_barrel();",
        strict=True,
    )
    assert smack.output[-3:] == ["2000.000000", "0.000000", "0.000000"]
    assert jobs[-1]["phases"][0]["work"] == {"kind": "rounds", "rounds": 2000}


def test_the_name_of_the_file_is_argument_nought(smack: Smack) -> None:
    smack.main("c.init(); c.print($0);")
    assert smack.output == [str(smack.file)]


def test_sleep_takes_milliseconds_and_is_part_of_the_run_time(smack: Smack) -> None:
    result = smack.main(START, "c.sleep(0, 100); c.collect_threads();")
    assert result.reports[0].run_s == pytest.approx(0.4)


def test_sleep_takes_no_milliseconds_under_strict_compat(smack: Smack) -> None:
    result = smack.main(START, "c.sleep(0, 100); c.collect_threads();", strict=True)
    assert result.reports[0].run_s == pytest.approx(0.3)


def test_client_types_run_apart_with_a_report_each(smack: Smack, jobs: list[dict[str, Any]]) -> None:
    more = CLIENT.replace('"c"', '"d"').replace("2 q", "1 q")
    both = "c.init(); d.init();" + "".join(
        f"{line.replace('c.', 'c.')} {line.replace('c.', 'd.')}"
        for line in (
            "c.set_num_rounds(5);", "c.create_threads(2);", "c.connect();", "c.unload_query_barrel();",
            "c.collect_threads();",
        )
    )  # fmt: skip
    result = smack.run(f"{QUERY}{CLIENT}{more}main {{ {both} }}")
    assert [(one.client, one.types[0].count) for one in result.reports] == [("c", 20), ("d", 10)]
    assert {job["seed"] for job in jobs} == {1, 2}


def test_a_query_before_the_barrel_is_sent_by_each_connection_as_it_opens(
    smack: Smack, jobs: list[dict[str, Any]]
) -> None:
    smack.main(
        "c.init(); c.set_num_rounds($2); c.create_threads($1); c.connect();",
        'c.query("set autocommit = 0"); c.query("insert into t values (1)"); c.unload_query_barrel();',
        "c.unload_query_barrel();",
    )
    sessions = [job["workload"]["program"]["session"] for job in jobs]
    assert sessions == [["set autocommit = 0", "insert into t values (1)"], ["set autocommit = 0"]]


def test_unique_values_go_on_where_the_barrel_before_left_off(
    smack: Smack, jobs: list[dict[str, Any]]
) -> None:
    text = (
        'dictionary "id" { type "unique"; source_type "template"; source "id%d"; }\n'
        """query "q" { query "insert into t values ('$id', '$id')"; type "one"; parsed "y"; }\n"""
    )
    smack.run(f"{text}{CLIENT}main {{ {START} c.unload_query_barrel(); }}", "3", "5")
    counters = [job["workload"]["program"]["values"]["id"] for job in jobs]
    assert counters == [["counter", "id", 0, 1, 1, 1], ["counter", "id", 3 * 5 * 2 * 2, 1, 1, 1]]


def test_errors_count_even_if_no_report_is_asked_for(smack: Smack, monkeypatch: pytest.MonkeyPatch) -> None:
    failing = {"errors": {"1146": 3}, "error_examples": {"1146": "No such table"}}
    monkeypatch.setattr(fake, "MORE", failing)
    result = smack.main(START, "c.disconnect();")
    assert result.errors == {"1146": 3}
    with pytest.raises(EngineError, match=r"3 statements failed \(3 x 1146: No such table"):
        complain(result)


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (
            "c.init(); c.create_threads(0);",
            "3:35: create_threads takes a number of connections from 1 to 100000",
        ),
        ('c.init(); c.set_num_rounds("x");', r"3:35: set_num_rounds takes a number of rounds.*\(got x\)"),
        ('c.init(); c.sleep("a", 0);', "3:18: sleep takes seconds and milliseconds"),
    ],
)
def test_a_wrong_number_is_an_error_with_its_line(smack: Smack, lines: str, message: str) -> None:
    with pytest.raises(SpecErrors, match=message):
        smack.main(lines)


def test_a_missing_dictionary_file_is_an_error_with_its_line_and_name(smack: Smack) -> None:
    text = 'dictionary "w" { type "rand"; source_type "file"; source "words.dat"; }\n'
    with pytest.raises(
        SpecErrors, match=r"test.smack:1:58: the file .*/words.dat of dictionary w cannot be read"
    ):
        smack.run(f"{text}{QUERY}{CLIENT}main {{ {START} }}", "1", "1")


def test_dictionaries_are_read_from_the_data_folder(
    smack: Smack, jobs: list[dict[str, Any]], tmp_path: Path
) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "words.dat").write_text("a\nb")
    text = (
        'dictionary "w" { type "rand"; source_type "file"; source "words.dat"; }\n'
        """query "q" { query "select '$w'"; type "one"; has_result_set "y"; parsed "y"; }\n"""
    )
    smack.run(f"{text}{CLIENT}main {{ {START} }}", "1", "1", datadir=tmp_path / "data")
    assert jobs[0]["workload"]["program"]["dictionaries"] == {"w": {"words": ["a", "b"]}}
    assert any("[last-line-without-newline]" in note for note in smack.notes)


def test_a_client_without_a_schema_is_refused_unless_one_is_given(smack: Smack) -> None:
    text = f'{QUERY}client "c" {{ user "u"; host "h"; query_barrel "1 q"; }} main {{ {START} }}'
    with pytest.raises(UsageError, match="client c names no db"):
        smack.run(text, "1", "1")
    smack.run(text, "1", "1", overrides=Overrides(database="other"))


def test_a_clean_run_does_not_complain_and_has_plain_figures(smack: Smack) -> None:
    result = smack.main(START, "c.collect_threads();")
    complain(result)
    outcome = figures(result)
    assert outcome["errors"] == 0
    assert outcome["reports"][0]["types"][0]["count"] == 2000
    assert "silent-failure" in outcome["traps"]


SAVE = 'c.init(); c.connect(); c.run_save_result("q", "%s"); c.disconnect();'


@pytest.mark.parametrize("name", ["/tmp/mydyno-outside", "../outside"])
def test_a_result_file_outside_the_folder_is_refused_before_the_load(smack: Smack, name: str) -> None:
    with pytest.raises(SpecErrors, match=r"the result file: the path (is absolute|leads out)"):
        smack.main(SAVE % name)


def test_a_result_file_that_is_there_is_not_overwritten(
    smack: Smack, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client.ClientType, "_execute", lambda self, sql: (["a"], [(1,)]))
    smack.main(SAVE % "result")
    assert (tmp_path / "result").read_text() == "a\n1\n"
    (tmp_path / "result").write_text("mine")
    with pytest.raises(UsageError, match=r"result is there already(.|\n)*--force replaces it"):
        smack.main(SAVE % "result")
    assert (tmp_path / "result").read_text() == "mine"
    smack.main(SAVE % "result", force=True)
    assert (tmp_path / "result").read_text() == "a\n1\n"


def test_sql_that_reaches_beyond_the_tables_needs_trust(smack: Smack) -> None:
    bad = QUERY.replace("select 1", "set global general_log = 1")
    with pytest.raises(UsageError, match=r"'set global general_log = 1' needs --trust"):
        smack.run(f"{bad}{CLIENT}main {{ {START} }}", "10", "100")
    with pytest.raises(UsageError, match=r"'set global x = 1' needs --trust"):
        smack.main('c.init(); c.connect(); c.query("set global x = 1");')
    assert smack.run(f"{bad}{CLIENT}main {{ {START} }}", "10", "100", trust=True)
