"""A small run and its trials, whole enough to fill every column of the lab."""

from __future__ import annotations

from dataclasses import replace

import polars as pl

from mydyno.lab.results.records import (
    CheckRecord,
    ClaimRecord,
    DataRecord,
    DesignRecord,
    ExperimentRecord,
    GroundRecord,
    Invalidity,
    Latency,
    NetworkRecord,
    OperationRecord,
    OperationTotal,
    PhaseRecord,
    PointRecord,
    Remark,
    SelfCheckRecord,
    SettingTranslation,
    ShareRecord,
    StatementRecord,
    TrialRecord,
    VolumeRecord,
)
from mydyno.lab.results.writer import RunWriter

FACTOR = "server.config.thread_cache_size"
LEVELS = ("8", "450")


def experiment(fingerprint: str = "c0ffee0123456789", trials: int = 6) -> ExperimentRecord:
    return ExperimentRecord(
        name="thread-cache",
        question="Does a larger thread cache help?",
        source=None,
        size="toy",
        spec_text="experiment: thread-cache\n# ünïcode stays\n",
        spec_file="thread-cache.yaml",
        plan_fingerprint=fingerprint,
        seed=2**64 - 1,
        factors={FACTOR: LEVELS},
        points=tuple(
            PointRecord(point_id=f"p{number}", levels={FACTOR: level}, title=f"thread_cache_size = {level}")
            for number, level in enumerate(LEVELS, start=1)
        ),
        planned_trials=trials,
        created_at="2026-01-31T12:00:00Z",
        mydyno_version="0.1.0",
    )


def designed_experiment() -> ExperimentRecord:
    """One that looks after each block, with an A/A control, and with every column of a design filled."""
    plain = experiment(fingerprint="de51900123456789", trials=60)
    again = replace(plain.points[0], point_id="p1-control", title="the same (A/A control)", control_of="p1")
    return replace(
        plain,
        points=(*plain.points, again),
        design=DesignRecord(
            points="fraction",
            aliases=("A = B×C",),
            defining=("I = A×B×C",),
            resolution=3,
            until=0.03,
            first_look=3,
            at_most=20,
            hard_factors=(("A", "B"), ("C",)),
            rest_s=600.0,
        ),
    )


def latency(count: int = 900, p95_ns: int = 95_000) -> Latency:
    return Latency(
        count=count,
        min_ns=10_000,
        mean_ns=50_000.5,
        max_ns=2_000_000,
        p50_ns=48_000,
        p75_ns=60_000,
        p90_ns=80_000,
        p95_ns=p95_ns,
        p99_ns=150_000,
        p999_ns=900_000,
    )


