"""A table and an import file become an experiment with its trials; what does not fit is reported."""

from __future__ import annotations

import dataclasses
import math
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mydyno.core.document.problems import SpecErrors
from mydyno.core.errors import UsageError
from mydyno.lab.analysis import metrics as known
from mydyno.lab.analysis.metrics import LATENCY_P95, OF_IOS, OF_QUERIES, QUERIES_PER_SECOND, RUNNING_TIME
from mydyno.lab.analysis.observations import overall_observations, overall_places, value_at
from mydyno.lab.imports.mapping import UNITS, loads
from mydyno.lab.imports.records import Imported, imported
from mydyno.lab.imports.table import parse
from mydyno.lab.imports.take import from_options, take
from mydyno.lab.results.store import Lab

SHIPPED = Path(__file__).parents[3] / "experiments" / "imports" / "sql-bench-2005.yaml"
NOW = "2026-01-31T12:00:00Z"

CURVES = """
import: threads
factors: {raid: raid}
connections: threads
metrics:
  queries_per_second: qps
  latency_p95: {column: p95, unit: ms}
"""
PROGRAMS = """
import: programs
factors: {fs: fs}
metrics: {running_time: {column: total, unit: min}}
programs: [insert, select]
"""


def read(mapping: str, table: str) -> Imported:
    content = table.strip().encode()
    return imported(loads(mapping, "map.yaml"), mapping, "map.yaml", parse(content, "t.csv"), content, NOW)


def test_rows_of_several_connections_are_the_phases_of_one_trial_each_repetition_apart() -> None:
    found = read(
        CURVES, "raid,threads,qps,p95\n5,1,100,2.5\n5,8,700,4\n10,1,110,2\n5,1,102,2.4\n5,8,690,4.5\n"
    )
    assert [(trial.point_id, trial.block, len(trial.phases)) for trial in found.trials] == [
        ("p1", 1, 2),
        ("p2", 1, 1),
        ("p1", 2, 2),
    ]
    first, second = found.trials[0], found.trials[2]
    assert [value_at(first, place, QUERIES_PER_SECOND) for place in (1, 8)] == [100, 700]
    assert value_at(second, 8, LATENCY_P95) == 4_500_000
    assert first.phases[0].queries is None, "how many is not told"
    assert found.experiment.factors == {"raid": ("5", "10")}
    assert found.experiment.imported


def test_a_total_is_taken_as_the_table_gives_it_and_the_gap_is_reported() -> None:
    found = read(PROGRAMS, "fs,total,insert,select\nxfs,2,60,50\njfs,3,100,70\n")
    trials = list(found.trials)
    over = overall_places(trials, RUNNING_TIME)
    assert over == ("insert", "select")
    assert [seen.value for seen in overall_observations(trials, over, RUNNING_TIME)] == [120, 180]
    assert "differs from the sum" in found.notes[0]


def test_a_row_without_a_number_is_an_invalid_trial_and_is_reported() -> None:
    found = read(CURVES, "raid,threads,qps,p95\n5,1,nan,\n10,1,3,n/a\n")
    assert [trial.status for trial in found.trials] == ["invalid", "valid"]
    assert found.trials[0].invalidities[0].message == "the table has no number in line 2"
    assert found.notes == ("1 row without a number is invalid",)


def test_what_a_pattern_does_not_find_has_no_level() -> None:
    mapping = PROGRAMS.replace(
        "{fs: fs}", "{fs: {column: fs, find: '-(xfs|jfs)'}, os: {column: fs, find: '^a|b'}}"
    )
    found = read(mapping, "fs,total,insert,select\na-xfs,1,1,1\nb,1,1,1\na-jfs,1,1,1\n")
    assert [trial.levels for trial in found.trials] == [
        {"fs": "xfs", "os": "a"},
        {"os": "b"},
        {"fs": "jfs", "os": "a"},
    ]
    assert "1 of 3 rows have no fs: 'b'" in found.notes


@pytest.mark.parametrize(
    ("table", "complaint"),
    [
        ("raid,threads,qps\n5,1,2\n10,1,2", "no column p95"),
        ("raid,threads,qps,p95\n5,1,fast,1\n10,1,2,1", "t.csv:2: qps is not a number: 'fast'"),
        ("raid,threads,qps,p95\n5,1,-2,1\n10,1,2,1", "t.csv:2: qps is negative"),
        ("raid,threads,qps,p95\n5,1,2,1ms\n10,1,2,2s", "mixes units (ms in line 2, s in line 3)"),
        ("raid,threads,qps,p95\n5,1,2,1s\n10,1,2,2s", "where the unit of the column is to be ms"),
        ("raid,threads,qps,p95\n5,1,2,1q\n10,1,2,2q", "p95 is in q, which is not a unit of latency_p95"),
        ("raid,threads,qps,p95\n5,1,2,1\n5,2,2,1", "the factor raid has one level, 5"),
        ("raid,threads,qps,p95\n5,1.5,2,1\n10,1,2,1", "threads is not a whole number"),
        ("raid,threads,qps,p95\n5,1,2\n", "t.csv:2: 3 cells, and there are 4 columns"),
        ("raid,threads,qps,p95\n", "no row below"),
        ("raid,raid,qps,p95\n1,2,3,4", "two columns are called raid"),
        ('raid,threads,qps,p95\n5,"1,2,3', "not a CSV file"),
        ("raid;threads;qps;p95\n5;1;2,5;1\n10;1;2;1", "(a decimal comma?)"),
    ],
)
def test_what_is_wrong_with_a_table_is_reported(table: str, complaint: str) -> None:
    with pytest.raises(UsageError) as caught:
        read(CURVES, table)
    assert complaint in caught.value.message


