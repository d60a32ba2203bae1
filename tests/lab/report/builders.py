"""A made-up but realistic run, built in memory: the same bytes for the same arguments.

Shaped after a 2014 Korean blog post on max_connections and thread_cache_size: a load that reconnects at ever
more connections, against a small and a large thread cache.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Literal

import polars as pl

from mydyno.lab.analysis.disk_theory import remarks
from mydyno.lab.results.records import (
    NO_LATENCY,
    CheckRecord,
    Environment,
    ExperimentRecord,
    GroundRecord,
    Invalidity,
    Latency,
    OperationRecord,
    PhaseRecord,
    PointRecord,
    SelfCheckRecord,
    StatementRecord,
    TrialRecord,
    VolumeRecord,
)

SPEC_TEXT = """\
experiment: thread-cache
question: Does a larger thread cache buy throughput when connections come and go?
source: a 2014 Korean blog post on max_connections and thread_cache_size
setup:
  host: local
  server:
    release: system
    config: {max_connections: 450, thread_cache_size: 8, innodb_buffer_pool_size: 256M}
factors:
  server.config.thread_cache_size: [8, 450]
workload:
  smack: {scenario: select-key, rows: 90000}
  connections: [10, 50, 100, 150, 200, 250, 300, 400]
  each: {warmup: 1s, measure: 5s}
design: {repeats: 4, order: blocked, seed: 1}
"""

CONNECTIONS = (10, 50, 100, 150, 200, 250, 300, 400)
FACTOR = "server.config.thread_cache_size"

ENVIRONMENT: dict[str, str | int | float | None] = {
    "cpu.model": "Example CPU @ 2.50GHz",
    "cpu.usable": 2,
    "memory.bytes": 8 << 30,
    "memory.transparent_hugepages": "madvise",
    "memory.swappiness": 60,
    "kernel.release": "6.1.0-28-amd64",
    "os.distribution": "Debian GNU/Linux 12 (bookworm)",
    "os.virtualisation": None,
    "filesystem.kind": "ext4",
    "filesystem.source": "/dev/vda1",
    "filesystem.mount_point": "/",
    "filesystem.options": "rw,relatime",
    "disk.io_scheduler": "none",
    "server.binary": "10.11.19-MariaDB (/usr/sbin/mariadbd)",
    "engine.version": "mydyno-engine 0.1.0",
    "mydyno.version": "0.1.0",
}


@dataclass(frozen=True)
class MemoryRun:
    """A run held in memory, read the way a lab's run is read."""

    experiment: ExperimentRecord
    records: tuple[TrialRecord, ...]
    facts: Environment
    sample_frames: Mapping[str, pl.DataFrame] = field(default_factory=dict)
    interval_frames: Mapping[str, pl.DataFrame] = field(default_factory=dict)
    folder: Path | None = None
    encoded_histograms: Mapping[str, Mapping[str, Mapping[str, str]]] = field(default_factory=dict)
    """Trial -> phase -> series -> histogram."""
    control_records: tuple[TrialRecord, ...] = ()

    def trials(self) -> tuple[TrialRecord, ...]:
        return self.records

    def control_trials(self) -> tuple[TrialRecord, ...]:
        return self.control_records

    def environment(self) -> Environment:
        return self.facts

    def environment_changes(self) -> Mapping[str, tuple[str | int | float | None, ...]]:
        return {}

    def samples(
        self, trial_id: str, attempt: int | None = None, columns: Sequence[str] | None = None
    ) -> pl.DataFrame:
        return _only(self.sample_frames.get(trial_id, pl.DataFrame()), columns)

    def intervals(
        self, trial_id: str, attempt: int | None = None, columns: Sequence[str] | None = None
    ) -> pl.DataFrame:
        return _only(self.interval_frames.get(trial_id, pl.DataFrame()), columns)

    def histograms(self, trial_id: str, attempt: int | None = None) -> Mapping[str, Mapping[str, str]]:
        return self.encoded_histograms.get(trial_id, {})

    def look_at_series(self, trial_id: str, attempt: int | None = None) -> None:
        pass


