"""From the output of a foreign program to the messages of a phase, on outputs that were recorded."""

from __future__ import annotations

from pathlib import Path

import pytest

from mydyno.lab.load import messages
from mydyno.lab.load.external.foreign import Clock, Cut, PhaseListener, Start
from mydyno.lab.load.external.program import Ended, Line
from mydyno.lab.load.external.slap import SlapPhase
from mydyno.lab.load.external.sysbench_phase import SysbenchPhase
from mydyno.lab.load.job import Phase, closed_loop, open_loop, rounds, timed
from mydyno.lab.trial.collect import phase_record

GOLDEN = Path(__file__).parent / "golden"
SECOND = 1_000_000_000
CLOCK = Clock.start()
CPU_BEFORE = (0.25, 0.5)


def hear(listener: PhaseListener, name: str, ended: Ended, cut: Cut = Cut()) -> list[messages.Message]:
    """Every message of a recorded output, whose lines come 10 ms apart from 1 s on."""
    said: list[messages.Message] = []
    for number, text in enumerate((GOLDEN / f"{name}.txt").read_text().splitlines()):
        at_ns = CLOCK.zero_ns + SECOND + number * SECOND // 100
        said += listener.hear(Line(text, at_ns))
    return [*said, *listener.end(ended, cut)]


def sysbench(name: str, phase: Phase, exit_code: int = 0, cut: Cut = Cut()) -> list[messages.Message]:
    listener = SysbenchPhase(Start(3, phase, CLOCK, lambda: CPU_BEFORE), "sysbench", "1213/1020/1205")
    return hear(listener, f"sysbench-1.0.20-{name}", Ended(exit_code, 1.0, 2.0), cut)


def slap(
    name: str, phase: Phase, exit_code: int = 0, cut: Cut = Cut(), iterations: int = 1
) -> list[messages.Message]:
    listener = SlapPhase(Start(0, phase, CLOCK, lambda: CPU_BEFORE), "mariadb-slap", iterations)
    return hear(listener, f"mariadb-slap-10.11-{name}", Ended(exit_code, 1.0, 2.0), cut)


def the_end(said: list[messages.Message]) -> messages.PhaseEnd:
    assert isinstance(said[-1], messages.PhaseEnd)
    return said[-1]


def kinds(said: list[messages.Message]) -> list[str]:
    return [message.type for message in said]


def test_a_phase_of_sysbench_has_the_messages_of_one_of_the_engine() -> None:
    said = sysbench("warm-up", Phase(4, closed_loop(), timed(2.0, 2.0)))
    assert kinds(said)[0] == "connected"
    assert kinds(said).count("measuring") == 1
    intervals = [message for message in said if isinstance(message, messages.Interval)]
    assert [one.warmup for one in intervals] == [True, True, *[False] * (len(intervals) - 2)]
    assert all(one.to_ns - one.from_ns == SECOND for one in intervals)
    assert all(one.p50_ns is None and one.p95_ns for one in intervals if not one.warmup)


def test_what_the_warm_up_did_is_not_counted() -> None:
    end = the_end(sysbench("warm-up", Phase(4, closed_loop(), timed(2.0, 2.0))))
    record = phase_record(end)
    whole = the_end(sysbench("warm-up", Phase(4, closed_loop(), timed(0.0, 4.0))))
    assert end.transactions == whole.transactions, "the last report is the one that counts"
    text = (GOLDEN / "sysbench-1.0.20-warm-up.txt").read_text()
    assert f"({record.transactions_per_second:.2f} per sec.)" in text.rsplit("SQL statistics", 1)[1]
    assert (record.measured_to_s or 0) - (record.measured_from_s or 0) == pytest.approx(2.0, abs=0.1)
    assert (end.client_cpu.user_s, end.client_cpu.system_s) == (0.75, 1.5)


def test_sysbench_reports_its_kinds_of_statements_and_the_latency_of_events() -> None:
    end = the_end(sysbench("warm-up", Phase(4, closed_loop(), timed(2.0, 2.0))))
    assert set(end.statements) == {"read", "write", "other"}
    assert sum(one.count for one in end.statements.values()) == end.queries.count
    assert {(one.rows, one.errors, one.latency.p95_ns) for one in end.statements.values()} == {
        (None, None, None)
    }
    assert end.queries.latency.count == 0
    latency = end.transactions.latency
    assert latency.count == end.transactions.count
    order = [latency.min_ns, latency.p50_ns, latency.p75_ns, latency.p90_ns, latency.p95_ns, latency.p99_ns]
    assert order == sorted(value or 0 for value in order)
    assert (latency.p999_ns or 0) <= (latency.max_ns or 0) * 1.02, "a bucket is 1.8% wide"
    assert end.latency_kind == "service"


def test_where_an_event_is_one_statement_its_latency_is_that_of_the_statement() -> None:
    end = the_end(sysbench("point-select", Phase(4, closed_loop(), timed(0.0, 3.0))))
    assert end.queries == end.transactions
    assert end.queries.latency.p99_ns


