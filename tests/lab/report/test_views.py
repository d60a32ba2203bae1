"""Curves, verdicts, key numbers, trials, settings, environment and method, as values."""

from __future__ import annotations

from dataclasses import replace
from statistics import geometric_mean

import pytest

from lab.report.builders import MemoryRun, one_point_run, phase, thread_cache_run, trial
from lab.results.builders import generators_trial
from mydyno.core.errors import LabError
from mydyno.lab.analysis.metrics import LATENCY_P99, QUERIES_PER_SECOND
from mydyno.lab.report.compared.view import as_one_machine
from mydyno.lab.report.evidence import gather
from mydyno.lab.report.views.curves import curves
from mydyno.lab.report.views.environment import environment_view
from mydyno.lab.report.views.key_numbers import KeyNumber, key_numbers
from mydyno.lab.report.views.method import method
from mydyno.lab.report.views.optima import optima
from mydyno.lab.report.views.settings import settings_view
from mydyno.lab.report.views.trials import trial_table
from mydyno.lab.report.views.verdicts import verdicts
from mydyno.lab.results.records import SettingTranslation, TrialRecord


def changed(run: MemoryRun, **changes: object) -> MemoryRun:
    """Every trial of `run` with `changes`."""
    return replace(run, records=tuple(replace(each, **changes) for each in run.records))


def with_settings(run: MemoryRun, in_force: dict[str, dict[str, str]]) -> MemoryRun:
    def changed_one(each: TrialRecord) -> TrialRecord:
        return replace(each, settings_in_force={**each.settings_in_force, **in_force[each.point_id]})

    return replace(run, records=tuple(changed_one(each) for each in run.records))


def numbers_of(run: MemoryRun) -> tuple[KeyNumber, ...]:
    evidence = gather(run)
    return key_numbers(evidence, optima(evidence))


def test_a_curve_holds_the_mean_of_the_valid_trials_alone_and_says_how_many():
    run = thread_cache_run(invalid=(4,))
    view = curves(gather(run), QUERIES_PER_SECOND)
    small, large = view.curves
    measured = [
        each.phases[0].queries_per_second
        for each in run.records
        if each.status == "valid" and each.point_id == "p2"
    ]
    first = large.at(10)
    assert first is not None
    assert first.value == pytest.approx(geometric_mean(measured))
    assert first.n == 3
    assert first.low is not None
    assert first.low < first.value < (first.high or 0)
    assert [found.n for found in small.points] == [4] * 8


def test_a_curve_without_enough_trials_has_points_but_no_intervals():
    view = curves(gather(thread_cache_run(repeats=2, invalid=())), QUERIES_PER_SECOND)
    assert not view.has_intervals
    assert not view.empty
    assert view.connections == (10, 50, 100, 150, 200, 250, 300, 400)


def test_what_was_never_measured_is_not_on_the_curve():
    run = thread_cache_run(repeats=3, invalid=())
    cut = tuple(
        replace(each, phases=each.phases[:2]) if each.point_id == "p1" else each for each in run.records
    )
    small, large = curves(gather(replace(run, records=cut)), QUERIES_PER_SECOND).curves
    assert small.at(400) is None
    assert large.at(400) is not None


def test_the_headline_is_the_verdict_on_the_second_setting_against_the_first():
    found = verdicts(gather(thread_cache_run()))
    assert found.headline.startswith(
        "For this load, thread_cache_size = 450 is faster than thread_cache_size = 8 by 9.1%"
    )
    assert found.outcome == "faster"
    assert found.sentences == ()
    (view,) = found.ratios
    assert [row.place for row in view.rows] == [10, 50, 100, 150, 200, 250, 300, 400, None]
    assert view.overall.n == (3, 4)
    assert view.overall.value == pytest.approx(1.09, abs=0.02)
    assert not view.paired


def test_complete_blocks_are_compared_in_pairs():
    (view,) = verdicts(gather(thread_cache_run(invalid=()))).ratios
    assert view.paired