def _only(frame: pl.DataFrame, columns: Sequence[str] | None) -> pl.DataFrame:
    if columns is None:
        return frame
    return frame.select(name for name in frame.columns if any(fnmatchcase(name, one) for one in columns))


def latency(count: int, middle_ns: float) -> Latency:
    if count == 0:
        return NO_LATENCY
    return Latency(
        count=count,
        min_ns=int(middle_ns * 0.3),
        mean_ns=middle_ns * 1.2,
        max_ns=int(middle_ns * 20),
        p50_ns=int(middle_ns),
        p75_ns=int(middle_ns * 1.4),
        p90_ns=int(middle_ns * 1.9),
        p95_ns=int(middle_ns * 2.4),
        p99_ns=int(middle_ns * 4.1),
        p999_ns=int(middle_ns * 9),
    )


def phase(
    index: int,
    connections: int,
    queries_per_second: float,
    *,
    started_s: float = 0.0,
    warmup_s: float = 1.0,
    measure_s: float = 5.0,
    reached: int | None = None,
    connect_ns: float = 200_000.0,
    errors: Mapping[str, int] | None = None,
    latency_kind: str = "service",
) -> PhaseRecord:
    queries = round(queries_per_second * measure_s)
    spread = latency(queries, connections / queries_per_second * 1e9 if queries_per_second else 0)
    return PhaseRecord(
        index=index,
        connections_asked=connections,
        connections_reached=connections if reached is None else reached,
        started_s=started_s,
        measured_from_s=started_s + warmup_s,
        measured_to_s=started_s + warmup_s + measure_s,
        ended_s=started_s + warmup_s + measure_s,
        queries=queries,
        transactions=queries // 2,
        queries_per_second=queries_per_second,
        transactions_per_second=queries_per_second / 2,
        latency=spread,
        connect=latency(connections, connect_ns),
        statements=(
            StatementRecord(kind="select_key", count=queries, errors=0, rows=queries, latency=spread),
        ),
        errors=dict(errors or {}),
        client_cpu_user_s=measure_s * 0.3,
        client_cpu_system_s=measure_s * 0.5,
        latency_kind="response" if latency_kind == "response" else "service",
    )


def point(point_id: str, level: str, factor: str = FACTOR) -> PointRecord:
    return PointRecord(
        point_id=point_id, levels={factor: level}, title=f"{factor.rsplit('.', 1)[-1]} = {level}"
    )


def trial(
    index: int,
    of: PointRecord,
    phases: Sequence[PhaseRecord],
    *,
    block: int = 1,
    counters: Mapping[str, int | float] | None = None,
    invalid: Sequence[Invalidity] = (),
) -> TrialRecord:
    level = next(iter(of.levels.values()), "450")
    settings = {
        "max_connections": "450",
        "thread_cache_size": level,
        "innodb_buffer_pool_size": "268435456",
        "innodb_flush_log_at_trx_commit": "1",
        "sync_binlog": "0",
    }
    return TrialRecord(
        trial_id=f"t{index + 1:03d}",
        index=index,
        block=block,
        point_id=of.point_id,
        levels=of.levels,
        seed=1000 + index,
        status="invalid" if invalid else "valid",
        invalidities=tuple(invalid),
        started_at=f"2026-01-31T12:{index:02d}:00Z",
        seconds=56.0 + index,
        server_version="10.11.19-MariaDB",
        durability="durable",
        settings_asked={
            "max_connections": "450",
            "thread_cache_size": level,
            "innodb_buffer_pool_size": "256M",
        },
        settings_in_force=settings,
        counters=dict(counters or {}),
        phases=tuple(phases),
    )