def test_with_a_rate_the_wait_in_the_queue_counts() -> None:
    end = the_end(sysbench("rate", Phase(2, open_loop("poisson", 100.0), timed(0.0, 3.0))))
    assert end.latency_kind == "response"
    assert end.backlog_max == 0


def test_a_phase_in_which_nothing_was_done_has_no_latency() -> None:
    end = the_end(sysbench("nothing-done", Phase(2, open_loop("poisson", 1.0), timed(0.0, 1.0))))
    assert (end.queries.count, end.transactions.latency.max_ns, end.aborted) == (0, None, None)
    assert end.measured_to_ns is not None


def test_ignored_errors_are_counted_under_the_codes_that_are_ignored() -> None:
    end = the_end(sysbench("ignored-errors", Phase(8, closed_loop(), timed(0.0, 2.0))))
    assert end.errors == {"1213/1020/1205": end.retries}
    assert end.retries > 0


@pytest.mark.parametrize(
    ("name", "reached", "errors", "expected"),
    [
        ("too-many-connections", 0, {"1040"}, "Too many connections"),
        ("no-table", 0, {"1146"}, "sbtest1"),
        ("duplicate-key", 4, {"1062"}, "Duplicate entry"),
        ("wrong-option", 0, set(), "invalid option"),
    ],
)
def test_a_run_that_failed_is_an_aborted_phase_with_its_errors(
    name: str, reached: int, errors: set[str], expected: str
) -> None:
    end = the_end(sysbench(name, Phase(4, closed_loop(), timed(0.0, 3.0)), exit_code=1))
    assert end.connections_reached == reached
    assert set(end.errors) == errors
    assert expected in (end.aborted or "")
    assert "exit code 1" in (end.aborted or "")


def test_a_run_that_was_stopped_keeps_what_its_seconds_report() -> None:
    phase = Phase(2, closed_loop(), timed(0.0, 60.0))
    end = the_end(sysbench("cut-off", phase, -15, Cut(interrupted=True)))
    assert (end.interrupted, end.aborted) == (True, None)
    assert end.queries.count > 1000
    assert (end.measured_to_ns or 0) - (end.measured_from_ns or 0) == 2 * SECOND
    warm = the_end(sysbench("cut-off", Phase(2, closed_loop(), timed(5.0, 60.0)), -15, Cut(interrupted=True)))
    assert (warm.queries.count, warm.measured_from_ns) == (0, None)


def test_a_run_that_was_given_up_says_why() -> None:
    cut = Cut(why="the server does not answer")
    assert the_end(sysbench("cut-off", Phase(2, closed_loop(), timed(0.0, 2.0)), -15, cut)).aborted == cut.why


def test_a_timed_run_must_end_ten_seconds_after_its_time() -> None:
    listener = SysbenchPhase(
        Start(0, Phase(4, closed_loop(), timed(2.0, 3.0)), CLOCK, lambda: CPU_BEFORE), "sysbench", ""
    )
    assert listener.latest_end_ns is None
    list(listener.hear(Line("Threads started!", CLOCK.zero_ns + SECOND)))
    assert listener.latest_end_ns == 16 * SECOND


def test_a_phase_of_mysqlslap_is_one_interval_of_the_length_that_it_reports() -> None:
    said = slap("default", Phase(2, closed_loop(), rounds(500)))
    assert kinds(said) == ["connected", "measuring", "interval", "phase_end"]
    end, record = the_end(said), phase_record(the_end(said))
    assert (end.queries.count, end.transactions.count, end.errors, end.aborted) == (1000, 1000, {}, None)
    seconds = (record.measured_to_s or 0) - (record.measured_from_s or 0)
    assert f"{seconds:.3f} seconds" in (GOLDEN / "mariadb-slap-10.11-default.txt").read_text()
    assert end.queries.latency.p95_ns is None


def test_the_iterations_of_mysqlslap_are_summed() -> None:
    phase = Phase(2, closed_loop(), rounds(500))
    once, thrice = the_end(slap("default", phase)), the_end(slap("default", phase, iterations=3))
    assert thrice.queries.count == 3 * once.queries.count
    assert phase_record(thrice).queries_per_second == pytest.approx(phase_record(once).queries_per_second)


def test_a_report_that_counts_clients_without_a_connection_is_not_believed() -> None:
    end = the_end(slap("too-many-connections", Phase(50, closed_loop(), rounds(400))))
    assert set(end.errors) == {"1040"}
    assert "counts statements that were not run" in (end.aborted or "")


@pytest.mark.parametrize("name", ["wrong-query", "unknown-engine", "key-without-key"])
def test_a_failure_with_exit_code_0_is_a_failure(name: str) -> None:
    end = the_end(slap(name, Phase(1, closed_loop(), rounds(4)), exit_code=0))
    assert (end.queries.count, sum(end.errors.values())) == (0, 1)
    assert end.aborted


def test_a_mysqlslap_that_was_stopped_reports_nothing() -> None:
    end = the_end(slap("key-without-key", Phase(1, closed_loop(), rounds(4)), -15, Cut(interrupted=True)))
    assert (end.interrupted, end.aborted, end.measured_from_ns, end.queries.count) == (True, None, None, 0)
