"""What a server cannot do for the volumes of an experiment, told at its line; and what the plan says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from lab.spec.builders import experiment
from lab.stack.builders import mariadb, mysql
from mydyno.core.facts import HostFacts
from mydyno.lab import plan
from mydyno.lab.spec import Problem, Variant
from mydyno.lab.stack import ServerBinary
from mydyno.lab.trial.preflight_binary import idle_problems, volume_notes, volume_problems
from mydyno.server.program.config import Setting
from mydyno.server.variables.names import canonical

FACTS = HostFacts(memory_bytes=16 * 1024**3, cpus=2, free_disk_bytes=100 * 1024**3)


def points(volumes: str, config: str = "{}", **sections: str) -> list[tuple[plan.Point, Variant]]:
    storage = f"{{data: {{disks: {{size: 1G}}}}, {volumes}}}"
    setup = f"{{host: uml, storage: {storage}, server: {{config: {config}}}}}"
    read = experiment(setup=setup, **sections)
    made = plan.make(read, FACTS)
    return [(point, read.variant(point.levels)) for point in made.points]


def settings(point: plan.Point) -> Mapping[str, Setting]:
    return {name: value.written for name, value in point.setup.server.config.items()}


def problems(binary: ServerBinary, volumes: str, config: str = "{}") -> list[Problem]:
    [(point, variant)] = points(volumes, config)
    return list(volume_problems(binary, settings(point), point, variant))


def idle(binary: ServerBinary, volumes: str, config: str = "{}", **sections: str) -> list[str]:
    found = [
        (binary, canonical(binary, settings(point)), point, variant)
        for point, variant in points(volumes, config, **sections)
    ]
    return [problem.message for problem in idle_problems(found)]


def notes(binary: ServerBinary, volumes: str, config: str = "{}") -> list[str]:
    [(point, _)] = points(volumes, config)
    return list(volume_notes(binary, canonical(binary, settings(point)), point))


EVERY = "log: {}, binlog: {}, undo: {}, tmp: {}"


@pytest.mark.parametrize("binary", [mariadb(), mysql()], ids=str)
def test_every_volume_is_possible_with_the_servers_of_today(binary: ServerBinary) -> None:
    assert problems(binary, EVERY, "{log_bin: ON}") == []


def test_a_server_without_undo_tablespaces_refuses_their_volume_at_its_line() -> None:
    options = {name: value for name, value in mariadb().options.items() if "undo" not in name}
    [problem] = problems(replace(mariadb(), options=options), "undo: {}")
    assert "undo tablespaces came with MySQL 5.6 and MariaDB 10.0" in problem.message
    assert (problem.line, problem.allowed) == (2, "no storage.undo, or a newer server")


@pytest.mark.parametrize(
    ("volumes", "config", "expected"),
    [
        (
            "undo: {}",
            "{innodb-undo-directory: ./undo}",
            "storage.undo already sets the place of the undo tablespaces",
        ),
        (
            "log: {}",
            "{innodb_log_group_home_dir: redo}",
            "storage.log already sets the place of the redo log",
        ),
        ("log: {}", "{log_bin_index: my.index}", "storage.log already sets the place of the binary log"),
        (
            "tmp: {}",
            "{innodb_temp_data_file_path: 'ibtmp1:64M'}",
            "storage.tmp already sets the place of the temporary files",
        ),
        ("undo: {}", "{innodb_undo_tablespaces: 0}", "the server would have none"),
    ],
)
def test_a_setting_that_contradicts_a_volume_is_refused(volumes: str, config: str, expected: str) -> None:
    [problem] = problems(mariadb(), volumes, config)
    assert problem.message.endswith(expected)


def test_a_place_that_no_volume_is_for_stays_the_experiments() -> None:
    assert problems(mariadb(), "log: {}", "{innodb_undo_directory: undo, log_bin: mysql-bin}") == []


def test_a_volume_for_a_binary_log_that_is_never_kept_is_refused() -> None:
    [line] = idle(mariadb(), "binlog: {}")
    assert line == "the binlog volume is never used: MariaDB 10.11.19 writes no binary log at any point"
    assert idle(mariadb(), "binlog: {}", "{log_bin: ON}") == []
    assert idle(mariadb(), "log: {}") == []
    assert idle(mysql(), "binlog: {}") == [], "MySQL keeps one unless it is configured not to"
    assert len(idle(mysql(), "binlog: {}", "{skip_log_bin: ON}")) == 1
    assert idle(mariadb(), "binlog: {}", factors="{server.config.log_bin: [ON, OFF]}") == []


def test_the_plan_reports_a_dataset_that_is_made_with_undo_tablespaces() -> None:
    [line] = notes(mariadb(), "undo: {}")
    assert line.startswith(
        "storage.undo: the dataset is made with innodb_undo_tablespaces=3, since MariaDB 10.11"
    )
    assert notes(mariadb(), "undo: {}", "{innodb_undo_tablespaces: 4}") == []
    assert notes(mysql(), "undo: {}") == []


def test_the_plan_reports_a_volume_that_stays_empty_at_a_point() -> None:
    assert notes(mysql(), "binlog: {}", "{log_bin: OFF}") == [
        "storage.binlog stays empty: no binary log is written here"
    ]