def series(trial_record: TrialRecord, cache: int, seed: int) -> tuple[pl.DataFrame, pl.DataFrame]:
    """(samples, intervals) of a trial, one a second: threads are created whenever the cache is too small."""
    noise = random.Random(seed)
    intervals: list[dict[str, object]] = []
    samples: list[dict[str, object]] = []
    created = cached = most = 0
    queries_total = 0
    for each in trial_record.phases:
        fresh = max(0, each.connections_reached - cached)
        cached = min(cache, each.connections_reached)
        most = max(most, each.connections_reached)
        at = each.started_s
        while at < each.ended_s - 1e-9:
            to = min(at + 1.0, each.ended_s)
            rate = (each.queries_per_second or 0.0) * noise.uniform(0.94, 1.06)
            queries = round(rate * (to - at))
            queries_total += queries
            spread = latency(queries, each.connections_reached / rate * 1e9 if rate else 0)
            intervals.append(
                {
                    "phase": each.index,
                    "connections": each.connections_reached,
                    "from_s": at,
                    "to_s": to,
                    "queries": queries,
                    "transactions": queries // 2,
                    "errors": 0,
                    "p50_ns": spread.p50_ns,
                    "p95_ns": spread.p95_ns,
                    "p99_ns": spread.p99_ns,
                    "max_ns": spread.max_ns,
                    "warmup": each.measured_from_s is not None and to <= each.measured_from_s,
                }
            )
            samples.append(
                {
                    "t_s": at + 0.3,
                    "status.Threads_created": created + fresh,
                    "status.Max_used_connections": most,
                    "status.Questions": queries_total,
                    "server.cpu_user_s": at * 1.1,
                    "server.cpu_system_s": at * 0.6,
                }
            )
            at = to
        created += fresh
    return pl.DataFrame(samples), pl.DataFrame(intervals)


def sampled(run: MemoryRun) -> MemoryRun:
    """With what a real server and /proc tell beside the rest: a machine whose CPUs are full, a disk that is
    busy for a quarter of the time."""

    def richer(frame: pl.DataFrame) -> pl.DataFrame:
        t = pl.col("t_s")
        return frame.with_columns(
            (t * 1.5).alias("host.cpu.user_s"),
            (t * 0.4).alias("host.cpu.system_s"),
            (t * 0.1).alias("host.cpu.idle_s"),
            (t * 0.25).alias("disk.vda.busy_s"),
            (t * 300).cast(pl.Int64).alias("status.Innodb_data_fsyncs"),
            (t * 40).cast(pl.Int64).alias("status.Innodb_row_lock_time"),
            (t * 7).cast(pl.Int64).alias("status.Innodb_row_lock_waits"),
            (t * 10 % 9).cast(pl.Int64).alias("status.Threads_running"),
        )

    return replace(run, sample_frames={name: richer(frame) for name, frame in run.sample_frames.items()})


def throughput(connections: int, cache: int, noise: random.Random) -> float:
    """Queries/s: a peak at few connections, then a slow fall; a small cache costs more the more connect."""
    base = 52_000 / (1 + (connections / 520) ** 1.3) * (1 - 0.35 / (1 + connections / 12))
    cost = 0.0 if cache >= connections else 0.16 * (connections / 400) ** 0.8
    return base * (1 - cost) * noise.gauss(1, 0.018)


def thread_cache_run(
    *,
    repeats: int = 4,
    connections: Sequence[int] = CONNECTIONS,
    levels: Sequence[int] = (8, 450),
    invalid: Sequence[int] = (4,),
    seed: int = 1,
) -> MemoryRun:
    """`levels` x `repeats` trials over `connections`; the trials at the `invalid` indexes failed a check."""
    noise = random.Random(seed)
    points = tuple(point(f"p{number}", str(level)) for number, level in enumerate(levels, 1))
    trials: list[TrialRecord] = []
    sample_frames: dict[str, pl.DataFrame] = {}
    interval_frames: dict[str, pl.DataFrame] = {}
    for block in range(1, repeats + 1):
        order = list(range(len(points)))
        noise.shuffle(order)
        for place in order:
            index, cache = len(trials), levels[place]
            short = index in invalid
            phases = []
            start = 0.5
            created = cached = 0
            for number, wanted in enumerate(connections):
                reached = wanted - 29 if short and number == len(connections) - 1 else wanted
                created += max(0, reached - cached)
                cached = min(cache, reached)
                slow = 1.0 if cache >= wanted else 2.6
                phases.append(
                    phase(
                        number,
                        wanted,
                        throughput(wanted, cache, noise) * (0.6 if short else 1),
                        started_s=start,
                        reached=reached,
                        connect_ns=(180_000 + 4_000 * wanted) * slow * noise.gauss(1, 0.05),
                        errors={"1040": 29} if reached < wanted else {},
                    )
                )
                start = phases[-1].ended_s + 1.0
            last = phases[-1]
            reason = Invalidity(
                check="connections-reached",
                message=f"{last.connections_reached} of {last.connections_asked} connections were opened: "
                "Too many connections (1040)",
                phase=last.index,
            )
            made = trial(
                index,
                points[place],
                phases,
                block=block,
                counters={
                    "Threads_created": created,
                    "Max_used_connections": max(each.connections_reached for each in phases),
                    "Connections": sum(each.connections_reached for each in phases),
                },
                invalid=[reason] if short else [],
            )
            trials.append(made)
            samples, intervals = series(made, cache, seed * 100 + index)
            sample_frames[made.trial_id] = samples
            interval_frames[made.trial_id] = intervals
    return MemoryRun(
        experiment=experiment(points, planned=len(trials), levels=[str(level) for level in levels]),
        records=tuple(trials),
        facts=ENVIRONMENT,
        sample_frames=sample_frames,
        interval_frames=interval_frames,
    )


