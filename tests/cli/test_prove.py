"""`mydyno prove --dry-run`: from the advice to the experiment and its plan; nothing is started."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from advisor.builders import server, system
from prove.builders import POOL, THREADS, advice, finding, variable
from typer.testing import CliRunner

from mydyno.advisor.excerpt import excerpt
from mydyno.apply.change import SetSysctl
from mydyno.cli.main import app
from mydyno.cli.proving import release_of
from mydyno.core.errors import UsageError
from mydyno.lab import spec
from mydyno.prove.propose import most_connections
from mydyno.survey.facts import Schema

SWAPPINESS = finding("swappiness", SetSysctl(name="vm.swappiness", value="1", was="60"), aspect="stability")
TUNED = advice(
    POOL.model_copy(update={"changes": (variable("innodb_buffer_pool_size", "64M", "16M"),)}), THREADS
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "advice.json").write_text(
        TUNED.model_copy(update={"findings": (*TUNED.findings, SWAPPINESS)}).to_json()
    )
    facts = system(server(schema_facts=Schema(tables=1, bytes_by_engine={"InnoDB": 50 << 20})))
    (tmp_path / "facts.json").write_text(facts.to_json())
    return tmp_path


def prove(folder: Path, *arguments: str) -> str:
    answer = CliRunner().invoke(
        app, ["prove", str(folder / "advice.json"), "--lab", str(folder / "lab"), *arguments]
    )
    if answer.exception is not None:
        raise answer.exception
    return answer.stdout


def test_the_experiment_is_written_next_to_the_advice_and_planned(folder: Path) -> None:
    done = prove(
        folder, "--dry-run", "--rows", "1k", "--connections", "2,4", "--repeats", "3", "--measure", "1s"
    )
    assert "15 trials" in done, "with an A/A control"
    assert "not measured: swappiness" in done
    made = spec.load(folder / "advice-prove.yaml")
    assert made.name == "prove-advice"
    assert [each["advice"] for each in made.combinations()] == [
        "as it is",
        "buffer-pool",
        "thread-cache",
        "all together",
    ]
    assert not (folder / "lab").exists()


def test_the_facts_give_the_size_of_the_data(folder: Path) -> None:
    prove(folder, "--dry-run", "--facts", str(folder / "facts.json"), "--only", "buffer-pool")
    made = spec.load(folder / "advice-prove.yaml")
    assert 40 << 20 < made.workload.resolved.data_bytes < 60 << 20  # type: ignore[union-attr]


def test_the_facts_in_the_advice_give_the_size_of_the_data(folder: Path) -> None:
    seen = excerpt(system(server(schema_facts=Schema(tables=1, bytes_by_engine={"InnoDB": 50 << 20}))))
    (folder / "advice.json").write_text(TUNED.model_copy(update={"facts": seen}).to_json())
    assert "those of the advised server 50M" in prove(folder, "--dry-run", "--only", "buffer-pool")
    made = spec.load(folder / "advice-prove.yaml")
    assert 40 << 20 < made.workload.resolved.data_bytes < 60 << 20  # type: ignore[union-attr]


def test_more_than_the_time_allows_is_left_and_the_option_for_it_named(folder: Path) -> None:
    done = prove(folder, "--dry-run", "--repeats", "5", "--measure", "40s")
    assert list(spec.load(folder / "advice-prove.yaml").combinations()) == [
        {"advice": "as it is"},
        {"advice": "all together"},
    ]
    assert re.search(r"about \d+m \S+ in total", done)
    minutes = re.search(r"not in this time: buffer-pool, thread-cache; .* --within (\d+)m", done)
    assert minutes is not None
    done = prove(folder, "--dry-run", "--repeats", "5", "--measure", "40s", "--within", f"{minutes[1]}m")
    assert "run 2: as it is, buffer-pool, thread-cache" in done
    assert "not in this time" not in done


def test_without_a_terminal_nothing_is_measured(folder: Path) -> None:
    with pytest.raises(UsageError, match="standard input is not a terminal") as error:
        prove(folder)
    assert "--yes measures without asking" in str(error.value.hint)
    assert not (folder / "lab").exists()


def test_a_time_that_is_none_is_refused(folder: Path) -> None:
    with pytest.raises(UsageError, match="--within soon"):
        prove(folder, "--dry-run", "--within", "soon")


def test_a_sequential_design_is_requested_by_its_precision(folder: Path) -> None:
    prove(folder, "--dry-run", "--until", "±3%", "--only", "thread-cache", "--out", str(folder / "own.yaml"))
    assert spec.load(folder / "own.yaml").design.until == 0.03


def test_a_rule_without_a_finding_is_refused_with_those_that_have_one(folder: Path) -> None:
    with pytest.raises(UsageError, match="no finding of the rule pool") as error:
        prove(folder, "--dry-run", "--only", "pool")
    assert "buffer-pool" in str(error.value.hint)


def test_advice_of_which_nothing_can_be_measured_there_is_refused_with_the_reasons(folder: Path) -> None:
    with pytest.raises(UsageError, match="does not change system settings"):
        prove(folder, "--dry-run", "--only", "swappiness")


def test_an_account_is_for_the_server_itself(folder: Path) -> None:
    with pytest.raises(UsageError, match="without --on server"):
        prove(folder, "--dry-run", "--user", "root")


def test_the_largest_number_of_connections_is_found_in_ranges_too() -> None:
    assert most_connections("1,8,10..400 step 1000") == 400


def test_a_release_that_is_unknown_is_this_machines_own() -> None:
    assert release_of("MySQL 8.4.6 at /run/mysqld/mysqld.sock") == "system"
    assert release_of("MySQL 8.0.36 at /run/mysqld/mysqld.sock") == "mysql-8.0"
    assert release_of("MariaDB 10.5.3 at db:3306") == "mariadb-10.5"
    assert release_of("something") == "system"
