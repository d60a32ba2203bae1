"""The hosts of a fleet in a report: what each ran, how much they differ, and nowhere without a fleet."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from lab.report.builders import MemoryRun, thread_cache_run
from mydyno.lab.report.build import build
from mydyno.lab.report.csv import trials_frame
from mydyno.lab.report.evidence import gather
from mydyno.lab.report.text import summary
from mydyno.lab.report.views.hosts import hosts_view
from mydyno.lab.results.records import CONTROL_BLOCK


def on_hosts(*hosts: str) -> MemoryRun:
    """Whole blocks in turn on each host, and an A/A before."""
    run = thread_cache_run(repeats=6)
    trials = tuple(replace(trial, host=hosts[trial.block % len(hosts)]) for trial in run.records)
    first = trials[0]
    control = tuple(
        replace(first, host=host, block=CONTROL_BLOCK, trial_id=f"{host}-aa{number}")
        for host in hosts
        for number in (1, 2)
    )
    return replace(run, records=trials, control_records=control)


def test_each_host_has_a_row_with_its_effect_and_that_of_the_control() -> None:
    view = hosts_view(gather(on_hosts("db1", "db2", "db3")))
    assert [(row.host, row.blocks) for row in view.rows] == [("db1", 2), ("db2", 2), ("db3", 2)]
    assert all(row.effect is not None and 0.5 < row.effect < 2 for row in view.rows)
    assert [row.control for row in view.rows] == [1.0, 1.0, 1.0]
    control, whole = view.sentences
    assert control.startswith("A/A over 3 hosts, the same point twice on each")
    assert whole.startswith("Over all trials, of 3 hosts")


def test_a_single_host_and_no_fleet_are_compared_with_nothing() -> None:
    assert hosts_view(gather(on_hosts("db1"))).sentences == (
        "All trials ran on db1: nothing is known of other hosts.",
    )
    assert hosts_view(gather(thread_cache_run())).empty


def test_the_terminal_and_every_file_say_it_only_of_a_fleet(tmp_path: Path) -> None:
    run = on_hosts("db1", "db2")
    written = build(run, tmp_path / "fleet").paths
    assert "Over all trials, of 2 hosts" in summary(run)
    assert '<section id="hosts">' in written["report.html"].read_text()
    assert "## Hosts" in written["summary.md"].read_text()
    assert [row["host"] for row in json.loads(written["report.json"].read_text())["hosts"]["rows"]] == [
        "db1",
        "db2",
    ]
    assert set(trials_frame(gather(run))["host"]) == {"db1", "db2"}
    assert "host" not in trials_frame(gather(thread_cache_run())).columns
    assert "hosts" not in summary(thread_cache_run())