@pytest.mark.parametrize(
    ("mapping", "complaint"),
    [
        (CURVES.replace("queries_per_second", "queries_per_secnd"), "did you mean 'queries_per_second'?"),
        (CURVES.replace("unit: ms", "unit: mS"), "did you mean 'ms'?"),
        (CURVES.replace("connections: threads\n", ""), "the number of connections is missing"),
        (CURVES.replace("raid: raid", "raid: {column: raid, find: '('}"), "is not a regular expression"),
        (PROGRAMS.replace("running_time", "latency_p95"), "whose only metric is their running time"),
        (PROGRAMS + "claims: [{factor: f, order: [a, b], said: x}]", "unknown factor 'f'"),
        (PROGRAMS + "claims: [{factor: fs, order: [a], said: x}]", "claims"),
        ("import: x\nfactors: {a: b}\n", "nothing is measured"),
        ("import: Big Name\nfactors: {a: b}\nprograms: [c]", "did you mean 'big-name'?"),
    ],
)
def test_what_is_wrong_with_an_import_file_is_reported(mapping: str, complaint: str) -> None:
    with pytest.raises(SpecErrors) as caught:
        loads(mapping, "map.yaml")
    assert complaint in caught.value.message


def test_a_claim_about_a_level_that_no_row_has_is_refused_with_the_nearest() -> None:
    with pytest.raises(UsageError) as caught:
        read(
            PROGRAMS + "claims: [{factor: fs, order: [xfs, jfss], said: x}]",
            "fs,total,insert,select\nxfs,1,1,1\njfs,1,1,1",
        )
    assert "did you mean jfs?" in str(caught.value)


def test_every_metric_that_can_be_imported_is_one_of_ours_and_read_back_as_it_was_written() -> None:
    ours = {metric.name: metric for metric in (*OF_QUERIES, *OF_IOS)}
    assert UNITS.keys() <= ours.keys()
    for name, units in UNITS.items():
        mapping = f"import: x\nfactors: {{a: a}}\nconnections: 1\nmetrics: {{{name}: v}}\n"
        for unit, factor in units.items():
            (trial, _) = read(
                mapping, f"a,v\n1,3{unit if unit[0] != '1' else ' ' + unit}\n2,4 {unit}\n"
            ).trials
            value = value_at(trial, 1, ours[name])
            assert value is not None
            assert math.isclose(value, 3 * factor * (1e9 if ours[name].unit == "ns" else 1), abs_tol=0.5)
    assert known.RUNNING_TIME.name in UNITS


@given(
    st.lists(
        st.tuples(st.sampled_from(["5", "10"]), st.integers(1, 4), st.floats(0.001, 1e9)), min_size=1
    ).filter(lambda rows: len({raid for raid, _, _ in rows}) == 2)
)
def test_no_number_of_a_table_is_lost_or_made_up(rows: list[tuple[str, int, float]]) -> None:
    text = "raid,threads,qps,p95\n" + "".join(f"{raid},{threads},{qps!r},1\n" for raid, threads, qps in rows)
    found = read(CURVES, text)
    kept = sorted(
        (trial.levels["raid"], phase.connections_asked, phase.queries_per_second)
        for trial in found.trials
        for phase in trial.phases
    )
    assert kept == sorted(rows)


def test_the_shipped_table_of_2005_is_taken_once_with_its_claims(tmp_path: Path) -> None:
    source = from_options(
        SHIPPED, None, name=None, factors=(), metrics=(), programs=(), connections=None, repetition=None
    )
    with Lab.open(tmp_path, write=True) as lab:
        run, notes = take(source, lab)
        assert len(run.trials()) == 97
        assert len(run.experiment.points) == 96, "one system was measured twice"
        assert "9 of 97 rows have no filesystem" in notes[0]
        again, more = take(source, lab)
        assert again.folder == run.folder
        assert "already" in more[0]
        assert [trial.attempt for trial in again.trials()] == [1] * 97
        kept = {
            trial.levels.get("filesystem"): trial.totals["running_time"]
            for trial in again.trials()
            if trial.levels["system"] == "2.6.14-gentoo" and trial.levels["machine"] == "Intel K1104"
        }
    assert kept == {"ext3": 1678, "JFS": 1195, "ReiserFS": 1392, "XFS": 1283}


def test_options_make_the_same_as_an_import_file(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("raid,threads,qps\n5,1,100\n10,1,110\n")
    source = from_options(
        tmp_path / "t.csv",
        None,
        name="threads",
        factors=["raid"],
        metrics=["queries_per_second=qps:1/min"],
        programs=(),
        connections="threads",
        repetition=None,
    )
    mapped = (
        "import: threads\ntable: t.csv\nfactors: {raid: raid}\nconnections: threads\n"
        "metrics: {queries_per_second: {column: qps, unit: 1/min}}"
    )
    assert source.file == loads(mapped, "map.yaml")
    assert dataclasses.replace(source, file=loads(source.text, "written")) == source


def test_the_import_file_of_the_documentation_is_one_that_is_taken() -> None:
    document = (SHIPPED.parents[2] / "docs" / "how-to" / "import.md").read_text(encoding="utf-8")
    (text,) = re.findall(r"```yaml\n(.*?)```", document, re.DOTALL)
    shown, shipped = loads(text, "import.md"), loads(SHIPPED.read_text(encoding="utf-8"), "shipped")
    assert (shown.name, shown.table) == (shipped.name, shipped.table)
    assert set(shown.factors) <= set(shipped.factors)
    table = parse((SHIPPED.parent / (shown.table or "")).read_bytes(), "t.csv")
    assert {column for _, column in shown.columns} <= set(table.columns)