def experiment(
    points: Sequence[PointRecord], *, planned: int, levels: Sequence[str], factor: str = FACTOR
) -> ExperimentRecord:
    return ExperimentRecord(
        name="thread-cache",
        question="Does a larger thread cache buy throughput when connections come and go?",
        source="a 2014 Korean blog post on max_connections and thread_cache_size",
        size="demo",
        spec_text=SPEC_TEXT,
        spec_file="thread-cache.yaml",
        plan_fingerprint="8f3a91c0d2e4b5a6978812f3",
        seed=1,
        factors={factor: tuple(levels)} if levels else {},
        points=tuple(points),
        planned_trials=planned,
        created_at="2026-01-31T12:00:00Z",
        mydyno_version="0.1.0",
    )


def one_point_run(*, repeats: int = 3, connections: Sequence[int] = CONNECTIONS) -> MemoryRun:
    """No factor at all: a single point under load."""
    run = thread_cache_run(repeats=repeats, connections=connections, levels=(450,), invalid=())
    alone = PointRecord(point_id="p1", levels={}, title="as set up")
    return replace(
        run,
        experiment=replace(run.experiment, factors={}, points=(alone,)),
        records=tuple(replace(each, levels={}) for each in run.records),
    )


PROGRAMS: dict[str, tuple[tuple[str, float, int], ...]] = {
    "alter-table": (("insert", 0.4, 1000), ("alter_table_add", 9.0, 92), ("create_index", 1.6, 8)),
    "ATIS": (("Insert into table", 1.1, 9768), ("select_simple_join", 0.5, 500), ("select_group", 1.3, 2800)),
    "big-tables": (("select_many_fields", 2.0, 2000), ("insert_many_fields", 0.9, 2000)),
    "connect": (("connect", 3.1, 10_000), ("connect+select_simple", 4.0, 10_000)),
    "create": (("create_MANY_tables", 28.0, 10_000), ("drop_table_when_MANY_tables", 12.0, 10_000)),
    "insert": (
        ("insert", 61.0, 350_768),
        ("insert_duplicates", 18.0, 100_000),
        ("select_distinct", 2.2, 800),
        ("update_with_key", 24.0, 300_000),
        ("delete_key", 1.4, 10_000),
    ),
    "select": (("select_big", 21.0, 80), ("count_distinct", 9.5, 1000), ("max_group", 4.0, 200)),
    "wisconsin": (("wisc_benchmark", 1.9, 114),),
}
"""Test program of sql-bench -> (operation, seconds, tests)."""

NOT_IN_TOTALS = frozenset({"delete_key"})
ESTIMATED = frozenset({"max_group"})


