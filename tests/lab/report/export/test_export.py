"""What is exported is what the lab holds, in words that its readers know."""

from __future__ import annotations

import csv
import json
import os
import re
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema_rs
import polars as pl
import pytest
from prometheus_client import Metric
from prometheus_client.openmetrics.parser import text_string_to_metric_families as read_openmetrics
from prometheus_client.parser import text_string_to_metric_families as read_text

from lab.results.builders import HISTOGRAMS, experiment, storage_trial, trial
from mydyno.core.errors import MydynoError
from mydyno.lab.report.export.dashboard import dashboard
from mydyno.lab.report.export.dictionary import of_interval, of_sample
from mydyno.lab.report.export.exposition import Exposition, Form
from mydyno.lab.report.export.tables import whole_folder, write_tables
from mydyno.lab.results.run import Run
from mydyno.lab.results.store import Lab
from mydyno.lab.sampling.catalogue import kind

GOLDEN = Path(__file__).parents[2] / "sampling" / "golden"
SERVERS = [
    [line.split("\t")[0] for line in file.read_text().splitlines()] for file in GOLDEN.glob("status-*.tsv")
]
"""The status variables of each server that is known."""
STATUS = sorted({name for names in SERVERS for name in names})
READERS = {"openmetrics": read_openmetrics, "prometheus": read_text}
BEGAN = 1769860801.25
"""When the first phase of t001 began, as the events tell; its `started_s` is 0."""


def samples() -> pl.DataFrame:
    """Three samples with every status variable that is known: two in a phase, one after it."""
    columns: dict[str, list[Any]] = {"t_s": [0.5, 1.0, 3.0], "phase": [0, 0, None]}
    columns |= {f"status.{name}": [place, place + 1, place + 2] for place, name in enumerate(STATUS)}
    for who in ("server", "client"):
        columns |= {f"{who}.cpu_user_s": [0.5, 1.0, 1.5], f"{who}.cpu_system_s": [0.25, None, 0.75]}
        columns |= {f"{who}.rss_bytes": [1 << 30] * 3, f"{who}.threads": [9] * 3}
        columns |= {f"{who}.voluntary_switches": [1, 2, 3], f"{who}.involuntary_switches": [1, 2, 3]}
        columns |= {f"{who}.read_bytes": [0, 0, 4096], f"{who}.write_bytes": [0, 0, 4096]}
    modes = ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal")
    columns |= {f"host.cpu.{mode}_s": [1.5, 2.5, 3.5] for mode in modes} | {
        "host.context_switches": [1, 2, 3]
    }
    for disk in ("vda", "dm-0"):
        columns |= {f"disk.{disk}.{name}": [1, 2, 3] for name in ("reads", "read_bytes", "writes")}
        columns |= {f"disk.{disk}.write_bytes": [1, 2, 3], f"disk.{disk}.busy_s": [0.5, 1.0, 1.5]}
    return pl.DataFrame(columns)


def intervals() -> pl.DataFrame:
    return pl.DataFrame(
        {
            "phase": [0, 0],
            "from_s": [0.0, 1.0],
            "to_s": [1.0, 2.0],
            "warmup": [True, False],
            "connections": [10, 10],
            "queries": [900, 1000],
            "transactions": [450, 500],
            "errors": [0, 1],
            "queries_per_second": [900.0, 1000.0],
            "transactions_per_second": [450.0, 500.0],
            "p50_ns": [48_000, None],
            "p95_ns": [95_000, 96_000],
            "p99_ns": [150_000, 150_000],
            "max_ns": [2_000_000, 2_000_000],
            "histogram": [b"HIST\x00\xff", None],
        }
    )


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Run]:
    """Two valid trials and an invalid attempt, the last of which lost its series."""
    with Lab.open(tmp_path_factory.mktemp("export") / "lab", write=True) as lab:
        made = lab.run(replace(experiment(), name='a "quoted" \\ name'), "{}")
        made.record_environment({"cpu.model": "x", "cpu.count": 2})
        for one in (trial(1), trial(2, valid=False), trial(2), storage_trial(3)):
            started = replace(one, started_at="2026-01-31T12:00:00Z")
            made.save_trial(started, samples=samples(), intervals=intervals(), histograms=HISTOGRAMS)
        events = (
            {"type": "trial-started", "at": BEGAN - 1, "trial": "t001"},
            {"type": "phase-started", "at": BEGAN, "phase": 0},
            {"type": "phase-started", "at": BEGAN + 3, "phase": 1},
        )
        made.events_file.write_text("".join(f"{json.dumps(event)}\n" for event in events) + '{"torn')
        (made.trial_folder("t003") / "samples.parquet").unlink()
        yield made


def exposed(run: Run, form: Form) -> tuple[str, dict[str, Metric]]:
    text = b"".join(Exposition(run, form).chunks()).decode()
    return text, {family.name: family for family in READERS[form](text)}


