"""What a plan promises to see: from earlier trials of the lab, or from a table of assumed spreads."""

from __future__ import annotations

import json
import random
import re
from dataclasses import replace
from pathlib import Path

from lab.results.builders import phase, save, trial
from lab.spec.builders import experiment
from mydyno.core.facts import HostFacts
from mydyno.lab import plan
from mydyno.lab.plan import Plan
from mydyno.lab.results.store import Lab
from mydyno.lab.spec import Experiment
from mydyno.lab.trial.describe import experiment_record
from mydyno.lab.trial.power import power_sentence

FACTS = HostFacts(memory_bytes=16 * 1024**3, cpus=2, free_disk_bytes=100 * 1024**3)
FACTORS = "{server.config.max_connections: [100, 200]}"


def planned(design: str, **sections: str) -> tuple[Experiment, Plan]:
    read = experiment(factors=FACTORS, design=design, **sections)
    return read, plan.make(read, FACTS)


def measure(lab: Path, read: Experiment, made: Plan, noise: float) -> None:
    """The whole run, with rates that differ by `noise`."""
    source = random.Random(5)
    with Lab.open(lab, write=True) as opened:
        run = opened.run(experiment_record(read, made), made.model_dump_json())
        for each in made.trials:
            rate = 1000 * (1 + source.gauss(0, noise))
            levels = made.point(each.point_id).levels
            record = replace(trial(1), trial_id=each.id, index=each.index, block=each.block, levels=levels)
            save(run, replace(record, point_id=each.point_id, phases=(phase(0, 10, rate),)))


def test_without_earlier_results_the_effect_is_given_for_three_spreads(tmp_path: Path) -> None:
    assert power_sentence(planned("{repeats: 5}")[1], tmp_path) == (
        "minimum detectable effect: 2.5%, 7.4% or 27% with 80% power and 5 repetitions, where the spread "
        f"from trial to trial is 1%, 3% or 10% (there are no earlier results in {tmp_path} to estimate it)"
    )


def test_two_repetitions_detect_nothing(tmp_path: Path) -> None:
    assert power_sentence(planned("{repeats: 2}")[1], tmp_path) == (
        "minimum detectable effect: none, 2 repetitions can show no difference"
    )


def test_a_plan_of_one_point_compares_nothing(tmp_path: Path) -> None:
    alone = plan.make(experiment(design="{repeats: 5, control: true}"), FACTS)
    assert power_sentence(alone, tmp_path) is None


def test_the_spread_is_of_earlier_results_of_the_experiment_and_their_run_is_named(tmp_path: Path) -> None:
    read, made = planned("{repeats: 6}")
    measure(tmp_path, read, made, 0.01)
    told = power_sentence(planned("{repeats: 20}")[1], tmp_path)
    assert told is not None
    assert re.match(r"minimum detectable effect: \S+% with 80% power and 20 repetitions ", told)
    assert f"(spread of 12 trials of example-full-{made.fingerprint[:8]}: " in told
    fewer, more = (
        float(sentence.split()[3].removesuffix("%"))
        for sentence in (told, power_sentence(made, tmp_path) or "")
    )
    assert 0.3 < fewer < more < 5


def test_the_spread_of_an_experiment_without_results_is_of_one_with_the_same_load(tmp_path: Path) -> None:
    measure(tmp_path, *planned("{repeats: 4}", experiment="another"), 0.02)
    assert "trials of another-full-" in (power_sentence(planned("{repeats: 5}")[1], tmp_path) or "")
    other = "{oltp-read-only: {table_size: 1k}, connections: [2, 4], each: {rounds: 5}}"
    other_load = planned("{repeats: 5}", workload=other)[1]
    assert "no earlier results" in (power_sentence(other_load, tmp_path) or "")
    [kept] = (tmp_path / "runs").glob("*/plan.json")
    kept.write_text(json.dumps({"points": "no list"}))
    assert "no earlier results" in (power_sentence(planned("{repeats: 5}")[1], tmp_path) or "")


def test_the_effect_of_a_sequential_design_is_of_its_last_look(tmp_path: Path) -> None:
    told = power_sentence(planned("{until: ±3%, at_most: 20}")[1], tmp_path)
    assert told is not None
    assert "% with 80% power and at most 20 repetitions" in told
