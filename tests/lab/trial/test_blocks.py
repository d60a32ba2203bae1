"""Blocks of a sequential design: measured until enough is known, and the same after a kill."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from lab.results.builders import phase, save, trial
from lab.spec.builders import experiment
from mydyno.cli.display import describe
from mydyno.core.facts import HostFacts
from mydyno.lab import plan
from mydyno.lab.plan import Plan, PlannedTrial
from mydyno.lab.results.records import Invalidity
from mydyno.lab.results.store import Lab
from mydyno.lab.results.writer import RunWriter
from mydyno.lab.spec import Experiment
from mydyno.lab.trial.campaign import Blocks
from mydyno.lab.trial.describe import experiment_record
from mydyno.lab.trial.events import Event, EventLog

FACTS = HostFacts(memory_bytes=16 * 1024**3, cpus=2, free_disk_bytes=100 * 1024**3)
FACTORS = "{server.config.max_connections: [100, 200]}"
SETTLING: Mapping[int, float] = {1: 1.0, 2: 1.3, 3: 0.8, 4: 1.05}
"""How far the second point's rate is off in a block; from the fifth on it is not."""


def read(design: str) -> Experiment:
    return experiment(factors=FACTORS, design=design)


def fail(run: RunWriter, of: Plan, planned: PlannedTrial) -> None:
    reason = Invalidity(check="failed", message="server: it ended while starting")
    save(
        run,
        replace(
            trial(1, valid=False),
            trial_id=planned.id,
            index=planned.index,
            block=planned.block,
            point_id=planned.point_id,
            levels=of.point(planned.point_id).levels,
            invalidities=(reason,),
            phases=(),
        ),
    )


def measure(run: RunWriter, of: Plan, planned: PlannedTrial) -> None:
    rate = 1000.0 + planned.block if planned.point_id == "p1" else 1100.0 * SETTLING.get(planned.block, 1.0)
    save(
        run,
        replace(
            trial(1),
            trial_id=planned.id,
            index=planned.index,
            block=planned.block,
            point_id=planned.point_id,
            levels=of.point(planned.point_id).levels,
            phases=(phase(0, 10, rate),),
        ),
    )


def start(
    lab: Path, design: str, *, killed_after: int | None = None, failing: str = ""
) -> tuple[list[str], RunWriter, list[Event]]:
    """The trials that a start of `run` measures, up to a kill after so many of them."""
    asked = read(design)
    made = plan.make(asked, FACTS)
    heard: list[Event] = []
    done: list[str] = []
    with Lab.open(lab, write=True) as opened:
        run = opened.run(experiment_record(asked, made), made.model_dump_json())
        for block in Blocks(made, run, EventLog(run.events_file, (heard.append,))).left():
            for planned in block:
                if len(done) == killed_after:
                    return done, run, heard
                (fail if planned.point_id == failing else measure)(run, made, planned)
                done.append(planned.id)
    return done, run, heard


def test_a_fixed_number_of_repetitions_is_measured_to_its_end_without_a_look(tmp_path: Path) -> None:
    done, run, heard = start(tmp_path, "{repeats: 3}")
    assert (len(done), run.experiment.planned_trials, heard) == (6, 6, [])


def test_a_sequential_design_stops_when_enough_is_known_and_is_finished(tmp_path: Path) -> None:
    done, run, heard = start(tmp_path, "{until: ±20%, at_most: 20}")
    assert 6 < len(done) < 40
    assert run.experiment.planned_trials == len(done)
    assert (describe(heard[0]) or "").startswith("after block 3: known to ±")
    assert (describe(heard[-1]) or "").endswith("wanted ±20%: enough")
    with Lab.open(tmp_path, write=False) as lab:
        [seen] = lab.list_runs()
        assert (seen.planned, seen.valid, seen.finished) == (len(done), len(done), True)


def test_at_the_most_repetitions_it_stops_and_says_so(tmp_path: Path) -> None:
    done, run, heard = start(tmp_path, "{until: ±1%, at_most: 4}")
    assert (len(done), run.experiment.planned_trials) == (8, 8)
    assert (describe(heard[-1]) or "").endswith("wanted ±1%: the most repetitions are done")


def test_a_sequential_design_does_not_wait_for_a_point_of_which_every_trial_failed(tmp_path: Path) -> None:
    done, run, heard = start(tmp_path, "{until: ±20%, at_most: 20}", failing="p2")
    assert run.experiment.planned_trials == len(done) == 6
    assert (describe(heard[-1]) or "").endswith("wanted ±20%: enough")


def test_a_killed_run_takes_the_same_decisions(tmp_path: Path) -> None:
    whole, _, _ = start(tmp_path / "whole", "{until: ±20%, at_most: 20}")
    for killed_after in (5, 6, len(whole) - 1):
        lab = tmp_path / str(killed_after)
        first, _, _ = start(lab, "{until: ±20%, at_most: 20}", killed_after=killed_after)
        second, run, _ = start(lab, "{until: ±20%, at_most: 20}")
        assert [*first, *second] == whole
        assert run.experiment.planned_trials == len(whole)


def test_killed_between_its_last_trial_and_its_end_a_run_stops_where_it_would_have(tmp_path: Path) -> None:
    design = "{until: ±20%, at_most: 20}"
    whole, _, _ = start(tmp_path / "whole", design)
    first, before, _ = start(tmp_path / "cut", design, killed_after=len(whole))
    assert first == whole
    assert before.experiment.planned_trials == len(whole)
    again, run, _ = start(tmp_path / "cut", design)
    assert (again, run.experiment.planned_trials) == ([], len(whole))


def test_a_rest_is_reported_before_every_block_but_the_first_of_a_start(tmp_path: Path) -> None:
    _, _, heard = start(tmp_path, "{repeats: 3, rest: 1ms}")
    assert [describe(event) for event in heard] == [
        "resting 1ms before block 2",
        "resting 1ms before block 3",
    ]
