"""What `mydyno load` prints: lines while it runs and the final block, as sysbench has them."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from mydyno.cli.load import driving, progress, result
from mydyno.core.errors import EngineError
from mydyno.lab.load import messages
from mydyno.lab.trial.collect import Collector

FIXTURES = Path(__file__).parents[1] / "fixtures" / "engine" / "messages"


def message(name: str, **changed: Any) -> messages.Message:
    text = json.loads((FIXTURES / f"{name}.json").read_text()) | changed
    return messages.parse(json.dumps(text))


def interval(width: int | None = None, percentile: float = 99, **changed: Any) -> str:
    one = message("interval", **changed)
    assert isinstance(one, messages.Interval)
    return progress.interval_text(one, 500_000_000, percentile, width)


def figures(percentile: float = 95) -> dict[str, Any]:
    heard = Collector()
    for name in ("hello", "phase_start", "phase_end", "done"):
        heard.hear(message(name))
    return result.figures("oltp-read-write", heard, percentile)


def printed(*heard: messages.Message, lines: bool = True) -> list[str]:
    """What a load that is not watched on a terminal says of these messages."""
    shown = progress.PlainProgress(95, lines=lines)
    return [line for one in heard for line in shown.texts(one)]


def test_an_interval_has_all_that_sysbench_reports_of_one():
    assert interval() == (
        "   2.0s  10 threads  25,000 tps  50,000 qps (r/w/o 25,000/25,000/0)"
        "  transaction p99 0.990 ms  0 err/s  0 reconn/s"
    )


def test_rates_are_those_of_a_second_whatever_the_length_of_the_interval():
    line = interval(to_ns=3_500_000_000, errors=3, reconnects=30, warmup=True)
    assert "12,500 tps  25,000 qps (r/w/o 12,500/12,500/0)" in line
    assert line.endswith("1.50 err/s  15 reconn/s  (warm-up)")


@pytest.mark.parametrize(("width", "lines"), [(80, 2), (120, 1), (None, 1)])
def test_an_interval_fits_the_width_of_the_terminal(width: int | None, lines: int):
    text = interval(width)
    assert len(text.splitlines()) == lines
    assert max(map(len, text.splitlines())) <= (width or 999)
    assert " ".join(text.split()) == " ".join(interval().split()), "nothing is left out"


def test_without_a_percentile_of_its_own_an_interval_has_the_p95_of_its_transactions():
    line = interval(percentile=95, transaction_percentile_ns=None)
    assert "transaction p95 0.840 ms" in line
    assert "0.420" not in line


def test_where_only_statements_are_timed_their_p95_is_named_so():
    line = interval(
        transactions=0, transaction_p95_ns=None, transaction_percentile_ns=None, queries_by_class=None
    )
    assert "statement p95 0.420 ms" in line
    assert "tps" not in line
    assert "r/w/o" not in line


def test_a_report_interval_of_0_has_no_lines_of_intervals():
    assert printed(message("interval"), lines=False) == []


def test_the_time_of_an_interval_counts_from_the_start_of_its_phase():
    texts = printed(
        message("interval", from_ns=7_000_000_000, to_ns=8_000_000_000),
        message("interval", from_ns=8_000_000_000, to_ns=9_000_000_000),
    )
    assert [text.split()[0] for text in texts] == ["1.0s", "2.0s"]


def test_preparing_has_its_rate_the_time_left_and_at_the_end_a_line_with_the_time_taken():
    ns = 1_000_000_000
    texts = printed(
        message("hello", t_ns=ns),
        message("progress", t_ns=3 * ns, done=20_000, of=100_000),
        message("progress", t_ns=4 * ns, done=30_000, of=100_000),
        message("progress", t_ns=9 * ns, done=80_000, of=100_000),
        message("prepared", t_ns=11 * ns),
    )
    assert texts[1:] == [
        "preparing: 20,000 of 100,000 rows (20%), 10,000 rows/s, 8s left",
        "preparing: 80,000 of 100,000 rows (80%), 10,000 rows/s, 2s left",
        "prepared: 90,000 rows in 1 table in 10.0 s (9,000 rows/s)",
    ]


def test_tables_that_are_there_are_not_said_to_be_loaded():
    (line,) = printed(message("prepared", loaded=0))
    assert line.startswith("prepared: nothing to load, 90,000 rows in 1 table exist already")
    (line,) = printed(message("prepared", loaded=40_000))
    assert "90,000 rows in 1 table, 40,000 of them loaded now, in" in line


def terminal() -> Console:
    return Console(file=io.StringIO(), force_terminal=True, width=80, height=24, highlight=False)


def test_a_terminal_has_a_bar_while_rows_are_loaded_and_a_sparkline_below_the_lines():
    console = terminal()
    with progress.LiveProgress(console, 95, lines=True) as shown:
        shown(message("hello", t_ns=0))
        shown(message("progress", done=50_000, of=100_000))
        preparing = rendered(shown)
        shown(message("prepared"))
        shown(message("phase_start"))
        shown(message("interval", transactions=10_000))
        shown(message("interval", transactions=20_000))
        running = rendered(shown)
    assert "preparing: 50,000 of 100,000 rows (50%)" in preparing
    assert re.search("━{10}", preparing)
    assert "10 threads · 20,000 tps  ▅█" in running or "10 threads · 20,000 tps  ▄█" in running
    assert "preparing" not in running
    written = console.file
    assert isinstance(written, io.StringIO)
    assert written.getvalue().count("20,000 tps  50,000 qps") == 1


def rendered(shown: progress.LiveProgress) -> str:
    console = terminal()
    console.print(shown._render())
    written = console.file
    assert isinstance(written, io.StringIO)
    return re.sub(r"\x1b\[[0-9;]*m", "", written.getvalue())


def test_the_figures_begin_with_the_latency_of_transactions():
    text = result.as_text(figures(), "127.0.0.1:3306", 110)
    end = message("phase_end")
    assert isinstance(end, messages.PhaseEnd)
    p95 = f"{end.transactions.latency.p95_ns / 1e6:.3f}"
    assert f"transactions/s, 20 queries/s, transaction p95 {p95} ms over 0.2 s" in " ".join(text.split())
    table = [line.split() for line in text.split("latency in ms, from sending:")[1].splitlines()]
    (transactions,) = (row for row in table if row[:1] == ["transactions"])
    (statements,) = (row for row in table if row[:2] == ["all", "statements"])
    assert table.index(transactions) < table.index(statements)
    assert transactions[4] == p95
    assert statements[5] == f"{end.queries.latency.p95_ns / 1e6:.3f}"


def test_the_final_block_has_what_sysbenchs_has():
    text = result.as_text(figures(), "127.0.0.1:3306", 80)
    rows = {line[:22].strip(): line[22:].split() for line in text.splitlines() if line.startswith("    ")}
    assert rows["read"] == ["3", "15.00"]
    assert rows["write"] == ["1", "5.00"]
    assert rows["other"] == ["0", "0.00"]
    assert rows["queries"] == ["4", "20.00"]
    assert rows["transactions"] == ["1", "5.00"]
    assert rows["ignored errors"] == ["1", "5.00"]
    assert rows["reconnects"] == ["0", "0.00"]
    assert rows["measured time"] == ["0.2", "s"]
    assert rows["sum"] == ["0.330"]
    assert rows["events"] == ["0.5000/0.50"]
    assert "execution time (s)" in rows
    assert "errors: 1 (error 1213: 1), 1 retry" in text


def test_what_a_program_does_not_report_is_left_out():
    heard = Collector()
    for one in ("hello", "phase_start", "done"):
        heard.hear(message(one))
    end = message("phase_end", queries_by_class=None, fairness=None, transactions_by_name={})
    assert isinstance(end, messages.PhaseEnd)
    untimed = messages.Timed(count=1, latency=messages.NOT_TIMED)
    heard.hear(end.model_copy(update={"transactions": untimed}))
    text = result.as_text(result.figures("mysqlslap", heard), "127.0.0.1:3306", 80)
    assert "5.00 transactions/s, 20 queries/s over 0.2 s" in " ".join(text.split())
    assert "    read " not in text
    assert "Transaction latency" not in text
    assert "Threads fairness" not in text


def test_any_percentile_comes_from_the_histogram_and_is_named():
    whole = figures(99.5)
    text = result.as_text(whole, "127.0.0.1:3306", 110)
    assert whole["phases"][0]["transaction_latency"]["percentile_ns"] == 330_239
    assert "transaction p99.5 0.330 ms" in text
    assert "    p99.5 " in text


def test_transactions_of_several_names_have_a_row_each_and_one_alone_has_none():
    whole = figures()
    (phase,) = whole["phases"]
    assert "round" not in result.as_text(whole, "127.0.0.1:3306", 110)
    phase["transactions_by_name"]["payment"] = phase["transactions_by_name"]["round"]
    lines = result.as_text(whole, "127.0.0.1:3306", 110).splitlines()
    place = next(i for i, line in enumerate(lines) if line.startswith("  transactions "))
    assert [line.split()[0] for line in lines[place : place + 4]] == [
        *("transactions", "round", "payment", "all")
    ]


@pytest.mark.parametrize("width", [80, 120])
def test_the_figures_fit_the_width_of_the_terminal(width: int) -> None:
    whole = figures()
    (phase,) = whole["phases"]
    phase["statements"]["a statement with a long name"] = phase["statements"].popitem()[1]
    text = result.as_text(whole, "database.example.com:3306", width)
    assert max(map(len, text.splitlines())) <= width
    assert "p95" in text
    assert ("p99.9" in text) == (width == 120)


def test_one_connection_and_one_statement_are_not_plural():
    assert "  1 thread  " in interval(connections=1)
    with pytest.raises(EngineError, match=r"^1 statement failed"):
        driving.refuse_wrong_results(1)
