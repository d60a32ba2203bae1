"""Made-up runs of two factors and many settings: arrays and buffer pools under a rising load, file systems
and releases with test programs."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import replace

import polars as pl

from lab.report.builders import (
    ENVIRONMENT,
    PROGRAMS,
    MemoryRun,
    experiment,
    phase,
    program_phase,
    series,
    trial,
)
from mydyno.lab.results.records import PointRecord, TrialRecord

ARRAYS = {"raid1": 1.0, "raid1-split": 1.15, "raid5": 0.9, "raid10": 1.7}
"""Level -> speed against the first."""
POOLS = {"40% of data": 0.35, "80% of data": 0.75, "100% of data": 1.0}
LOADS = (1, 5, 10, 15, 20, 30, 100)

FILE_SYSTEMS = {"ext3": 1.0, "ext4": 0.9, "xfs": 0.84, "jfs": 0.8, "reiserfs": 0.995, "btrfs": 1.3}
"""Level -> time against the first."""
VERSIONS = {"4.1": 1.0, "5.0": 1.04, "5.6": 0.97, "8.0": 1.12, "10.11": 0.92}


def arrays_run(
    *,
    arrays: Mapping[str, float] = ARRAYS,
    pools: Mapping[str, float] = POOLS,
    loads: Sequence[int] = LOADS,
    repeats: int = 4,
    durability: Mapping[str, str] | None = None,
    seed: int = 9,
) -> MemoryRun:
    """Each setting follows the law of scalability, with its peak at about 30 connections on the slowest array
    and further out on faster ones; `durability` is by array."""
    noise = random.Random(seed)
    points = _points(("array", arrays), ("innodb_buffer_pool_size", pools))
    trials: list[TrialRecord] = []
    for block in range(repeats):
        for of in noise.sample(points, len(points)):
            speed = arrays[of.levels["array"]] * pools[of.levels["innodb_buffer_pool_size"]]
            peak, level = 24 + 14 * arrays[of.levels["array"]], noise.gauss(1, 0.015)
            phases = []
            for number, load in enumerate(loads):
                drag = 1 + 0.08 * (load - 1) + 0.92 / peak**2 * load * (load - 1)
                rate = 900 * speed * load / drag * level * noise.gauss(1, 0.015)
                phases.append(phase(number, load, rate, started_s=0.5 + 7 * number))
            made = trial(len(trials), of, phases, block=block, counters={"Threads_created": 100})
            label = (durability or {}).get(of.levels["array"], "durable")
            trials.append(replace(made, durability=label))
    return _run(points, trials, "raid-vs-memory", "Which buys more for OLTP, spindles or memory?")


def file_systems_run(
    *,
    file_systems: Mapping[str, float] = FILE_SYSTEMS,
    versions: Mapping[str, float] = VERSIONS,
    programs: Sequence[str] = tuple(PROGRAMS),
    repeats: int = 5,
    seed: int = 11,
) -> MemoryRun:
    noise = random.Random(seed)
    points = _points(("filesystem", file_systems), ("release", versions))
    trials: list[TrialRecord] = []
    for block in range(repeats):
        for of in noise.sample(points, len(points)):
            slow = file_systems[of.levels["filesystem"]] * versions[of.levels["release"]]
            phases = []
            start = 0.2
            for number, name in enumerate(programs):
                own = slow if name in ("create", "insert", "alter-table") else 1.0
                phases.append(program_phase(number, name, factor=own * noise.gauss(1, 0.02), started_s=start))
                start = phases[-1].ended_s + 0.3
            trials.append(trial(len(trials), of, phases, block=block))
    return _run(points, trials, "filesystems", "Which file system runs the old benchmark suite faster?")


def _points(
    first: tuple[str, Mapping[str, float]], second: tuple[str, Mapping[str, float]]
) -> tuple[PointRecord, ...]:
    names = (first[0], second[0])
    crossed = [(one, other) for one in first[1] for other in second[1]]
    return tuple(
        PointRecord(
            point_id=f"p{number}",
            levels=dict(zip(names, levels, strict=True)),
            title=", ".join(f"{name} = {level}" for name, level in zip(names, levels, strict=True)),
        )
        for number, levels in enumerate(crossed, 1)
    )


def _run(points: Sequence[PointRecord], trials: Sequence[TrialRecord], name: str, question: str) -> MemoryRun:
    recorded: dict[str, tuple[pl.DataFrame, pl.DataFrame]] = {
        made.trial_id: series(made, 100, made.index) for made in trials
    }
    names = tuple(points[0].levels)
    factors = {factor: tuple(dict.fromkeys(point.levels[factor] for point in points)) for factor in names}
    made_of = experiment(points, planned=len(trials), levels=list(factors[names[0]]), factor=names[0])
    return MemoryRun(
        experiment=replace(made_of, factors=factors, name=name, question=question, source=None),
        records=tuple(trials),
        facts=ENVIRONMENT,
        sample_frames={trial_id: samples for trial_id, (samples, _) in recorded.items()},
        interval_frames={trial_id: intervals for trial_id, (_, intervals) in recorded.items()},
    )