def program_phase(
    index: int, name: str, *, factor: float, started_s: float, server_cpu: bool = True
) -> PhaseRecord:
    """Each operation of a program takes `factor` times its usual time."""
    done = tuple(
        OperationRecord(
            name=operation,
            tests=tests,
            statements=tests + 2,
            rows=tests // 2,
            failed=0,
            elapsed_ns=int(usual * factor * 1e9),
            original_elapsed_ns=None,
            client_cpu_user_s=usual * 0.1,
            client_cpu_system_s=usual * 0.05,
            server_cpu_user_s=usual * factor * 0.5 if server_cpu else None,
            server_cpu_system_s=usual * factor * 0.1 if server_cpu else None,
            estimated=operation in ESTIMATED,
            warning=None,
            in_totals=operation not in NOT_IN_TOTALS,
        )
        for operation, usual, tests in PROGRAMS[name]
    )
    took = sum(operation.elapsed_ns for operation in done) / 1e9
    statements = sum(operation.statements for operation in done)
    base = phase(index, 1, statements / took, started_s=started_s, warmup_s=0.0, measure_s=took)
    return replace(base, label=name, queries=statements, operations=done, errors={}, retries=0, reconnects=0)


ENGINES = {"InnoDB": 1.0, "MyISAM": 0.82, "Aria": 0.99, "InnoDB, flush 2": 0.88}
"""Storage engine -> its time against the first."""

FLIGHTS = CheckRecord(name="rows of flight", holds=True, detail=None)
FARES = CheckRecord(name="rows of fare", holds=False, detail="2,534 of 2,536")


def sql_bench_run(
    *,
    repeats: int = 5,
    engines: Mapping[str, float] | None = None,
    programs: Sequence[str] = tuple(PROGRAMS),
    seed: int = 3,
) -> MemoryRun:
    """One phase for each test program, at one connection; a check fails in the second trial."""
    noise = random.Random(seed)
    wanted = ENGINES if engines is None else engines
    factor = "workload.sql_bench.engine"
    points = tuple(
        PointRecord(point_id=f"p{number}", levels={factor: name}, title=f"engine = {name}")
        for number, name in enumerate(wanted, 1)
    )
    trials: list[TrialRecord] = []
    frames: dict[str, pl.DataFrame] = {}
    samples: dict[str, pl.DataFrame] = {}
    for block in range(repeats):
        order = list(points)
        noise.shuffle(order)
        for of in order:
            phases: list[PhaseRecord] = []
            start = 0.2
            for number, name in enumerate(programs):
                slow = wanted[of.levels[factor]] if name != "connect" else 1.0
                phases.append(
                    program_phase(number, name, factor=slow * noise.gauss(1, 0.02), started_s=start)
                )
                start = phases[-1].ended_s + 0.3
            made = trial(len(trials), of, phases, block=block, counters={"Threads_created": 9})
            checks = (
                (FLIGHTS, FARES) if len(trials) == 1 else (FLIGHTS, replace(FARES, holds=True, detail=None))
            )
            trials.append(replace(made, checks=checks, seconds=start + 4))
            samples[made.trial_id], frames[made.trial_id] = series(made, 1, seed * 100 + len(trials))
    return MemoryRun(
        experiment=replace(
            experiment(points, planned=len(trials), levels=list(wanted), factor=factor),
            name="sql-bench",
            question="Which storage engine runs the old benchmark suite faster?",
            source=None,
        ),
        records=tuple(trials),
        facts=ENVIRONMENT,
        sample_frames=samples,
        interval_frames=frames,
    )


def told_by_a_foreign_program(run: MemoryRun, point_ids: Sequence[str] | None = None) -> MemoryRun:
    """The trials of some points as sysbench would tell them: p95 alone, no time to connect, neither errors
    nor rows by kind of statement."""

    def poorer(of: PhaseRecord) -> PhaseRecord:
        seen = of.latency
        result = Latency(count=seen.count, mean_ns=seen.mean_ns, max_ns=seen.max_ns, p95_ns=seen.p95_ns)
        statements = tuple(replace(each, errors=None, rows=None, latency=result) for each in of.statements)
        return replace(of, latency=result, connect=NO_LATENCY, statements=statements)

    records = tuple(
        replace(each, phases=tuple(map(poorer, each.phases)))
        if point_ids is None or each.point_id in point_ids
        else each
        for each in run.records
    )
    return replace(run, records=records)