def values(family: Metric, **labels: str) -> list[tuple[float, float]]:
    """(seconds since 1970, value) of the one series that has these labels."""
    return [
        (float(sample.timestamp), sample.value)
        for sample in family.samples
        if labels.items() <= sample.labels.items()
    ]


@pytest.mark.parametrize("form", ["openmetrics", "prometheus"])
def test_the_library_of_prometheus_reads_every_sample_of_every_column(run: Run, form: Form) -> None:
    _, families = exposed(run, form)
    written = sum(len(family.samples) for family in families.values())
    of_a_trial = sum(
        frame[column].drop_nulls().len()
        for frame, metric_of in (
            (samples(), of_sample),
            (intervals(), lambda name: of_interval(name, "queries")),
        )
        for column in frame.columns
        if metric_of(column) is not None
    )
    # Three attempts have their series, and all four are told of.
    assert written == 3 * of_a_trial + 4
    assert {name for name in families if not name.startswith("mydyno_")} == set()


def test_a_sample_keeps_its_value_unit_labels_and_instant(run: Run) -> None:
    _, families = exposed(run, "openmetrics")
    cpu = families["mydyno_server_cpu_seconds"]
    assert (cpu.type, cpu.unit) == ("counter", "seconds")
    found = values(cpu, trial="t001", mode="user", phase="0", point="p1", run=run.folder.name)
    assert found == [(BEGAN + 0.5, 0.5), (BEGAN + 1.0, 1.0)]
    assert values(cpu, trial="t001", mode="user", phase="") == [(BEGAN + 3.0, 1.5)]
    assert values(cpu, trial="t001", mode="system", phase="0") == [(BEGAN + 0.5, 0.25)]
    latency = families["mydyno_interval_latency_seconds"]
    assert values(latency, trial="t001", quantile="0.5") == [(BEGAN + 1.0, pytest.approx(48e-6))]
    assert values(families["mydyno_disk_busy_seconds"], trial="t001", device="dm-0", phase="0")[1][1] == 1.0
    rates = values(families["mydyno_interval_queries_per_second"], trial="t002.2")
    assert [value for _, value in rates] == [900.0, 1000.0]


def test_invalid_trials_are_marked_and_names_are_escaped(run: Run) -> None:
    for form in ("openmetrics", "prometheus"):
        _, families = exposed(run, form)
        trials = families["mydyno_trial"]
        assert {sample.labels["trial"]: sample.value for sample in trials.samples} == {
            "t001": 1.0,
            "t002": 0.0,
            "t002.2": 1.0,
            "t003": 1.0,
        }
        assert trials.samples[0].labels["experiment"] == 'a "quoted" \\ name'
        assert trials.samples[0].labels["setting"] == "thread_cache_size = 8"


def test_both_forms_say_the_same_as_the_library_writes_it(run: Run) -> None:
    modern, older = exposed(run, "openmetrics")[0], exposed(run, "prometheus")[0]
    assert modern.endswith("# EOF\n")
    assert "# EOF" not in older
    assert "# TYPE mydyno_server_cpu_seconds counter\n# UNIT mydyno_server_cpu_seconds seconds\n" in modern
    assert "# TYPE mydyno_server_cpu_seconds_total counter\n" in older
    at = re.findall(r'mydyno_status_threads_created_total\{.*trial="t001"\} \S+ (\S+)\n', modern)
    before = re.findall(r'mydyno_status_threads_created_total\{.*trial="t001"\} \S+ (\S+)\n', older)
    assert [f"{float(each) * 1000:.0f}" for each in at] == before


def test_a_series_is_in_order_and_in_one_piece(run: Run) -> None:
    """What `promtool tsdb create-blocks-from openmetrics` asks for, and OpenMetrics of a family."""
    for family in exposed(run, "openmetrics")[1].values():
        seen: dict[tuple[tuple[str, str], ...], float] = {}
        last: tuple[tuple[str, str], ...] | None = None
        for sample in family.samples:
            labels = tuple(sorted(sample.labels.items()))
            assert labels == last or labels not in seen, f"{family.name}: a series in two pieces"
            assert float(sample.timestamp) > seen.get(labels, 0.0)
            seen[labels], last = float(sample.timestamp), labels


def test_without_events_a_trial_begins_when_its_record_says(run: Run, tmp_path: Path) -> None:
    with Lab.open(tmp_path, write=True) as lab:
        other = lab.run(experiment(), "{}")
        other.save_trial(trial(1), samples=samples(), intervals=intervals(), histograms={})
        _, families = exposed(other, "openmetrics")
    ((at, _), *_) = values(families["mydyno_server_threads"], trial="t001", phase="0")
    assert at == 1769860800 + 0.5


