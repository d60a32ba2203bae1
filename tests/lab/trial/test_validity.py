from collections.abc import Callable
from dataclasses import replace

import pytest

from mydyno.lab.analysis.littles_law import Load
from mydyno.lab.results.records import NO_LATENCY, Latency, PhaseRecord, ShareRecord, StatementRecord
from mydyno.lab.trial.validity import Evidence, check

PHASE = PhaseRecord(
    index=0,
    connections_asked=40,
    connections_reached=40,
    started_s=0.0,
    measured_from_s=0.5,
    measured_to_s=9.5,
    ended_s=10.0,
    queries=1000,
    transactions=500,
    queries_per_second=111.1,
    transactions_per_second=55.5,
    latency=NO_LATENCY,
    connect=NO_LATENCY,
    statements=(StatementRecord(kind="select", count=1000, errors=0, rows=1000, latency=NO_LATENCY),),
    errors={},
    client_cpu_user_s=2.0,
    client_cpu_system_s=3.0,
    latency_kind="service",
)
SOUND = Evidence(
    phases=(PHASE,),
    phases_planned=1,
    settings_differences=(),
    max_used_connections=42,
    client_cpus=2,
    steal=0.01,
    server_alive=True,
    server_restarted=False,
    rows_expected={"http_auth": 90000},
    rows_found={"http_auth": 90000},
)


def phase(**changes: object) -> Callable[[Evidence], Evidence]:
    return lambda evidence: replace(evidence, phases=(replace(PHASE, **changes),))  # type: ignore[arg-type]


def trial(**changes: object) -> Callable[[Evidence], Evidence]:
    return lambda evidence: replace(evidence, **changes)  # type: ignore[arg-type]


def test_errors_that_were_retried_are_no_reason_even_when_they_are_counted_together() -> None:
    assert check(phase(errors={"1213": 3, "1213/1020/1205": 20})(SOUND)) == ()
    [reason] = check(phase(errors={"1062/1213": 2})(SOUND))
    assert (reason.check, "2 statements failed" in reason.message) == ("errors", True)


def test_a_sound_trial_has_nothing_against_it() -> None:
    assert check(SOUND) == ()


@pytest.mark.parametrize(
    ("spoil", "name", "expected"),
    [
        (
            trial(settings_differences=("thread_cache_size: asked 8, in force 16",)),
            "settings-in-force",
            "asked 8",
        ),
        (phase(queries=0, transactions=0), "measured", "no query ended"),
        (
            trial(misplaced=("redo log: /data/ib_logfile0 is open, and should be in /log",)),
            "files-on-volumes",
            "should be in /log",
        ),
        (trial(server_alive=False), "server-alive", "error log"),
        (trial(server_restarted=True), "server-restart", "uptime decreased"),
        (phase(aborted="server gone"), "phase-complete", "server gone"),
        (trial(phases_planned=3), "phase-complete", "2 of 3 phases did not run"),
        (
            phase(
                connections_reached=31, errors={"1040": 9}, error_examples={"1040": "Too many connections"}
            ),
            "connections-reached",
            '31 of 40 connections were opened (error 1040 9 times: "Too many connections")',
        ),
        (trial(max_used_connections=31), "connections-reached", "Max_used_connections is 31"),
        (
            phase(statements=(replace(PHASE.statements[0], errors=3),), errors={"1054": 3}),
            "errors",
            "3 statements failed (error 1054 3 times)",
        ),
        (
            phase(client_cpu_user_s=15.0, client_cpu_system_s=4.0),
            "client-saturation",
            "used 19s of CPU in 10s",
        ),
        (trial(steal=0.35), "steal-time", "35%"),
        (trial(rows_found={"http_auth": 89999}), "row-counts", "89999 rows after the load, not 90000"),
        (trial(rows_found={}), "row-counts", "None rows"),
    ],
)
def test_each_fault_gives_its_reason_and_no_other(
    spoil: Callable[[Evidence], Evidence], name: str, expected: str
) -> None:
    (reason,) = check(spoil(SOUND))
    assert reason.check == name
    assert expected in reason.message


def test_what_could_not_be_known_is_not_compared_with_a_trial() -> None:
    unknown = replace(SOUND, steal=None, max_used_connections=None, rows_found=None)
    assert check(phase(client_cpu_user_s=None)(unknown)) == ()


def test_deadlocks_that_were_retried_are_part_of_concurrent_writing() -> None:
    assert check(phase(errors={"1213": 40, "1205": 1})(SOUND)) == ()


