"""A made-up run of two factors: server releases across, loads of several kinds down."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import replace

import polars as pl

from lab.report.builders import ENVIRONMENT, MemoryRun, experiment, phase, program_phase, series, trial
from mydyno.lab.results.records import Invalidity, PhaseRecord, PointRecord, TrialRecord

RELEASE = "server.release"
RELEASES = {"mysql-5.6": 1.0, "mysql-9.7": 0.8, "mariadb-11.8": 1.3}
"""Release -> its speed against the first."""
LOADS: dict[str, tuple[int, ...]] = {"read only": (1, 8), "point select": (8,), "sql-bench": ()}
"""Load -> its numbers of connections; none for test programs."""
PROGRAMS = ("alter-table", "wisconsin")


def releases_run(
    *,
    releases: Mapping[str, float] = RELEASES,
    loads: Mapping[str, Sequence[int]] = LOADS,
    repeats: int = 3,
    durability: Mapping[str, str] | None = None,
    invalid: Sequence[tuple[str, str]] = (),
    seed: int = 7,
) -> MemoryRun:
    """`invalid` names (release, load) of which no trial is valid."""
    noise = random.Random(seed)
    points = tuple(
        PointRecord(
            point_id=f"p{number}",
            levels={RELEASE: release, "load": load},
            title=f"release = {release}, load = {load}",
        )
        for number, (release, load) in enumerate(((r, w) for r in releases for w in loads), 1)
    )
    trials: list[TrialRecord] = []
    samples: dict[str, pl.DataFrame] = {}
    intervals: dict[str, pl.DataFrame] = {}
    for block in range(repeats):
        for of in points:
            release, load = of.levels[RELEASE], of.levels["load"]
            speed = releases[release]
            phases = list(_phases(loads[load], speed, noise))
            made = trial(len(trials), of, phases, block=block, counters={"Threads_created": 8})
            made = replace(made, durability=(durability or {}).get(release, "durable"))
            if (release, load) in invalid:
                why = Invalidity(check="wrong-results", message="it gave other rows", phase=0)
                made = replace(made, status="invalid", invalidities=(why,))
            trials.append(made)
            samples[made.trial_id], intervals[made.trial_id] = series(made, 8, seed * 100 + len(trials))
    made_of = experiment(points, planned=len(trials), levels=list(releases), factor=RELEASE)
    return MemoryRun(
        experiment=replace(
            made_of,
            name="server-versions",
            question="Which release is fastest?",
            source=None,
            factors={RELEASE: tuple(releases), "load": tuple(loads)},
        ),
        records=tuple(trials),
        facts=ENVIRONMENT,
        sample_frames=samples,
        interval_frames=intervals,
    )


def _phases(connections: Sequence[int], speed: float, noise: random.Random) -> list[PhaseRecord]:
    start, made = 0.3, list[PhaseRecord]()
    for number, each in enumerate(connections):
        made.append(phase(number, each, speed * 9000 * each**0.5 * noise.gauss(1, 0.01), started_s=start))
        start = made[-1].ended_s + 0.5
    for number, name in enumerate(() if connections else PROGRAMS):
        slow = noise.gauss(1, 0.01) / speed
        made.append(program_phase(number, name, factor=slow, started_s=start))
        start = made[-1].ended_s + 0.3
    return made
