"""What a plan promises to see: from earlier trials of the lab, or from a table of assumed spreads."""

from __future__ import annotations

import json
import random
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


def test_without_earlier_results_a_line_reports_for_what_spread_it_sees_what(tmp_path: Path) -> None:
    assert power_sentence(planned("{repeats: 5}")[1], tmp_path) == (
        "5 repetitions have a minimum detectable effect of 2.5%, 7.4%, 27% with 80% power if trials "
        f"of the same point differ by 1%, 3%, 10% (no earlier results in {tmp_path})"
    )


def test_two_repetitions_see_nothing(tmp_path: Path) -> None:
    assert (
        power_sentence(planned("{repeats: 2}")[1], tmp_path) == "2 repetitions cannot detect any difference"
    )


def test_a_plan_of_one_point_compares_nothing(tmp_path: Path) -> None:
    alone = plan.make(experiment(design="{repeats: 5, control: true}"), FACTS)
    assert power_sentence(alone, tmp_path) is None


def test_earlier_results_of_the_experiment_say_it_and_the_run_is_named(tmp_path: Path) -> None:
    read, made = planned("{repeats: 6}")
    measure(tmp_path, read, made, 0.01)
    result = power_sentence(planned("{repeats: 20}")[1], tmp_path)
    assert result is not None
    assert result.startswith("20 repetitions have a minimum detectable effect of ")
    assert f"(spread of 12 trials of example-full-{made.fingerprint[:8]}: " in result
    sentences = (result, power_sentence(made, tmp_path) or "")
    fewer, more = (float(sentence.split()[8].rstrip("%")) for sentence in sentences)
    assert 0.3 < fewer < more < 5


def test_where_the_experiment_was_never_run_one_of_the_same_load_says_it(tmp_path: Path) -> None:
    measure(tmp_path, *planned("{repeats: 4}", experiment="another"), 0.02)
    assert "trials of another-full-" in (power_sentence(planned("{repeats: 5}")[1], tmp_path) or "")
    other = "{oltp-read-only: {table_size: 1k}, connections: [2, 4], each: {rounds: 5}}"
    other_load = planned("{repeats: 5}", workload=other)[1]
    assert "no earlier results" in (power_sentence(other_load, tmp_path) or "")
    [kept] = (tmp_path / "runs").glob("*/plan.json")
    kept.write_text(json.dumps({"points": "no list"}))
    assert "no earlier results" in (power_sentence(planned("{repeats: 5}")[1], tmp_path) or "")


def test_a_sequential_design_promises_what_its_last_look_sees(tmp_path: Path) -> None:
    result = power_sentence(planned("{until: ±3%, at_most: 20}")[1], tmp_path)
    assert result is not None
    assert result.startswith("at most 20 repetitions have a minimum detectable effect of ")
