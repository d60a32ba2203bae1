"""Foreign text in the files of a report: a spreadsheet runs no formula of it, Markdown shows it as it is."""

from __future__ import annotations

import csv
import io
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from lab.report.builders import thread_cache_run
from lab.results.builders import experiment, save, trial
from mydyno.core.csv_cells import csv_cell
from mydyno.core.markdown import escaped, fenced
from mydyno.lab.imports.run_file import as_csv, parse
from mydyno.lab.report.csv import without_formulas
from mydyno.lab.report.evidence import gather
from mydyno.lab.report.export.tables import SUFFIXES, write_tables
from mydyno.lab.report.text import markdown
from mydyno.lab.report.views.page import page
from mydyno.lab.results.store import Lab

FORMULAS = ("=1+1", "+cmd|' /C calc'!A0", "-2+3", "@SUM(1)", "\t=1", "\r=1", '=HYPERLINK("http://evil")')
PLAIN = ("-5", "+5.5", "-1e9", ".5", "a=1", "8.0.36-log", "", "'=1", "256M")


@pytest.mark.parametrize("text", FORMULAS)
def test_a_formula_becomes_text(text: str) -> None:
    assert csv_cell(text) == f"'{text}"


@pytest.mark.parametrize("text", PLAIN)
def test_numbers_and_other_texts_stay(text: str) -> None:
    assert csv_cell(text) == text


def test_columns_and_names_of_columns_are_made_text_and_numbers_stay() -> None:
    texts = [*FORMULAS, *PLAIN, None]
    frame = pl.DataFrame({"=name": texts, "number": [-float(place) for place in range(len(texts))]})
    written = without_formulas(frame)
    assert written.columns == ["'=name", "number"]
    assert written["'=name"].to_list() == [None if text is None else csv_cell(text) for text in texts]
    assert written["number"].equals(frame["number"])


def test_an_export_has_no_formula_in_csv_and_the_exact_text_in_json(tmp_path: Path) -> None:
    with Lab.open(tmp_path / "lab", write=True) as lab:
        run = lab.run(replace(experiment(), question="=1+1"), "{}")
        save(run, replace(trial(1), server_version="@SUM(1)"))
        for form in ("csv", "json"):
            (tmp_path / form).mkdir()
            write_tables(lab.runs()[0], tmp_path / form, form)  # type: ignore[arg-type]
    for path in (tmp_path / "csv").glob(f"*{SUFFIXES['csv']}"):
        for row in csv.reader(io.StringIO(path.read_text())):
            assert all(csv_cell(cell) == cell for cell in row), path.name
    assert '"=1+1"' in (tmp_path / "json" / "runs.jsonl").read_text()
    assert '"@SUM(1)"' in (tmp_path / "json" / "trials.jsonl").read_text()


def test_a_table_of_run_files_has_no_formula() -> None:
    text = (
        "Server version:      =1+1\nComments:    @SUM(1)\n\n"
        "Totals per operation:\nOperation  seconds usr sys cpu tests\n"
        "insert  1.0 0 0 0 10\nTOTALS 1.0 0 0 0 10\n"
    )
    (_, row) = csv.reader(io.StringIO(as_csv([parse(text, "RUN-=2")]).decode()))
    assert row[:2] == ["'=2", "'=1+1"]
    assert "'@SUM(1)" in row


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a|b", r"a\|b"),
        ("`rm`", r"\`rm\`"),
        ("[x](http://evil)", r"\[x\](http\://evil)"),
        ("![x](y)", r"!\[x\](y)"),
        ("<script>alert(1)</script>", r"\<script\>alert(1)\</script\>"),
        ("see https://evil.example", r"see https\://evil.example"),
        ("www.evil.example", r"www\.evil.example"),
        ("two\n# lines", r"two \# lines"),
        ("a\x1b[31mb\u202ec", r"a\\x1b\[31mb\\u202ec"),
        ("&lt;", r"\&lt;"),
    ],
)
def test_markdown_of_foreign_text_is_the_text(text: str, shown: str) -> None:
    assert escaped(text) == shown


def test_no_foreign_text_leaves_its_code_block() -> None:
    assert fenced("a\n````\nb\x1b[2J").splitlines() == ["`````", "a", "````", "b\\x1b[2J", "`````"]


def test_the_markdown_of_a_report_interprets_nothing_foreign() -> None:
    made = thread_cache_run(repeats=3, connections=(10,), invalid=())
    evil = "<img src=x onerror=alert(1)> [l](https://evil) `c` |"
    run = replace(
        made,
        experiment=replace(made.experiment, question=evil, plan_fingerprint="<b>x</b>"),
        records=[replace(each, server_version=evil) for each in made.records],
    )
    written = markdown(page(gather(run)), ())
    outside = "\n".join(part for part in written.split("```")[::2])
    assert r"\<img src=x onerror=alert(1)\>" in outside
    for syntax in ("<img", "<b>", "[l](", "https://evil", " `c`"):
        assert syntax not in outside.replace("\\" + syntax, ""), syntax