def test_what_counts_up_is_a_counter_and_nothing_else_ends_in_total() -> None:
    for name in STATUS:
        source = of_sample(f"status.{name}")
        assert source is not None
        assert (source.metric.type == "counter") == (kind(name) == "counter")
        assert re.fullmatch(r"mydyno_status_[a-z0-9_]+", source.metric.name)
        assert not source.metric.name.endswith("_total")


def test_no_two_status_variables_share_a_name() -> None:
    for names in SERVERS:
        sources = [of_sample(f"status.{name}") for name in names]
        assert len({source.metric.name for source in sources if source is not None}) == len(names)


def test_the_rates_of_fio_are_of_ios() -> None:
    source = of_interval("queries_per_second", "ios")
    assert source is not None
    assert source.metric.name == "mydyno_interval_ios_per_second"


def test_lost_series_are_reported_and_the_others_written(run: Run) -> None:
    exposition = Exposition(run, "openmetrics")
    (lost,) = exposition.lost
    assert "t003/samples.parquet" in lost


# The dashboard.


def test_every_query_of_the_dashboard_names_a_metric_that_is_exported(run: Run) -> None:
    text, _ = exposed(run, "prometheus")
    exported = set(re.findall(r"^(mydyno_\w+)\{", text, re.MULTILINE))
    io = of_interval("queries_per_second", "ios")
    assert io is not None
    exported.add(io.metric.name)
    queries = [target["expr"] for panel in json.loads(dashboard())["panels"] for target in panel["targets"]]
    named = {name for query in queries for name in re.findall(r"mydyno_\w+", query)}
    assert len(named) > 15
    assert named - exported == set()


def test_every_label_of_the_dashboard_is_exported(run: Run) -> None:
    _, families = exposed(run, "openmetrics")
    known = {label for family in families.values() for sample in family.samples for label in sample.labels}
    text = dashboard()
    legends = {
        name
        for each in re.findall(r'"legendFormat": "(.*)"', text)
        for name in re.findall(r"{{(\w+)}}", each)
    }
    selectors = set(re.findall(r"(\w+)(?:=~|!=)\\\"", text))
    assert legends | selectors <= known


def test_the_dashboard_is_of_the_shape_that_grafana_imports() -> None:
    """What "Dashboard JSON model" says of the parts that are used here."""
    datasource = {"type": "object", "required": ["type", "uid"]}
    target = {
        "type": "object",
        "required": ["refId", "expr", "datasource"],
        "properties": {"refId": {"pattern": "^[A-Z]$"}, "expr": {"type": "string"}, "datasource": datasource},
    }
    place = {"type": "integer", "minimum": 0}
    grid = {
        "type": "object",
        "required": ["h", "w", "x", "y"],
        "properties": {"h": place, "w": {"type": "integer", "maximum": 24}, "x": place, "y": place},
    }
    panel = {
        "type": "object",
        "required": ["id", "type", "title", "gridPos", "targets", "datasource", "fieldConfig"],
        "properties": {
            "id": {"type": "integer"},
            "type": {"const": "timeseries"},
            "gridPos": grid,
            "targets": {"type": "array", "minItems": 1, "items": target},
        },
    }
    schema = {
        "type": "object",
        "required": ["title", "schemaVersion", "panels", "templating", "time", "__inputs"],
        "properties": {
            "id": {"type": "null"},
            "title": {"type": "string"},
            "uid": {"type": "string", "maxLength": 40},
            "schemaVersion": {"type": "integer", "minimum": 36},
            "panels": {"type": "array", "items": panel},
            "templating": {"properties": {"list": {"items": {"required": ["name", "type", "query"]}}}},
        },
    }
    found = json.loads(dashboard())
    jsonschema_rs.validate(schema, found)
    numbers = [each["id"] for each in found["panels"]]
    assert len(set(numbers)) == len(numbers)
    spots = [(each["gridPos"]["x"], each["gridPos"]["y"]) for each in found["panels"]]
    assert len(set(spots)) == len(spots)


# Tables.


def tables(run: Run, folder: Path, form: Any) -> dict[str, pl.DataFrame]:
    folder.mkdir()
    written = write_tables(run, folder, form)
    assert sorted(written.tables) == sorted(path.name for path in folder.iterdir())
    return {name.rpartition(".")[0]: read(folder / name) for name in written.tables}


def read(file: Path) -> pl.DataFrame:
    match file.suffix:
        case ".csv":
            return pl.read_csv(file, infer_schema_length=None)
        case ".jsonl":
            return pl.read_ndjson(file, infer_schema_length=None)
    return pl.read_parquet(file)


