from __future__ import annotations

from dataclasses import replace

from lab.report.builders import one_point_run
from lab.results.builders import data, trial
from mydyno.lab.report.evidence import gather
from mydyno.lab.report.tables import settings_table
from mydyno.lab.report.views.page import page
from mydyno.lab.report.views.settings import data_rows


def test_what_the_data_was_and_how_warm_it_was_is_reported_for_each_setting() -> None:
    warm = replace(trial(1), data=data("scan"))
    cold = replace(trial(2), data=replace(data("cold"), cached_bytes=0, pool_pages=100))
    colder = replace(trial(4), data=replace(data("cold"), cached_bytes=0, pool_pages=90, clone="reflink"))
    assert data_rows([[warm], [cold, colder]]) == (
        ("cache", ("scan", "cold")),
        ("clone of the data", ("copy", "copy, reflink")),
        ("data in the page cache at the start", ("100% of 112M", "0% of 112M")),
        ("buffer pool before the load", ("50% of 8192 pages", "1.1% to 1.2% of 8192 pages")),
    )


def test_what_nobody_knew_is_missing_and_older_runs_have_no_such_rows() -> None:
    unknown = replace(data(), cached_bytes=None, file_bytes=None, pool_pages=None)
    text = dict(data_rows([[replace(trial(1), data=unknown)], [trial(2)]]))
    assert text["cache"] == ("scan", None)
    assert text["data in the page cache at the start"] == (None, None)
    assert text["buffer pool before the load"] == (None, None)
    assert data_rows([[trial(1)], [trial(2)]]) == ()


def test_it_stands_below_the_settings_in_force() -> None:
    run = one_point_run(repeats=2)
    with_data = replace(run, records=tuple(replace(each, data=data()) for each in run.records))
    rows = settings_table(page(gather(with_data)).settings).rows
    assert [row[0] for row in rows[-5:]] == [
        "cache",
        "clone of the data",
        "data in the page cache at the start",
        "buffer pool before the load",
        "durability",
    ]
