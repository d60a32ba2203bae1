"""The report of a sql-bench run: sums as the suite makes them, and what stands beside them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from mydyno.lab.load.messages import CpuSeconds, Hello, Histogram, Operation, PhaseEnd, PhaseStart, Timed
from mydyno.lab.load.sql_bench import render, total_of, totals
from mydyno.lab.workload.sql_bench import SqlBench

GOLDEN = Path(__file__).parent / "golden" / "sql_bench.txt"
HEADER = {
    "machine": "testhost",
    "arguments": "--small-test",
    "comments": "five programs",
    "hardware": "2 CPUs",
}
HELLO = Hello(
    t_ns=0,
    type="hello",
    protocol=2,
    engine_version="0.1.0",
    seed=1,
    started_unix_ns=1_763_664_000_000_000_000,
    reactors=1,
    pinned=False,
    cpus=[0, 1],
    server_version="10.11.6-MariaDB",
    server_pid=4321,
)
NO_LATENCY = Timed(
    count=0,
    latency=Histogram(
        count=0, min_ns=None, mean_ns=None, max_ns=None, p50_ns=None, p75_ns=None, p90_ns=None, p95_ns=None,
        p99_ns=None, p999_ns=None, histogram="",
    ),
)  # fmt: skip
PROGRAMS = ["alter-table", "insert", "select", "transactions", "wisconsin"]


def cpu(user_s: float, system_s: float = 0.0) -> CpuSeconds:
    return CpuSeconds(user_s=user_s, system_s=system_s)


def operation(program: str, name: str, tests: int, seconds: float, **more: object) -> Operation:
    fields: dict[str, object] = {
        "t_ns": 0,
        "type": "operation",
        "phase": PROGRAMS.index(program),
        "program": program,
        "name": name,
        "tests": tests,
        "statements": tests,
        "rows": tests,
        "failed": 0,
        "elapsed_ns": round(seconds * 1e9),
        "original_elapsed_ns": None,
        "client_cpu": cpu(seconds / 4, seconds / 8),
        "server_cpu": cpu(seconds / 2, seconds / 16),
        "estimated": False,
        "warning": None,
        "in_totals": True,
    }
    return Operation.model_validate({**fields, **more})


def start(program: str) -> PhaseStart:
    return PhaseStart(t_ns=0, type="phase_start", phase=PROGRAMS.index(program), connections=1, label=program)


def end(program: str, seconds: float, **more: object) -> PhaseEnd:
    fields: dict[str, object] = {
        "t_ns": 0,
        "type": "phase_end",
        "phase": PROGRAMS.index(program),
        "connections_asked": 1,
        "connections_reached": 1,
        "started_ns": 0,
        "measured_from_ns": 0,
        "measured_to_ns": 0,
        "ended_ns": round(seconds * 1e9),
        "interrupted": False,
        "aborted": None,
        "latency_kind": "service",
        "queries": NO_LATENCY,
        "statements": {},
        "transactions": NO_LATENCY,
        "connects": NO_LATENCY,
        "errors": {},
        "error_examples": {},
        "unanswered": 0,
        "reconnects": 0,
        "retries": 0,
        "client_cpu": cpu(seconds / 4, seconds / 8),
        "backlog_max": None,
    }
    return PhaseEnd.model_validate({**fields, **more})


OPERATIONS = [
    operation("alter-table", "insert", 1000, 0.5, in_totals=False),
    operation("alter-table", "alter_table_add", 100, 1.25),
    operation("insert", "insert", 300_000, 20.0),
    operation("insert", "select_range_prefix", 20_000, 4.0, statements=10_000, rows=43_500),
    operation("insert", "delete_big_many_keys", 128, 0.25),
    operation("insert", "delete_all_many_keys", 1, 0.001, original_elapsed_ns=251_000_000),
    operation("insert", "select_in", 500, 0.75, in_totals=False),
    operation("insert", "select_in", 500, 1.0, in_totals=False),
    operation("select", "insert", 10_000, 1.0),
    operation(
        "select", "select_cache", 10_000, 2400.5, statements=2500, estimated=True,
        warning="stopped after 2500 of 10000 loops",
    ),
    operation("select", "select_big", 70, 0.25, failed=2, warning="34 rows expected, 33 found: SELECT idn"),
]  # fmt: skip
STARTS = [start(program) for program in PROGRAMS]
ENDS = [
    end("alter-table", 2.0),
    end("insert", 30.0),
    end("select", 700.0),
    end("transactions", 0.0, aborted="skipped: it needs a transactional engine"),
    end("wisconsin", 1.0, aborted="Unknown table (error 1051)"),
]


def test_the_report_is_as_shown() -> None:
    assert render(HELLO, [*STARTS, *OPERATIONS], ENDS, **HEADER) == GOLDEN.read_text()


def test_operations_of_one_name_are_summed_over_the_programs() -> None:
    by_name = {total.name: total for total in totals(OPERATIONS)}
    assert list(by_name) == sorted(by_name)
    insert = by_name["insert"]
    assert (insert.tests, insert.elapsed_ns) == (1000 + 300_000 + 10_000, 21_500_000_000)
    assert by_name["select_in"].tests == 1000


def test_what_sql_bench_cannot_sum_is_listed_apart_and_not_in_the_totals() -> None:
    text = render(HELLO, [*STARTS, *OPERATIONS], ENDS, **HEADER)
    summed, apart = text.split("Printed by sql-bench, and not in its totals")
    assert "select_in" not in summed
    assert "select_in" in apart
    [line] = [line for line in summed.splitlines() if line.startswith("TOTALS")]
    assert int(line[35:].split()[4]) == 100 + 300_000 + 20_000 + 128 + 1 + 10_000 + 10_000 + 70


def test_a_row_keeps_the_columns_of_sql_bench() -> None:
    text = render(HELLO, [operation("insert", "a" * 40, 1234567, 1.25)], [])
    [row] = [line for line in text.splitlines() if line.startswith("a" * 35)]
    assert row.startswith("a" * 35 + "    1.25    0.31    0.16    0.47 1234567 ")


def test_an_unknown_server_cpu_makes_the_sum_unknown() -> None:
    operations = [operation("insert", "x", 1, 1.0), operation("insert", "x", 1, 1.0, server_cpu=None)]
    assert total_of(operations, "x").server_cpu is None
    known = total_of(operations[:1], "x").server_cpu
    assert known is not None
    assert known.user_s == pytest.approx(0.5)


def test_a_run_without_failures_says_so() -> None:
    text = render(HELLO, [*STARTS[:2], *OPERATIONS[:2]], ENDS[:2])
    assert "All 2 tests executed successfully" in text
    assert "Notes:" not in text


def as_compare_results_reads(
    text: str,
) -> tuple[dict[str, str], dict[str, float], dict[str, tuple[float, int]]]:
    """Facts of the head, seconds of programs, seconds and tests of operations, by the rules of the suite's
    compare-results: once the totals have begun, a later line of the same name replaces the earlier one."""
    head = {
        name: value
        for name in ("Server version", "Arguments", "Comments", "Running tests on")
        for value in re.findall(rf"^{name}:\s+(\S.*)", text, re.MULTILINE)
    }
    before, after = text.split("Totals per operation:")
    line = r"^(\S+):.*(?:estimated\s|)total\stime:\s+([\d.]+)\s+(?:wallclock\s|)secs"
    programs = {
        name: float(seconds) for name, seconds in re.findall(line, before, re.MULTILINE | re.IGNORECASE)
    }
    number = r"\s+([\d.]+)"
    rows = re.findall(rf"^(\S+){number}{number}{number}{number}{number}\s*[+|?]*", after, re.MULTILINE)
    return head, programs, {name: (float(seconds), int(tests)) for name, seconds, _, _, _, tests in rows}


def test_the_comparison_of_the_suite_reads_the_report() -> None:
    head, programs, operations = as_compare_results_reads(
        render(HELLO, [*STARTS, *OPERATIONS], ENDS, **HEADER)
    )
    assert head == {
        "Server version": "10.11.6-MariaDB",
        "Arguments": "--small-test",
        "Comments": "five programs",
        "Running tests on": "testhost",
    }
    assert programs == {"alter-table": 2.0, "insert": 30.0, "select": 700.0}
    assert operations["insert"] == (21.0, 310_000)
    assert operations["TOTALS"] == (2427.25, 340_299)
    assert "select_in" not in operations


def test_a_program_that_the_time_limit_has_cut_is_marked_as_estimated() -> None:
    text = render(HELLO, [*STARTS, *OPERATIONS], ENDS, **HEADER)
    assert "\nselect: Estimated total time: 700.000 wallclock secs" in text
    assert "\ninsert: Total time: " in text


@pytest.mark.parametrize(
    ("given", "arguments"),
    [
        ({}, ""),
        (
            {"small": True, "fast": True, "create_options": "ENGINE=InnoDB", "loop_count": 5},
            "--small-test --fast --create-options=ENGINE=InnoDB --loop-count=5",
        ),
        ({"time_limit_s": 60.0, "groups": ["insert", "select"]}, "--time-limit=60.0 insert select"),
        ({"small": False}, ""),
    ],
)
def test_arguments_are_in_the_syntax_of_the_suite(given: dict[str, object], arguments: str) -> None:
    assert SqlBench.model_validate(given).arguments == arguments
