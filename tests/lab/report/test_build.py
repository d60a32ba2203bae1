"""The files of a report, from a lab on disk."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import polars as pl
import pytest

from lab.report.builders import MemoryRun, one_point_run, thread_cache_run
from lab.report.reading import parse, png_size
from mydyno.core.errors import MydynoError
from mydyno.lab.report.build import ReportFiles, build
from mydyno.lab.report.evidence import Run, gather
from mydyno.lab.report.figures import figures
from mydyno.lab.report.views.page import page
from mydyno.lab.results.store import Lab
from mydyno.page.charts import vega
from mydyno.page.drawing import drawings

DOCUMENTATION = Path(__file__).parents[3] / "docs" / "reference" / "report.md"


def saved(run: MemoryRun, folder: Path) -> Path:
    """`run` as a lab in `folder`."""
    with Lab.open(folder, write=True) as lab:
        writer = lab.run(run.experiment, "{}")
        writer.record_environment(run.facts)
        for each in run.records:
            writer.save_trial(
                each,
                samples=run.samples(each.trial_id),
                intervals=run.intervals(each.trial_id),
                histograms={},
            )
    return folder


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> ReportFiles:
    folder = saved(thread_cache_run(repeats=3, connections=(10, 100)), tmp_path_factory.mktemp("lab") / "lab")
    with Lab.open(folder, write=False) as lab:
        return build(lab.find_run(), folder.parent / "report")


def test_a_lab_on_disk_gives_the_page_that_the_same_run_in_memory_gives(tmp_path):
    run = thread_cache_run(repeats=3, connections=(10, 100))
    with Lab.open(saved(run, tmp_path / "lab"), write=False) as lab:
        stored: Run = lab.find_run()
        assert page(gather(stored)) == page(gather(replace(run, folder=stored.folder)))


def test_all_files_are_there_and_are_what_they_say(files):
    assert files.overview is not None
    assert files.overview.name == "overview.png"
    assert {path.name for path in files.pictures} == {
        f"{name}.{kind}"
        for name in ("overview", "throughput", "ratio", "latency", "connect", "effects")
        for kind in ("png", "svg")
    }
    for picture in files.pictures:
        if picture.suffix == ".png":
            assert png_size(picture.read_bytes())[0] > 1000
        else:
            assert ElementTree.parse(picture).getroot().tag.endswith("svg")
    assert parse(files.html.read_text()).all("h1")
    for figure in ("overview", "ratio"):
        assert f"({figure}.png)" in files.paths["summary.md"].read_text()


def test_the_points_are_one_row_a_setting_and_number_of_connections(files):
    frame = pl.read_csv(files.paths["points.csv"])
    assert frame.select("setting", "connections", "n").rows() == [
        ("thread_cache_size = 8", 10, 3),
        ("thread_cache_size = 8", 100, 3),
        ("thread_cache_size = 450", 10, 2),
        ("thread_cache_size = 450", 100, 2),
    ]
    assert frame["queries_per_second_low"].null_count() == 2, "an interval needs three trials"
    assert frame["latency_p99_ns"].null_count() == 0


def test_the_trials_are_one_row_a_phase_the_invalid_ones_too(files):
    frame = pl.read_csv(files.paths["trials.csv"])
    assert frame.height == 12
    assert frame["block"].unique().sort().to_list() == [1, 2, 3], "as in the lab and on the page"
    assert frame.filter(pl.col("status") == "invalid")["trial"].unique().to_list() == ["t005"]


def test_a_report_is_written_again_over_an_older_one(files):
    stamp = files.html.read_text()
    with Lab.open(files.html.parents[1] / "lab", write=False) as lab:
        again = build(lab.find_run(), files.html.parent)
    assert again == files
    assert again.html.read_text() == stamp, "the same lab gives the same bytes"


def test_a_folder_that_cannot_be_written_is_named_with_a_way_out(tmp_path):
    taken = tmp_path / "report"
    taken.write_text("a file, not a folder")
    with pytest.raises(MydynoError, match=r"cannot write the report into .*report: .*\n  hint: .*--out"):
        build(one_point_run(repeats=1, connections=(10,)), taken)


def test_nothing_measured_still_gives_the_texts_and_no_picture(tmp_path):
    empty = MemoryRun(one_point_run().experiment, (), {})
    made = build(empty, tmp_path)
    assert made.overview is None
    assert made.pictures == ()
    assert "No verdict" in made.paths["summary.md"].read_text()
    assert made.paths["points.csv"].read_text() == "\n" or made.paths["points.csv"].exists()


def test_the_example_of_the_documentation_runs(tmp_path, monkeypatch, capsys):
    saved(thread_cache_run(repeats=3, connections=(10, 100), invalid=()), tmp_path / "lab")
    (example,) = re.findall(r"```python\n(.*?)```", DOCUMENTATION.read_text(), re.DOTALL)
    monkeypatch.chdir(tmp_path)
    exec(compile(example, str(DOCUMENTATION), "exec"), {})
    result = capsys.readouterr().out.splitlines()
    assert result[0].endswith("n=3 vs 3.")
    assert result[1].startswith("thread_cache_size = 8 [(10, ")


def test_the_documentation_names_every_file(files):
    text = DOCUMENTATION.read_text()
    for path in (files.html, files.paths["summary.md"], files.paths["points.csv"], files.paths["trials.csv"]):
        assert f"`{path.name}`" in text
    for picture in files.pictures:
        assert re.search(rf"`{picture.stem}(\.png)?`", text), picture


def test_pictures_are_the_same_on_a_machine_without_fonts(tmp_path):
    """vl-convert brings the font that charts name, so that the machine's own do not matter."""
    (figure, *_) = figures(page(gather(thread_cache_run(repeats=1, connections=(10,)))))
    drawn = drawings([figure])()[0].picture()
    (tmp_path / "fonts.conf").write_text("<fontconfig></fontconfig>")
    script = (
        "import sys, vl_convert; sys.stdout.buffer.write(vl_convert.svg_to_png(sys.stdin.read(), scale=1))"
    )
    bare = subprocess.run(
        [sys.executable, "-c", script],
        env={"FONTCONFIG_FILE": str(tmp_path / "fonts.conf"), "HOME": str(tmp_path)},
        input=drawn.encode(),
        stdout=subprocess.PIPE,
        check=True,
    ).stdout
    assert bare == vega.png(drawn, scale=1)