def test_every_row_and_number_of_the_run_is_in_the_tables(run: Run, tmp_path: Path) -> None:
    found = tables(run, tmp_path / "out", "parquet")
    database = sqlite3.connect(run.folder.parent.parent / "lab.sqlite")
    names = {name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    filled = {name for name in names if database.execute(f"SELECT count(*) FROM {name}").fetchone() != (0,)}
    assert set(found) - {"dictionary", "samples", "intervals"} == filled
    for name in filled:
        columns = [column for column in found[name].columns if column not in ("trial_id", "attempt")]
        (rows,) = database.execute(f"SELECT count(*) FROM {name}").fetchone()
        assert found[name].height == rows
        for column in columns:
            kept = database.execute(f"SELECT {column} FROM {name} WHERE {column} IS NOT NULL")
            inside = [value for (value,) in kept]
            outside = found[name][column].drop_nulls().to_list()
            assert sorted(map(comparable, outside)) == sorted(map(comparable, inside)), f"{name}.{column}"
    rates = found["phases"].filter(trial_id="t002", attempt=2, phase=0)
    assert rates["queries_per_second"].to_list() == [1000.0]
    assert found["samples"].height == 3 * samples().height
    assert (
        found["samples"]
        .filter(trial_id="t001", attempt=1)
        .drop("trial_id", "attempt", "point_id")
        .equals(samples())
    )


def comparable(value: object) -> str:
    """A table has one kind of value in a column, where the lab has any."""
    try:
        return str(float(str(value)))
    except ValueError:
        return str(value)


def test_all_forms_hold_the_same(run: Run, tmp_path: Path) -> None:
    parquet, text, lines = (tables(run, tmp_path / form, form) for form in ("parquet", "csv", "json"))
    assert set(parquet) == set(text) == set(lines)
    for name in ("phases", "latencies", "intervals", "counters"):
        for other in (text, lines):
            same = other[name].select(parquet[name].columns).cast(dict(parquet[name].schema), strict=True)
            assert same.equals(parquet[name]), name


def test_a_histogram_is_the_same_text_in_all_forms(run: Run, tmp_path: Path) -> None:
    for form in ("parquet", "csv", "json"):
        kept = tables(run, tmp_path / form, form)["intervals"]["histogram"].drop_nulls()
        assert set(kept) == {"SElTVAD/"}, form


def test_every_column_is_explained(run: Run, tmp_path: Path) -> None:
    found = tables(run, tmp_path / "out", "csv")
    with (tmp_path / "out" / "dictionary.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert {(row["table"], row["column"]) for row in rows if not row["is"]} == set()
    explained = {(row["table"], row["column"]) for row in rows}
    assert explained == {
        (name, column) for name, frame in found.items() if name != "dictionary" for column in frame.columns
    }
    units = {(row["table"], row["column"]): row["unit"] for row in rows}
    assert units["latencies", "p95_ns"] == "ns"
    assert units["phases", "queries_per_second"] == "1/s"


# Whole or not there.


def test_an_export_that_fails_leaves_nothing(tmp_path: Path) -> None:
    def fail(path: Path) -> None:
        path.write_text("half")
        raise OSError(28, "No space left on device")

    full = pytest.raises(MydynoError, match=r"cannot write .*/x: No space left")
    with full, whole_folder(tmp_path / "x") as folder:
        fail(folder / "half")
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_holds_something_is_not_written_into(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("mine")
    with pytest.raises(MydynoError, match="exists already"), whole_folder(tmp_path):
        pass


def test_a_full_disk_is_reported_and_leaves_nothing(run: Run, tmp_path: Path) -> None:
    if (
        os.getuid() != 0
        or subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=64k", "mydyno-test", str(tmp_path)], check=False
        ).returncode
    ):
        pytest.skip("mounting a small tmpfs needs root")
    try:
        for form in ("csv", "parquet", "json"):
            with (
                pytest.raises(MydynoError, match=r"cannot write .*No space left"),
                whole_folder(tmp_path / "out") as folder,
            ):
                write_tables(run, folder, form)
        assert list(tmp_path.iterdir()) == []
    finally:
        subprocess.run(["umount", str(tmp_path)], check=True)


def test_the_command_writes_what_was_asked_for(run: Run, tmp_path: Path) -> None:
    mydyno = [sys.executable, "-m", "mydyno", "export"]

    def ask(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*mydyno, *arguments], capture_output=True, text=True, cwd=tmp_path, check=False
        )

    none = ask()
    assert (none.returncode, "which format?" in none.stderr) == (2, True)
    board = ask("--grafana-dashboard", "board.json")
    assert board.returncode == 0, board.stderr
    assert (tmp_path / "board.json").read_text() == dashboard()
    lab = str(run.folder.parent.parent)
    text = ask("--format", "openmetrics", "--lab", lab)
    assert text.stdout.endswith("# EOF\n")
    assert "t003/samples.parquet" in text.stderr
    unknown = ask('a "quotd" name', "--format", "csv", "--lab", lab)
    assert (unknown.returncode, "did you mean" in unknown.stderr) == (2, True)
