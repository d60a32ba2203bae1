"""`mydyno variables`, on binaries as their own lists of options describe them; nothing is run."""

from __future__ import annotations

import json
from itertools import permutations
from pathlib import Path

import pytest
from server.variables.releases import LISTED, MARIADB_105, MARIADB_118, MYSQL_56, MYSQL_97

from mydyno.cli.variables_text import as_json, changes_json, nearest, render_changes, render_list, render_one
from mydyno.core.server_version import Version
from mydyno.lab.stack.server.ask_running import RunningVariable
from mydyno.lab.stack.server.release_variables import Changes, about, changes, matching
from mydyno.server.program.binary import ServerBinary
from mydyno.server.variables.release import Family

BINARIES = {version: ServerBinary(Path("/usr/sbin/mysqld"), version, LISTED[version]) for version in LISTED}


def between(before: Version, after: Version, pattern: str | None = None) -> Changes:
    return changes(BINARIES[before], BINARIES[after], pattern)


def names(version: Version, pattern: str | None) -> list[str]:
    return [each.name for each in matching(BINARIES[version], pattern)]


def one(version: Version, name: str, running: dict[str, RunningVariable] | None = None) -> str:
    (found,) = [each for each in matching(BINARIES[version], name, running or {}) if each.name == name]
    return render_one(BINARIES[version], found)


def test_a_pattern_is_a_part_of_a_name_or_a_whole_one() -> None:
    assert names(MYSQL_56, "checksum-alg") == ["innodb_checksum_algorithm"]
    assert names(MYSQL_56, "query_cache_*") == names(MYSQL_56, "query_cache_%")
    assert "have_query_cache" not in names(MYSQL_56, "query_cache*")
    assert names(MYSQL_56, "xyzzy") == []


def test_without_a_pattern_those_of_the_binary_are_listed() -> None:
    assert names(MARIADB_118, None) == sorted(LISTED[MARIADB_118])


def test_a_list_has_defaults_and_meanings_and_ends_with_those_of_other_releases() -> None:
    text = render_list(BINARIES[MYSQL_97], matching(BINARIES[MYSQL_97], "redo_log"))
    assert "  innodb_redo_log_capacity                     100M\n" in text
    assert "The size of the whole redo log" in text
    missing = render_list(BINARIES[MYSQL_97], matching(BINARIES[MYSQL_97], "query_cache"))
    assert missing.startswith("MySQL 9.7.4: 0 variables\n\nnot in MySQL 9.7.4\n")
    assert "MySQL removed it in 8.0.3; MariaDB has it" in missing


def test_one_variable_is_reported_with_all_that_is_known_of_it() -> None:
    text = one(MYSQL_97, "innodb_log_file_size")
    assert "MySQL 9.7.4  does not have it" in text
    assert "innodb_redo_log_capacity (MySQL 8.0.30 and later: size x files)" in " ".join(text.split())
    assert "default of   MariaDB 10.5.0: 96M (was 48M)" in text
    committed = " ".join(one(MARIADB_118, "innodb_flush_log_at_trx_commit").split())
    assert "loses about 1 s when the server crashes: innodb_flush_log_at_trx_commit=0 writes" in committed


def test_what_a_running_server_reports_is_shown() -> None:
    running = {"sort_buffer_size": RunningVariable(True, "BIGINT UNSIGNED", "1024", "18446744073709551615")}
    text = one(MARIADB_118, "sort_buffer_size", running)
    assert "while it runs   can be changed" in text
    assert "bounds          1K to 18446744073709551615" in text


def test_an_upgrade_is_reported_as_replaced_removed_changed_and_added() -> None:
    found = between(MYSQL_56, MYSQL_97)
    replaced = {each.name: each.by for each in found.replaced}
    assert replaced["innodb_log_file_size"] == "innodb_redo_log_capacity"
    assert replaced["expire_logs_days"] == "binlog_expire_logs_seconds"
    assert "query_cache_size" in {each.name for each in found.removed}
    assert "innodb_dedicated_server" in {each.name for each in found.added}
    defaults = {each.name: (each.before, each.after, each.since) for each in found.defaults}
    assert defaults["innodb_io_capacity"] == ("200", "10000", "8.4.0")
    assert "datadir" not in defaults, "that differs from package to package"