def test_an_invalid_trial_does_not_move_the_verdict():
    run = thread_cache_run(invalid=(4,))
    without = replace(run, records=tuple(each for each in run.records if each.status == "valid"))
    assert verdicts(gather(run)) == verdicts(gather(without))


def test_several_settings_are_each_compared_with_the_first_and_corrected_as_a_family():
    found = verdicts(gather(thread_cache_run(levels=(8, 64, 256, 450), repeats=3, invalid=())))
    assert found.headline.startswith("For this load, thread_cache_size = 450 measured best of 4 settings: ")
    assert len(found.sentences) == 3
    assert [view.setting.title for view in found.ratios] == [
        f"thread_cache_size = {n}" for n in (64, 256, 450)
    ]
    assert all(sentence.endswith(".") for sentence in found.sentences)
    alone = verdicts(gather(thread_cache_run(levels=(8, 450), repeats=3, invalid=())))
    assert alone.sentences == ()


def test_other_metrics_are_reported_beside_the_verdict_each_by_its_name():
    others = verdicts(gather(thread_cache_run())).others
    assert [one.metric.noun for one in others] == ["p99 latency", "p95 connect time"]
    assert all(one.metric.noun in one.sentence.lower() for one in others)
    assert verdicts(gather(thread_cache_run(repeats=2, invalid=()))).others == ()


def test_under_a_given_rate_latency_is_the_verdict_and_the_rate_is_not():
    run = thread_cache_run(repeats=3, invalid=())
    response = tuple(
        replace(each, phases=tuple(replace(one, latency_kind="response") for one in each.phases))
        for each in run.records
    )
    found = verdicts(gather(replace(run, records=response)))
    assert found.metric is LATENCY_P99
    assert "p99 latency" in found.headline
    assert method(gather(replace(run, records=response))).load[0].startswith("Open loop")


def test_one_point_alone_gets_its_best_and_is_shown_that_nothing_is_compared():
    found = gather(one_point_run())
    assert "queries per second at best, with 50 connections (95% CI" in verdicts(found).headline
    assert verdicts(found).ratios == ()
    assert any("one point" in sentence for sentence in method(found).remarks)


@pytest.mark.parametrize(
    ("records", "headline"),
    [
        (lambda run: (), "No verdict: no trial has been run yet."),
        (
            lambda run: tuple(replace(each, status="invalid") for each in run.records),
            "No verdict: none of the 8 trials is valid.",
        ),
    ],
)
def test_without_a_valid_trial_there_is_no_verdict_and_the_page_says_so(records, headline):
    run = thread_cache_run()
    found = verdicts(gather(replace(run, records=records(run))))
    assert found.headline == headline
    assert found.outcome is None


def test_key_numbers_are_taken_where_all_settings_were_measured():
    run = thread_cache_run(repeats=3, invalid=())
    cut = tuple(
        replace(each, phases=each.phases[:3]) if each.point_id == "p1" else each for each in run.records
    )
    rates, *_ = numbers_of(replace(run, records=cut))
    assert rates.how == "at 100 connections"
    assert [n for _, _, n in rates.values] == [3, 3]


def test_counters_are_medians_over_valid_trials_and_absent_ones_are_left_out():
    run = thread_cache_run()
    threads = next(number for number in numbers_of(run) if number.name == "Threads_created")
    assert [(value, n) for _, value, n in threads.values] == [(1404.0, 4), (400.0, 3)]
    names = [number.name for number in numbers_of(changed(run, counters={}))]
    assert "Threads_created" not in names
    assert "Queries/s" in names


def test_each_trial_is_listed_in_order_with_its_rate_against_its_own_kind():
    table = trial_table(gather(thread_cache_run()))
    assert [row.order for row in table.rows] == list(range(1, 9))
    slow = next(row for row in table.rows if not row.valid)
    assert slow.label == "t005"
    assert slow.against_its_own == pytest.approx(0.6, abs=0.03)
    assert slow.errors == 29
    (reason,) = slow.reasons
    assert (reason.check, reason.where) == ("connections-reached", " at 400 connections")


