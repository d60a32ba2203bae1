from pathlib import Path

from mydyno.lab.load import messages
from mydyno.lab.trial.collect import Collector, progress_of
from mydyno.lab.trial.events import Measured, PhaseFinished, Sampled

FIXTURES = Path(__file__).parents[2] / "fixtures" / "engine" / "messages"


def heard() -> Collector:
    collector = Collector()
    for name in ("hello", "connected", "interval", "sample", "phase_end", "done"):
        collector.hear(messages.parse((FIXTURES / f"{name}.json").read_text()))
    return collector


def test_a_phase_has_rates_over_its_measured_window_only() -> None:
    (phase,) = heard().phases
    # Four statements and one transaction from 0.5 s to 0.7 s.
    assert (phase.queries, phase.transactions) == (4, 1)
    assert phase.queries_per_second is not None
    assert round(phase.queries_per_second, 6) == 20.0
    assert phase.transactions_per_second is not None
    assert round(phase.transactions_per_second, 6) == 5.0
    assert (phase.started_s, phase.ended_s) == (0.4, 0.701)


def test_statements_and_errors_keep_their_kinds_and_codes() -> None:
    (phase,) = heard().phases
    assert {one.kind: (one.count, one.errors, one.rows) for one in phase.statements} == {
        "select_index": (3, 0, 3),
        "update_index": (1, 1, 1),
    }
    assert phase.errors == {"1213": 1}
    assert phase.error_examples["1213"].startswith("Deadlock")


def test_a_window_without_length_has_no_rate() -> None:
    end = messages.parse((FIXTURES / "phase_end.json").read_text())
    assert isinstance(end, messages.PhaseEnd)
    collector = Collector()
    collector.hear(end.model_copy(update={"measured_to_ns": end.measured_from_ns, "measured_s": 0.0}))
    assert collector.phases[0].queries_per_second is None


def test_raw_histograms_are_kept_by_what_they_time() -> None:
    collector = heard()
    assert set(collector.histograms["0"]) == {
        *(
            "queries",
            "transactions",
            "connects",
            "transaction:round",
            "statement:select_index",
            "statement:update_index",
        )
    }
    assert all(text.startswith("HIST") for text in collector.histograms["0"].values())


def test_samples_and_intervals_are_kept_as_they_came() -> None:
    collector = heard()
    assert len(collector.samples) == 1
    assert len(collector.intervals) == 1
    assert collector.hello is not None


def test_a_remark_is_kept_with_its_phase() -> None:
    collector = Collector()
    collector.hear(
        messages.Remark(type="remark", phase=1, check="runtime", message="the size ran out", t_ns=1)
    )
    [remark] = collector.remarks
    assert (remark.check, remark.message, remark.phase) == ("runtime", "the size ran out", 1)


def test_the_events_of_a_run_carry_the_p95_of_transactions_beside_that_of_statements() -> None:
    collector = heard()
    interval = messages.parse((FIXTURES / "interval.json").read_text())
    end = messages.parse((FIXTURES / "phase_end.json").read_text())
    measured, finished = (progress_of(one, collector, "queries") for one in (interval, end))
    assert isinstance(measured, Measured)
    assert isinstance(finished, PhaseFinished)
    assert (measured.p95_ns, measured.transaction_p95_ns) == (420_000, 840_000)
    assert isinstance(end, messages.PhaseEnd)
    assert finished.transaction_p95_ns == end.transactions.latency.p95_ns is not None
    assert finished.p95_ns == end.queries.latency.p95_ns


def stepped(step_ns: int | None) -> list[str]:
    end = messages.parse((FIXTURES / "phase_end.json").read_text())
    assert isinstance(end, messages.PhaseEnd)
    collector = Collector()
    collector.hear(end.model_copy(update={"wall_clock_step_ns": step_ns}))
    return [f"{remark.check}: {remark.message}" for remark in collector.remarks]


def test_a_clock_that_was_set_during_a_phase_marks_the_trial() -> None:
    (ahead,) = stepped(3_600_000_000_000)
    assert ahead.startswith("clock: the clock of the machine went ahead by 3600.0 s")
    assert "suspended" in ahead
    (back,) = stepped(-2_500_000_000)
    assert "went back by 2.5 s" in back
    assert "suspended" not in back


def test_clocks_that_go_together_mark_nothing() -> None:
    assert stepped(1_200) == stepped(-90_000_000) == stepped(None) == []


def sampled(*readings: tuple[float, float, int, int | None]) -> list[Sampled]:
    """The events of samples: second, CPU seconds of the server, its bytes written, Threads_created."""
    plain = messages.parse((FIXTURES / "sample.json").read_text())
    assert isinstance(plain, messages.Sample)
    assert plain.server is not None
    collector = Collector()
    found = []
    for second, cpu, written, threads in readings:
        server = plain.server.model_copy(
            update={"cpu_user_s": cpu, "cpu_system_s": 0.0, "write_bytes": written, "read_bytes": None}
        )
        status = {"Threads_connected": "7"} | ({} if threads is None else {"Threads_created": str(threads)})
        sample = plain.model_copy(update={"t_ns": int(second * 1e9), "server": server, "status": status})
        collector.hear(sample)
        if event := progress_of(sample, collector, "queries"):
            assert isinstance(event, Sampled)
            found.append(event)
    return found


def test_what_a_server_uses_is_an_event_at_most_once_a_second() -> None:
    assert sampled((0.1, 1.0, 0, 5)) == []
    (event,) = sampled((0.5, 1.0, 0, 5), (1.5, 2.5, 1000, 35))
    assert (event.server_cpu, event.write_bytes_per_second, event.threads_created_per_second) == (
        1.5,
        1000,
        30,
    )
    assert (event.read_bytes_per_second, event.threads_connected) == (None, 7)
    often = sampled(*((place / 10, place / 10, place, place) for place in range(40)))
    assert [round(one.server_cpu or 0, 6) for one in often] == [1.0, 1.0, 1.0]


def test_a_server_that_was_started_again_has_no_rates_until_the_next_second() -> None:
    first, second = sampled((0.0, 9.0, 900, 90), (1.0, 1.0, 100, 10), (2.0, 2.0, 200, None))
    assert (first.server_cpu, first.threads_created_per_second) == (None, None)
    assert (second.server_cpu, second.threads_created_per_second) == (1.0, None)
