"""Runs whose phases have costs per operation."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import replace

from lab.report.builders import MemoryRun
from mydyno.lab.analysis.metrics import CACHE_MISSES, COSTS, INSTRUCTIONS

TYPICAL: Mapping[str, float] = dict(
    zip(
        (metric.name for metric in COSTS if metric not in (INSTRUCTIONS, CACHE_MISSES)),
        (45_000.0, 31_000.0, 14_000.0, 2.1, 0.043, 0.0, 16_900.0, 0.73, 1_240.0, 0.0),
        strict=True,
    )
)
"""Of a machine without hardware counters; nothing is read and nothing waits for a row lock."""


def with_costs(
    run: MemoryRun, factors: Mapping[str, float], *, noise: float = 0.01, seed: int = 1
) -> MemoryRun:
    """`run` with the typical costs times the factor of each point, give or take the `noise`; a point that
    `factors` does not name has none."""
    chance = random.Random(seed)
    records = tuple(
        replace(
            trial,
            phases=tuple(
                replace(
                    phase,
                    costs={
                        name: value * factors[trial.point_id] * chance.gauss(1, noise)
                        for name, value in TYPICAL.items()
                        if trial.point_id in factors
                    },
                )
                for phase in trial.phases
            ),
        )
        for trial in run.records
    )
    return replace(run, records=records)
