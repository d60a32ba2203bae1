"""Servers that differ in more than the factors are refused at planning, with what to set."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lab.spec.builders import experiment
from lab.stack.builders import mariadb, mysql
from mydyno.core.facts import HostFacts
from mydyno.core.server_version import Vendor, Version
from mydyno.lab import plan
from mydyno.lab.analysis.comparability import Unequal
from mydyno.lab.spec import Experiment, SpecErrors
from mydyno.lab.stack import ServerBinary, understand
from mydyno.lab.trial.attempt import settings_of
from mydyno.lab.trial.preflight import (
    effective,
    found_unequal,
    unequal_problems,
    unequal_warnings,
)

FACTS = HostFacts(memory_bytes=16 * 1024**3, cpus=2, free_disk_bytes=100 * 1024**3)
TWO = "{server.release: [mysql-5.7, mariadb-10.11]}"
EQUAL = (
    "performance_schema: off, log_bin: off, innodb_flush_method: O_DIRECT, innodb_log_buffer_size: 16M, "
    "character_set_server: utf8mb4, collation_server: utf8mb4_general_ci"
)


def mysql_57() -> ServerBinary:
    """MySQL 5.7.44, as far as its redo log is concerned."""
    newer = mysql()
    options = {name: value for name, value in newer.options.items() if name != "innodb_redo_log_capacity"}
    options |= {"innodb_log_file_size": "50331648", "innodb_log_files_in_group": "2", "log_bin": None}
    return replace(newer, version=Version(Vendor.MYSQL, (5, 7, 44), "5.7.44"), options=options)


def found(of: Experiment, first: ServerBinary, second: ServerBinary) -> list[Unequal]:
    points = plan.make(of, FACTS).points
    binaries = {"mysql-5.7": first, "mariadb-10.11": second}
    servers = []
    for point in points:
        binary = binaries[point.levels["server.release"]]
        servers.append((point, effective(binary, understand(binary, settings_of(point)).settings, point)))
    return found_unequal(servers)


def names(config: str, first: ServerBinary | None = None) -> list[str]:
    of = experiment(TWO, f"{{{config}}}")
    return [each.property.name for each in found(of, first or mysql_57(), mariadb())]


def test_a_release_with_two_files_of_redo_log_has_twice_the_redo_of_one_with_a_single_file() -> None:
    of = experiment(TWO, f"{{{EQUAL}, innodb_log_file_size: 1G}}")
    differing = found(of, mysql_57(), mariadb())
    [problem] = unequal_problems(of, differing)
    assert "redo capacity is 2G (release = mysql-5.7) and 1G (release = mariadb-10.11)" in problem.message
    assert problem.allowed == (
        "innodb_redo_log_capacity in server.config, so that all have the same; or unequal: [redo_capacity]"
    )
    assert problem.line == 2
    assert unequal_warnings(differing, of.unequal) == ()


def test_what_the_experiment_allows_is_a_warning_of_the_plan() -> None:
    of = experiment(TWO, f"{{{EQUAL}, innodb_log_file_size: 1G}}", unequal="[redo_capacity]")
    differing = found(of, mysql_57(), mariadb())
    assert list(unequal_problems(of, differing)) == []
    [warning] = unequal_warnings(differing, of.unequal)
    assert warning == "unequal: redo capacity is 2G (release = mysql-5.7) and 1G (release = mariadb-10.11)"


@pytest.mark.parametrize(
    "redo",
    ["innodb_redo_log_capacity: 1G", "innodb_log_file_size: 512M, innodb_log_files_in_group: 2"],
)
def test_the_capacity_and_the_number_of_files_are_translated_and_so_are_equal(redo: str) -> None:
    assert names(f"{EQUAL}, {redo}") == []
    assert names(f"{EQUAL}, {redo}", mysql()) == []


def test_defaults_of_releases_that_differ_are_found_each_by_its_name() -> None:
    redo = "innodb_redo_log_capacity: 1G"
    assert names(redo, mysql()) == [
        "binary_log",
        "character_set",
        "collation",
        "performance_schema",
        "memory",
    ]
    # A character set alone leaves its default collation to the release, which is not known here.
    assert names(f"{redo}, character_set_server: utf8mb4", mysql()) == [
        "binary_log",
        "performance_schema",
        "memory",
    ]
    assert "character_set" not in names(f"{redo}, collation_server: utf8mb4_general_ci", mysql())
    # MySQL 5.7 writes past the page cache only on request, MariaDB since 10.6 by itself.
    assert "flush_method" in names(redo)


def test_what_differs_by_a_factor_is_what_is_compared() -> None:
    of = experiment(
        "{server.release: [mysql-5.7, mariadb-10.11], server.config.innodb_log_buffer_size: [16M, 64M]}",
        "{performance_schema: off, log_bin: off, innodb_flush_method: O_DIRECT, "
        "innodb_redo_log_capacity: 1G, "
        "character_set_server: utf8mb4, collation_server: utf8mb4_general_ci}",
    )
    assert found(of, mysql_57(), mariadb()) == []


def test_an_unknown_name_is_refused_with_the_nearest() -> None:
    with pytest.raises(SpecErrors) as caught:
        experiment(unequal="[redo_capacty]")
    (problem,) = caught.value.problems
    assert problem.nearest == "redo_capacity"
