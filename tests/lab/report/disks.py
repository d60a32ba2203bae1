"""A made-up run on disks: RAID levels, each at one or more queue depths, with fio's reads and writes."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace

from lab.report.builders import ENVIRONMENT, MemoryRun, experiment, latency, phase, series, trial
from mydyno.lab.results.records import NO_LATENCY, PhaseRecord, PointRecord, StatementRecord

DISKS = {
    "1 disk": 200.0,
    "raid0 x2": 390.0,
    "raid0 x4": 768.0,
    "raid0 x8": 1510.0,
    "raid1 x2": 198.0,
    "raid5 x3": 150.0,
    "raid5 x4": 199.0,
    "raid5 x8": 396.0,
    "raid6 x4": 131.0,
    "raid6 x8": 260.0,
    "raid10 x4": 391.0,
    "raid10 x8": 776.0,
}
"""Setting -> writes per second that disks of 200 I/Os per second together allow."""


def disk_phase(
    index: int,
    depth: int,
    rate: float,
    *,
    started_s: float = 0.0,
    label: str | None = None,
    mixed: bool = False,
) -> PhaseRecord:
    made = phase(index, depth, rate, started_s=started_s, warmup_s=0.0)
    middle = depth / rate * 1e9

    def done(kind: str, share: float, slow: float) -> StatementRecord:
        count = round(made.queries * share)
        return StatementRecord(
            kind=kind, count=count, errors=0, rows=None, latency=latency(count, middle * slow)
        )

    statements = (
        (done("read", 0.7, 0.6), done("write", 0.3, 1.9), done("fsync", 0.02, 3.0))
        if mixed
        else (done("write", 1.0, 1.0),)
    )
    return replace(made, label=label, statements=statements, connect=NO_LATENCY)


def disks_run(
    *,
    names: Sequence[str] = tuple(DISKS),
    depths: Sequence[int] = (64,),
    labels: Sequence[str] = (),
    repeats: int = 3,
    mixed: bool = False,
    seed: int = 1,
) -> MemoryRun:
    """`names` x `repeats` trials; a phase at each of `depths`, or one for each job of `labels`."""
    noise = random.Random(seed)
    points = tuple(
        PointRecord(point_id=f"p{number}", levels={"array": name}, title=f"array = {name}")
        for number, name in enumerate(names, 1)
    )
    places: list[tuple[int, str | None]] = [(depth, None) for depth in depths]
    places = [(depths[0], label) for label in labels] or places
    trials, samples, intervals = [], {}, {}
    for block in range(1, repeats + 1):
        for of, name in zip(points, names, strict=True):
            phases: list[PhaseRecord] = []
            for number, (depth, label) in enumerate(places):
                full = DISKS[name] * (1 - 0.8 / (1 + depth / 3)) * noise.gauss(1, 0.01)
                start = phases[-1].ended_s + 1 if phases else 0.0
                phases.append(disk_phase(number, depth, full, started_s=start, label=label, mixed=mixed))
            made = trial(len(trials), of, phases, block=block)
            made = replace(
                made, server_version=None, durability=None, settings_asked={}, settings_in_force={}
            )
            trials.append(made)
            samples[made.trial_id], intervals[made.trial_id] = series(made, 0, seed * 100 + made.index)
            samples[made.trial_id] = samples[made.trial_id].select("t_s")
    made_of = experiment(points, planned=len(trials), levels=list(names), factor="array")
    return MemoryRun(
        experiment=replace(
            made_of,
            name="raid-disks",
            question="What does each array of disks bring to 4k random writes?",
            source="seeds 000 and 002, appendix A",
            spec_file="raid-disks.yaml",
            spec_text="experiment: raid-disks\n",
            work="ios",
        ),
        records=tuple(trials),
        facts={name: value for name, value in ENVIRONMENT.items() if not name.startswith("server")},
        sample_frames=samples,
        interval_frames=intervals,
    )
