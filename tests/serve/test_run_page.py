"""The page of a run: its numbers are those of the lab, its report is that of `mydyno report`."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from mydyno.lab.report.build import page_html
from mydyno.lab.report.evidence import gather
from mydyno.lab.report.views.verdicts import verdicts
from mydyno.lab.results.store import Lab
from serve.made import make_run
from serve.site import Site, site


@pytest.fixture
def invalid(three: Path) -> str:
    """The run with an invalid trial."""
    with Lab.open(three, write=False) as lab:
        return next(run.folder for run in lab.list_runs() if run.invalid)


def cells(page: str) -> dict[str, str]:
    """Trial -> its state in the plan."""
    found = re.findall(r'<td class="cell (\w+)" data-trial="(\w+)"', page)
    return {trial: state for state, trial in found}


def test_the_plan_shows_every_trial_by_point_and_block(served: Site, three: Path):
    with Lab.open(three, write=False) as lab:
        name = next(run.folder for run in lab.list_runs() if not run.finished)
    page = served.ask(f"/runs/{name}").text
    states = cells(page)
    assert len(states) == 8
    assert [states[f"t{place:03}"] for place in range(1, 9)] == ["valid"] * 5 + ["planned"] * 3
    assert "thread_cache_size = 450" in page
    assert "<dd>5 of 8 " in page


def test_an_invalid_trial_is_shown_with_its_reason(served: Site, invalid: str):
    page = served.ask(f"/runs/{invalid}").text
    assert cells(page)["t004"] == "invalid"
    assert "<li>the client was saturated</li>" in page


def test_the_verdict_is_that_of_the_report_and_narrows_with_each_block(
    served: Site, three: Path, invalid: str
):
    page = served.ask(f"/runs/{invalid}").text
    with Lab.open(three, write=False) as lab:
        headline = verdicts(gather(lab.find_run(invalid))).headline
    plain = page.replace("\N{NO-BREAK SPACE}", " ")
    assert f"<h1>{headline}</h1>" in plain
    label = re.search(r'<svg class="narrowing.*?aria-label="([^"]+)"', page, re.DOTALL)
    assert label is not None
    assert [int(block) for block in re.findall(r"block (\d+):", label[1])] == [1, 2, 3, 4]


def test_the_report_is_the_one_of_the_command_to_the_byte(served: Site, three: Path, invalid: str):
    answer = served.ask(f"/runs/{invalid}/report")
    assert answer.status == 200
    with Lab.open(three, write=False) as lab:
        assert answer.text == page_html(lab.find_run(invalid))
    assert "script-src" not in answer.headers["content-security-policy"], (
        "the page has the hashes of its scripts"
    )
    assert 'http-equiv="Content-Security-Policy"' in answer.text


def test_ticked_runs_are_compared(served: Site, three: Path):
    with Lab.open(three, write=False) as lab:
        names = [run.folder for run in lab.list_runs() if run.finished]
    page = served.ask("/compare?run=" + "&run=".join(names)).text
    assert all(name in page for name in names)
    assert served.ask(f"/compare?run={names[0]}").status == 404
    assert served.ask("/compare").status == 404
    assert served.ask(f"/compare?run={names[0]}&run=/etc/passwd").status == 404
    assert served.ask(f"/compare?run={names[0]}&run={three}").status == 404, "a path is for the command line"


def test_the_trend_of_an_experiment_is_drawn(served: Site):
    page = served.ask("/trend/oltp-0?size=toy").text
    assert "too few: a change needs 6 or more" in page
    assert 'data-chart="trend"' in page
    assert served.ask("/trend/oltp-2").status == 404


@pytest.mark.parametrize(
    "path", ["/runs/nothing", "/runs/nothing/events", "/runs/..%2f..%2fetc/report", "/x", "/static/../app.py"]
)
def test_what_is_not_there_is_said(served: Site, path: str):
    answer = served.ask(path)
    assert answer.status == 404
    assert "Traceback" not in answer.text


def test_hostile_text_is_only_text(tmp_path: Path):
    evil = "<script>document.title='owned'</script>\"'><img src=x onerror=alert(1)>\x1b[31m"
    evil += "\N{RIGHT-TO-LEFT OVERRIDE}"
    with Lab.open(tmp_path / "lab", write=True) as lab:
        folder = make_run(lab, 0, 4, 4, invalid=(1,), text=evil)
        lab._connection.execute("UPDATE runs SET question = ?, experiment = ?", (evil, evil))
        lab._connection.execute("UPDATE points SET title = ? WHERE point_id = 'p1'", (evil,))
        lab._connection.execute("UPDATE trials SET server_version = ?", (evil,))
    with site(tmp_path / "lab") as made:
        for path in (
            "/",
            f"/runs/{folder.name}",
            f"/runs/{folder.name}/part",
            "/?q=" + "%3Cscript%3E%22",
            "/runs/%3Cscript%3E",
        ):
            page = made.ask(path).text
            assert "<script>document" not in page
            assert '<script>"' not in page
            assert "<img" not in page
            assert "\x1b" not in page
            assert "\N{RIGHT-TO-LEFT OVERRIDE}" not in page
        assert "&lt;script&gt;document" in made.ask(f"/runs/{folder.name}").text


def test_without_allow_run_nothing_is_started_or_stopped(served: Site, invalid: str):
    for what in ("start", "stop"):
        assert served.ask(f"/runs/{invalid}/{what}", "POST", Origin=served.address).status == 404
    assert '<form action="/runs/' not in served.ask(f"/runs/{invalid}").text


def test_a_trend_is_linked_where_another_run_measured_the_same(served: Site, three: Path):
    with Lab.open(three, write=False) as lab:
        runs = [(run.folder.name, run.experiment.name, run.experiment.size) for run in lab.runs()]
    measured = [key for _, *key in runs]
    for folder, *key in runs:
        linked = f"/trend/{key[0]}?size={key[1]}" in served.ask(f"/runs/{folder}").text
        assert linked == (measured.count(key) > 1)
    assert ("/trend/" in served.ask("/").text) == any(measured.count(key) > 1 for key in measured)
    assert any(measured.count(key) == 1 for key in measured)
    assert any(measured.count(key) > 1 for key in measured)