ARRAYS: dict[str, tuple[int, float, float, float]] = {
    "raid1": (2, 200.0, 400.0, 0.24),
    "raid5": (4, 400.0, 800.0, 0.22),
    "raid10": (4, 400.0, 800.0, 0.4),
}
"""Level -> its disks, what theory expects of writes and reads, and its queries/s against a single disk."""

UML = GroundRecord(
    kind="uml",
    kernel="6.1.176",
    cpus=1,
    memory_bytes=1 << 30,
    budget="separate",
    disk_model="Each disk is a sparse file of the machine; the guest's cgroup blkio limits it.",
    volumes=(),
)


def storage_run(*, arrays: Sequence[str] = tuple(ARRAYS), repeats: int = 3, seed: int = 5) -> MemoryRun:
    """Arrays of disks of 200 IOPS in a guest, the log on a disk of its own; the first RAID 5 was CPU-bound,
    and of its log nothing could be checked."""
    noise = random.Random(seed)
    factor = "storage.data.raid"
    points = tuple(
        PointRecord(point_id=f"p{number}", levels={factor: name}, title=f"array = {name}")
        for number, name in enumerate(arrays, 1)
    )
    trials: list[TrialRecord] = []
    frames: dict[str, tuple[pl.DataFrame, pl.DataFrame]] = {}
    for block in range(repeats):
        for of in points:
            name = of.levels[factor]
            disks, writes, reads, speed = ARRAYS[name]
            phases = [
                phase(number, connections, speed * noise.gauss(2000, 40), started_s=0.5 + 7 * number)
                for number, connections in enumerate((1, 10, 30))
            ]
            made = trial(len(trials), of, phases, block=block, counters={"Threads_created": 30})
            busy = block == 0 and name == "raid5"
            checks = (
                self_check("data", "randwrite", writes, disks, noise, idle=0.04 if busy else 0.6),
                self_check("data", "randread", reads, disks, noise, idle=0.55),
                self_check("log", "randwrite", 200.0, 1, noise, idle=0.8, failed=busy),
            )
            marks = remarks(checks, 0.15)
            trials.append(
                replace(
                    made,
                    ground=replace(UML, volumes=volumes(name, disks)),
                    self_checks=checks,
                    remarks=marks,
                )
            )
            frames[made.trial_id] = series(made, 100, seed * 100 + len(trials))
    return MemoryRun(
        experiment=replace(
            experiment(points, planned=len(trials), levels=list(arrays), factor=factor),
            name="raid-vs-memory",
            question="Which buys more for OLTP, spindles or memory?",
            source=None,
        ),
        records=tuple(trials),
        facts=ENVIRONMENT,
        sample_frames={name: samples for name, (samples, _) in frames.items()},
        interval_frames={name: intervals for name, (_, intervals) in frames.items()},
    )


def volumes(level: str, disks: int) -> tuple[VolumeRecord, ...]:
    names = " ".join(f"/dev/ubd{letter}" for letter in "bcdefg"[:disks])
    striped = {} if level == "raid1" else {"chunk": "512K"}
    data = {
        "devices": names,
        "limits": "200 IOPS each",
        "array": f"md {level} of {disks}",
        **striped,
        "array state": "clean",
        "file system": "xfs, 4096 byte blocks",
        "mount options": "rw,noatime,attr2,inode64,logbufs=8,logbsize=32k,noquota",
        "scheduler": "none",
    }
    return (
        VolumeRecord(name="data", facts=data),
        VolumeRecord(
            name="log", facts={"devices": "/dev/ubdh", "limits": "200 IOPS each", "file system": "xfs"}
        ),
    )


def self_check(
    volume: str,
    operation: Literal["randread", "randwrite"],
    expected: float,
    disks: int,
    noise: random.Random,
    *,
    idle: float,
    failed: bool = False,
) -> SelfCheckRecord:
    return SelfCheckRecord(
        volume=volume,
        operation=operation,
        block_bytes=4096,
        queue_depth=16 * disks,
        seconds=2.0,
        measured_iops=None if failed else round(expected * noise.gauss(0.96, 0.015), 1),
        expected_iops=expected,
        idle=None if failed else idle,
        error="fio: No space left on device" if failed else None,
    )