def test_a_default_is_reported_with_the_release_that_changed_it_on_the_way() -> None:
    defaults = {each.name: each.since for each in between(MARIADB_105, MARIADB_118).defaults}
    assert defaults["innodb_flush_method"] == "10.6.0"
    assert defaults["innodb_undo_tablespaces"] == "11.0.1"
    assert "innodb_adaptive_hash_index" not in defaults


def test_defaults_that_a_binary_works_out_itself_come_from_the_catalogue() -> None:
    found = {each.name: each for each in between(MYSQL_56, MYSQL_97).defaults}
    log_bin, method = found["log_bin"], found["innodb_flush_method"]
    assert (log_bin.before, log_bin.after, log_bin.since) == ("OFF", "ON (binlog)", "8.0.3")
    assert (method.before, method.after, method.since) == ("fsync", "O_DIRECT where it works", "8.4.0")
    listed = {**LISTED[MYSQL_97], "innodb_flush_method": "fsync", "lower_case_table_names": "2"}
    after = ServerBinary(Path("/usr/sbin/mysqld"), MYSQL_97, listed)
    again = {each.name: each for each in changes(BINARIES[MYSQL_56], after).defaults}
    assert again["innodb_flush_method"].after == "O_DIRECT where it works"
    assert "lower_case_table_names" not in again, "that is the file system's"


def test_a_reason_is_about_the_family_that_one_goes_to() -> None:
    assert about(Family.MYSQL, "MariaDB waits for one") is None
    assert about(Family.MARIADB, "MariaDB waits for one") == "MariaDB waits for one"
    assert about(Family.MYSQL, "MySQL chooses by itself; extra_port in MariaDB") == "MySQL chooses by itself"
    assert about(Family.MYSQL, "its name before MySQL 8.0.26 and in MariaDB") is not None
    found = between(MYSQL_56, MYSQL_97)
    assert [each.why for each in found.replaced if "MariaDB" in (each.why or "")] == []


def test_of_a_long_list_only_the_difference_is_shown() -> None:
    text = render_changes(
        BINARIES[MARIADB_105], BINARIES[MARIADB_118], between(MARIADB_105, MARIADB_118, "optimizer_switch")
    )
    assert "without engine_condition_pushdown=off; with" in " ".join(text.split())
    assert "index_merge=on" not in text


def test_options_that_only_load_a_plugin_are_no_change() -> None:
    found = between(MYSQL_56, MYSQL_97)
    assert "innodb_cmp" not in {each.name for each in found.removed}


@pytest.mark.parametrize(("before", "after"), list(permutations(LISTED, 2)))
def test_everything_fits_a_terminal_of_80_columns(before: Version, after: Version) -> None:
    text = render_changes(BINARIES[before], BINARIES[after], between(before, after))
    text += render_list(BINARIES[after], matching(BINARIES[after], "_"))
    assert [line for line in text.splitlines() if len(line) > 80] == []


def test_json_has_the_same_facts_for_programs() -> None:
    (capacity,) = matching(BINARIES[MYSQL_97], "innodb_redo_log_capacity")
    data = json.loads(json.dumps(as_json(BINARIES[MYSQL_97], capacity)))
    assert (data["default"], data["unit"], data["dynamic"]) == ("104857600", "bytes", None)
    assert data["becomes"] == ["innodb_log_file_size", "innodb_log_file_size"]
    found = between(MYSQL_56, MYSQL_97, "innodb_log")
    document = json.loads(json.dumps(changes_json(BINARIES[MYSQL_56], BINARIES[MYSQL_97], found)))
    assert (document["from"], document["to"]) == ("MySQL 5.6.24", "MySQL 9.7.4")
    assert {each["name"] for each in document["replaced"]} == {
        "innodb_log_file_size",
        "innodb_log_files_in_group",
    }


def test_a_name_that_is_unknown_is_answered_with_the_nearest() -> None:
    assert "innodb_buffer_pool_size" in (nearest("innodb_bufer_pool_size", BINARIES[MYSQL_97]) or "")
    assert nearest("xyzzy", BINARIES[MYSQL_97]) is None
