import json
from pathlib import Path

from mydyno import spec
from mydyno.core.facts import HostFacts
from mydyno.core.secrets import Secret
from mydyno.load.job import Target
from mydyno.plan import make
from mydyno.trial.job import driving, preparing

EXPERIMENT = """
experiment: example
setup: {server: {config: {max_connections: 100}}}
workload:
  oltp-read-write: {tables: 2, table_size: 500, prepared: true, distribution: uniform}
  connections: [4, 16]
  each: {warmup: 500ms, measure: 2s}
  arrival: {poisson: 300/s}
  pause: 1s
sampling: {every: 250ms}
design: {repeats: 1, seed: 11}
"""
TARGET = Target(user="root", password=Secret("x"), database="mydyno", socket=Path("/s"))
PLAN = make(spec.loads(EXPERIMENT, "example.yaml"), HostFacts(8 * 2**30, 2, 2**40))


def test_a_trial_becomes_a_job_with_all_its_phases() -> None:
    (trial,) = PLAN.trials
    sent = json.loads(driving(TARGET, PLAN, PLAN.points[0], trial, 4711).to_wire())
    assert sent["prepare"] == "none"
    assert sent["seed"] == trial.seed
    assert sent["sampling"] == {"interval_s": 0.25, "server_pid": 4711}
    assert [(phase["connections"], phase["pause_s"]) for phase in sent["phases"]] == [(4, 1.0), (16, 0.0)]
    assert sent["phases"][0]["arrival"] == {"kind": "poisson", "rate": 300.0}
    assert sent["phases"][0]["work"] == {"kind": "timed", "warmup_s": 0.5, "measure_s": 2.0}
    program = sent["workload"]["program"]
    assert program["prepared"] == 1
    assert [(table["name"], table["rows"]) for table in program["tables"]] == [
        ("sbtest1", 500),
        ("sbtest2", 500),
    ]


def test_preparing_makes_tables_and_drives_nothing() -> None:
    sent = json.loads(preparing(TARGET, PLAN.points[0].workload, PLAN.seed).to_wire())
    assert (sent["prepare"], sent["phases"], sent["seed"]) == ("create", [], 11)