def test_a_very_short_phase_says_nothing_about_the_client() -> None:
    assert check(phase(started_s=0.0, ended_s=0.2, client_cpu_user_s=5.0)(SOUND)) == ()


def test_every_reason_of_a_trial_is_reported_at_once() -> None:
    spoilt = replace(SOUND, steal=0.5, server_restarted=True, rows_found={"http_auth": 1})
    assert [reason.check for reason in check(spoilt)] == ["server-restart", "steal-time", "row-counts"]


def test_a_phase_that_breaks_littles_law_is_reported_unless_its_client_is_saturated() -> None:
    idle = replace(
        PHASE,
        transactions=110_700,
        transaction_latency=Latency(count=110_700, mean_ns=1.9e6, max_ns=9_000_000),
    )
    evidence = replace(SOUND, phases=(idle,), loads=(Load(40, closed=True),))
    [reason] = check(evidence)
    assert (reason.check, reason.phase) == ("littles-law", 0)
    assert reason.message == "40 connections, but 12,300 transactions/s x 1.9 ms = 23.4 in flight"
    assert check(replace(evidence, loads=(None,))) == ()
    saturated = replace(evidence, phases=(replace(idle, client_cpu_system_s=20.0),))
    assert [reason.check for reason in check(saturated)] == ["client-saturation"]


def open_loop(rate: float, connections: int = 40, **changes: object) -> Evidence:
    """Of 9 seconds."""
    phases = (replace(PHASE, latency_kind="response", **changes),)  # type: ignore[arg-type]
    return replace(SOUND, phases=phases, loads=(Load(connections, closed=False, rate=rate),))


def test_a_client_that_cannot_keep_the_requested_rate_makes_the_trial_invalid_and_says_so() -> None:
    [reason] = check(open_loop(1000, transactions=5508, backlog_max=3400))
    assert (reason.check, reason.phase) == ("rate-kept", 0)
    assert "over 40 connections: 612.0 of 1,000.0 transactions/s; up to 3,400 waited" in reason.message


@pytest.mark.parametrize(
    ("rate", "connections", "transactions"),
    [
        (1000, 40, 8200),
        (1, 1, 2),  # Nine on average; arrivals at random instants.
        (10, 40, 50),  # The others are under way.
    ],
)
def test_a_rate_that_is_kept_is_no_reason(rate: float, connections: int, transactions: int) -> None:
    assert check(open_loop(rate, connections, transactions=transactions)) == ()


SHARE = ShareRecord(
    host="c1",
    connections=20,
    queries=500,
    transactions=250,
    threads=2,
    cpu_s=9.0,
    machine_busy=0.6,
    measured_s=9.0,
    late_s=0.0005,
    short_s=0.0,
    clock_error_s=0.0002,
)


def generators(**changes: object) -> Callable[[Evidence], Evidence]:
    """A phase of two generators, the second with `changes`."""
    second = replace(SHARE, host="c2", **changes)  # type: ignore[arg-type]
    # Together they have used more than one engine's threads could: that is no reason.
    return phase(shares=(SHARE, second), client_cpu_user_s=18.0)


def test_generators_that_keep_up_and_start_together_are_no_reason() -> None:
    assert check(generators()(SOUND)) == ()
    assert check(generators(short_s=None, machine_busy=None, late_s=-0.01)(SOUND)) == ()
    # Very short phases do not show CPU time.
    assert check(generators(measured_s=0.2, cpu_s=0.4)(SOUND)) == ()


@pytest.mark.parametrize(
    ("changes", "name", "expected"),
    [
        ({"cpu_s": 16.5}, "client-saturation", "its engine used 16.5s of CPU in 9s on 2 threads"),
        ({"machine_busy": 0.93}, "client-saturation", "its machine's CPUs were 93% busy (over 90%)"),
        ({"late_s": 0.03}, "generators", "began 30ms after the common start (limit 20ms"),
        ({"late_s": -0.03}, "generators", "began 30ms before the common start"),
        ({"late_s": None}, "generators", "measured nothing"),
        ({"short_s": 1.5}, "generators", "ended 1.5s early"),
    ],
)
def test_a_generator_that_spoils_the_phase_is_named(
    changes: dict[str, object], name: str, expected: str
) -> None:
    [reason] = check(generators(**changes)(SOUND))
    assert (reason.check, reason.phase) == (name, 0)
    assert reason.message.startswith("the generator c2 ")
    assert expected in reason.message


def test_a_clock_that_is_known_badly_allows_as_much() -> None:
    assert check(generators(late_s=0.06, clock_error_s=0.045)(SOUND)) == ()
