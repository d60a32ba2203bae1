"""MySQLTuner's advice read as settings. data/mysqltuner has what version 2.9.3 really printed, on MariaDB
10.11.19, 11.8.6 and MySQL 9.7.4 under different loads, and what 2.6.0 printed before it failed."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from mydyno.core.errors import UsageError
from mydyno.core.secrets import Secret
from mydyno.prove.mysqltuner import Report, read_report, settings_of
from mydyno.prove.mysqltuner.program import option_file, run, version_of
from mydyno.server.access.login import Login

DATA = Path(__file__).parent / "data" / "mysqltuner"


def report(name: str) -> Report:
    return read_report((DATA / f"{name}.txt").read_text())


def of(*lines: str) -> tuple[dict[str, str], list[str]]:
    """The settings, and the lines that are none, on a server that has every variable named here."""
    names = ("a", "b", "skip_name_resolve", "innodb_redo_log_capacity", "table_definition_cache")
    found = settings_of(Report("2.9.3", (), lines), dict.fromkeys(names, "other"))
    return dict(found.values), [line for line, _ in found.left_out]


@pytest.mark.parametrize(
    ("name", "values"),
    [
        (
            "mariadb-10.11-read-write",
            {
                "thread_cache_size": "302",
                "innodb_snapshot_isolation": "ON",
                "innodb_flush_neighbors": "0",
                "innodb_io_capacity": "2000",
            },
        ),
        (
            "mariadb-10.11-storm",
            {
                "query_cache_size": "0",
                "query_cache_type": "0",
                "thread_cache_size": "4",
                "table_open_cache": "4000",
                "innodb_snapshot_isolation": "ON",
                "innodb_flush_neighbors": "0",
                "innodb_io_capacity": "2000",
            },
        ),
        (
            "mariadb-11.8-small",
            {
                "tmp_table_size": "32M",
                "max_heap_table_size": "32M",
                "thread_cache_size": "48",
                "innodb_buffer_pool_size": "61M",
                "innodb_flush_neighbors": "0",
                "innodb_io_capacity": "2000",
            },
        ),
        ("mysql-9.7-read-only", {"thread_cache_size": "18"}),
        (
            "mysql-9.7-small",
            {
                "long_query_time": "10",
                "tmp_table_size": "2K",
                "max_heap_table_size": "32M",
                "thread_cache_size": "4",
                "innodb_log_buffer_size": "512K",
            },
        ),
    ],
)
def test_what_it_really_printed(name: str, values: dict[str, str]) -> None:
    found = settings_of(report(name), dict.fromkeys(values, "other"))
    assert (found.values, found.left_out) == (values, ())
    assert report(name).version == "2.9.3"


def test_general_recommendations_are_no_variables() -> None:
    general = report("mysql-9.7-small").general
    assert "MySQL was started within the last 24 hours: recommendations may be inaccurate" in general


def test_a_report_that_was_cut_off_is_refused() -> None:
    with pytest.raises(UsageError, match="has no recommendations: it ended after"):
        report("cut-off-2.6.0")


def test_sizes_that_were_rounded_to_a_decimal_become_whole_mebibytes() -> None:
    assert of("a (>= 1.2G) if possible.")[0] == {"a": "1229M"}


def test_more_and_less_without_a_number_are_twice_and_half() -> None:
    assert of("a (> 64M)", "b (< 28800)")[0] == {"a": "128M", "b": "14400"}
    assert of("a (> 0)") == ({}, ["a (> 0)"])


def test_other_forms() -> None:
    assert of("skip-name-resolve=ON")[0] == {"skip_name_resolve": "ON"}
    assert of("a between 4 and 8 for use")[0] == {"a": "4"}
    assert of("a (16.0M)")[0] == {"a": "16M"}
    assert of("table_definition_cache (400) > 8000 or -1 (autosizing if supported)")[0] == {
        "table_definition_cache": "8000"
    }
    line = "innodb_redo_log_capacity should be (=32M) if possible, so it equals 25% of buffer pool size."
    assert of(line)[0] == {"innodb_redo_log_capacity": "32M"}


def test_sentences_unknown_variables_and_second_lines_are_reported() -> None:
    values, left = of(
        "DON'T APPLY SETTINGS BECAUSE THERE ARE TOO MANY PROCESSES RUNNING ON THIS SERVER.",
        "*** Add RAM before increasing MySQL buffer variables ***",
        "a (always use indexes with JOINs)",
        "gcs.fc_factor=0.8",
        "other (> 4)",
        "a (=1)",
        "a (> 4)",
    )
    assert values == {"a": "1"}
    assert len(left) == 6


def test_no_more_threads_are_cached_than_may_connect_and_what_is_in_force_is_no_advice() -> None:
    lines = ("thread_cache_size (> 151)", "innodb_io_capacity (>= 2000) for SSD/NVMe storage")
    now = {"thread_cache_size": "151", "max_connections": "151", "innodb_io_capacity": "2000"}
    found = settings_of(Report("2.9.3", (), lines), now)
    assert found.values == {}
    assert [why for _, why in found.left_out] == [
        "thread_cache_size is 151 already",
        "innodb_io_capacity is 2000 already",
    ]
    wider = settings_of(Report("2.9.3", (), lines[:1]), {**now, "max_connections": "500"})
    assert wider.values == {"thread_cache_size": "302"}


def test_its_version_is_read_from_the_script(tmp_path: Path) -> None:
    script = tmp_path / "mysqltuner"
    script.write_text('our $tunerversion = "2.9.3";\n')
    assert version_of(script) == (2, 9, 3)


def test_a_password_of_any_characters_goes_into_the_option_file() -> None:
    text = option_file(Login("root", Secret('a"b\\c#d'), socket=Path("/s.sock")))
    assert text == '[client]\nuser = "root"\npassword = "a\\"b\\\\c#d"\nsocket = "/s.sock"\n'


def test_it_reads_the_password_from_a_file_that_is_on_no_disk(tmp_path: Path) -> None:
    missing = [tool for tool in ("perl", "mysql", "mysqladmin") if shutil.which(tool) is None]
    if missing:
        pytest.skip(f"needs {' and '.join(missing)}")
    script = tmp_path / "tuner.pl"
    script.write_text(
        'my ($option, $file) = @ARGV; -r $file or die "unreadable";\n'
        'print "files: ", join(",", glob("*")), "\\n"; system("stat", "-L", "-c", "mode: %a", $file);\n'
        'system("cat", $file);\n'
    )
    said = run(script, Login("root", Secret("s3cret"), socket=Path("/run/s.sock")))
    assert 'password = "s3cret"' in said, "its own children can read it"
    assert "files: \n" in said
    assert "mode: 600" in said
