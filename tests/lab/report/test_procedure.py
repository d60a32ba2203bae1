"""The method in plain words tells what this run really used, with its sources; and how to run it again."""

from __future__ import annotations

import re
import shlex
from dataclasses import replace
from pathlib import Path

import pytest

from lab.report.builders import FACTOR, MemoryRun, sql_bench_run, thread_cache_run
from lab.report.disks import disks_run
from lab.report.reading import parse
from mydyno.lab.report.evidence import gather
from mydyno.lab.report.html import html
from mydyno.lab.report.views.page import Page, page
from mydyno.lab.report.views.procedure import SOURCES
from mydyno.lab.results.records import DesignRecord, PointRecord


def told(run: MemoryRun) -> dict[str, str]:
    return {step.title: step.text for step in page(gather(run)).procedure}


def cited(run: MemoryRun) -> set[str]:
    return {key for step in page(gather(run)).procedure for key in step.sources}


def designed(design: DesignRecord) -> MemoryRun:
    run = thread_cache_run(repeats=3, connections=(10, 100), invalid=())
    return replace(run, experiment=replace(run.experiment, design=design))


def test_every_source_has_a_year():
    assert all(re.search(r"\b(19|20)\d\d\b", source) for source in SOURCES.values())


def test_a_shuffled_run_reports_its_seed_and_its_blocks():
    steps = told(designed(DesignRecord()))
    assert "shuffled again for each block from the seed 1" in steps["Order"]
    assert steps["Repetition"].startswith("The number of repetitions was fixed beforehand; 3 blocks ran.")
    assert "Points" not in steps, "all combinations need no word"


def test_blocks_of_one_order_are_not_called_shuffled():
    run = thread_cache_run(repeats=3, connections=(10, 100), invalid=())
    ordered = sorted(run.records, key=lambda trial: (trial.block, trial.point_id))
    steady = tuple(replace(trial, index=at) for at, trial in enumerate(ordered))
    steps = told(replace(run, records=steady))
    assert "in the same order in each" in steps["Order"]
    assert "shuffled" not in steps["Order"]


def test_a_split_plot_names_what_stays_together():
    run = designed(DesignRecord(hard_factors=((FACTOR,),), rest_s=30.0))
    assert "trials of the same thread_cache_size follow each other" in told(run)["Order"]
    assert "There was a pause of 30 s between blocks" in told(run)["Order"]
    assert "split-plot" in cited(run)


def test_a_sequential_run_reports_its_rule_and_the_level_of_each_look():
    run = designed(DesignRecord(until=0.03, first_look=3, at_most=20))
    text = told(run)["Repetition"]
    assert "±3%" in text
    assert "after 20 blocks" in text
    assert re.search(r"used 9[89]\.\d\d% intervals", text)
    assert {"pocock", "repeated"} <= cited(run)


def test_a_control_is_reported():
    run = designed(DesignRecord())
    double = PointRecord(point_id="p9", levels={}, title="again", control_of="p1")
    points = (*run.experiment.points, double)
    text = told(replace(run, experiment=replace(run.experiment, points=points)))["Repetition"]
    assert "A/A control" in text


@pytest.mark.parametrize(
    ("points", "words", "source"),
    [
        ("one-at-a-time", "each other level alone", None),
        ("plackett-burman", "after Plackett and Burman", "plackett-burman"),
        ("fraction", "a regular fraction of resolution 4", "fractions"),
    ],
)
def test_a_choice_of_points_is_reported_with_what_it_cannot_see(points, words, source):
    run = designed(DesignRecord(points=points, resolution=4 if points == "fraction" else None))
    assert words in told(run)["Points"]
    assert source is None or source in cited(run)


def test_intervals_are_cited_only_where_there_are_any():
    few = thread_cache_run(repeats=2, connections=(10, 100), invalid=())
    assert "there is none" in told(few)["Comparison"]
    assert not {"bootstrap-t", "holm"} & cited(few)
    assert {"bootstrap-t", "symmetric", "smoothed", "holm"} <= cited(designed(DesignRecord()))


def test_test_programs_and_disks_have_methods_of_their_own():
    programs = sql_bench_run(repeats=3)
    assert "each does fixed work" in told(programs)["Load"]
    assert "open-loop" not in cited(programs)
    disks = disks_run()
    assert "fio timed what it sent" in told(disks)["Where the time went"]
    assert "row-locks" not in cited(disks)


def test_imported_numbers_claim_no_method_of_measuring():
    run = designed(DesignRecord())
    steps = told(replace(run, experiment=replace(run.experiment, imported=True)))
    assert steps["Where the numbers come from"].startswith("They were measured elsewhere")
    assert not {"Order", "Repetition", "Load", "Measurement"} & steps.keys()


def test_every_citation_leads_to_its_source():
    section = parse(html(page(gather(designed(DesignRecord()))), ())).by_id("method")
    links = {link.attributes["href"].removeprefix("#source-") for link in section.all("a")}
    listed = [item.attributes["id"].removeprefix("source-") for item in section.all("li")]
    assert links == set(listed)
    assert len(listed) == len(set(listed))


def again(run: MemoryRun) -> Page:
    return page(gather(run))


def test_the_commands_name_the_file_the_size_and_the_lab():
    run = replace(designed(DesignRecord()), folder=Path("my lab/runs/thread-cache-demo-1"))
    lines = [shlex.split(command.line) for command in again(run).again.commands]
    spec = "my lab/runs/thread-cache-demo-1/experiment.yaml"
    assert lines == [
        ["mydyno", "run", spec, "--size", "demo", "--lab", "my lab"],
        ["mydyno", "run", spec, "--size", "demo", "--lab", "my lab", "--again"],
        ["mydyno", "report", "thread-cache-demo-1", "--lab", "my lab"],
    ]
    facts = dict(again(run).again.facts)
    assert facts["seed"] == "1"
    assert facts["server"] == "10.11.19-MariaDB"
    assert again(run).again.remark is None


def test_a_file_that_was_run_as_it_stands_needs_no_size():
    run = designed(DesignRecord())
    whole = replace(run, experiment=replace(run.experiment, size="full"))
    assert again(whole).again.commands[0].line == "mydyno run thread-cache.yaml --again"
    text = "experiment: x\nsizes:\n  toy: {a: 1}\n  demo:  # short\n    b: 2\n\n  full: {}\n"
    named = replace(whole, experiment=replace(whole.experiment, spec_text=text))
    assert again(named).again.commands[0].line == "mydyno run thread-cache.yaml --size full --again"


def test_files_that_an_experiment_names_are_to_be_copied():
    run = replace(designed(DesignRecord()), folder=Path("lab/runs/x"))
    named = replace(
        run, experiment=replace(run.experiment, spec_text="workload:\n  file: {path: shop.yaml}\n")
    )
    assert "copy them there first" in str(again(named).again.remark)


def test_without_a_lab_the_file_is_saved_first():
    view = again(designed(DesignRecord())).again
    assert [command.line for command in view.commands] == ["mydyno run thread-cache.yaml --size demo --again"]
    assert view.remark == "Save the experiment below as thread-cache.yaml first."
