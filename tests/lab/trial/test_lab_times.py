"""What a plan learns from the trials of the lab that it is given."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from lab.results.builders import imported_experiment, save, trial
from lab.spec.builders import experiment
from mydyno.core.facts import HostFacts
from mydyno.lab import plan
from mydyno.lab.plan import Plan, time_of
from mydyno.lab.results.store import Lab
from mydyno.lab.spec import Experiment
from mydyno.lab.trial.describe import experiment_record
from mydyno.lab.trial.lab_times import add_time, lab_times, past_times, time_cache
from mydyno.machine.environment import read_environment

FACTS = HostFacts(memory_bytes=16 * 1024**3, cpus=2, free_disk_bytes=100 * 1024**3)
READ = experiment(
    factors="{server.config.max_connections: [100, 200]}", design="{repeats: 5, control: false}"
)
MADE = plan.make(READ, FACTS)
FIRST_SECONDS = 500.0
"""Of the trial that also made the dataset."""
SECONDS = {"p1": 80.0, "p2": 10.0}


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache of this machine."""
    monkeypatch.setenv("MYDYNO_CACHE", str(tmp_path / "cache"))
    return time_cache()


def measured(
    folder: Path, read: Experiment = READ, made: Plan = MADE, plan_json: str | None = None, cpus: int = 2
) -> Path:
    """A lab with the whole run; the first trial makes the dataset, the last one is invalid."""
    facts = {"cpu.model": read_environment(folder).cpu_model, "cpu.usable": cpus}
    with Lab.open(folder, write=True) as lab:
        run = lab.run(experiment_record(read, made), plan_json or made.model_dump_json())
        run.record_environment(facts)
        for each in made.trials:
            record = trial(1, valid=each.index != len(made.trials) - 1)
            seconds = SECONDS[each.point_id] if each.index else FIRST_SECONDS
            levels = made.point(each.point_id).levels
            save(
                run,
                replace(
                    record,
                    trial_id=each.id,
                    index=each.index,
                    block=each.block,
                    point_id=each.point_id,
                    levels=levels,
                    seconds=seconds,
                ),
            )
    return folder


def test_a_plan_learns_from_the_valid_trials_of_its_lab_but_not_from_the_one_that_made_the_dataset(
    tmp_path: Path,
) -> None:
    past = past_times(measured(tmp_path / "lab"), FACTS)
    assert len(past) == len(MADE.trials) - 2
    costs = plan.make(READ, FACTS, past=past).estimate.trials
    assert {name: cost.middle for name, cost in costs.items()} == pytest.approx(SECONDS)
    assert {cost.basis for cost in costs.values()} == {"same point"}


def test_another_experiment_of_the_same_program_learns_the_factor(tmp_path: Path) -> None:
    past = past_times(measured(tmp_path / "lab"), FACTS)
    other = plan.make(experiment(config="{max_connections: 300}"), FACTS, past=past)
    assert {cost.basis for cost in other.estimate.trials.values()} == {"same program"}


def test_a_trial_that_the_cache_has_too_counts_once(tmp_path: Path, cache: Path) -> None:
    for name, seconds in SECONDS.items():
        add_time(cache, time_of(MADE.point(name), MADE.estimate.trials[name], seconds))
    assert len(past_times(measured(tmp_path / "lab"), FACTS)) == 2


def test_runs_of_another_machine_imported_ones_and_plans_that_cannot_be_read_are_left_out(
    tmp_path: Path,
) -> None:
    assert lab_times(measured(tmp_path / "other", cpus=64), FACTS) == ()
    old = json.loads(MADE.model_dump_json())
    for point in old["points"]:
        point["setup"]["nowhere"] = True
    assert lab_times(measured(tmp_path / "unreadable", plan_json=json.dumps(old)), FACTS) == ()
    with Lab.open(tmp_path / "imported", write=True) as lab:
        lab.run(imported_experiment(), "{}")
    assert lab_times(tmp_path / "imported", FACTS) == ()
    assert lab_times(tmp_path / "nowhere", FACTS) == ()


def test_a_plan_of_an_older_mydyno_is_read_without_its_costs(tmp_path: Path) -> None:
    old = json.loads(MADE.model_dump_json())
    del old["estimate"]
    assert lab_times(measured(tmp_path / "lab", plan_json=json.dumps(old)), FACTS)
