"""The report of mysqlslap, with and without our own lines."""

from __future__ import annotations

from typing import Any

from lab.load.smack.fake import phase_end
from mydyno.lab.load.slap import Block, as_csv, as_text, figures
from mydyno.lab.load.slap.report import pass_of


def block(engine: str | None = "innodb", **more: Any) -> Block:
    seconds = (0.2, 0.4)
    ends = [
        phase_end({"insert": 4}, measured_from_ns=500_000_000, measured_to_ns=int(5e8 + one * 1e9), **more)
        for one in seconds
    ]
    return Block(engine, 2, "write", 5000, tuple(map(pass_of, ends)))


def test_the_strict_report_is_that_of_mysqlslap() -> None:
    assert as_text(block(), strict=True) == (
        "Benchmark\n"
        "\tRunning for engine innodb\n"
        "\tAverage number of seconds to run all queries: 0.300 seconds\n"
        "\tMinimum number of seconds to run all queries: 0.200 seconds\n"
        "\tMaximum number of seconds to run all queries: 0.400 seconds\n"
        "\tNumber of clients running queries: 2\n"
        "\tAverage number of queries per client: 5000\n"
    )


def test_without_an_engine_there_is_no_line_of_it() -> None:
    assert "Running for engine" not in as_text(block(None), strict=True)


def test_our_own_lines_report_rate_latency_and_errors() -> None:
    said = as_text(block(errors={"1062": 3}), strict=False)
    assert "\tStatements per second: 15 (10 to 20)\n" in said
    assert "\t95th percentile of a statement: 0.420 ms (largest of the iterations)\n" in said
    assert said.endswith("\tErrors: 1062: 6\n")


def test_a_load_that_ended_early_says_how_far_it_came() -> None:
    said = as_text(block(interrupted=True), strict=False)
    assert "\tEnded early, after 4 statements of the last iteration\n" in said


def test_csv_is_one_line_of_seven_fields() -> None:
    assert as_csv(block()) == "innodb,write,0.300,0.200,0.400,2,5000"
    assert as_csv(block(None)).startswith(",write,")


def test_figures_keep_every_iteration() -> None:
    result = figures(block())
    assert [one["seconds"] for one in result["iterations"]] == [0.2, 0.4]
    assert result["seconds_average"] == 0.30000000000000004
