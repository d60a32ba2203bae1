import json
from dataclasses import replace
from pathlib import Path

import pytest

from lab.results.builders import phase
from mydyno.core.facts import HostFacts
from mydyno.core.secrets import Secret
from mydyno.lab import spec
from mydyno.lab.analysis.littles_law import Load
from mydyno.lab.load.job import Target
from mydyno.lab.plan import make
from mydyno.lab.spec import Workload
from mydyno.lab.trial.job import clock_ends, driving, interval_of, load_of, preparing

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


def workload(rest: str) -> Workload:
    text = EXPERIMENT.replace("  each: {warmup: 500ms, measure: 2s}\n  arrival: {poisson: 300/s}\n", rest)
    return make(spec.loads(text, "example.yaml"), HostFacts(8 * 2**30, 2, 2**40)).points[0].workload


@pytest.mark.parametrize(
    ("each", "sampled", "expected"),
    [
        ("{measure: 1s}", 1.0, 0.1),
        ("{measure: 30s}", 1.0, 0.5),
        ("{measure: 10m}", 1.0, 1.0),
        ("{measure: 30s}", 0.05, 0.05),
        ("{rounds: 5}", 1.0, 1.0),
    ],
)
def test_intervals_are_short_enough_to_judge_a_phase_by(each: str, sampled: float, expected: float) -> None:
    assert interval_of(workload(f"  each: {each}\n"), sampled) == expected


def test_what_drives_a_phase_is_reported_for_littles_law() -> None:
    at_sixteen = replace(phase(0, 16, 1.0), connections_asked=16)

    def load(rest: str) -> Load | None:
        return load_of(workload(rest), at_sixteen)

    assert load("  each: {measure: 2s}\n") == Load(16, closed=True)
    assert load("  each: {measure: 2s}\n  active: 5\n") == Load(5, closed=True)
    assert load("  each: {events: 90}\n  think: {exponential: 20ms}\n") == Load(16, closed=True, rest_s=0.02)
    assert load("  each: {rounds: 9}\n") == Load(16, closed=True, all_busy=False)
    assert load("  each: {measure: 2s}\n  arrival: {fixed: 10/s}\n") == Load(16, closed=False, rate=10)
    assert (
        load_of(
            make(
                spec.loads("experiment: x\nworkload: {sql-bench: {groups: [create]}}\n", "x.yaml"),
                HostFacts(8 * 2**30, 2, 2**40),
            )
            .points[0]
            .workload,
            at_sixteen,
        )
        is None
    )


def test_only_time_ends_a_phase_at_any_moment() -> None:
    assert clock_ends(workload("  each: {measure: 2s}\n"))
    assert not clock_ends(workload("  each: {rounds: 2}\n"))
