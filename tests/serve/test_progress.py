"""Where a run is, from its events; which run is under way; and what of npm's package is in ours."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import re
from importlib import resources
from pathlib import Path

from mydyno.lab.results.overviews import AttemptSummary
from mydyno.lab.results.records import PointRecord
from mydyno.lab.trial import events
from mydyno.serve.activity import holds, lock_holder, newest_events
from mydyno.serve.grid import complete_blocks, grid, planned_trials
from mydyno.serve.narrowing import MOST_BLOCKS, shown_blocks
from mydyno.serve.progress import Progress
from serve.made import begin, plan, story


def told(tmp_path: Path, *, start: bool = True) -> tuple[events.EventLog, Path]:
    file = tmp_path / "events.jsonl"
    log = events.EventLog(file)
    if start:
        log(events.RunStarted("oltp", "x", 8, 2, 600.0))
    return log, file


def progress(file: Path) -> Progress:
    made = Progress()
    made.hear(file.read_bytes().splitlines())
    return made


def test_a_run_is_where_its_events_say(tmp_path):
    log, file = told(tmp_path)
    story(log, 2, 8)
    begin(log, 3, 8)
    found = progress(file)
    assert (found.planned, found.completed_before, found.done, found.ended) == (8, 2, 1, False)
    ((_, one),) = found.under_way.items()
    assert (one.trial, one.number, one.block, one.point) == ("t004", 4, 2, "thread_cache_size = 450")
    assert found.step == "starting the server"
    lines = file.read_bytes().splitlines()
    assert json.loads(lines[found.stream_after])["type"] == "trial-started", "the page hears the whole trial"
    assert json.loads(lines[found.stream_after])["trial"] == "t004"


def test_time_left_is_the_estimate_first_and_then_by_the_trials_that_ended(tmp_path):
    log, file = told(tmp_path)
    found = progress(file)
    assert round(found.left_seconds(found.started_at + 100)) == 500
    story(log, 2, 8)
    found = progress(file)
    assert round(found.left_seconds(found.started_at + 30)) == 150
    log(events.RunInterrupted(3, 8))
    assert progress(file).left_seconds() is None


def test_a_run_that_was_killed_and_resumed_forgets_the_trial_that_was_under_way(tmp_path):
    log, file = told(tmp_path)
    begin(log, 2, 8)
    log(events.RunStarted("oltp", "x", 8, 2, 600.0))
    assert progress(file).under_way == {}
    assert not progress(file).ended


def test_two_hosts_have_a_trial_each_and_a_lost_one_has_none(tmp_path):
    log, file = told(tmp_path)
    for host, trial in (("a", "t001"), ("b", "t002")):
        log(events.TrialStarted(trial, 1, 8, 1, "x", 1, host=host))
    assert {one.host for one in progress(file).under_way.values()} == {"a", "b"}
    log(events.HostLost("gone", "t002", 1, host="b"))
    assert {one.host for one in progress(file).under_way.values()} == {"a"}


def test_lines_that_are_no_events_are_counted_only():
    made = Progress()
    made.hear([b"", b"[]", b'{"type": 1}', b'{"type": "trial-started", "at": "x"}', b"\xff"])
    assert made.heard == 5
    assert made.started_at is None


def test_the_writer_of_a_lab_is_seen_without_touching_its_lock(tmp_path):
    assert lock_holder(tmp_path) is None
    with (tmp_path / "lock").open("w") as file:
        file.write(f"{os.getpid()}\n")
        file.flush()
        assert lock_holder(tmp_path) is None, "an old number, and no lock"
        fcntl.flock(file, fcntl.LOCK_EX)
        assert lock_holder(tmp_path) == os.getpid()
    assert lock_holder(tmp_path) is None


def test_locks_of_others_are_none_of_ours():
    text = (
        "1: FLOCK  ADVISORY  WRITE 77 fe:01:1234 0 EOF\n2: POSIX  ADVISORY  WRITE 78 fe:01:99 0 EOF\n\n3:\n"
    )
    assert holds(text, 77, 1234)
    assert not holds(text, 77, 123)
    assert not holds(text, 78, 99)


def test_the_newest_events_are_those_written_last(tmp_path):
    for place, name in enumerate(("old", "new", "older")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "events.jsonl").touch()
        os.utime(tmp_path / name / "events.jsonl", (1, 100 - abs(place - 1) * 10))
    (tmp_path / "without").mkdir()
    assert newest_events(tmp_path) == "new"
    assert newest_events(tmp_path / "nothing") is None


def attempt(trial: str, status: str = "valid", number: int = 1, **more: object) -> AttemptSummary:
    place = int(trial[1:]) - 1
    fields = {"measured": True, "seconds": 1.0, "folder": trial, "host": None, "reasons": ()} | more
    return AttemptSummary(trial, number, place // 2 + 1, f"p{place % 2 + 1}", status, **fields)


POINTS = tuple(PointRecord(point_id=f"p{number}", levels={}, title=f"x = {number}") for number in (1, 2))


def test_a_cell_says_how_its_trial_ended_by_its_last_attempt():
    attempts = [
        attempt("t001", "invalid", reasons=("the server died",)),
        attempt("t002", "invalid", measured=False, reasons=("no such option",)),
        attempt("t001", number=2),
        attempt("t004", fault="its numbers are damaged"),
    ]
    whole = grid(planned_trials(plan(6)), POINTS, attempts, ["t003"], {})
    states = [[cell.state for cell in row.cells] for row in whole.rows]
    assert states == [["valid", "running", "planned"], ["failed", "damaged", "planned"]]
    assert whole.rows[0].cells[0].words == "t001, attempt 2, valid"
    assert whole.rows[1].cells[0].words == "t002, failed: no such option"
    assert complete_blocks(planned_trials(plan(6)), attempts) == (1,)


def test_a_plan_that_cannot_be_read_has_no_trials():
    assert planned_trials("{") == planned_trials("[]") == planned_trials('{"trials": [{}]}') == ()


def test_of_many_blocks_the_first_and_the_last_are_shown():
    shown = shown_blocks(range(1, 1001))
    assert len(shown) == MOST_BLOCKS
    assert (shown[0], shown[-1]) == (1, 1000)
    assert list(shown) == sorted(set(shown))


UPLOT = {
    "uPlot.iife.min.js": "19c8d4c6ad88929a79f4ae49d6f7161566dfd0ba3d15cc495e974f787eb78f1f",
    "uPlot.min.css": "df630c6a8d6f8eeaff264b50f73ce5b114f646ffd9a0bb74f049b0a00135fa04",
    "uPlot.LICENSE": "8f989229699b4fe2f1a0432d0e9edc338a8a911e250e2d1b01ecd770a5f5b1bd",
}
"""SHA-256 of files of the npm package uplot 1.6.32 (dist/ and LICENSE), integrity sha512-KIMVnG68zvu5XX..."""


def test_uplot_is_what_its_author_published():
    folder = resources.files("mydyno.serve") / "static"
    found = {name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in UPLOT}
    assert found == UPLOT
    assert "MIT License" in (folder / "uPlot.LICENSE").read_text()


def test_the_pages_load_nothing_from_elsewhere_and_no_script_makes_code():
    folder = resources.files("mydyno.serve")
    for file in [*(folder / "templates").iterdir(), *(folder / "static").iterdir()]:
        if file.name in UPLOT:
            continue
        text = file.read_text().replace("http://www.w3.org/2000/svg", "")
        assert "http://" not in text
        assert "https://" not in text
        assert "eval(" not in text
        if file.name != "trend.html" and file.name.endswith(".html"):
            assert "style=" not in text
            assert not re.search(r"<\w[^>]*\son\w+=", text)
