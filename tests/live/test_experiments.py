"""Every kind of workload inside an experiment, from the file to the lab, and every shipped experiment."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from _pytest.mark import ParameterSet

from live.mydyno_process import MEASURED, Workplace, faults
from live.releases import release
from live.uml import NEEDS_KERNEL
from mydyno.lab.results.records import TrialRecord
from mydyno.lab.results.store import Lab

pytestmark = pytest.mark.live

ROOT = Path(__file__).parents[2]
SHIPPED = sorted((ROOT / "experiments").glob("*.yaml"))
IN_GUESTS = {file.stem for file in SHIPPED if re.search(r"^  host: .*uml", file.read_text(), re.MULTILINE)}
FETCHED = {
    file.stem
    for file in SHIPPED
    if re.search(r"^    factors.*release: .*mysql-5.6", file.read_text(), re.MULTILINE)
}
"""Their toy size fetches a release that may not be here."""
NEEDED = {"calibrate-engine": ("sysbench",), "calibrate-slap": ("mariadb-slap", "mysqlslap")}
"""One of these programs."""
SMACK = ROOT / "src" / "mydyno" / "lab" / "workload" / "smack" / "select-key.smack"


def run(workplace: Workplace, workload: str, factors: str = "") -> list[TrialRecord]:
    """The trials of an experiment with this `workload` section, one repetition of each point."""
    file = workplace.folder / "example.yaml"
    file.write_text(
        "experiment: example\n"
        "setup: {server: {config: {innodb_buffer_pool_size: 32M, innodb_log_file_size: 8M}}}\n"
        f"{factors}\n"
        f"workload:\n{workload}\n"
        "sampling: {every: 100ms}\n"
        "design: {repeats: 1}\n"
    )
    done = workplace.run("run", str(file))
    # A shared machine may lose CPU time to its neighbours: that spoils a trial's speed, none of its counts.
    spoilt = [line for line in done.stderr.splitlines() if "INVALID" in line and "hypervisor" not in line]
    assert (done.returncode, spoilt) in ((0, []), (7, [])), done.stderr
    with Lab.open(workplace.lab, write=False) as lab:
        return lab.find_run("example").trials()


def _toy(file: Path) -> ParameterSet:
    """Those that boot a guest for each trial, fetch a release or compare generators take minutes."""
    in_guests = file.stem in IN_GUESTS
    slow = in_guests or file.stem in FETCHED or file.stem in NEEDED
    marks = [
        *([NEEDS_KERNEL] if in_guests else []),
        *([pytest.mark.slow, pytest.mark.timeout(900)] if slow else []),
    ]
    return pytest.param(file, id=file.stem, marks=marks)


@pytest.mark.parametrize("file", [_toy(file) for file in SHIPPED])
def test_a_shipped_experiment_runs_at_toy_size(file: Path, workplace: Workplace) -> None:
    programs = NEEDED.get(file.stem)
    if programs and not any(map(shutil.which, programs)):
        pytest.skip(f"{' or '.join(programs)} is not installed")
    if file.stem in FETCHED:
        release("mysql-5.6")
    done = workplace.run("run", str(file), "--size", "toy")
    assert done.returncode in MEASURED, done.stderr
    with Lab.open(workplace.lab, write=False) as lab:
        trials = lab.find_run(file.stem).trials()
    assert trials
    assert faults(trials) == set()


def test_ones_own_workload_file_beside_the_experiment_is_driven_and_checked(workplace: Workplace) -> None:
    (workplace.folder / "shop.yaml").write_text(
        """workload: shop
about: Buyers of one table.
options:
  rows: {default: 100, at_least: 1, about: Rows of the table.}
values:
  id: uniform(1, rows)
tables:
  item:
    create: CREATE TABLE item (id INT PRIMARY KEY, sold INT) ENGINE=InnoDB
    rows: rows
    fill: {id: row, sold: 0}
transactions:
  buy: ["UPDATE item SET sold = sold + 1 WHERE id = :id"]
checks:
  nothing is sold twice at once: SELECT id FROM item WHERE sold < 0
"""
    )
    [trial] = run(
        workplace,
        "  file: {path: shop.yaml, options: {rows: 40}}\n  connections: [2, 4]\n  each: {events: 60}",
    )
    assert [phase.transactions for phase in trial.phases] == [60, 60]
    assert [(check.name, check.holds) for check in trial.checks] == [("nothing is sold twice at once", True)]
    assert trial.counters["Com_update"] >= 120


def test_the_test_programs_of_sql_bench_are_phases_with_their_operations(workplace: Workplace) -> None:
    [trial] = run(workplace, "  sql-bench: {groups: [alter-table, big-tables], small: true}")
    assert [phase.label for phase in trial.phases] == ["alter-table", "big-tables"]
    alter = {operation.name: operation for operation in trial.phases[0].operations}
    assert (alter["alter_table_add"].tests, alter["alter_table_drop"].tests) == (92, 46)
    assert alter["insert"].statements == 100
    assert all(operation.failed == 0 for phase in trial.phases for operation in phase.operations)
    assert trial.counters["Com_alter_table"] >= 138


def test_slap_and_a_smack_script_run_as_their_originals_count(workplace: Workplace) -> None:
    shutil.copy(SMACK, workplace.folder / "select-key.smack")
    by_script, by_slap = run(
        workplace,
        "  idle: {}\n  connections: 2\n  each: {rounds: 22}",
        "factors:\n"
        "  generator:\n"
        "    smack: {workload.file: {path: select-key.smack}}\n"
        "    slap: {workload.slap: {load_type: mixed, guid_primary: true, engine: innodb}}\n",
    )
    if "slap" in by_script.levels.values():
        by_script, by_slap = by_slap, by_script
    assert {one.kind: one.count for one in by_script.phases[0].statements} == {"select_index": 2 * 22 * 2}
    # The pool of eleven texts: six inserts and five selects, walked twice by each of two clients, which
    # connect inside the timed part.
    assert {one.kind: one.count for one in by_slap.phases[0].statements} == {
        "connect": 2,
        "insert": 24,
        "select": 20,
    }


def test_connect_storms_and_idle_connections_are_experiments_too(workplace: Workplace) -> None:
    storm, idle = run(
        workplace,
        "  connect-storm: {}\n  connections: 4\n  each: {rounds: 50}",
        "factors:\n"
        "  load:\n"
        "    storm: {workload.connect-storm: {query: SELECT 2}}\n"
        "    idle: {workload.idle: {query: SELECT 3}, workload.active: 2, workload.think: 1ms}\n",
    )
    if "idle" in storm.levels.values():
        storm, idle = idle, storm
    assert storm.phases[0].transactions == 200
    # The server is sampled beside the load: a late first sample misses the first connections.
    assert storm.counters["Connections"] > 100
    assert (idle.phases[0].connections_reached, idle.phases[0].transactions) == (4, 100)
