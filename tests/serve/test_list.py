"""The list of runs: what each is, what is searched for, and how long a large lab takes."""

from __future__ import annotations

import json
import os
import re
import time
from pathlib import Path
from urllib.parse import urlencode

import pytest

from mydyno.lab.report.evidence import gather
from mydyno.lab.report.views.verdicts import verdicts
from mydyno.lab.results.store import Lab
from mydyno.lab.trial.events import EventLog, RunStarted
from serve.made import RELEASES, begin, make_many, make_run
from serve.site import Site, site


def listed(made: Site, **query: str) -> list[str]:
    """The runs on the page."""
    page = made.ask(f"/?{urlencode(query)}").text
    return re.findall(r'<th scope="row" class="text"><a href="/runs/([^"]+)"', page)


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory):
    path = tmp_path_factory.mktemp("large") / "lab"
    make_many(path, 100, 100)
    with site(path) as made:
        yield made


def test_every_run_is_listed_with_what_it_has(served):
    page = served.ask("/").text
    assert len(listed(served)) == 3
    assert "3 runs, 21 trials" in page
    assert ">finished<" in page
    assert ">not finished<" in page
    assert "5 of 8" in page
    assert '<span class="badge">1</span>' in page


def test_ten_thousand_trials_take_less_than_a_second_of_cpu_time(large):
    """CPU time: a busy machine does not count. `benchmarks/serve_cost.py` has the seconds."""
    began = time.process_time()
    page = large.ask("/?q=oltp").text
    assert time.process_time() - began < 1.0
    assert re.search("100 runs, 10,?000 trials", page)
    assert len(listed(large)) == 100


def test_a_search_is_for_words_factors_releases_and_states(large):
    assert listed(large, q="oltp-00042") == ["oltp-00042"]
    assert listed(large, q="THREAD oltp-0001")[0] == "oltp-00019"
    assert len(listed(large, release=RELEASES[1])) == 50
    assert len(listed(large, factor="server.config.thread_cache_size")) == 100
    assert listed(large, factor="no.such") == []
    assert listed(large, state="running") == []
    assert listed(large, q="%<script>") == []
    assert listed(large, page="999999999999") == listed(large, page="-1") == listed(large)


def test_verdicts_come_one_by_one_and_are_those_of_reports(served, three):
    for name in listed(served):
        verdict = json.loads(served.ask(f"/runs/{name}/verdict").text)
        with Lab.open(three, write=False) as lab:
            assert verdict == verdicts(gather(lab.find_run(name))).headline


def test_a_run_under_way_is_shown_as_running_with_the_time_left(tmp_path):
    with Lab.open(tmp_path / "lab", write=True) as lab:
        folder = make_run(lab, 0, 8, 2)
        log = EventLog(folder / "events.jsonl")
        log(RunStarted("oltp-0", str(folder), 8, 2, 600.0))
        begin(log, 2, 8)
        with site(tmp_path / "lab") as made:
            page = made.ask("/").text
            assert 'class="live-mark">running' in page
            assert re.search(r"about (10 min 00 s|9 min \d+ s) left", page)
            assert (tmp_path / "lab" / "lock").read_text() == f"{os.getpid()}\n"
    with site(tmp_path / "lab") as made:
        page = made.ask("/").text
        assert "live-mark" not in page, "its writer has gone"
        assert "not finished" in page


def test_an_empty_lab_says_how_to_make_a_run(tmp_path: Path):
    Lab.open(tmp_path / "lab", write=True).close()
    with site(tmp_path / "lab") as made:
        assert "No run yet" in made.ask("/").text
