"""Where a phase's time went: shares of connections times seconds, and nothing that nobody measured."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from mydyno.lab.analysis.time_spent import Part, TimeSpent, time_spent
from mydyno.lab.results.records import NO_LATENCY, Latency, LatencyKind, PhaseRecord, StatementRecord

WINDOW = 10.0


def statement(kind: str, count: int, mean_ms: float) -> StatementRecord:
    latency = Latency(count=count, mean_ns=mean_ms * 1e6)
    return StatementRecord(kind=kind, count=count, errors=0, rows=count, latency=latency)


def phase(
    *statements: StatementRecord, connections: int = 10, kind: LatencyKind = "service", timed: bool = True
) -> PhaseRecord:
    """Ten seconds of load; 10 connections have 100 seconds to spend in them."""
    queries = [each for each in statements if each.kind != "connect"]
    count = sum(each.count for each in queries)
    spent = sum(each.count * (each.latency.mean_ns or 0) for each in queries)
    return PhaseRecord(
        index=0,
        connections_asked=connections,
        connections_reached=connections,
        started_s=0.0,
        measured_from_s=1.0,
        measured_to_s=1.0 + WINDOW,
        ended_s=11.0,
        queries=count,
        transactions=count,
        queries_per_second=count / WINDOW,
        transactions_per_second=count / WINDOW,
        latency=Latency(count=count, mean_ns=spent / count if timed else None) if count else NO_LATENCY,
        connect=NO_LATENCY,
        statements=statements,
        errors={},
        client_cpu_user_s=None,
        client_cpu_system_s=None,
        latency_kind=kind,
    )


def growth(
    user: float = 0.0, system: float = 0.0, row_lock_ms: int = 0, **status: float
) -> Mapping[str, float]:
    """Over eight seconds, in which 10 connections have 80."""
    return {
        "server.cpu_user_s": user,
        "server.cpu_system_s": system,
        "status.Innodb_row_lock_time": row_lock_ms,
        **{f"status.{name}": value for name, value in status.items()},
    }


def spent(of: PhaseRecord, grown: Mapping[str, float] | None, work: str = "queries") -> TimeSpent:
    found = time_spent(of, grown, 8.0 if grown is not None else None, "ios" if work == "ios" else "queries")
    assert found is not None
    check(found.whole)
    return found


def check(part: Part) -> None:
    """Parts never come to more than what they are of, and with a rest they come to all of it."""
    assert 0 <= part.share <= 1
    if part.parts:
        assert sum(each.share for each in part.parts) == pytest.approx(part.share)
        for each in part.parts:
            check(each)


def share(of: TimeSpent, key: str) -> float | None:
    found = of.whole.find(key)  # type: ignore[arg-type]
    return None if found is None else round(found.share, 6)


def test_statements_are_their_number_times_their_mean_and_the_rest_is_the_clients() -> None:
    found = spent(phase(statement("select", 80_000, 1.0)), growth())
    assert share(found, "statements") == 0.8
    assert share(found, "client") == 0.2


def test_row_locks_and_cpu_are_shares_of_the_time_between_the_samples() -> None:
    found = spent(phase(statement("update", 90_000, 1.0)), growth(user=8, system=4, row_lock_ms=40_000))
    assert share(found, "row-locks") == 0.5
    assert share(found, "cpu-user") == 0.1
    assert share(found, "cpu-system") == 0.05
    assert share(found, "unknown") == pytest.approx(0.9 - 0.65)
    locks = found.whole.find("row-locks")
    assert locks is not None
    assert (locks.seconds, locks.of_seconds) == (40.0, 80.0)


def test_commits_are_their_time_less_the_cpu_time_of_as_many_statements() -> None:
    # 0.1 of 100 s on 30,000 statements is a third of a millisecond for each.
    found = spent(
        phase(statement("update", 20_000, 1.0), statement("commit", 10_000, 6.0)), growth(user=8, system=0)
    )
    assert share(found, "commit") == pytest.approx((60 - 10_000 / 30_000 * 10) / 100, abs=1e-6)


def test_without_the_servers_cpu_time_commits_are_not_distinguished() -> None:
    found = spent(phase(statement("commit", 10_000, 6.0)), {"status.Innodb_row_lock_time": 0})
    assert share(found, "commit") is None
    assert share(found, "unknown") == 0.6


def test_what_the_server_did_not_run_lies_between_it_and_the_client() -> None:
    found = spent(phase(statement("select", 80_000, 1.0)), growth(user=16, Query_time=24.0))
    assert share(found, "between") == pytest.approx(0.5)
    assert share(found, "unknown") == pytest.approx(0.8 - 0.2 - 0.5)


def test_a_clock_of_the_server_that_stands_still_reports_nothing() -> None:
    assert share(spent(phase(statement("select", 80_000, 1.0)), growth(Query_time=0.0)), "between") is None


def test_cpu_of_background_threads_never_makes_the_parts_more_than_the_whole() -> None:
    found = spent(phase(statement("select", 10_000, 1.0)), growth(user=20, system=12))
    assert share(found, "statements") == 0.1
    assert found.background == pytest.approx(0.4 - 0.1)


def test_without_two_samples_only_the_clients_clock_is_known() -> None:
    found = spent(phase(statement("select", 80_000, 1.0)), None)
    assert [part.key for part in found.whole.parts] == ["statements", "client"]
    assert found.whole.parts[0].parts == ()
    assert found.sampled_seconds is None
    assert found.untimed == ()


def test_latency_of_the_steady_part_alone_is_a_share_of_that_part() -> None:
    whole = replace(phase(statement("select", 80_000, 1.0)), statements=())
    assert share(spent(whole, None), "statements") == 0.8
    later = replace(whole, steady_from_s=3.0, latency=replace(whole.latency, count=64_000))
    assert share(spent(later, None), "statements") == 0.8


@pytest.mark.parametrize("of", [{"kind": "response"}, {"timed": False}])
def test_where_latency_is_no_time_of_statements_the_rest_is_simply_unknown(of: dict[str, str | bool]) -> None:
    waited = phase(statement("select", 80_000, 1.0))
    given = (
        replace(waited, latency_kind="response")
        if "kind" in of
        else replace(waited, latency=Latency(count=80_000, p95_ns=1), statements=())
    )
    found = spent(given, growth(user=8, row_lock_ms=8_000))
    assert [part.key for part in found.whole.parts] == ["row-locks", "cpu-user", "cpu-system", "unknown"]
    assert share(found, "unknown") == pytest.approx(0.8)


def test_connections_that_events_open_have_a_part_of_their_own() -> None:
    found = spent(phase(statement("select", 40_000, 1.0), statement("connect", 10_000, 3.0)), growth())
    assert share(found, "statements") == 0.4
    assert share(found, "connecting") == 0.3
    assert share(found, "client") == pytest.approx(0.3)


def test_ios_are_distinguished_by_kind_alone() -> None:
    found = spent(
        phase(statement("read", 10_000, 4.0), statement("write", 0, 0), statement("fsync", 100, 100.0)),
        {"disk.sda.busy_s": 4.0},
        work="ios",
    )
    assert [(part.key, round(part.share, 3)) for part in found.whole.parts] == [
        ("read", 0.4),
        ("fsync", 0.1),
        ("client", 0.5),
    ]


def test_what_is_counted_without_a_time_is_reported_as_a_rate() -> None:
    found = spent(phase(statement("insert", 1000, 1.0)), growth(Innodb_data_fsyncs=400, Table_locks_waited=0))
    assert {each.name: each.per_second for each in found.untimed} == {
        "Innodb_data_fsyncs": 50.0,
        "Table_locks_waited": 0.0,
    }


def test_where_nobody_knows_anything_there_is_no_decomposition() -> None:
    text = replace(phase(statement("select", 80_000, 1.0)), latency=NO_LATENCY, statements=())
    assert time_spent(text, None, None, "queries") is None


def test_a_phase_that_measured_nothing_has_no_decomposition() -> None:
    assert time_spent(replace(phase(), measured_from_s=None), None, None, "queries") is None
    assert time_spent(replace(phase(), connections_reached=0), None, None, "queries") is None