def phase(index: int = 0, connections: int = 10, queries_per_second: float | None = 1000.0) -> PhaseRecord:
    queries = round((queries_per_second or 0) * 2)
    return PhaseRecord(
        index=index,
        connections_asked=connections,
        connections_reached=connections - 1,
        started_s=3.0 * index,
        measured_from_s=None if queries_per_second is None else 3.0 * index + 0.5,
        measured_to_s=None if queries_per_second is None else 3.0 * index + 2.5,
        ended_s=3.0 * index + 2.6,
        queries=queries,
        transactions=queries // 2,
        queries_per_second=queries_per_second,
        transactions_per_second=None if queries_per_second is None else queries_per_second / 2,
        latency=latency(queries) if queries else Latency(count=0),
        connect=latency(connections),
        statements=(
            StatementRecord(kind="update", count=queries, errors=0, rows=queries, latency=latency(queries)),
            StatementRecord(kind="commit", count=0, errors=3, rows=0, latency=Latency(count=0)),
        ),
        errors={"1213": 3, "2013": 1},
        client_cpu_user_s=0.25,
        client_cpu_system_s=None,
        latency_kind="service",
        aborted=None if queries_per_second else "the server is gone",
        transaction_latency=latency(queries // 2),
        transactions_by_name={
            "new_order": latency(queries // 2, p95_ns=120_000),
            "payment": Latency(count=0),
        },
        error_examples={"1213": "Deadlock found when trying to get lock"},
        backlog_max=None,
    )


def imported_experiment() -> ExperimentRecord:
    """One whose numbers, and what was said of them, come from elsewhere."""
    claim = ClaimRecord(
        factor=FACTOR, order=("450", "8"), where={"machine": "one"}, said="the larger one is faster"
    )
    plain = experiment(fingerprint="1a90f7ed01234567")
    return replace(plain, imported=True, claims=(claim,))


def imported_trial(number: int = 1) -> TrialRecord:
    """Its source tells a time and a total, and no counts."""
    measured = trial(number)
    phases = tuple(replace(phase, queries=None, transactions=None) for phase in measured.phases)
    total = OperationTotal(
        name="insert",
        tests=1000,
        elapsed_s=1783.0,
        client_cpu_user_s=2.5,
        client_cpu_system_s=0.5,
        client_cpu_s=0.0,
        estimated=True,
        warned=False,
    )
    return replace(measured, phases=phases, totals={"running_time": 1783.0}, operation_totals=(total,))


def trial(
    number: int = 1, *, valid: bool = True, queries_per_second: float = 1000.0, connections: int = 10
) -> TrialRecord:
    """Odd numbers measure point p1, even ones p2; two trials make a block."""
    point = 1 if number % 2 else 2
    reasons = (
        Invalidity(check="settings-in-force", message="thread_cache_size is 9, 8 was asked"),
        Invalidity(check="errors", message="3 statements failed", phase=1),
    )
    return TrialRecord(
        trial_id=f"t{number:03}",
        index=number - 1,
        block=(number - 1) // 2,
        point_id=f"p{point}",
        levels={FACTOR: LEVELS[point - 1]},
        seed=2**64 - number,
        status="valid" if valid else "invalid",
        invalidities=() if valid else reasons,
        started_at="2026-01-31T12:00:00Z",
        seconds=12.5,
        server_version="10.11.19-MariaDB",
        durability="durable",
        settings_asked={"thread_cache_size": LEVELS[point - 1]},
        settings_in_force={"thread_cache_size": LEVELS[point - 1], "port": "0"},
        counters={"Threads_created": 11, "Max_used_connections": 10, "Cpu_time": 1.5},
        phases=(phase(0, connections, queries_per_second), phase(1, 2 * connections, None)),
    )


def operation(name: str = "insert_key", *, in_totals: bool = True) -> OperationRecord:
    return OperationRecord(
        name=name,
        tests=1000,
        statements=1002,
        rows=10,
        failed=1,
        elapsed_ns=1_500_000_000,
        original_elapsed_ns=None if in_totals else 1_900_000_000,
        client_cpu_user_s=0.25,
        client_cpu_system_s=0.125,
        server_cpu_user_s=0.75 if in_totals else None,
        server_cpu_system_s=0.5 if in_totals else None,
        estimated=not in_totals,
        warning=None if in_totals else "estimated after 600 seconds",
        in_totals=in_totals,
    )


def program_trial(number: int = 1) -> TrialRecord:
    """Two test programs of sql-bench; the second one did not come to its end."""
    whole = replace(
        phase(0, 1), label="insert", operations=(operation(), operation("order_by", in_totals=False))
    )
    cut = replace(phase(1, 1, None), label="ATIS", retries=2, reconnects=1)
    checks = (
        CheckRecord(name="rows of 'flight'", holds=True, detail=None),
        CheckRecord(name="rows of 'fare'", holds=False, detail="2 of 8 are missing"),
    )
    return replace(trial(number), phases=(whole, cut), checks=checks)


def foreign_trial(number: int = 1) -> TrialRecord:
    """Of an external program: one percentile, no time to connect, no rows, no errors by kind."""
    result = Latency(count=2000, min_ns=9_000, mean_ns=50_000.0, max_ns=2_000_000, p95_ns=95_000)
    foreign = replace(
        phase(0),
        latency=result,
        connect=Latency(count=0),
        transaction_latency=result,
        statements=(
            StatementRecord(kind="read", count=2000, errors=None, rows=None, latency=Latency(count=0)),
        ),
        errors={},
        error_examples={},
    )
    return replace(trial(number), phases=(foreign,))


def storage_trial(number: int = 1) -> TrialRecord:
    """On four disks of a guest, with its log on one of its own; the second self-check failed."""
    ground = GroundRecord(
        kind="uml",
        kernel="6.1.0",
        cpus=1,
        memory_bytes=None,
        budget="separate",
        disk_model="a file of the host; reads and writes have a budget each",
        volumes=(
            VolumeRecord(
                name="data",
                facts={"devices": "/dev/ubdb /dev/ubdc", "array": "raid0 of 2", "chunk": "512K"},
            ),
            VolumeRecord(name="log", facts={"devices": "/dev/ubdd"}),
        ),
    )
    whole = SelfCheckRecord(
        volume="data",
        operation="randwrite",
        block_bytes=4096,
        queue_depth=32,
        seconds=2.0,
        measured_iops=390.0,
        expected_iops=400.0,
        idle=0.75,
    )
    failed = replace(
        whole,
        volume="log",
        operation="randread",
        measured_iops=None,
        expected_iops=None,
        idle=None,
        error="fio: No space left on device",
    )
    return replace(
        trial(number),
        ground=ground,
        self_checks=(whole, failed),
        data=data(),
        remarks=(
            Remark(check="self-check", message="log: fio failed: No space left on device"),
            Remark(check="runtime", message="the size ran out", phase=0),
        ),
    )


def data(cache: str = "scan") -> DataRecord:
    """A copy that the page cache holds whole, and a buffer pool that a scan has filled by half."""
    return DataRecord(
        dataset="0123456789abcdef",
        clone="copy",
        clone_seconds=0.25,
        cache=cache,
        file_bytes=112 << 20,
        cached_bytes=112 << 20,
        warm_seconds=1.5 if cache == "scan" else None,
        pool_pages=4096,
        pool_pages_total=8192,
        page_bytes=None,
    )


def translated_trial(number: int) -> TrialRecord:
    """One whose settings were written for another release."""
    return replace(
        trial(number),
        translations=(
            SettingTranslation(
                name="innodb_log_file_size",
                value="512M",
                became={"innodb_redo_log_capacity": "1G"},
                why="size x files",
            ),
            SettingTranslation(name="query_cache_size", value="0", became={}, why="there is no query cache"),
        ),
    )


def samples(rows: int = 3) -> pl.DataFrame:
    return pl.DataFrame({"t_s": [float(t) for t in range(rows)], "status.Queries": list(range(rows))})


def intervals(rows: int = 2) -> pl.DataFrame:
    return pl.DataFrame({"from_s": [float(t) for t in range(rows)], "queries": list(range(rows))})


HISTOGRAMS = {"0": {"queries": "SElTVA==", "connects": "SElTVA=="}}


def save(run: RunWriter, record: TrialRecord) -> TrialRecord:
    """The trial as the runner does it: a folder first, some files of its own in it, then the save."""
    folder = run.new_trial_folder(record.trial_id)
    (folder / "my.cnf").write_text("[mysqld]\nthread_cache_size = 8\n")
    return run.save_trial(record, samples=samples(), intervals=intervals(), histograms=HISTOGRAMS)


def generators_trial(number: int = 1) -> TrialRecord:
    """Whose load came from two machines."""
    measured = trial(number)
    first, *rest = measured.phases
    share = ShareRecord(
        host="c1",
        connections=5,
        queries=600,
        transactions=300,
        threads=2,
        cpu_s=0.5,
        machine_busy=0.4,
        measured_s=1.0,
        late_s=0.0002,
        short_s=0.0,
        clock_error_s=0.0001,
    )
    other = replace(share, host="c2", queries=400, machine_busy=None, late_s=None, short_s=None)
    network = NetworkRecord(
        host="c1",
        cpus=8,
        beside_server=False,
        round_trip_ns=210_000,
        bytes_per_second=117_000_000.0,
        clock_error_s=0.0001,
    )
    slow = replace(network, host="c2", beside_server=True, round_trip_ns=None, bytes_per_second=None)
    return replace(measured, phases=(replace(first, shares=(share, other)), *rest), networks=(network, slow))
