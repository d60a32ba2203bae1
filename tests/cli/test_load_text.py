"""What `mydyno load` prints: transactions first, as sysbench has them; statements by that name."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mydyno.cli.load import driving, result
from mydyno.core.errors import EngineError
from mydyno.lab.load import messages
from mydyno.lab.trial.collect import Collector

FIXTURES = Path(__file__).parents[1] / "fixtures" / "engine" / "messages"


def message(name: str) -> messages.Message:
    return messages.parse((FIXTURES / f"{name}.json").read_text())


def printed_line(one: messages.Message, capsys: pytest.CaptureFixture[str]) -> str:
    driving._show(one)
    return capsys.readouterr().err


def test_an_interval_has_the_p95_of_its_transactions_and_not_of_their_statements(capsys):
    line = printed_line(message("interval"), capsys)
    assert "25000 transactions/s" in line
    assert "50000 queries/s  transaction p95 0.840 ms" in line
    assert "0.420" not in line


def test_where_only_statements_are_timed_their_p95_is_named_so(capsys):
    text = json.loads((FIXTURES / "interval.json").read_text()) | {
        "transactions": 0,
        "transaction_p95_ns": None,
    }
    line = printed_line(messages.parse(json.dumps(text)), capsys)
    assert "statement p95 0.420 ms" in line
    assert "transactions/s" not in line


def test_the_figures_begin_with_the_latency_of_transactions():
    heard = Collector()
    for name in ("hello", "phase_start", "phase_end", "done"):
        heard.hear(message(name))
    text = result.as_text(result.figures("oltp-read-write", heard), "127.0.0.1:3306", 110)
    rows = [line.split() for line in text.splitlines() if line.startswith("  ") and line.split()]
    assert "transactions/s," in text.splitlines()[2]
    assert text.index("  transactions ") < text.index("  all statements ")
    (transactions,) = (row for row in rows if row[0] == "transactions")
    (statements,) = (row for row in rows if row[:2] == ["all", "statements"])
    end = message("phase_end")
    assert isinstance(end, messages.PhaseEnd)
    assert transactions[4] == f"{end.transactions.latency.p95_ns / 1e6:.3f}"
    assert statements[5] == f"{end.queries.latency.p95_ns / 1e6:.3f}"


@pytest.mark.parametrize("width", [80, 120])
def test_the_figures_fit_the_width_of_the_terminal(width: int) -> None:
    heard = Collector()
    for name in ("hello", "phase_start", "phase_end", "done"):
        heard.hear(message(name))
    figures = result.figures("oltp-read-write", heard)
    (phase,) = figures["phases"]
    phase["statements"]["a statement with a long name"] = phase["statements"].popitem()[1]
    text = result.as_text(figures, "database.example.com:3306", width)
    assert max(map(len, text.splitlines())) <= width
    assert "p95" in text
    assert ("p99.9" in text) == (width == 120)


def test_one_connection_and_one_statement_are_not_plural(capsys):
    text = json.loads((FIXTURES / "interval.json").read_text()) | {"connections": 1}
    assert "  1 connection  " in printed_line(messages.parse(json.dumps(text)), capsys)
    with pytest.raises(EngineError, match=r"^1 statement failed"):
        driving.refuse_wrong_results(1)
