"""What was not the same all through a run comes first, and is told whose it was."""

from __future__ import annotations

from dataclasses import replace

from lab.report.builders import MemoryRun, storage_run, thread_cache_run
from lab.report.reading import parse
from mydyno.lab.report.evidence import gather
from mydyno.lab.report.html import html
from mydyno.lab.report.views.differences import differences
from mydyno.lab.report.views.page import page
from mydyno.lab.results.records import Invalidity, TrialRecord


def changed(run: MemoryRun, **trials: dict[str, object]) -> MemoryRun:
    """`run` with other values in the trials named."""

    def other(trial: TrialRecord) -> TrialRecord:
        return replace(trial, **trials.get(trial.trial_id, {}))  # type: ignore[arg-type]

    return replace(run, records=tuple(map(other, run.records)))


def told(run: MemoryRun) -> list[tuple[str, str, tuple[tuple[str, str], ...]]]:
    return [(each.kind, each.name, each.values) for each in differences(gather(run))]


def test_a_run_that_was_the_same_throughout_has_none():
    assert told(thread_cache_run()) == []


def test_a_server_that_was_upgraded_within_a_setting_is_reported_by_trial():
    run = thread_cache_run()
    own = [trial.trial_id for trial in run.records if trial.point_id == run.records[0].point_id]
    upgraded = changed(run, **{own[-1]: {"server_version": "10.11.20-MariaDB"}})
    ((kind, name, values), *rest) = told(upgraded)
    assert (kind, name) == ("within a setting", "server version")
    assert values == ((", ".join(own[:-1]), "10.11.19-MariaDB"), (own[-1], "10.11.20-MariaDB"))
    assert [each[0] for each in rest] == ["between settings"]


def test_a_variable_that_changed_between_trials_of_a_setting_is_reported_and_the_servers_own_ids_are_not():
    run = thread_cache_run()
    last = run.records[-1]
    found = told(
        changed(
            run,
            **{
                last.trial_id: {
                    "settings_in_force": {
                        **last.settings_in_force,
                        "sync_binlog": "1",
                        "server_uuid": "other",
                    }
                }
            },
        )
    )
    assert [(kind, name) for kind, name, _ in found] == [("within a setting", "sync_binlog")]


def test_what_is_not_as_configured_is_listed_once_with_its_trials():
    wrong = Invalidity(check="settings-in-force", message="sync_binlog is 0, not 1 as asked")
    bad: dict[str, object] = {"status": "invalid", "invalidities": (wrong,)}
    found = told(changed(thread_cache_run(), t001=bad, t002=bad))
    assert found == [("not as configured", "sync_binlog is 0, not 1 as asked", (("t001, t002", "invalid"),))]


def test_facts_that_changed_between_starts_are_reported_by_start():
    evidence = replace(gather(thread_cache_run()), environment_changes={"memory.bytes": (8 << 30, 4 << 30)})
    (found,) = differences(evidence)
    assert (found.kind, found.name) == ("between starts", "memory.bytes")
    assert found.values == (("start 1", "8G"), ("start 2", "4G"))


def test_grounds_of_different_settings_are_reported_by_setting_and_do_not_alarm():
    run = storage_run()
    assert run.records[0].ground is not None
    other: dict[str, object] = {"ground": replace(run.records[0].ground, kernel="6.12.1")}
    own = {trial.trial_id: other for trial in run.records if trial.point_id == "p1"}
    (found,) = differences(gather(changed(run, **own)))
    assert (found.kind, found.name, found.alarming) == ("between settings", "environment's kernel", False)
    assert ("array = raid1", "6.12.1") in found.values


def test_differences_stand_before_the_folded_facts_and_are_not_reported_by_colour_alone():
    run = changed(thread_cache_run(), t001={"server_version": "<script>alert(1)</script>"})
    view = page(gather(run))
    section = parse(html(view, ())).by_id("environment")
    first = section.all("tr", "differs")[0]
    assert first.words.startswith("within a setting server version")
    assert "<script>alert(1)</script>" in first.words, "as text"
    (folded,) = section.all("details")
    assert "All facts" in folded.words
    assert "open" not in folded.attributes


def test_what_looks_like_a_password_is_blotted_out():
    run = replace(thread_cache_run(), facts={"server.external": "mysql://me:hunter2@db.example:3306/"})
    text = html(page(gather(run)), ())
    assert "hunter2" not in text
