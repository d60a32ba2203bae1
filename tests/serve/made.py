"""Labs that were made for a test: real files, made-up numbers."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import polars as pl
from lab.results.builders import FACTOR, LEVELS
from lab.results.builders import experiment as one_experiment

from mydyno.lab.results.database import transaction
from mydyno.lab.results.records import ExperimentRecord, Invalidity, Latency, PhaseRecord, TrialRecord
from mydyno.lab.results.rows import insert_trial
from mydyno.lab.results.run_rows import insert_run
from mydyno.lab.results.store import Lab
from mydyno.lab.trial import events

SAMPLES = pl.DataFrame({"t_s": [1.0, 5.0], "phase": [0, 0]})
_INTERVAL = {"phase": 0, "from_s": 1.0, "to_s": 2.0, "warmup": False, "connections": 8, "queries": 1000}
_INTERVAL |= {
    "transactions": 200,
    "errors": 0,
    "queries_per_second": 1000.0,
    "transactions_per_second": 200.0,
}
_INTERVAL |= {"p50_ns": 800_000, "p95_ns": 1_500_000, "p99_ns": 2_500_000, "max_ns": 9_000_000}
INTERVALS = pl.DataFrame([_INTERVAL | {"from_s": 1.0 + second, "to_s": 2.0 + second} for second in range(5)])
RELEASES = ("10.11.6-MariaDB", "8.0.40")


def experiment(number: int = 0, trials: int = 6, **more: object) -> ExperimentRecord:
    made = one_experiment(fingerprint=f"{number:08x}", trials=trials)
    return replace(
        made, name=f"oltp-{number % 7}", created_at=f"2026-01-{number % 28 + 1:02}T12:00:00Z", **more
    )


def plan(trials: int, points: int = 2) -> str:
    """As far as a page reads one."""
    rows = [
        {
            "id": f"t{place + 1:03}",
            "index": place,
            "block": place // points + 1,
            "point_id": f"p{place % points + 1}",
        }
        for place in range(trials)
    ]
    return json.dumps({"trials": rows})


def trial(place: int, *, invalid: str = "", release: str = RELEASES[0], faster: float = 1.2) -> TrialRecord:
    point = place % 2
    chance = random.Random(place)
    rate = 1000.0 * (faster if point else 1.0) * chance.uniform(0.98, 1.02)
    latency = Latency(
        count=round(rate * 5),
        min_ns=100_000,
        mean_ns=900_000.0,
        max_ns=9_000_000,
        **dict.fromkeys(("p50_ns", "p75_ns", "p90_ns"), 800_000),
        p95_ns=1_500_000,
        p99_ns=2_500_000,
        p999_ns=5_000_000,
    )
    phase = PhaseRecord(
        index=0,
        connections_asked=8,
        connections_reached=8,
        started_s=0.0,
        measured_from_s=1.0,
        measured_to_s=6.0,
        ended_s=6.1,
        queries=round(rate * 5),
        transactions=round(rate),
        queries_per_second=rate,
        transactions_per_second=rate / 5,
        latency=latency,
        connect=replace(latency, count=8),
        statements=(),
        errors={},
        client_cpu_user_s=1.0,
        client_cpu_system_s=1.0,
        latency_kind="service",
        transaction_latency=latency,
    )
    reasons = (Invalidity(check="littles-law", message=invalid, phase=None),) if invalid else ()
    return TrialRecord(
        trial_id=f"t{place + 1:03}",
        index=place,
        block=place // 2 + 1,
        point_id=f"p{point + 1}",
        levels={FACTOR: LEVELS[point]},
        seed=place,
        status="invalid" if invalid else "valid",
        invalidities=reasons,
        started_at="2026-01-31T12:00:00Z",
        seconds=12.0,
        server_version=release,
        durability="durable",
        settings_asked={"thread_cache_size": LEVELS[point]},
        settings_in_force={"thread_cache_size": LEVELS[point]},
        counters={"Threads_created": 9},
        phases=(phase,),
    )


def make_run(
    lab: Lab, number: int, trials: int, done: int, *, invalid: Sequence[int] = (), text: str = "no"
) -> Path:
    """A run with its series, saved as a campaign saves it; its folder."""
    run = lab.run(experiment(number, trials), plan(trials))
    for place in range(done):
        record = trial(place, invalid=text if place in invalid else "", faster=1.0 + (number % 5) / 10)
        folder = run.new_trial_folder(record.trial_id)
        (folder / "my.cnf").write_text("[mysqld]\n")
        run.save_trial(
            record,
            samples=SAMPLES,
            intervals=INTERVALS,
            histograms={},
        )
    return run.folder


def make_many(path: Path, runs: int, trials: int) -> None:
    """Rows only: so many finished runs, of two releases."""
    with Lab.open(path, write=True) as lab, transaction(lab._connection):
        for number in range(runs):
            record = experiment(number, trials)
            run_id = insert_run(lab._connection, record, f"oltp-{number:05}")
            for place in range(trials):
                one = trial(place, release=RELEASES[number % 2])
                insert_trial(lab._connection, run_id, one, one.trial_id, 1000)


def story(log: events.EventLog, place: int, planned: int, seconds: int = 3, *, status: str = "valid") -> None:
    """The events of one trial."""
    begin(log, place, planned)
    for second in range(seconds):
        log(events.Measured(0, 8, 1000.0 + second, 1_500_000, 0, p50_ns=800_000, p99_ns=2_500_000))
        log(events.Sampled(1.5, 1e6, 2e6, 30.0, 8))
    reasons = () if status == "valid" else ("the server died",)
    log(events.TrialFinished(f"t{place + 1:03}", status, reasons, 12.0))


def begin(log: events.EventLog, place: int, planned: int) -> None:
    log(
        events.TrialStarted(
            f"t{place + 1:03}",
            place + 1,
            planned,
            place // 2 + 1,
            f"thread_cache_size = {LEVELS[place % 2]}",
            1,
        )
    )
    log(events.Step("starting the server"))
    log(events.PhaseStarted(0, 8))