def test_a_rate_is_over_all_measured_time_and_missing_when_nothing_was_measured():
    run = thread_cache_run(repeats=1, levels=(8,), connections=(10,), invalid=())
    of = run.experiment.points[0]
    uneven = trial(0, of, [phase(0, 10, 100.0, measure_s=9.0), phase(1, 20, 200.0, measure_s=1.0)])
    (row,) = trial_table(gather(replace(run, records=(uneven,)))).rows
    assert row.queries_per_second == pytest.approx(110.0)
    (row,) = trial_table(gather(replace(run, records=(replace(uneven, phases=()),)))).rows
    assert row.queries_per_second is None
    assert row.against_its_own is None


def test_a_repeated_trial_keeps_both_attempts_and_counts_once_as_done():
    run = thread_cache_run(repeats=1, invalid=(0,))
    again = replace(run.records[0], attempt=2, status="valid", invalidities=())
    found = gather(replace(run, records=(*run.records, again)))
    assert [row.label for row in trial_table(found).rows] == ["t001", "t001, attempt 2", "t002"]
    assert method(found).done == 2
    assert not any("not complete" in sentence for sentence in method(found).remarks)


def test_an_invalid_trial_without_a_recorded_reason_says_that():
    run = thread_cache_run(repeats=1, invalid=(0,))
    table = trial_table(gather(changed(run, invalidities=())))
    assert table.invalid[0].reasons[0].message == "marked invalid, but no reason was recorded"


def test_settings_show_what_was_asked_and_what_differs_and_no_path_of_a_private_server():
    run = with_settings(
        thread_cache_run(invalid=()),
        {
            "p1": {"socket": "/lab/a.sock", "query_cache_size": "0", "server_uuid": "a"},
            "p2": {"socket": "/lab/b.sock", "query_cache_size": "1048576", "server_uuid": "b"},
        },
    )
    view = settings_view(gather(run))
    assert [(row.name, row.differs) for row in view.rows] == [
        ("query_cache_size", True),
        ("thread_cache_size", True),
        ("innodb_buffer_pool_size", False),
        ("max_connections", False),
    ]
    pool = view.rows[2].values[0]
    assert (pool.in_force, pool.configured) == ("268435456", "256M")


def test_a_variable_that_changes_from_start_to_start_is_nobodys_setting():
    run = thread_cache_run(invalid=())
    noisy = tuple(
        replace(each, settings_in_force={**each.settings_in_force, "noise": str(each.index)})
        for each in run.records
    )
    assert "noise" not in {row.name for row in settings_view(gather(replace(run, records=noisy))).rows}


def test_unequal_durability_is_noticed():
    run = thread_cache_run(invalid=())
    unequal = tuple(
        replace(each, durability="unsafe") if each.point_id == "p2" else each for each in run.records
    )
    view = settings_view(gather(replace(run, records=unequal)))
    assert view.durability == ("durable", "unsafe")
    assert view.durability_differs
    assert not settings_view(gather(run)).durability_differs


def test_the_environment_is_grouped_with_the_server_first_and_unknown_facts_as_dashes():
    groups = environment_view(gather(thread_cache_run()))
    assert groups[0].name == "server"
    facts = {f"{group.name}.{fact.name}": fact.value for group in groups for fact in group.facts}
    assert facts["memory.bytes"] == "8G"
    assert facts["os.virtualisation"] == "–"
    assert facts["server.version"] == "10.11.19-MariaDB"


def test_each_host_of_a_fleet_has_its_own_group_of_facts():
    facts = {
        "mydyno.version": "0.1.0",
        "hosts.db1.example.cpu.model": "Xeon",
        "hosts.db2.cpu.model": "EPYC",
        "hosts.db2.os.load_average": 0.1,
    }
    groups = environment_view(gather(replace(thread_cache_run(), facts=facts)))
    found = {group.host: [fact.name for fact in group.facts] for group in groups if group.host is not None}
    assert found == {"db1.example": ["cpu.model"], "db2": ["cpu.model", "os.load_average"]}
    assert as_one_machine(facts) == {
        "mydyno.version": "0.1.0",
        "cpu.model": "Xeon or EPYC",
        "os.load_average": 0.1,
    }


