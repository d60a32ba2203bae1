"""The table itself: whole, in order, and in agreement with what real servers list."""

import re
import tomllib
from pathlib import Path

import pytest

from mydyno.core.server_variables import CONTROLLED, IN_DATA_DIRECTORY
from mydyno.core.server_version import Vendor, Version
from mydyno.server.variables import Row, catalogue
from mydyno.server.variables.catalogue import read
from mydyno.server.variables.release import Family
from server.variables.disagreements import disagreements
from server.variables.releases import LISTED, MARIADB_105, MYSQL_97

ROWS = catalogue().variables


@pytest.mark.parametrize("version", LISTED, ids=str)
def test_the_table_agrees_with_what_each_server_lists(version: Version) -> None:
    assert disagreements(version, LISTED[version]) == []


def test_there_are_rows_for_what_a_dba_meets() -> None:
    assert len(ROWS) > 400
    assert {row.layer for row in ROWS.values()} >= {"memory", "redo log", "binary log", "replication"}


def test_every_place_that_an_experiment_may_set_has_a_row() -> None:
    assert set(ROWS) >= IN_DATA_DIRECTORY


def test_no_row_makes_a_setting_of_one_that_is_mydynos_own() -> None:
    assert not [each.name for row in ROWS.values() for each in row.becomes if each.name in CONTROLLED]


def test_every_meaning_is_one_sentence() -> None:
    wrong = [name for name, row in ROWS.items() if not re.fullmatch(r"[A-Z].{5,108}\.", row.means)]
    assert wrong == []


def test_what_became_another_variable_did_not_become_itself_at_once() -> None:
    for name, row in ROWS.items():
        for each in row.becomes:
            assert each.name != name or each.how == "times", name


def test_a_default_is_reported_as_a_change_and_in_the_order_of_releases() -> None:
    for name, row in ROWS.items():
        for family in Family:
            of_family = [each for each in row.defaults if each.on is family]
            assert all(each.to != each.was for each in of_family), name
            lines = [each.since.numbers for each in of_family]
            assert lines == sorted(set(lines)), name
            assert not of_family or row.life(family) is not None, name


def test_a_row_knows_in_which_release_it_is_there() -> None:
    capacity, ahead = ROWS["innodb_redo_log_capacity"], ROWS["innodb_log_write_ahead_size"]
    assert [capacity.there(Version(Vendor.MYSQL, (8, 0, patch), "")) for patch in (29, 30)] == [False, True]
    assert not capacity.there(MARIADB_105)
    minors = [(10, 7, 8), (10, 8, 3), (10, 11, 8), (10, 11, 9)]
    assert [ahead.there(Version(Vendor.MARIADB, each, "")) for each in minors] == [True, False, False, True]


def test_percona_server_goes_with_mysql() -> None:
    assert ROWS["query_cache_size"].there(Version(Vendor.PERCONA, (5, 7, 44), ""))
    assert not ROWS["query_cache_size"].there(Version(Vendor.PERCONA, (8, 0, 36), ""))


def test_the_history_of_a_variable_is_reported_for_both_families() -> None:
    assert ROWS["query_cache_size"].history() == "MySQL removed it in 8.0.3; MariaDB has it"
    assert ROWS["innodb_redo_log_capacity"].history() == "MySQL has it since 8.0.30; MariaDB never had it"
    assert "ignored since 10.5.1" not in ROWS["innodb_buffer_pool_instances"].history(), "it is gone"


def test_memory_is_counted_once_or_for_each_connection() -> None:
    assert "innodb_buffer_pool_size" in catalogue().of_memory("once")
    assert {"sort_buffer_size", "thread_stack"} <= set(catalogue().of_memory("each connection"))
    assert "tmp_table_size" not in catalogue().of_memory("each connection")


GOOD = """
[sources]
manual = "a manual"
[variables.a]
means = "The first."
unit = "bytes"
layer = "memory"
sources = ["manual"]
"""


@pytest.mark.parametrize(
    ("addition", "said"),
    [
        ('unti = "bytes"', "unti"),
        ('mysql = { since = "8.x" }', "is not a release"),
        ('mysql = { since = "8.0.3", removed = "8.0.1" }', "not in order"),
        ('mysql = { again = "8.0.3" }', "needs `removed`"),
        ('only = "mysql"\nmariadb = { since = "10.5" }', "MariaDB's releases are given too"),
        ('becomes = [{ name = "b" }]', "of which there is no row"),
        ('becomes = [{ name = "a", how = "times" }]', "needs `by`"),
        ('losses = [{ value = "0", absent = true, level = "unsafe", says = "x" }]', "exactly one of"),
        ('memory = "sometimes"', "memory"),
    ],
)
def test_a_wrong_row_is_refused_with_its_name(addition: str, said: str) -> None:
    assert isinstance(read(GOOD).variables["a"], Row)
    with pytest.raises(ValueError, match=re.escape(said)) as caught:
        read(GOOD + addition)
    assert "variables.toml is wrong" in str(caught.value)


def test_a_source_that_is_not_reported_is_refused() -> None:
    with pytest.raises(ValueError, match="no such source: other"):
        read(GOOD.replace('sources = ["manual"]', 'sources = ["other"]'))


def test_a_damaged_file_is_refused_with_its_line() -> None:
    with pytest.raises(ValueError, match="line 3"):
        read("[sources]\n\n=\n")


def test_calendar_releases_come_after_all_others() -> None:
    assert ROWS["innodb_redo_log_capacity"].there(Version(Vendor.MYSQL, (26, 10, 0), "26.10"))
    assert MYSQL_97.numbers < (26, 10, 0)


def test_the_row_that_the_docs_show_is_that_of_the_table() -> None:
    text = (Path(__file__).parents[3] / "docs" / "reference" / "variables.md").read_text()
    (shown,) = re.findall(r"```toml\n(.*?)```", text, re.DOTALL)
    ((name, row),) = tomllib.loads(shown)["variables"].items()
    assert Row.model_validate(row) == ROWS[name]
    assert {
        key
        for keys in re.findall(r"^\| (`.*?) \|", text, re.MULTILINE)
        for key in re.findall(r"`(\w+)`", keys)
    } == (set(Row.model_fields))