def test_generators_and_their_network_are_in_the_environment_with_medians_over_the_trials():
    run = thread_cache_run()
    networks = generators_trial().networks
    slower = (replace(networks[0], round_trip_ns=410_000, clock_error_s=0.0002), networks[1])
    records = tuple(
        replace(each, networks=slower if each.block % 2 else networks) for each in run.records[:2]
    )
    groups = environment_view(gather(replace(run, records=(*records, *run.records[2:]))))
    facts = next(group for group in groups if group.name == "generators").facts
    assert [fact.name for fact in facts] == ["c1", "c2"]
    assert facts[0].value.startswith("8 CPUs; round trip ")
    assert "from the server; clock known within" in facts[0].value
    assert facts[1].value.startswith("8 CPUs, of the server; clock known within")


def test_a_fact_that_changed_between_starts_shows_both_values():
    found = replace(
        gather(thread_cache_run()),
        environment_changes={"kernel.release": ("6.1.0-28-amd64", "6.1.0-29-amd64")},
    )
    kernel = next(group for group in environment_view(found) if group.name == "kernel").facts[0]
    assert kernel.value == "6.1.0-28-amd64, then 6.1.0-29-amd64"
    assert kernel.changed


def test_a_machine_that_was_busy_before_the_run_is_remarked():
    run = thread_cache_run()
    for load, remarked in ((10.42, True), (0.6, False), (None, False)):
        found = gather(replace(run, facts={**run.facts, "os.load_average": load}))
        lines = [sentence for sentence in method(found).remarks if "busy" in sentence]
        assert bool(lines) is remarked, load
    busy = gather(replace(run, facts={**run.facts, "os.load_average": 10.42}))
    assert method(busy).remarks == (
        "The machine was busy when the run was started: its load average was 10.4 on 2 CPUs.",
    )


def test_what_is_missing_for_a_full_answer_is_listed():
    run = thread_cache_run(repeats=1, invalid=())
    found = method(gather(replace(run, records=run.records[:1])))
    assert found.trials == "1 of 2 trials done, 1 valid"
    assert found.remarks[0].startswith("The run is not complete: 1 of 2 trials are done.")
    assert any("1 valid trial; intervals and verdicts need at least 3" in each for each in found.remarks)
    assert method(gather(thread_cache_run())).remarks == ()


class LosesSeries(MemoryRun):
    """A lab whose Parquet files cannot be read."""

    def look_at_series(self, trial_id, attempt=None):
        raise LabError(f"samples of {trial_id} are damaged")


def test_a_lost_series_is_reported_and_the_numbers_remain():
    whole = thread_cache_run(repeats=3, invalid=())
    found = gather(LosesSeries(whole.experiment, whole.records, whole.facts))
    assert len(found.lost) == 6
    assert any("samples of t001 are damaged" in sentence for sentence in method(found).remarks)
    assert verdicts(found) == verdicts(gather(whole))


def test_settings_that_were_translated_are_reported_with_the_points_they_were_translated_at() -> None:
    run = thread_cache_run(invalid=())
    one = SettingTranslation(name="query_cache_size", value="0", became={}, why="there is none")
    other = SettingTranslation(
        name="innodb_log_file_size",
        value="512M",
        became={"innodb_redo_log_capacity": "1G"},
        why="size x files",
    )
    at = run.records[0].point_id
    records = tuple(
        replace(each, translations=(one, other) if each.point_id == at else (one,)) for each in run.records
    )
    view = settings_view(gather(replace(run, records=records)))
    assert view.translated[0] == "query_cache_size = 0 was left out (there is none)"
    result, point = view.translated[1].split(": ")
    assert result == "innodb_log_file_size = 512M became innodb_redo_log_capacity = 1G (size x files)"
    assert point in {setting.title for setting in view.settings}
